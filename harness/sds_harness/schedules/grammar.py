"""The parts of generated schedules that all protocols share: the names and the number of participants."""

from __future__ import annotations

from collections.abc import Collection

NAMES = ("alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi")
ODD_NAMES = ("Ж-alice", "字", "e\u0301lise", "élise", "🦊-fox", "ß", "ﬁ", "\uffee-last")


def hold_to_bounds(fewest: int, most: int, longest: int, passages: Collection[str], known: Collection[str]) -> None:
    """Raises ValueError if the numbers of participants or passages are out of range, or if a passage is unknown."""
    if not 1 <= fewest <= most <= len(NAMES):
        raise ValueError(f"the number of participants is between 1 and {len(NAMES)}, not {fewest} to {most}")
    if longest < 1:
        raise ValueError(f"a schedule has at least one passage, not {longest}")
    if unknown := set(passages) - set(known):
        raise ValueError(f"unknown passage {min(unknown)!r}: passages are {', '.join(known)}")
