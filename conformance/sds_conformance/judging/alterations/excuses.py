"""Excuses: faults that are none, because they change nothing that anybody could see, or because they are legal.

They stand in a text, a line each: ``equivalent`` or ``legal``, the name of the place and the reason, with tabs between
them. A line that begins with # says something about those below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .fates import Fate
from .places import Place

EQUIVALENT = "equivalent"
"""Nobody could tell it from the model."""
LEGAL = "legal"
"""The text, or a position, leaves it open."""
LARGEST_SHARE = 0.2
"""Of all places, that may be excused: what is excused is not looked at again."""


@dataclass(frozen=True)
class Excuse:
    """Why a place is not to be held against the suite."""

    kind: str
    place: str
    reason: str


def read_excuses(text: str) -> dict[str, Excuse]:
    """The excuses in a text, by the name of the place. Raises ValueError, with the line."""
    out: dict[str, Excuse] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        parts = line.split("\t")
        if len(parts) != 3 or parts[0] not in (EQUIVALENT, LEGAL) or not all(map(str.strip, parts)):
            raise ValueError(
                f"line {number} is not `{EQUIVALENT}` or `{LEGAL}`, a place and a reason, with tabs: {line!r}"
            )
        excuse = Excuse(*parts)
        if excuse.place in out:
            raise ValueError(f"line {number} excuses once more: {excuse.place}")
        out[excuse.place] = excuse
    return out


def stale(excuses: Mapping[str, Excuse], places: Iterable[Place], fates: Iterable[Fate]) -> dict[str, str]:
    """By place, the excuses that are out of date, with the reason."""
    known = {place.name for place in places}
    out = {name: "there is no such place" for name in excuses if name not in known}
    return out | {fate.name: f"killed: {fate.end.value}" for fate in fates if fate.killed and fate.name in excuses}
