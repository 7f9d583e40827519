"""The register of global properties: what holds over all participants of a performance together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sds_harness.schedules import Act, Performance, Schedule

from ....judging.judgement import Outcome
from .group_view import GroupView

Replay = Callable[[Schedule], Performance]
"""Plays another schedule on the same cast."""
PropertyFunction = Callable[[GroupView], Iterator["Sighting"]]
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
