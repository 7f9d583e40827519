"""Results of testing an altered model."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .places import AlterationPlace


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
