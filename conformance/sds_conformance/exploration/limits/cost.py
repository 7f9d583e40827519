"""What a message costs as there are more and more of them: the exponent, fitted to how long sizes took."""

from __future__ import annotations

import math
from collections.abc import Iterable

from .case import Case

STEADY = 0.4
"""Below, the cost of a message does not grow so that anybody could tell it from a logarithm, or from noise."""
_LEAST_S = 0.02
"""What took less time tells of the machine."""
_LEAST_SIZE = 64
_LEAST_SIZES = 3
_LAST = 4
"""Of the largest sizes, for whatever else a message costs hides the growth in small ones."""


def growth(cases: Iterable[Case]) -> float | None:
    """With which power of their number the cost of each message grows: 0 is none, 1 is a cost in all that grows with
    the square. The slope of the logarithms, by least squares; None if too little was played."""
    timed = [case for case in cases if case.held and case.size >= _LEAST_SIZE and case.played_s >= _LEAST_S]
    points = [(math.log(case.size), math.log(case.played_s)) for case in sorted(timed, key=lambda c: c.size)][-_LAST:]
    if len(points) < _LEAST_SIZES:
        return None
    middle_x, middle_y = (math.fsum(values) / len(points) for values in zip(*points, strict=True))
    spread = sum((x - middle_x) ** 2 for x, _ in points)
    slope = sum((x - middle_x) * (y - middle_y) for x, y in points) / spread
    return slope - 1.0
