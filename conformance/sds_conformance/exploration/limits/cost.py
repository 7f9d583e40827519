"""Estimates how the cost per message grows with the number of messages: an exponent is fitted to the times that
the sizes took.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise

from .case import SizeResult

STEADY = 0.4
"""An exponent below this value cannot be distinguished from logarithmic growth or from noise."""
_LEAST_S = 0.03
"""Minimum time in seconds. Shorter times are dominated by noise of the machine."""
_LEAST_SIZE = 64
_LEAST = 3
_LAST = 3
"""Only this number of the largest sizes is used, because constant costs hide the growth at small sizes."""


def growth(cases: Iterable[SizeResult]) -> float | None:
    """Return the exponent of the cost per message: 0 is constant, 1 means quadratic total cost. None if too few sizes
    were played.

    The cost of the additional messages of each size is the difference of the times; the exponent is the least-squares
    slope of its logarithm.
    """
    timed = [case for case in cases if case.held and case.size >= _LEAST_SIZE and case.spent_s >= _LEAST_S]
    timed.sort(key=lambda case: case.size)
    points = [
        (math.log(more.size), math.log((more.spent_s - less.spent_s) / (more.size - less.size)))
        for less, more in pairwise(timed)
        if more.spent_s > less.spent_s
    ][-_LAST:]
    if len(points) < _LEAST:
        return None
    middle_x, middle_y = (math.fsum(values) / len(points) for values in zip(*points, strict=True))
    spread = math.fsum((x - middle_x) ** 2 for x, _ in points)
    return math.fsum((x - middle_x) * (y - middle_y) for x, y in points) / spread
