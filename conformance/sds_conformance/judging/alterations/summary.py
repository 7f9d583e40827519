"""Summary of all altered models that were played."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from .excuses import LARGEST_SHARE, Excuse, find_stale_excuses
from .fates import AlterationResult, End
from .places import AlterationPlace

GOAL_BY_RUN = 0.97
"""Minimum share, from 0 to 1, of the alterations without an excuse that runs must find."""
GOAL = 0.99
"""Minimum share, from 0 to 1, of the alterations without an excuse that runs or other methods must find."""


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
