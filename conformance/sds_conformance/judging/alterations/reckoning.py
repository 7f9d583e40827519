"""The reckoning: what all altered models that were played say of the suite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from .excuses import LARGEST_SHARE, Excuse, stale
from .fates import End, Fate
from .places import Place

GOAL_BY_RUN = 0.97
"""The share of what is not excused that a certification is to find."""
GOAL = 0.99
"""And that is to be found, by whatever means."""


@dataclass(frozen=True)
class Reckoning:
    """What became of those that were played."""

    places: Sequence[Place]
    """All there are."""
    fates: Sequence[Fate]
    """Of those that were played, in the order of the source."""
    excuses: Mapping[str, Excuse]
    planned: int = 0
    """So many were to be played."""
    interrupted: bool = False

    @cached_property
    def stale(self) -> dict[str, str]:
        return stale(self.excuses, self.places, self.fates)

    @cached_property
    def judged(self) -> list[Fate]:
        """Those that count: played, and not excused."""
        return [fate for fate in self.fates if fate.name not in self.excuses]

    @cached_property
    def excused(self) -> Counter[str]:
        """How many of those that were played are excused, by the kind of the excuse."""
        return Counter(self.excuses[fate.name].kind for fate in self.fates if fate.name in self.excuses)

    @cached_property
    def survivors(self) -> list[Fate]:
        """Those that nothing found, and those that were too much for the suite."""
        return [fate for fate in self.judged if not fate.killed]

    @cached_property
    def ends(self) -> Counter[str]:
        """How many ended in which way; those that were found by other means, by which."""
        return Counter(fate.by if fate.end is End.FOUND else fate.end.value for fate in self.judged)

    @property
    def by_run(self) -> float:
        """The share that a certification finds."""
        return _share(sum(fate.killed_by_run for fate in self.judged), len(self.judged))

    @property
    def found(self) -> float:
        """The share that anything finds."""
        return _share(sum(fate.killed for fate in self.judged), len(self.judged))

    @property
    def too_many_excuses(self) -> bool:
        return len(self.excuses) > LARGEST_SHARE * len(self.places)

    @property
    def met(self) -> bool:
        """Is the suite as good as it is to be?"""
        return self.by_run >= GOAL_BY_RUN and self.found >= GOAL and not self.stale and not self.too_many_excuses


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
