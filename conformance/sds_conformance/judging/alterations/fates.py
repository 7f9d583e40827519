"""Fates: what becomes of an altered model."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .places import Place


class End(Enum):
    """How an altered model ends."""

    FAILS = "fails"
    """A certification refuses it."""
    WARNS = "warns"
    """A certification warns of it."""
    BREAKS = "breaks down"
    """It crashes, hangs or refuses everything, so that a certification ends with 1, 3 or 4, and violates nothing."""
    SUITE_ERROR = "suite error"
    """What it does is too much for the suite, which is a fault of the suite."""
    FOUND = "found otherwise"
    """A certification accepts it; something else does not."""
    LIVES = "lives"


KILLED_BY_RUN = (End.FAILS, End.WARNS, End.BREAKS)


@dataclass(frozen=True)
class Fate:
    """What became of the model with one change."""

    place: Place
    end: End
    by: str = ""
    """What found it: a requirement, or the name of other means."""
    seen: str = ""
    """What is to be said of it."""
    configuration: str = ""
    """In which it was found."""
    run: str = ""
    """What was played when it was."""
    configurations: int = 0
    """How many were played."""
    reaching: int = 0
    """How many execute the place."""
    seconds: float = 0.0

    @property
    def name(self) -> str:
        return self.place.name

    @property
    def killed_by_run(self) -> bool:
        return self.end in KILLED_BY_RUN

    @property
    def killed(self) -> bool:
        return self.killed_by_run or self.end is End.FOUND
