"""Excuses: places whose alteration is not a fault, because it changes nothing observable or is legal.

Excuses are listed in a text file, one per line: ``equivalent`` or ``legal``, the name of the place and the reason,
separated by tabs. A line that begins with # is a comment on the lines below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .fates import AlterationResult
from .places import AlterationPlace

EQUIVALENT = "equivalent"
"""No test can distinguish the altered model from the unchanged one."""
LEGAL = "legal"
"""The specification or a position allows the altered behaviour."""
LARGEST_SHARE = 0.2
"""Maximum share of all places that may be excused: excused places are hardly tested."""


@dataclass(frozen=True)
class Excuse:
    """Why the suite need not detect the alteration of a place."""

    kind: str
    place: str
    reason: str


def read_excuses(text: str) -> dict[str, Excuse]:
    """Parse the excuses, by the name of the place. Raises ValueError with the line number."""
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
            raise ValueError(f"line {number} repeats an excuse: {excuse.place}")
        out[excuse.place] = excuse
    return out


def find_stale_excuses(
    excuses: Mapping[str, Excuse], places: Iterable[AlterationPlace], fates: Iterable[AlterationResult]
) -> dict[str, str]:
    """Map the place of each outdated excuse to the reason why it is outdated."""
    known = {place.name for place in places}
    out = {name: "the source has no such place" for name in excuses if name not in known}
    return out | {fate.name: f"killed: {fate.end.value}" for fate in fates if fate.is_killed and fate.name in excuses}
