"""How far chance alone can go, held against what it really does: exact sums and all the ways there are."""

from __future__ import annotations

from fractions import Fraction
from math import comb, erfc, exp, gamma, sqrt

import pytest

from sds_conformance.judging.chance import (
    FALSE_ALARM,
    chi_square_limit,
    least,
    lower_bound_of_distinct_values,
    upper_bound_of_hits,
)

TENTH = Fraction(1, 10)


def at_least(count: int, samples: int, share: Fraction) -> Fraction:
    """The exact probability of so many hits or more."""
    return sum(
        (comb(samples, k) * share**k * (1 - share) ** (samples - k) for k in range(max(count, 0), samples + 1)),
        Fraction(),
    )


@pytest.mark.parametrize("alarm", [FALSE_ALARM, 1e-7, 1e-2])
@pytest.mark.parametrize("samples", [1, 12, 100])
@pytest.mark.parametrize("share", [Fraction(1, 128), TENTH, Fraction(1, 2), Fraction(9, 10)])
def test_bounds_of_a_count_are_as_narrow_as_the_alarm_allows(samples: int, share: Fraction, alarm: float) -> None:
    high, low = upper_bound_of_hits(samples, float(share), alarm), least(samples, float(share), alarm)
    assert at_least(high + 1, samples, share) < alarm
    assert high == 0 or at_least(high, samples, share) >= alarm
    assert 1 - at_least(low, samples, share) < alarm
    assert low == samples or 1 - at_least(low + 1, samples, share) >= alarm
    assert 0 <= low <= high <= samples


# ---- Different values ------------------------------------------------------------------------------------------------


def fewer_distinct(count: int, samples: int, values: int) -> float:
    """The exact probability of fewer than ``count`` different values, value by value."""
    chances = [1.0, *([0.0] * values)]
    for _ in range(samples):
        before = chances
        chances = [
            before[k] * k / values + (before[k - 1] * (values - k + 1) / values if k else 0.0)
            for k in range(values + 1)
        ]
    return sum(chances[:count])


@pytest.mark.parametrize("tests", [1, 50])
@pytest.mark.parametrize(("samples", "values"), [(8, 3), (8, 90), (20, 90), (50, 90), (50, 570), (50, 12), (1_000, 90)])
def test_fewer_values_are_no_chance(samples: int, values: int, tests: int) -> None:
    enough = lower_bound_of_distinct_values(samples, values, tests)
    assert 1 <= enough <= min(samples, values)
    assert tests * fewer_distinct(enough, samples, values) < FALSE_ALARM


# ---- Chi-square ------------------------------------------------------------------------------------------------------


def beyond(statistic: float, freedom: int) -> float:
    """The exact probability that the chi-square statistic is larger."""
    half = statistic / 2
    if freedom % 2 == 0:
        return exp(-half) * float(sum(half**k / gamma(k + 1) for k in range(freedom // 2)))
    terms = (half ** (k + 0.5) / gamma(k + 1.5) for k in range(freedom // 2))
    return erfc(sqrt(half)) + exp(-half) * float(sum(terms))


@pytest.mark.parametrize("freedom", [3, 5, 9, 15, 19, 49])
def test_chi_square_is_below_its_limit_but_for_less_than_the_alarm(freedom: int) -> None:
    assert FALSE_ALARM / 10 < beyond(chi_square_limit(freedom), freedom) < FALSE_ALARM
