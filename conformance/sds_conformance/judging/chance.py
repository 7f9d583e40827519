"""Bounds on random variation, for checks that judge many samples at once."""

from __future__ import annotations

from collections import Counter
from math import comb, exp, gcd, log, log1p, sqrt

FALSE_ALARM = 1e-6
"""Maximum probability that a statistical check rejects a conforming implementation."""


def upper_bound_of_hits(samples: int, share: float, alarm: float = FALSE_ALARM) -> int:
    """Return a number of hits that is exceeded with probability < ``alarm``, if each of ``samples`` is a hit with
    probability ``share``.
    """
    if not 0 < share < 1:
        return samples if share >= 1 else 0
    left = 1.0
    for count in range(samples + 1):
        # Use logarithms: the factors overflow or underflow a float.
        left -= exp(log(comb(samples, count)) + count * log(share) + (samples - count) * log1p(-share))
        if left < alarm:
            return count
    return samples


def least(samples: int, share: float, alarm: float = FALSE_ALARM) -> int:
    """Return a number of hits such that fewer hits have probability < ``alarm``, if each of ``samples`` is a hit with
    probability ``share``.
    """
    return samples - upper_bound_of_hits(samples, 1 - share, alarm)


def lower_bound_of_distinct_values(
    samples: int, values: int, tests: int = 1, *, of: int | None = None, share: float | None = None
) -> int:
    """Return a lower bound on the number of different values among ``samples`` random samples.

    Each value has a probability of at most ``share``, by default 1 / ``values``. The probability that all samples fall
    among some k values is at most comb(values, k) * (k * share) ** samples. If the samples are only a known part of
    ``of`` samples, this probability is multiplied by comb(of, samples). For ``tests`` sets of samples, the probability
    that any set has fewer values than the bound is < FALSE_ALARM.
    """
    share = 1 / values if share is None else share
    ways, enough = tests * comb(samples if of is None else of, samples), 1
    while enough < min(samples, values) and (
        log(ways * comb(values, enough)) + samples * log(min(1.0, enough * share)) < log(FALSE_ALARM)
    ):
        enough += 1
    return enough


def probability_of_agreement(samples: int, share: float) -> float:
    """Return the probability that all samples are hits or all are misses, if each is a hit with probability
    ``share``.
    """
    return float(share**samples + (1 - share) ** samples)


def equal_products(values: int, times: int, near: float) -> float:
    """Return an upper bound on the probability that ``a * x`` and ``b * x`` modulo ``values`` are alike for each of
    ``times`` random x, with random a and b.

    Two results are alike if they differ by less than the fraction ``near`` of all values. With ``d`` as the greatest
    common divisor of ``a - b`` and ``values``, the difference has ``values / d`` steps of ``d``; if there is only one,
    it is always 0.
    """
    steps = Counter(values // gcd(difference, values) for difference in range(values))
    return sum(count * min(1.0, near + 1 / number) ** times for number, count in steps.items()) / values


def chi_square_limit(freedom: int) -> float:
    """Return the chi-square statistic that is exceeded with probability < FALSE_ALARM, for ``freedom`` degrees of
    freedom. Uses the approximation by Wilson and Hilferty.

    The limit is 4.9 standard deviations above the mean of this approximation. It is exceeded with the exact probability
    1.5e-7 for 3 degrees of freedom, 2.7e-7 for 9 and 3.3e-7 for 15.
    """
    part = 2 / (9 * freedom)
    return freedom * (1 - part + 4.9 * sqrt(part)) ** 3
