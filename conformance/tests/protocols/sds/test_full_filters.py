"""Roll-overs and full filters: what an implementation may do with its filter, and what shows that it did not."""

from __future__ import annotations

import pytest

from run_helpers import Change, altered, certified, reference, verdict_on
from sds_conformance.judging.certification import Certification
from sds_conformance.judging.verdict import Verdict
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import BloomParameters, Config, build_filter
from sds_reference.testee import server


class OfItsOwnSize(server.Testee):
    """Has filters for so many IDs, whatever it is asked for."""

    capacity = 3_000

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


def nameless_and_never_rolls_over(request: pb.Request, reply: pb.Reply) -> None:
    nameless(request, reply)
    never_rolls_over(request, reply)


def forgets_all(request: pb.Request, reply: pb.Reply) -> None:
    if reply.HasField("filter") and len(request.build_filter.message_ids) > 2_500:
        reply.filter.bloom_filter = bytes(len(reply.filter.bloom_filter))


@pytest.mark.parametrize(
    ("change", "rolled_over"),
    [
        (unchanged, Verdict.PASS),
        (nameless, Verdict.PASS),
        (never_rolls_over, Verdict.WARN),
        (nameless_and_never_rolls_over, Verdict.WARN),
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
