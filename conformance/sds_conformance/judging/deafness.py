"""Detects *deaf* implementations, in one run or in all of them.

A *deaf* implementation answers valid messages with empty effects and never shows one of them. Most checks accept it,
because its behaviour does not depend on the messages of others. Each protocol counts, for one participant, the messages
that must show in an event, in the state or in a later message, and reports whether any did. Only the sum over all runs
gives a verdict, because a conforming implementation may have no occasion to show a message in a single run.
"""

from __future__ import annotations

from dataclasses import dataclass

from sds_harness.faults import Breakdown, FaultKind


@dataclass(slots=True)
class Hearing:
    """How many of the received messages the participants showed."""

    received: int = 0
    """Number of received messages that were valid, new and within the limits, had no missing dependencies, and were
    answered with effects.
    """
    due: int = 0
    """Number of the ``received`` messages that must show in an event, in the state, or in a message that the
    participant sends later.
    """
    shown: bool = False
    """At least one received message showed in an event, in the state, or in a message that the participant sent."""

    def add(self, other: Hearing) -> None:
        """Add the counts of another participant or run."""
        self.received += other.received
        self.due += other.due
        self.shown |= other.shown

    @property
    def deaf(self) -> bool:
        """Is the implementation deaf? At least one message had to show, and none did."""
        return self.due > 0 and not self.shown

    @property
    def breakdown(self) -> Breakdown:
        """The breakdown that reports a deaf implementation."""
        received = f"{self.due:,} of {self.received:,} valid messages that it received"
        places = "in its events, in its state or in what it sent afterwards"
        return Breakdown(FaultKind.DEAF, f"{received} had to show {places}, and none of them ever did")

    @property
    def took(self) -> bool | None:
        """Did the participants show any received message? None if no message had to show."""
        return True if self.shown else False if self.due else None
