"""What came of playing again what was found, each time in a fresh process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .quoting import counted

ENOUGH = 3
"""What comes back so often, and each time, is told as proven."""
TIMES = 5
"""What does not is played so often, to say how flaky it is."""


@dataclass(frozen=True)
class Again:
    """How often something was played again, and how often it showed."""

    shown: int
    played: int

    @property
    def flaky(self) -> bool:
        return self.shown < self.played

    @property
    def word(self) -> str:
        """What it is to be called, "" for what came back each time."""
        return f"flaky, {self.shown} of {self.played}" if self.flaky else ""

    @property
    def sentence(self) -> str:
        """What that means."""
        why = "it does not do the same twice" + ("" if self.shown else ", or goes by what was played before")
        times = counted(self.played, "time")
        return f"It showed {self.shown} of the {times} that it was played again, each time afresh: {why}."


NEVER = Again(0, 0)


def played_again(shows: Callable[[], bool], enough: int, before: Again = NEVER) -> Again:
    """Play until it came back often ``enough``, or else as often as it takes to tell how flaky it is; with what came of
    playing it ``before``."""
    shown, played = before.shown, before.played
    while played < TIMES and not shown == played == enough:
        played += 1
        shown += shows()
    return Again(shown, played)
