"""Global properties: what holds over all participants of a performance together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sds_harness.docstrings import first_line
from sds_harness.schedules import Act, Performance, Schedule

from ..judging.judgement import Outcome

GROUP = "G-"
"""How the ID of every property begins."""
Replay = Callable[[Schedule], Performance]
"""Plays another schedule on the same cast."""
PropertyFunction = Callable[[Any], Iterator["Sighting"]]
"""Takes a view of the whole group, of the kind that its protocol reads performances as."""
TwinFunction = Callable[[Any, Replay], Iterator["Sighting"]]


@dataclass(slots=True)
class Sighting:
    """What a property says of one place in a performance. One that makes none was not exercised. It does not change."""

    outcome: Outcome
    act: Act
    channel_id: str = ""
    code: str = ""
    """Of a violation: how the property is violated, one of `GlobalProperty.codes`."""
    expected: str = ""
    seen: str = ""
    position: str = ""
    """The position that softens a violation to a warning, "" if none does."""


def held(act: Act, channel_id: str = "") -> Sighting:
    """The property was exercised here and kept."""
    return Sighting(Outcome.HELD, act, channel_id)


def violated(act: Act, channel_id: str, code: str, expected: str, seen: str, position: str = "") -> Sighting:
    """It was violated here as ``code`` names it: ``expected`` and ``seen`` as half sentences for the story."""
    return Sighting(Outcome.VIOLATED, act, channel_id, code, expected, seen, position)


def judged(act: Act, channel_id: str, code: str, met: bool, expected: str, seen: str, position: str = "") -> Sighting:
    """It was exercised here, and kept or violated."""
    return held(act, channel_id) if met else violated(act, channel_id, code, expected, seen, position)


@dataclass(frozen=True)
class GlobalProperty:
    """Something that all participants together have to keep, whatever the network does."""

    id: str
    """``G-01`` and so on."""
    title: str
    requirements: tuple[str, ...]
    """The requirements that it rests on: the first is the one a violation speaks against."""
    codes: Mapping[str, str] = field(hash=False)
    """The ways in which it can be violated: the code of each, with what is wrong in a few words."""
    function: PropertyFunction | None = None
    twin: TwinFunction | None = None
    """Instead: it compares the performance with that of a changed schedule."""
    says: str = ""
    """The words of the text that it follows from, where they do not stand with its requirements."""

    @property
    def summary(self) -> str:
        function = self.function or self.twin
        return first_line(function) if function is not None else ""


class Properties(dict[str, GlobalProperty]):
    """The properties of a protocol, by ID."""

    def __init__(self, prefix: str, read: Callable[[Performance], Any]) -> None:
        """Requirements are given without their ``prefix``; ``read`` makes the view of a group."""
        super().__init__()
        self.withdrawn: dict[str, tuple[str, ...]] = {}
        """IDs that are never used again: for each the requirements or properties that judge the same."""
        self._prefix = prefix
        self._read = read

    def of_one(
        self, property_id: str, title: str, *requirements: str, codes: Mapping[str, str]
    ) -> Callable[[PropertyFunction], PropertyFunction]:
        """Register a property of one performance."""

        def register(function: PropertyFunction) -> PropertyFunction:
            self._register(GlobalProperty(property_id, title, self._ids(requirements), codes, function))
            return function

        return register

    def of_twins(
        self, property_id: str, title: str, *requirements: str, codes: Mapping[str, str]
    ) -> Callable[[TwinFunction], TwinFunction]:
        """Register a property that compares a performance with another one."""

        def register(function: TwinFunction) -> TwinFunction:
            self._register(GlobalProperty(property_id, title, self._ids(requirements), codes, twin=function))
            return function

        return register

    def also(
        self, known: GlobalProperty, property_id: str, says: str, *requirements: str, without: Collection[str] = ()
    ) -> None:
        """Register what holds of another text as well, because that ``says`` so, ``without`` some of its codes."""
        codes = {code: what for code, what in known.codes.items() if code not in without}
        self._register(replace(known, id=property_id, requirements=self._ids(requirements), codes=codes, says=says))

    def withdraw(self, property_id: str, *judged_by: str) -> None:
        """Never use an ID again: requirements, given without their prefix, or other properties judge the same."""
        self.withdrawn[property_id] = tuple(i if i.startswith(GROUP) else f"{self._prefix}{i}" for i in judged_by)

    def examine(
        self, performance: Performance, replay: Replay | None = None, only: Iterable[str] | None = None
    ) -> dict[str, list[Sighting]]:
        """What the properties ``only`` say of a performance; an ID that is not there was not exercised.

        Those that compare it with the performance of a changed schedule take ``replay``, which plays one on the same
        cast.
        """
        view, out = self._read(performance), {}
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
