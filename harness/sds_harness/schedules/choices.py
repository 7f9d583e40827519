"""Parts of generated schedules that all protocols share: names, and the source of choices, a seed or Hypothesis.

Both sources use the same grammar. The command line and corpora use the seed, because a seed must give the same
schedules on every machine and with every version. Tests use Hypothesis, which shrinks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from random import Random
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
NAMES = ("alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi")
ODD_NAMES = ("Ж-alice", "字", "e\u0301lise", "élise", "🦊-fox", "ß", "ﬁ", "\uffee-last")


def schedule_name(seed: int, index: int) -> str:
    """The name of the schedule with this seed and index."""
    return f"seed {seed}, schedule {index}"


def hold_to_bounds(fewest: int, most: int, longest: int, passages: Collection[str], known: Collection[str]) -> None:
    """Raises ValueError if the numbers of participants or passages are out of range, or if a passage is unknown."""
    if not 1 <= fewest <= most <= len(NAMES):
        raise ValueError(f"the number of participants is between 1 and {len(NAMES)}, not {fewest} to {most}")
    if longest < 1:
        raise ValueError(f"a schedule has at least one passage, not {longest}")
    if unknown := set(passages) - set(known):
        raise ValueError(f"unknown passage {min(unknown)!r}: passages are {', '.join(known)}")


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


class DrawnChoices:
    """Choices that Hypothesis makes and shrinks. Needs the extra ``hypothesis``."""

    def __init__(self, draw: Callable[[Any], int]) -> None:
        from hypothesis.strategies import integers  # imported late because only this class needs it

        self._draw, self._integers = draw, integers

    def integer(self, least: int, most: int) -> int:
        return self._draw(self._integers(least, most))


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
