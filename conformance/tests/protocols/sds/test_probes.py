"""Where nothing tells what is in a filter, the harness finds out: by the codec, by making filters, by the echo."""

from __future__ import annotations

from dataclasses import replace

import pytest

from run_helpers import Handle, altered, certified, reference, verdict_on, with_verdict
from sds_conformance.judging.verdict import Verdict
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Participant, decode, encode

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
