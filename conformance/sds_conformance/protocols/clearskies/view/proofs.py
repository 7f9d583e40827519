"""What a peer shows of what came, and of what it did itself."""

from __future__ import annotations

from dataclasses import dataclass

from .facts import Update, same_content
from .knowledge import Arrival
from .shown import Seen, Shown


@dataclass(frozen=True)
class Proof:
    """What became of an update, as the peer shows it."""

    arrival: Arrival
    shown: Shown
    seen: Seen | None
    """The record, None if there is no trace of it."""
    passed_on: bool
    """It went on to others: who has done that has taken it, even if it is not in an answer."""

    @property
    def is_there(self) -> bool:
        """Is that version there?"""
        return self.passed_on or self.is_shown

    @property
    def is_shown(self) -> bool:
        """Is it among what the peer shows?"""
        return self.seen is not None and self.seen.version == self.arrival.update.version

    @property
    def same(self) -> bool:
        """Is it there, as it came?"""
        return self.is_shown and self.seen is not None and same_content(self.seen.content, self.arrival.update.content)


@dataclass(frozen=True)
class Successive:
    """Two local changes that show, the second one surely made after the first."""

    one: Update
    other: Update
    most: int | None
    """By how many it is later, if all between the two were changes: what was never sent need not have been one. None
    where more than the application may have made the peer change something."""
