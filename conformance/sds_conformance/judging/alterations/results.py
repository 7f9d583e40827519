"""Results of testing altered models, the excused places, and the summary of all results.

An excuse says why the alteration of a place is not a fault: it changes nothing observable, or is legal. Excuses are
listed in a text file, one per line: ``equivalent`` or ``legal``, the name of the place and the reason, separated by
tabs. A line that begins with # is a comment on the lines below it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from .places import AlterationPlace

EQUIVALENT = "equivalent"
"""No test can distinguish the altered model from the unchanged one."""
LEGAL = "legal"
"""The specification or a position allows the altered behaviour."""
LARGEST_SHARE = 0.2
"""Maximum share of all places that may be excused: excused places are hardly tested."""
GOAL_BY_RUN = 0.97
"""Minimum share, from 0 to 1, of the alterations without an excuse that runs must find."""
GOAL = 0.99
"""Minimum share, from 0 to 1, of the alterations without an excuse that runs or other methods must find."""


class End(Enum):
    """How the test of an altered model ended: by which kind of failure the fault was found, if any."""

    FAILS = "fails"
    """Judging rejects it."""
    WARNS = "warns"
    """Judging reports a warning."""
    BREAKS = "breaks down"
    """The altered model crashes, hangs or rejects everything: exit code 1, 3 or 4 without a violation."""
    SUITE_ERROR = "suite error"
    """The suite itself fails with an exception or hangs, which is an error of the suite."""
    FOUND = "found otherwise"
    """No run finds the fault, but another method does."""
    LIVES = "lives"


KILLED_BY_RUN = (End.FAILS, End.WARNS, End.BREAKS)


@dataclass(frozen=True)
class AlterationResult:
    """The result of testing the model with one alteration."""

    place: AlterationPlace
    end: End
    by: str = ""
    """ID of the requirement whose check found the fault, or the name of another method that found it."""
    seen: str = ""
    """Description of the fault for reports."""
    configuration: str = ""
    """The configuration in which the fault was found."""
    run: str = ""
    """The run in which the fault was found."""
    configurations: int = 0
    """Number of configurations that were played."""
    reaching: int = 0
    """Number of configurations that execute the place."""
    seconds: float = 0.0

    @property
    def name(self) -> str:
        return self.place.name

    @property
    def is_killed_by_run(self) -> bool:
        return self.end in KILLED_BY_RUN

    @property
    def is_killed(self) -> bool:
        return self.is_killed_by_run or self.end is End.FOUND


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


@dataclass(frozen=True)
class AlterationSummary:
    """The results of the alterations that were played."""

    places: Sequence[AlterationPlace]
    """All places."""
    fates: Sequence[AlterationResult]
    """Results of the alterations that were played, in the order of the source."""
    excuses: Mapping[str, Excuse]
    planned: int = 0
    interrupted: bool = False

    @cached_property
    def stale(self) -> dict[str, str]:
        return find_stale_excuses(self.excuses, self.places, self.fates)

    @cached_property
    def counted_results(self) -> list[AlterationResult]:
        """Results of alterations without an excuse."""
        return [fate for fate in self.fates if fate.name not in self.excuses]

    @cached_property
    def excuse_counts(self) -> Counter[str]:
        """Number of excused results, by the kind of the excuse."""
        return Counter(self.excuses[fate.name].kind for fate in self.fates if fate.name in self.excuses)

    @cached_property
    def survivors(self) -> list[AlterationResult]:
        """Alterations that no method found, and those that made the suite fail."""
        return [fate for fate in self.counted_results if not fate.is_killed]

    @cached_property
    def end_counts(self) -> Counter[str]:
        """Number of results by kind. Faults that another method found are counted by the name of the method."""
        return Counter(fate.by if fate.end is End.FOUND else fate.end.value for fate in self.counted_results)

    @property
    def share_killed_by_run(self) -> float:
        """Share of the counted alterations that runs find."""
        return _share(sum(fate.is_killed_by_run for fate in self.counted_results), len(self.counted_results))

    @property
    def share_killed(self) -> float:
        """Share of the counted alterations that runs or other methods find."""
        return _share(sum(fate.is_killed for fate in self.counted_results), len(self.counted_results))

    @property
    def too_many_excuses(self) -> bool:
        return len(self.excuses) > LARGEST_SHARE * len(self.places)

    @property
    def met(self) -> bool:
        """Does the suite find enough alterations, `GOAL_BY_RUN` and `GOAL`, with few excuses and none outdated?"""
        return (
            self.share_killed_by_run >= GOAL_BY_RUN
            and self.share_killed >= GOAL
            and not self.stale
            and not self.too_many_excuses
        )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
