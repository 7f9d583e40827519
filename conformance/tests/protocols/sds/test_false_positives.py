"""How many false hits are too many: the statistics, and the filters that are published."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest

from sds_conformance.protocols.sds.view.false_positives import (
    FALSE_ALARM,
    UNDECLARED_RATE,
    binomial_tail,
    degenerate_share,
    least_implausible_hits,
    rate_deviation,
)
from sds_harness.sds.peer import unknown_ids
from sds_reference import PROFILES, BloomParameters, build_filter


def exact_tail(trials: int, rate: Fraction, hits: int) -> float:
    return float(sum(comb(trials, n) * rate**n * (1 - rate) ** (trials - n) for n in range(hits, trials + 1)))


@pytest.mark.parametrize(
    ("trials", "rate", "hits"), [(50, "1/10", 8), (50, "1/10", 30), (200, "1/100", 9), (9, "1/2", 9)]
)
def test_the_tail_of_the_binomial_distribution_is_exact(trials: int, rate: str, hits: int) -> None:
    exact = exact_tail(trials, Fraction(rate), hits)
    assert binomial_tail(trials, float(Fraction(rate)), hits) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize(("limit", "asked"), [(0.015, 20_000), (0.0015, 100_000), (0.02, 5_000), (0.3, 1_000)])
def test_one_hit_less_than_too_many_could_still_be_chance(limit: float, asked: int) -> None:
    most = least_implausible_hits(limit, asked, 0.0)
    assert binomial_tail(asked, limit, most) < FALSE_ALARM <= binomial_tail(asked, limit, most - 1)


@pytest.mark.parametrize("rate", [0.001, 0.01])
@pytest.mark.parametrize("capacity", [10, 24, 50])
def test_small_filters_that_are_published_attain_what_is_said_of_them(capacity: int, rate: float) -> None:
    profile, parameters, asked = PROFILES["waku-sds-js"], BloomParameters.sized(capacity, rate), 5_000
    positions = [profile.positions(stranger, parameters) for stranger in unknown_ids(asked)]

    def hits(members: int, number: int) -> int:
        wire = build_filter(profile, parameters, [f"{number}-{n}" for n in range(members)])
        return sum(map(profile.read(wire, parameters).holds, positions))

    limit = least_implausible_hits(
        2 * rate, asked, rate_deviation(capacity, rate), 2 * degenerate_share(capacity, rate)
    )
    of_full_ones = [hits(capacity, number) for number in range(60)]
    assert max(of_full_ones) < 0.7 * limit
    assert sum(of_full_ones) / 60 / asked < 2 * (rate + degenerate_share(capacity, rate))
    assert sum(hits(3 * capacity, number) >= limit for number in range(20)) >= 18, "of those never rolled over"
    if rate < UNDECLARED_RATE:
        assert sum(hits(2 * capacity, number) >= limit for number in range(20)) >= 10, "of those with twice their IDs"
