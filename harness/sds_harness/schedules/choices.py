"""Where the choices come from that make a schedule: a seed, or Hypothesis.

Both draw from the same grammar. The command line and corpora use the seed, because the same one has to give the same
schedules on every machine and with every version; tests use Hypothesis, which shrinks.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Protocol, TypeVar

T = TypeVar("T")


class Choices(Protocol):
    """Something that can choose a number."""

    def integer(self, least: int, most: int) -> int:
        """A number between the two, both included; the simplest is ``least``."""
        ...


class SeededChoices:
    """Choices that follow from a seed and an index. Only ``getrandbits`` is used: no version of Python changes it."""

    def __init__(self, seed: int, index: int) -> None:
        self._random = Random(f"{seed}/{index}")

    def integer(self, least: int, most: int) -> int:
        span = most - least
        bits = span.bit_length()
        while (drawn := self._random.getrandbits(bits) if bits else 0) > span:
            pass
        return least + drawn


def chance(choices: Choices, percent: int) -> bool:
    """True in so many of a hundred cases; the simplest is False."""
    return choices.integer(0, 99) >= 100 - percent


def pick(choices: Choices, items: Sequence[T]) -> T:
    """One of ``items``; the simplest is the first."""
    return items[choices.integer(0, len(items) - 1)]


def weighted(choices: Choices, items: Sequence[tuple[T, int]]) -> T:
    """One of ``items`` by their weights."""
    drawn = choices.integer(0, sum(weight for _, weight in items) - 1)
    for item, weight in items:
        if drawn < weight:
            return item
        drawn -= weight
    raise AssertionError("the weights do not add up")


def some(choices: Choices, items: Sequence[T], percent: int = 50) -> list[T]:
    """Each of ``items`` in so many of a hundred cases, in their order."""
    return [item for item in items if chance(choices, percent)]
