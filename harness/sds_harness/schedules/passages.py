"""Passages, the parts of generated schedules, each about one kind of trouble; and the writer that they use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from ..docstrings import first_line
from .choices import Choices, T, chance, pick, sample
from .operations import Operation


class Writer:
    """Builds one schedule. Passages append operations with its methods. Each protocol has a subclass."""

    def __init__(self, choices: Choices, here: list[str]) -> None:
        self.choices = choices
        self.operations: list[Operation] = []
        self.here = here
        """Participants that are present."""
        self.labels: list[str] = []
        """Labels so far, of messages or changes, oldest first."""

    def pick(self, items: Sequence[T]) -> T:
        """One of ``items``. Shrinking goes towards the first."""
        return pick(self.choices, items)

    def sample(self, items: Sequence[T], percent: int = 50) -> list[T]:
        """Include each of ``items`` with this probability in percent; keep their order."""
        return sample(self.choices, items, percent)

    def pick_participant(self, *but: str) -> str:
        """A present participant, not one of ``but`` if possible."""
        return self.pick(self.others(*but) or self.here)

    def others(self, *but: str) -> list[str]:
        """The present participants except ``but``."""
        return [name for name in self.here if name not in but]

    def times(self, least: int, most: int) -> range:
        return range(self.choices.integer(least, most))

    def chance(self, percent: int) -> bool:
        return chance(self.choices, percent)

    def recent(self, count: int = 4) -> list[str]:
        """The newest labels."""
        return self.labels[-count:]

    def add(self, *operations: Operation) -> None:
        self.operations += operations

    def with_probability(self, percent: int, *operations: Operation) -> None:
        """Add the operations with this probability in percent."""
        if self.chance(percent):
            self.add(*operations)

    def label(self) -> str:
        self.labels.append(f"m{len(self.labels) + 1}")
        return self.labels[-1]


W = TypeVar("W", bound=Writer)


@dataclass(frozen=True)
class Passage(Generic[W]):
    """A function that appends the operations of one kind of passage to a schedule, and the conditions for its use."""

    name: str
    write: Callable[[W], None]
    weight: int
    """The probability with which the passage is chosen, relative to the weights of the other passages."""
    scripted: bool = False
    """Whether the passage uses scripted peers, or bytes that are not messages."""
    fits: Callable[[W], bool] = field(default=lambda writer: True)
    """Returns whether the passage is possible with the present participants and the configuration."""

    @property
    def summary(self) -> str:
        return first_line(self.write)


P = TypeVar("P", bound=Passage[Any])


def decorator_of(
    passages: dict[str, P], kind: Callable[..., P]
) -> Callable[..., Callable[[Callable[[W], None]], Callable[[W], None]]]:
    """A decorator that registers a function as a passage, named like the function but with hyphens. Its arguments are
    the weight, and by keyword the other fields of ``kind``, the class of the passages."""

    def passage(weight: int, **conditions: Any) -> Callable[[Callable[[W], None]], Callable[[W], None]]:
        def register(function: Callable[[W], None]) -> Callable[[W], None]:
            name = function.__name__.replace("_", "-")
            passages[name] = kind(name, function, weight, **conditions)
            return function

        return register

    return passage
