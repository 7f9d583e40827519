"""Replays of a finding, each in a fresh process, to see whether it is flaky."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .formats import format_count

ENOUGH = 3
"""Number of replays after which a finding is reported as reproducible, if each of these replays shows it."""
TIMES = 5
"""Number of replays if one of them does not show the finding. The report says how many of them showed it."""


@dataclass(frozen=True)
class FindingReplays:
    """How many replays of a finding there were, and how many of them showed the finding."""

    shown: int
    played: int

    @property
    def flaky(self) -> bool:
        return self.shown < self.played

    @property
    def word(self) -> str:
        """Label for reports, such as "flaky, 2 of 5"; "" if every replay showed the finding."""
        return f"flaky, {self.shown} of {self.played}" if self.flaky else ""

    @property
    def sentence(self) -> str:
        """Explanation of the label, in one sentence."""
        why = "the implementation is not deterministic"
        if not self.shown:
            why += ", or depends on what was played before"
        replays = format_count(self.played, "replay")
        return f"The finding showed in {self.shown} of {replays}, each in a new process: {why}."


NEVER = FindingReplays(0, 0)


def replay_finding(shows: Callable[[], bool], enough: int, before: FindingReplays = NEVER) -> FindingReplays:
    """Replay until ``enough`` replays in a row showed the finding, or else `TIMES` times. The replays in ``before``
    count as well.
    """
    shown, played = before.shown, before.played
    while played < TIMES and not shown == played == enough:
        played += 1
        shown += shows()
    return FindingReplays(shown, played)
