"""What a message costs as there are more and more of them: the exponent, fitted to how long sizes took."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise

from .case import Case

STEADY = 0.4
"""Below, the cost of a message does not grow so that anybody could tell it from a logarithm, or from noise."""
_LEAST_S = 0.03
"""What took less time tells of the machine."""
_LEAST_SIZE = 64
_LEAST = 3
_LAST = 3
"""Of the largest sizes: whatever else a message costs hides the growth in small ones."""


def growth(cases: Iterable[Case]) -> float | None:
    """With which power of their number the cost of each message grows: 0 is none, 1 is a cost in all that grows with
    the square. None if too little was played.

    The messages by which each size is larger than the one before cost the difference of the times; the slope of its
    logarithm is that of least squares.
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
