"""How many false hits are too many: the statistics, and the filters that are published."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest

from run_helpers import T, altered, reference, stage, view
from sds_conformance.protocols.sds.view.false_positives import (
    FALSE_ALARM,
    UNDECLARED_RATE,
    binomial_tail,
    count_false_hits,
    degenerate_share,
    least_implausible_hits,
    queries_at_capacity,
    rate_deviation,
    reads_filters,
)
from sds_harness.sds.peer import unknown_ids
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import PROFILES, BloomParameters, BloomProfile, Config, build_filter


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


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_filters_that_are_published_keep_to_their_rate_when_full(profile: BloomProfile) -> None:
    parameters = BloomParameters.sized(1_000, 0.01)
    on = stage(reference(Config(bloom_profile=profile, bloom_capacity=1_000, bloom_error_rate=0.01)))
    on.open()
    found = count_false_hits(view(on), build_filter(profile, parameters, [f"bob-{n}" for n in range(1_000)]), 20_000)
    assert found is not None
    hits, asked = found
    assert asked == 20_000
    assert 0.6 * 0.01 < hits / asked < 1.1 * 0.01
    assert hits < least_implausible_hits(0.015, asked, rate_deviation(1_000, 0.01))


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


def test_strangers_look_like_the_ids_of_peers_and_are_none_of_them() -> None:
    assert len(set(unknown_ids(1_000))) == 1_000
    assert all(stranger.startswith("bob-") for stranger in unknown_ids(10))
    on = stage()
    alice, bob = on.open(), on.peer("bob")
    alice.receive(bob.content(T), bob.content(T, message_id=unknown_ids(10)[3]))
    message = alice.send()
    assert message.bloom_filter is not None
    assert count_false_hits(view(on), message.bloom_filter, 3) == (0, 3)
    assert count_false_hits(view(on), message.bloom_filter, 10) is None, "one of them is known here"


def nameless(request: pb.Request, reply: pb.Reply) -> None:
    if reply.HasField("hello"):
        reply.hello.profiles.bloom = "of-my-own"


def test_where_only_the_codec_can_read_what_it_was_asked_counts() -> None:
    on = stage(altered(nameless))
    alice = on.open()
    message = alice.send()
    assert message.bloom_filter is not None
    assert count_false_hits(view(on), message.bloom_filter, 10) is None
    alice.ask_filter(message.bloom_filter, *unknown_ids(6))
    assert count_false_hits(view(on), message.bloom_filter, 10) == (0, 6)


def test_the_codec_does_not_know_the_size_that_a_participant_was_asked_to_have() -> None:
    on = stage(altered(nameless))
    alice = on.open(configuration=pb.Configuration(bloom_capacity=10))
    message = alice.send()
    assert message.bloom_filter is not None
    alice.ask_filter(message.bloom_filter, *unknown_ids(6))
    assert not reads_filters(view(on))
    assert count_false_hits(view(on), message.bloom_filter, 6) is None


def test_at_a_thousand_ids_chance_ends_at_twice_the_declared_rate() -> None:
    assert least_implausible_hits(
        0.015, queries_at_capacity(0.01), rate_deviation(1_000, 0.01)
    ) / 20_000 == pytest.approx(0.02, rel=0.03)
    assert least_implausible_hits(
        0.0015, queries_at_capacity(0.001), rate_deviation(10_000, 0.001)
    ) / 100_000 == pytest.approx(0.002, rel=0.1)


def test_a_rate_that_cannot_be_exceeded_is_never_reproached() -> None:
    assert least_implausible_hits(1.8, 1_000, 0.1) == 1_001
