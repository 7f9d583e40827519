"""Global properties of schedules with many participants."""

from __future__ import annotations

from collections.abc import Collection

from sds_harness.schedules import Performance

from . import acknowledging, convergence, integrity, ordering, repairs, twins
from .group_view import GroupView
from .registry import PROPERTIES, GlobalProperty, Replay, Sighting

__all__ = [
    "PROPERTIES",
    "GlobalProperty",
    "GroupView",
    "Replay",
    "Sighting",
    "acknowledging",
    "convergence",
    "examine",
    "integrity",
    "ordering",
    "repairs",
    "twins",
]


def examine(
    performance: Performance, replay: Replay | None = None, only: Collection[str] = PROPERTIES
) -> dict[str, list[Sighting]]:
    """What the properties ``only`` say of a performance; an ID that is not there was not exercised.

    Those that compare it with the performance of a changed schedule take ``replay``, which plays one on the same cast.
    """
    view, out = GroupView(performance), {}
    for name in sorted(only):
        entry = PROPERTIES[name]
        sightings: list[Sighting] = []
        if entry.function is not None:
            sightings = list(entry.function(view))
        elif entry.twin is not None and replay is not None:
            sightings = list(entry.twin(view, replay))
        if sightings:
            out[name] = sightings
    return out
