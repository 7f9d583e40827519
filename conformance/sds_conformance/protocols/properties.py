"""Global properties: requirements on all participants of a group trace together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sds_harness.docstrings import first_line
from sds_harness.schedules import Act, GroupTrace, Schedule

from ..judging.judgement import Observation, Outcome

GROUP = "G-"
"""The prefix of property IDs."""
Replay = Callable[[Schedule], GroupTrace]
"""Plays a changed schedule with the same cast, and returns its group trace."""
PropertyFunction = Callable[[Any], Iterator["Sighting"]]
"""Takes the group view that `Properties` creates, and yields sightings."""
TwinFunction = Callable[[Any, Replay], Iterator["Sighting"]]
"""Takes a group view and a `Replay`, which plays the schedule to compare with, and yields sightings."""


@dataclass(slots=True, kw_only=True)
class Sighting(Observation):
    """An observation of a property at one place in a group trace. A property without sightings was not exercised."""

    act: Act
    channel_id: str


def observe_met(act: Act, channel_id: str = "") -> Sighting:
    """Create a sighting of a place at which a property holds."""
    return Sighting(Outcome.HELD, act.step.index, act=act, channel_id=channel_id)


def observe_violation(act: Act, channel_id: str, code: str, expected: str, seen: str, position: str = "") -> Sighting:
    """Create a sighting of a violation. ``expected`` and ``seen`` are phrases for the story."""
    step = act.step.index
    return Sighting(Outcome.VIOLATED, step, code, expected, seen, position, act=act, channel_id=channel_id)


def observe_outcome(
    act: Act, channel_id: str, code: str, met: bool, expected: str, seen: str, position: str = ""
) -> Sighting:
    """Create a sighting of a property that holds if ``met``, and is violated otherwise."""
    return observe_met(act, channel_id) if met else observe_violation(act, channel_id, code, expected, seen, position)


@dataclass(frozen=True)
class GlobalProperty:
    """A requirement on all participants of a group trace together, which must hold however the network behaves."""

    id: str
    """The ID, such as ``G-01``."""
    title: str
    requirements: tuple[str, ...]
    """The requirements that imply the property. A violation counts against the first of them."""
    codes: Mapping[str, str] = field(hash=False)
    """By code of a violation: a short description."""
    function: PropertyFunction | None = None
    """The function that judges one group trace; None for a property that compares two."""
    twin: TwinFunction | None = None
    """The function that compares a group trace with that of a changed schedule; None for other properties."""
    says: str = ""
    """The sentence of the specification that implies the property, if no requirement contains this sentence."""

    @property
    def summary(self) -> str:
        function = self.function or self.twin
        return first_line(function) if function is not None else ""


class Properties(dict[str, GlobalProperty]):
    """The properties of a protocol, by ID."""

    def __init__(self, prefix: str, read: Callable[[GroupTrace], Any]) -> None:
        """``prefix`` is the common beginning of requirement IDs; ``read`` creates the group view of a group trace."""
        super().__init__()
        self.withdrawn: dict[str, tuple[str, ...]] = {}
        """By withdrawn ID, which is never reused: the requirements or properties that judge the same faults."""
        self._prefix = prefix
        self._read = read

    def of_one(
        self, property_id: str, title: str, *requirements: str, codes: Mapping[str, str]
    ) -> Callable[[PropertyFunction], PropertyFunction]:
        """Register a property of one group trace."""

        def register(function: PropertyFunction) -> PropertyFunction:
            self._register(GlobalProperty(property_id, title, self._ids(requirements), codes, function))
            return function

        return register

    def of_twins(
        self, property_id: str, title: str, *requirements: str, codes: Mapping[str, str]
    ) -> Callable[[TwinFunction], TwinFunction]:
        """Register a property that compares a group trace with the group trace of a changed schedule."""

        def register(function: TwinFunction) -> TwinFunction:
            self._register(GlobalProperty(property_id, title, self._ids(requirements), codes, twin=function))
            return function

        return register

    def reuse(
        self, known: GlobalProperty, property_id: str, says: str, *requirements: str, without: Collection[str] = ()
    ) -> None:
        """Register an existing property for another revision, which implies it by the sentence ``says``.

        The codes ``without`` are left out.
        """
        codes = {code: what for code, what in known.codes.items() if code not in without}
        self._register(replace(known, id=property_id, requirements=self._ids(requirements), codes=codes, says=says))

    def withdraw(self, property_id: str, *judged_by: str) -> None:
        """Withdraw an ID permanently.

        ``judged_by`` are the requirements, without their prefix, or the properties that judge the same faults.
        """
        self.withdrawn[property_id] = tuple(i if i.startswith(GROUP) else f"{self._prefix}{i}" for i in judged_by)

    def examine(
        self, group_trace: GroupTrace, replay: Replay | None = None, only: Iterable[str] | None = None
    ) -> dict[str, list[Sighting]]:
        """Judge a group trace by the properties ``only``, or by all properties if it is None.

        A property that is absent from the result was not exercised. ``replay`` plays a changed schedule with the same
        cast. Without it, the properties that compare two group traces are left out.
        """
        view, out = self._read(group_trace), {}
        for name in sorted(self if only is None else only):
            entry = self[name]
            sightings: list[Sighting] = []
            if entry.function is not None:
                sightings = list(entry.function(view))
            elif entry.twin is not None and replay is not None:
                sightings = list(entry.twin(view, replay))
            if sightings:
                out[name] = sightings
        return out

    def _ids(self, short: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(f"{self._prefix}{requirement}" for requirement in short)

    def _register(self, entry: GlobalProperty) -> None:
        if entry.id in self or entry.id in self.withdrawn:
            raise ValueError(f"{entry.id} was used before")
        self[entry.id] = entry
