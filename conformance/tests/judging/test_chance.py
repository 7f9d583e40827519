"""How far chance alone can go, held against what it really does: exact sums and all the ways there are."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, erfc, exp, gamma, sqrt

import pytest

from sds_conformance.judging.chance import (
    FALSE_ALARM,
    chi_square_limit,
    equal_products,
    least,
    lower_bound_of_distinct_values,
    probability_of_agreement,
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


@pytest.mark.parametrize("samples", [0, 1, 50])
def test_what_is_certain_has_no_room(samples: int) -> None:
    assert (least(samples, 0.0), upper_bound_of_hits(samples, 0.0)) == (0, 0)
    assert (least(samples, 1.0), upper_bound_of_hits(samples, 1.0)) == (samples, samples)


def test_of_no_samples_there_are_no_hits() -> None:
    assert (least(0, 0.5), upper_bound_of_hits(0, 0.5)) == (0, 0)


def test_many_samples_are_no_matter() -> None:
    """More than a float can count: comb(2000, 1000) has 601 digits, and 2**-2000 is none at all."""
    high, low = upper_bound_of_hits(2_000, 0.5), least(2_000, 0.5)
    above = sum(comb(2_000, count) for count in range(high + 1, 2_001))
    assert high + low == 2_000
    assert Fraction(above, 2**2_000) < FALSE_ALARM <= Fraction(above + comb(2_000, high), 2**2_000)


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


def test_the_exact_probability_of_a_test_is_that_of_all_the_ways_there_are() -> None:
    ways = [len(set(way)) for way in product(range(4), repeat=6)]
    for count in range(6):
        assert fewer_distinct(count, 6, 4) == pytest.approx(sum(n < count for n in ways) / len(ways))


@pytest.mark.parametrize("tests", [1, 50])
@pytest.mark.parametrize(("samples", "values"), [(8, 3), (8, 90), (20, 90), (50, 90), (50, 570), (50, 12), (1_000, 90)])
def test_fewer_values_are_no_chance(samples: int, values: int, tests: int) -> None:
    enough = lower_bound_of_distinct_values(samples, values, tests)
    assert 1 <= enough <= min(samples, values)
    assert tests * fewer_distinct(enough, samples, values) < FALSE_ALARM


def test_the_bound_on_values_tells_something() -> None:
    assert lower_bound_of_distinct_values(20, 90) == 11
    assert lower_bound_of_distinct_values(50, 90) == 25
    assert lower_bound_of_distinct_values(50, 90, tests=50) == 24
    assert lower_bound_of_distinct_values(1_000, 12) == 12


@pytest.mark.parametrize(("samples", "values"), [(0, 90), (1, 90), (8, 1), (8, 2)])
def test_of_few_samples_or_values_nothing_is_asked(samples: int, values: int) -> None:
    assert lower_bound_of_distinct_values(samples, values) == 1


def test_of_values_that_are_likelier_more_is_left_to_chance() -> None:
    assert lower_bound_of_distinct_values(50, 90, share=1 / 45) == 16
    assert lower_bound_of_distinct_values(50, 90, share=1 / 90) == lower_bound_of_distinct_values(50, 90)
    assert lower_bound_of_distinct_values(50, 90, share=1.0) == 1


def test_what_is_known_of_some_may_be_known_of_the_worst() -> None:
    """Ten of three hundred may well be alike; ten of ten are not."""
    assert lower_bound_of_distinct_values(10, 90, of=10) == lower_bound_of_distinct_values(10, 90) > 1
    assert lower_bound_of_distinct_values(10, 90, of=300) == 1
    assert [lower_bound_of_distinct_values(20, 90, of=of) for of in (20, 21, 30, 60)] == [11, 10, 7, 4]


def test_values_without_number_are_no_matter() -> None:
    """An implementation may say that T_max is 2**63 ms: comb(2**63, 30) is beyond any float."""
    assert lower_bound_of_distinct_values(50, 2**63) == 49


# ---- Chi-square ------------------------------------------------------------------------------------------------------


def beyond(statistic: float, freedom: int) -> float:
    """The exact probability that the chi-square statistic is larger."""
    half = statistic / 2
    if freedom % 2 == 0:
        return exp(-half) * float(sum(half**k / gamma(k + 1) for k in range(freedom // 2)))
    terms = (half ** (k + 0.5) / gamma(k + 1.5) for k in range(freedom // 2))
    return erfc(sqrt(half)) + exp(-half) * float(sum(terms))


def test_the_exact_probability_of_chi_square_is_that_of_tables() -> None:
    for statistic, freedom, share in ((3.841, 1, 0.05), (5.991, 2, 0.05), (16.919, 9, 0.05), (37.697, 15, 0.001)):
        assert beyond(statistic, freedom) == pytest.approx(share, rel=1e-3)


@pytest.mark.parametrize("freedom", [3, 5, 9, 15, 19, 49])
def test_chi_square_is_below_its_limit_but_for_less_than_the_alarm(freedom: int) -> None:
    assert FALSE_ALARM / 10 < beyond(chi_square_limit(freedom), freedom) < FALSE_ALARM


@pytest.mark.parametrize(("freedom", "said"), [(3, 1.5e-7), (9, 2.7e-7), (15, 3.3e-7)])
def test_what_is_said_of_the_limit_is_so(freedom: int, said: float) -> None:
    assert beyond(chi_square_limit(freedom), freedom) == pytest.approx(said, rel=0.05)


def test_alike_are_all_hits_or_none() -> None:
    ways = list(product((True, False), repeat=4))
    exact = sum((TENTH ** sum(way) * (1 - TENTH) ** (4 - sum(way)) for way in ways if len(set(way)) == 1), Fraction())
    assert probability_of_agreement(4, 0.1) == pytest.approx(float(exact))


@pytest.mark.parametrize("values", [7, 12, 16])
@pytest.mark.parametrize("width", [0, 1, 2])
def test_products_are_alike_no_more_often_than_that(values: int, width: int) -> None:
    def near(a: int, b: int, x: int) -> bool:
        apart = (a - b) * x % values
        return min(apart, values - apart) <= width

    drawn = list(product(range(values), repeat=2))
    exact = sum(sum(near(a, b, x) for x in range(values)) ** 2 for a, b in drawn) / values**4
    assert exact <= equal_products(values, 2, (2 * width) / values) + 1e-12
