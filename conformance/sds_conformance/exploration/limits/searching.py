"""The search in one dimension: sizes are doubled until one does not hold, then halved in between."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...protocols.dimensions import Dimension
from .case import Case, How

FIRST = 3
"""What holds for three is asked for three thousand."""
GROWTH = 2.0
"""Twice the size takes at least so many times as long."""

Try = Callable[[int, frozenset[str]], Case]
"""Plays a size; the requirements are known to be violated at any size."""


class Search:
    """What is known of one dimension, and what is to be tried next. It knows no clock: ``affords`` does."""

    def __init__(self, dimension: Dimension, most: int, attempt: Try, affords: Callable[[float, bool], bool]) -> None:
        """``most`` is the largest size there is; ``affords`` says whether there is time for so many seconds, to find a
        size that does not hold, or (True) to find out which is the first."""
        self.dimension = dimension
        self.most = most
        self.cases: dict[int, Case] = {}
        self.known: frozenset[str] = frozenset()
        """Requirements that are violated at the smallest size already, and not by it."""
        self.ended = False
        """Nothing is left to be tried, as far as there was time for it."""
        self._attempt = attempt
        self._affords = affords

    @property
    def held(self) -> int | None:
        """The largest size that held below the first that did not."""
        first = self.first_not
        return max((c.size for c in self.cases.values() if c.held and (first is None or c.size < first)), default=None)

    @property
    def first_not(self) -> int | None:
        """The smallest size that is known not to hold."""
        return min((case.size for case in self.cases.values() if case.how.limits), default=None)

    def run(self, at: int | None = None) -> None:
        """Try until the limit is known, or there is no more time; or only what is ``at`` a size."""
        if self._begin() and at is not None:
            self._try(at)
        elif self.held is not None:
            self._double()
            self._halve()
        self.ended = True

    def _begin(self) -> bool:
        """Does anything hold? What does not hold for three is asked for one."""
        for size in dict.fromkeys((min(FIRST, self.most), 1)):
            case = self._try(size)
            own = frozenset(self.dimension.about)
            if case.how is How.WRONG and case.finding is not None and not (own & case.failing):
                # It fails in something else, whatever the size: that is for `run` to tell.
                self.known |= case.failing
                case = self._try(size)
            if case.held:
                self.known |= case.failing
                return True
            if not case.how.limits:
                return False
        return False

    def _double(self) -> None:
        """Larger and larger ones, until one does not hold."""
        while self.first_not is None:
            held = self.held or 1
            size = min(_power_above(held), self.most)
            if size <= held or not self._affords(self._estimate(size), False):
                return
            if not self._try(size).held:
                return

    def _halve(self) -> None:
        """Smaller and smaller distances between what holds and what does not."""
        for size in self._between():
            if not self._affords(self._estimate(size), True):
                return
            case = self._try(size)
            if not case.held and not case.how.limits:
                return

    def _between(self) -> Iterator[int]:
        """The sizes to try: first those at which people set limits, then the middle."""
        if self.held is None or self.first_not is None:
            return
        for size in _usual(self.held, self.first_not):
            if self.held < size < self.first_not:
                yield size
        while self.first_not - self.held > 1:
            yield (self.held + self.first_not) // 2

    def _try(self, size: int) -> Case:
        case = self._attempt(size, self.known)
        self.cases[size] = case
        return case

    def _estimate(self, size: int) -> float:
        """How many seconds a size will take, by those before it."""
        done = sorted((c for c in self.cases.values() if c.how is not How.UNREACHED), key=lambda case: case.size)
        last = max((case for case in done if case.size <= size), key=lambda case: case.size, default=done[0])
        if len(done) < 2:
            return 0.0  # the first began with the start of a process
        if size <= last.size:
            return last.seconds
        before = max((case for case in done if case.size < last.size), key=lambda case: case.size, default=last)
        growth = max(GROWTH, last.seconds / before.seconds) if before.seconds > 0 and before is not last else GROWTH
        return last.seconds * growth * size / (2 * last.size)


def _power_above(size: int) -> int:
    """The next power of two."""
    return 1 << size.bit_length()


def _usual(held: int, not_held: int) -> Iterator[int]:
    """Sizes beside which a limit may well be: powers of two, and round numbers."""
    yield held + 1
    yield not_held - 1
    power = 10
    while power < not_held:
        for number in (power, 2 * power, 5 * power):
            if held < number < not_held:
                yield from (number, number + 1)
        power *= 10
