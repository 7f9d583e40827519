"""The sources of the choices that make a schedule: a seed, or Hypothesis.

Both use the same grammar. The command line and corpora use the seed, because a seed must give the same schedules on
every machine and with every version. Tests use Hypothesis, which shrinks.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Protocol, TypeVar

T = TypeVar("T")


class Choices(Protocol):
    """A source of the numbers that decide how a generated schedule looks."""

    def integer(self, least: int, most: int) -> int:
        """A number from ``least`` to ``most``, both included. Shrinking goes towards ``least``."""
        ...


class SeededChoices:
    """Choices that a seed and an index determine. Only ``getrandbits`` is used, because it is the same in all versions
    of Python."""

    def __init__(self, seed: int, index: int) -> None:
        self._random = Random(f"{seed}/{index}")

    def integer(self, least: int, most: int) -> int:
        span = most - least
        bits = span.bit_length()
        while (drawn := self._random.getrandbits(bits) if bits else 0) > span:
            pass
        return least + drawn


def chance(choices: Choices, percent: int) -> bool:
    """True with this probability in percent. Shrinking goes towards False."""
    return choices.integer(0, 99) >= 100 - percent


def pick(choices: Choices, items: Sequence[T]) -> T:
    """One of ``items``. Shrinking goes towards the first."""
    return items[choices.integer(0, len(items) - 1)]


def choose_weighted(choices: Choices, items: Sequence[tuple[T, int]]) -> T:
    """One of ``items``, chosen by their weights."""
    drawn = choices.integer(0, sum(weight for _, weight in items) - 1)
    for item, weight in items:
        if drawn < weight:
            return item
        drawn -= weight
    raise AssertionError("a number below the sum of the weights selects no item")


def sample(choices: Choices, items: Sequence[T], percent: int = 50) -> list[T]:
    """Include each of ``items`` with this probability in percent; keep their order."""
    return [item for item in items if chance(choices, percent)]
