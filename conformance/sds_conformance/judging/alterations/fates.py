"""Results of testing an altered model."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .places import AlterationPlace


class End(Enum):
    """Result of testing an altered model."""

    FAILS = "fails"
    """Judging rejects it."""
    WARNS = "warns"
    """Judging reports a warning."""
    BREAKS = "breaks down"
    """The altered model crashes, hangs or rejects everything: exit code 1, 3 or 4 without a violation."""
    SUITE_ERROR = "suite error"
    """The altered model makes the suite fail, which is an error of the suite."""
    FOUND = "found otherwise"
    """Runs do not find the fault; another method does."""
    LIVES = "lives"


KILLED_BY_RUN = (End.FAILS, End.WARNS, End.BREAKS)


@dataclass(frozen=True)
class AlterationResult:
    """The result of the model with one alteration."""

    place: AlterationPlace
    end: End
    by: str = ""
    """The method that found it: a requirement, or the name of another method."""
    seen: str = ""
    """Description for reports."""
    configuration: str = ""
    """The configuration in which it was found."""
    run: str = ""
    """The run in which it was found."""
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
