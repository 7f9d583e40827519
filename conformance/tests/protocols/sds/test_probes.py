"""Where nothing tells what is in a filter, the harness finds out: by the codec, by making filters, by the echo."""

from __future__ import annotations

from dataclasses import replace

import pytest

from run_helpers import Handle, altered, certified, reference, verdict_on, with_verdict
from sds_conformance.judging.verdict import Verdict
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Effects, Participant, decode, encode

pytestmark = pytest.mark.exhaustive

CODEC = pb.CAPABILITY_FILTER_CODEC


def private(*without: int, participant: type[Participant] = Participant) -> Handle:
    """The reference, which does not say how its filters are encoded."""

    def hide(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("hello"):
            reply.hello.profiles.bloom = ""

    return altered(hide, reference(without=without, participant=participant))


@pytest.mark.parametrize("without", [(), (CODEC,), (CODEC, pb.CAPABILITY_OBSERVE)])
def test_filters_of_a_private_encoding_are_judged_all_the_same(without: tuple[int, ...]) -> None:
    outcome = certified(lambda: private(*without), scenarios=["*"])
    assert with_verdict(outcome, Verdict.FAIL, Verdict.WARN, Verdict.ERROR, Verdict.INCONCLUSIVE) == set()
    for requirement in ("ACK-02", "ACK-04", "RECV-04", "SEND-09", "STATE-05", "SYNC-05", "SYNC-08"):
        assert verdict_on(outcome, f"SDS-{requirement}").verdict is Verdict.PASS


class SyncsInTheFilter(Participant):
    """Every received message enters the filter."""

    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        message = decode(wire)
        self.channels[message.channel_id].filter.insert(message.message_id)
        return super().receive(wire, now_ms, retrieval_hint)


def test_the_bloom_delta_finds_syncs_in_a_filter_that_nobody_can_read() -> None:
    outcome = certified(
        lambda: private(CODEC, pb.CAPABILITY_POSSIBLY_ACKNOWLEDGED, participant=SyncsInTheFilter),
        scenarios=["syncs-between-syncs"],
    )
    assert verdict_on(outcome, "SDS-SYNC-08").verdict is Verdict.FAIL


class SaltedFilter(Participant):
    """Its filters are never twice the same: legal, and no delta tells anything."""

    def send_sync(self, channel_id: str, now_ms: int) -> Effects:
        self.channels[channel_id].filter.insert(f"salt {len(channel_id)} {now_ms} {self.next_salt()}")
        return super().send_sync(channel_id, now_ms)

    salt = 0

    def next_salt(self) -> int:
        self.salt += 1
        return self.salt


def test_the_bloom_delta_says_nothing_of_filters_that_differ_each_time() -> None:
    outcome = certified(lambda: private(CODEC, participant=SaltedFilter), scenarios=["syncs-between-syncs"])
    assert verdict_on(outcome, "SDS-SYNC-08").verdict is Verdict.INCONCLUSIVE


def constant_filter(request: pb.Request, reply: pb.Reply) -> None:
    """Every filter is the same, whatever was received."""
    for number, wire in enumerate(reply.effects.broadcasts):
        message = decode(wire)
        if message.bloom_filter is not None:
            reply.effects.broadcasts[number] = encode(replace(message, bloom_filter=bytes(8)))


def test_a_filter_that_is_always_the_same_is_found_although_no_signal_tells_what_it_holds() -> None:
    blind = (CODEC, pb.CAPABILITY_POSSIBLY_ACKNOWLEDGED, pb.CAPABILITY_OBSERVE)
    outcome = certified(lambda: altered(constant_filter, private(*blind)))
    assert verdict_on(outcome, "SDS-RECV-04").verdict is Verdict.FAIL
    for requirement in ("SEND-09", "STATE-05", "SYNC-05"):
        assert verdict_on(outcome, f"SDS-{requirement}").verdict is not Verdict.PASS
