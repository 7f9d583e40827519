"""How far chance alone can go: bounds of a check that judges many samples at once."""

from __future__ import annotations

from collections import Counter
from math import comb, exp, gcd, log, log1p, sqrt

FALSE_ALARM = 1e-6
"""Probability with which a conforming implementation may be reproached by a statistical check, at most."""


def most(samples: int, share: float, alarm: float = FALSE_ALARM) -> int:
    """The count that so many samples, each a hit with probability ``share``, exceed with probability < ``alarm``."""
    if not 0 < share < 1:
        return samples if share >= 1 else 0
    left = 1.0
    for count in range(samples + 1):
        # Of logarithms: the numbers themselves are too large for a float, or too small.
        left -= exp(log(comb(samples, count)) + count * log(share) + (samples - count) * log1p(-share))
        if left < alarm:
            return count
    return samples


def least(samples: int, share: float, alarm: float = FALSE_ALARM) -> int:
    """The count that they stay below with probability < ``alarm``."""
    return samples - most(samples, 1 - share, alarm)


def least_distinct(
    samples: int, values: int, tests: int = 1, *, of: int | None = None, share: float | None = None
) -> int:
    """The number of different values that so many samples have, all but certainly.

    A value has a probability of ``share`` at most, by default each the same one. That k values have all the samples has
    a probability of at most comb(values, k) * (k * share) ** samples. Where these are but the ones that are known, for
    whatever reason, ``of`` more, it is comb(of, samples) times that. ``tests`` such sets together have fewer with
    probability < FALSE_ALARM.
    """
    share = 1 / values if share is None else share
    ways, enough = tests * comb(samples if of is None else of, samples), 1
    while enough < min(samples, values) and (
        log(ways * comb(values, enough)) + samples * log(min(1.0, enough * share)) < log(FALSE_ALARM)
    ):
        enough += 1
    return enough


def alike(samples: int, share: float) -> float:
    """The probability that so many samples are all hits, each with probability ``share``, or all none."""
    return float(share**samples + (1 - share) ** samples)


def equal_products(values: int, times: int, near: float) -> float:
    """The probability, at most, that ``a * x`` and ``b * x`` modulo ``values`` are alike for each of so many x, if all
    are drawn at random.

    What is less than the part ``near`` of all values apart is alike. With ``d`` as the greatest common divisor of
    ``a - b`` and ``values``, the difference has ``values / d`` steps of ``d``; if there is one only, it is always 0.
    """
    steps = Counter(values // gcd(difference, values) for difference in range(values))
    return sum(count * min(1.0, near + 1 / number) ** times for number, count in steps.items()) / values


def chi_square_limit(freedom: int) -> float:
    """What the chi-square statistic exceeds with probability < FALSE_ALARM, by the cube root of Wilson and Hilferty.

    With 4.9 standard deviations the exact probability beyond it is 1.5e-7 for 3 degrees of freedom, 2.7e-7 for 9 and
    3.3e-7 for 15.
    """
    part = 2 / (9 * freedom)
    return freedom * (1 - part + 4.9 * sqrt(part)) ** 3
