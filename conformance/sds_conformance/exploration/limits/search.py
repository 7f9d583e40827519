"""Searches for the limit of one dimension: doubles the size until a size fails, then bisects."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...protocols.dimensions import Dimension
from .case import SizeOutcome, SizeResult

FIRST = 3
GROWTH = 2.0
"""Doubling the size is expected to multiply the time by at least this factor."""

Try = Callable[[int, frozenset[str]], SizeResult]
"""Plays a size. The second argument has the requirements that are violated at any size."""


class Search:
    """Searches for the limit of one dimension. It measures no time; ``affords`` decides whether there is time."""

    def __init__(self, dimension: Dimension, most: int, attempt: Try, affords: Callable[[float, bool], bool]) -> None:
        """``most`` is the largest possible size. ``affords`` decides whether the given number of seconds is left. Its
        second argument is True while the first failing size is narrowed down.
        """
        self.dimension = dimension
        self.most = most
        self.cases: dict[int, SizeResult] = {}
        self.known: frozenset[str] = frozenset()
        """Requirements that are violated even at the smallest size, so the dimension is not the cause."""
        self.ended = False
        """Has the search ended? False while it runs, and after an interrupt."""
        self._attempt = attempt
        self._affords = affords

    @property
    def held(self) -> int | None:
        """The largest size without a failure below the first failing size; None if there is none."""
        first = self.first_failing
        return max((c.size for c in self.cases.values() if c.held and (first is None or c.size < first)), default=None)

    @property
    def first_failing(self) -> int | None:
        """The smallest size known to fail."""
        return min((case.size for case in self.cases.values() if case.outcome.limits), default=None)

    def run(self, at: int | None = None) -> None:
        """Try sizes until the limit is known or the time is over. With ``at``, try only that size besides the smallest
        one.
        """
        if self._begin() and at is not None:
            self._try(at)
        elif self.held is not None:
            self._grow_until_failure()
            self._halve()
        self.ended = True

    def _begin(self) -> bool:
        """Find a first size without a failure: try 3, then 1. Return whether one of these sizes has no failure."""
        for size in dict.fromkeys((min(FIRST, self.most), 1)):
            case = self._try(size)
            own = frozenset(self.dimension.about)
            if case.outcome is SizeOutcome.WRONG and case.finding is not None and not (own & case.failing):
                # The implementation fails at any size, for a reason that is not the dimension; `run` reports it.
                self.known |= case.failing
                case = self._try(size)
            if case.held:
                self.known |= case.failing
                return True
            if not case.outcome.limits:
                return False
        return False

    def _grow_until_failure(self) -> None:
        while self.first_failing is None:
            held = self.held or 1
            size = min(_power_above(held), self.most)
            if size <= held or not self._affords(self._estimate(size), False):
                return
            if not self._try(size).held:
                return

    def _halve(self) -> None:
        """Bisect between a size without a failure and a failing size."""
        for size in self._sizes_between():
            if not self._affords(self._estimate(size), True):
                return
            case = self._try(size)
            if not case.held and not case.outcome.limits:
                return

    def _sizes_between(self) -> Iterator[int]:
        """The sizes to try: common limits first, then the middle."""
        if self.held is None or self.first_failing is None:
            return
        for size in _common_limits(self.held, self.first_failing):
            if self.held < size < self.first_failing:
                yield size
        while self.first_failing - self.held > 1:
            yield (self.held + self.first_failing) // 2

    def _try(self, size: int) -> SizeResult:
        case = self._attempt(size, self.known)
        self.cases[size] = case
        return case

    def _estimate(self, size: int) -> float:
        """Estimate the seconds that a size takes, from the sizes played so far."""
        done = sorted(
            (c for c in self.cases.values() if c.outcome is not SizeOutcome.UNREACHED), key=lambda case: case.size
        )
        last = max((case for case in done if case.size <= size), key=lambda case: case.size, default=done[0])
        if len(done) < 2:
            return 0.0  # the time of the first size includes the start of a process, so it predicts nothing
        if size <= last.size:
            return last.seconds
        before = max((case for case in done if case.size < last.size), key=lambda case: case.size, default=last)
        growth = max(GROWTH, last.seconds / before.seconds) if before.seconds > 0 and before is not last else GROWTH
        return last.seconds * growth * size / (2 * last.size)


def _power_above(size: int) -> int:
    return 1 << size.bit_length()


def _common_limits(held: int, not_held: int) -> Iterator[int]:
    """Common limits between ``held`` and ``not_held``: powers of two and round numbers."""
    yield held + 1
    yield not_held - 1
    power = 10
    while power < not_held:
        for number in (power, 2 * power, 5 * power):
            if held < number < not_held:
                yield from (number, number + 1)
        power *= 10
