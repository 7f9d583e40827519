"""Bloom filters: how roll-overs, full filters and private encodings are judged, and how much chance is allowed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import comb

import pytest

from run_helpers import Change, Handle, altered, certified, reference, verdict_on, with_verdict
from sds_conformance.judging.certification import Certification
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.sds.view.false_positives import (
    FALSE_ALARM,
    UNDECLARED_RATE,
    binomial_tail,
    degenerate_share,
    least_implausible_hits,
    rate_deviation,
)
from sds_harness.sds.peer import unknown_ids
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import PROFILES, BloomParameters, Config, build_filter, decode, encode
from sds_reference.testee import server


class OfItsOwnSize(server.Testee):
    """Has filters for so many IDs, whatever it is asked for."""

    def _open(self, command: pb.Open, reply: pb.Reply) -> None:
        command.configuration.ClearField("bloom_capacity")
        command.configuration.ClearField("bloom_error_rate")
        super()._open(command, reply)


def of_its_own_size(capacity: int, change: Change, *without: int) -> Certification:
    size = Config(bloom_capacity=capacity, bloom_error_rate=0.01)
    return certified(
        lambda: altered(change, OfItsOwnSize(server.TesteeOptions("1", size, without=frozenset(without))).handle),
        select=["SDS-STATE-06", "SDS-STATE-07"],
        scenarios=["a-filter-rolls-over", "a-thousand-messages"],
    )


def unchanged(request: pb.Request, reply: pb.Reply) -> None:
    pass


def nameless(request: pb.Request, reply: pb.Reply) -> None:
    if reply.HasField("hello"):
        reply.hello.profiles.bloom = "of-my-own"


def never_rolls_over(request: pb.Request, reply: pb.Reply) -> None:
    if reply.HasField("filter"):
        size = BloomParameters.sized(2_500, 0.01)
        reply.filter.bloom_filter = build_filter(Config().bloom_profile, size, request.build_filter.message_ids)


def forgets_all(request: pb.Request, reply: pb.Reply) -> None:
    if reply.HasField("filter") and len(request.build_filter.message_ids) > 2_500:
        reply.filter.bloom_filter = bytes(len(reply.filter.bloom_filter))


@pytest.mark.parametrize(
    ("change", "rolled_over"),
    [
        (unchanged, Verdict.PASS),
        (nameless, Verdict.PASS),
        (never_rolls_over, Verdict.WARN),
        (forgets_all, Verdict.WARN),
    ],
)
def test_a_filter_that_is_too_large_to_be_filled_by_messages_is_built(change: Change, rolled_over: Verdict) -> None:
    outcome = of_its_own_size(2_500, change)
    assert verdict_on(outcome, "SDS-STATE-06").verdict is rolled_over
    assert verdict_on(outcome, "SDS-STATE-07").verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("capacity", "without", "verdict", "reason"),
    [
        (2_500, [pb.CAPABILITY_FILTER_CODEC], Verdict.SKIPPED, "filter-codec"),
        (50_000, [], Verdict.INCONCLUSIVE, "50,000 IDs"),
    ],
)
def test_a_filter_that_cannot_be_built_either_is_not_passed(
    capacity: int, without: list[int], verdict: Verdict, reason: str
) -> None:
    rolled = verdict_on(of_its_own_size(capacity, unchanged, *without), "SDS-STATE-06")
    assert rolled.verdict is verdict
    assert reason in rolled.reason


def test_filters_that_nobody_can_read_are_not_passed() -> None:
    outcome = certified(
        lambda: altered(nameless, reference(without=[pb.CAPABILITY_FILTER_CODEC])),
        select=["SDS-STATE-06", "SDS-STATE-07"],
        scenarios=["a-filter-rolls-over", "a-thousand-messages"],
    )
    for requirement in ("SDS-STATE-06", "SDS-STATE-07"):
        assert verdict_on(outcome, requirement).verdict is Verdict.SKIPPED
        assert "filter-codec" in verdict_on(outcome, requirement).reason


# ---- Private encodings -----------------------------------------------------------------------------------------------


CODEC = pb.CAPABILITY_FILTER_CODEC


def private(*without: int) -> Handle:
    """The reference, which does not say how its filters are encoded."""

    def hide(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("hello"):
            reply.hello.profiles.bloom = ""

    return altered(hide, reference(without=without))


@pytest.mark.exhaustive
@pytest.mark.parametrize("without", [(), (CODEC,), (CODEC, pb.CAPABILITY_OBSERVE)])
def test_filters_of_a_private_encoding_are_judged_all_the_same(without: tuple[int, ...]) -> None:
    outcome = certified(lambda: private(*without), scenarios=["*"])
    assert with_verdict(outcome, Verdict.FAIL, Verdict.WARN, Verdict.ERROR, Verdict.INCONCLUSIVE) == set()
    for requirement in ("ACK-02", "ACK-04", "RECV-04", "SEND-09", "STATE-05", "SYNC-05", "SYNC-08"):
        assert verdict_on(outcome, f"SDS-{requirement}").verdict is Verdict.PASS


def constant_filter(request: pb.Request, reply: pb.Reply) -> None:
    """Every filter is the same, whatever was received."""
    for number, wire in enumerate(reply.effects.broadcasts):
        message = decode(wire)
        if message.bloom_filter is not None:
            reply.effects.broadcasts[number] = encode(replace(message, bloom_filter=bytes(8)))


@pytest.mark.exhaustive
def test_a_filter_that_is_always_the_same_is_found_although_no_signal_tells_what_it_holds() -> None:
    blind = (CODEC, pb.CAPABILITY_POSSIBLY_ACKNOWLEDGED, pb.CAPABILITY_OBSERVE)
    outcome = certified(lambda: altered(constant_filter, private(*blind)))
    assert verdict_on(outcome, "SDS-RECV-04").verdict is Verdict.FAIL
    for requirement in ("SEND-09", "STATE-05", "SYNC-05"):
        assert verdict_on(outcome, f"SDS-{requirement}").verdict is not Verdict.PASS


# ---- Chance ----------------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(("capacity", "rate"), [(10, 0.001), (50, 0.01)])
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
