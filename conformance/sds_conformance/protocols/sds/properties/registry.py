"""The register of global properties: what holds over all participants of a performance together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps

from sds_harness.schedules import Act, Performance, Schedule

from ....judging.judgement import Outcome
from .group_view import GroupView, Side

Replay = Callable[[Schedule], Performance]
"""Plays another schedule on the same cast."""
PropertyFunction = Callable[[GroupView], Iterator["Sighting"]]
SideFunction = Callable[[GroupView, Side], Iterator["Sighting"]]
TwinFunction = Callable[[GroupView, Replay], Iterator["Sighting"]]


@dataclass(frozen=True, slots=True)
class Sighting:
    """What a property says of one place in a performance. One that makes none was not exercised."""

    outcome: Outcome
    act: Act
    channel_id: str = ""
    expected: str = ""
    seen: str = ""
    position: str = ""
    """The position that softens a violation to a warning, "" if none does."""


def held(act: Act, channel_id: str = "") -> Sighting:
    """The property was exercised here and kept."""
    return Sighting(Outcome.HELD, act, channel_id)


def violated(act: Act, channel_id: str, expected: str, seen: str, position: str = "") -> Sighting:
    """It was violated here: ``expected`` and ``seen`` as half sentences for the story."""
    return Sighting(Outcome.VIOLATED, act, channel_id, expected, seen, position)


def of_each_side(function: SideFunction) -> PropertyFunction:
    """A property of a participant in a channel, of all of them: its faults, or where it held last if it has none."""

    @wraps(function)
    def of_all(view: GroupView) -> Iterator[Sighting]:
        for side in view.sides.values():
            last: Sighting | None = None
            wrong = False
            for sighting in function(view, side):
                if sighting.outcome is Outcome.HELD:
                    last = sighting
                else:
                    wrong = True
                    yield sighting
            if last is not None and not wrong:
                yield last

    return of_all


def of_each_channel(function: PropertyFunction) -> PropertyFunction:
    """Of each channel the first fault, or, after all faults, where the property held last if it has none."""

    @wraps(function)
    def of_all(view: GroupView) -> Iterator[Sighting]:
        last: dict[str, Sighting] = {}
        wrong: set[str] = set()
        for sighting in function(view):
            if sighting.outcome is Outcome.HELD:
                last[sighting.channel_id] = sighting
            elif sighting.channel_id not in wrong:
                wrong.add(sighting.channel_id)
                yield sighting
        yield from (sighting for channel_id, sighting in last.items() if channel_id not in wrong)

    return of_all


def to_the_first_fault(function: PropertyFunction) -> PropertyFunction:
    """One fault is enough: the same will be wrong wherever else it shows."""

    @wraps(function)
    def of_all(view: GroupView) -> Iterator[Sighting]:
        for sighting in function(view):
            yield sighting
            if sighting.outcome is Outcome.VIOLATED:
                return

    return of_all


@dataclass(frozen=True)
class GlobalProperty:
    """Something that all participants together have to keep, whatever the network does."""

    id: str
    """``G-01`` ... ``G-35``."""
    title: str
    requirements: tuple[str, ...]
    """The requirements that it rests on: the first is the one a violation speaks against."""
    function: PropertyFunction | None = None
    twin: TwinFunction | None = None
    """Instead: it compares the performance with that of a changed schedule."""

    @property
    def summary(self) -> str:
        function = self.function or self.twin
        return ((function.__doc__ if function else "") or "").strip().splitlines()[0]


PROPERTIES: dict[str, GlobalProperty] = {}
"""By ID."""


def global_property(property_id: str, title: str, *requirements: str) -> Callable[[PropertyFunction], PropertyFunction]:
    """Register a property of one performance; requirements are given without their prefix SDS-."""

    def register(function: PropertyFunction) -> PropertyFunction:
        _register(GlobalProperty(property_id, title, _ids(requirements), function=function))
        return function

    return register


def twin_property(property_id: str, title: str, *requirements: str) -> Callable[[TwinFunction], TwinFunction]:
    """Register a property that compares a performance with another one."""

    def register(function: TwinFunction) -> TwinFunction:
        _register(GlobalProperty(property_id, title, _ids(requirements), twin=function))
        return function

    return register


def _ids(short: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"SDS-{requirement}" for requirement in short)


def _register(entry: GlobalProperty) -> None:
    if entry.id in PROPERTIES:
        raise ValueError(f"{entry.id} stands twice")
    PROPERTIES[entry.id] = entry
