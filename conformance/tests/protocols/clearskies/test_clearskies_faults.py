"""Verdicts on implementations that are broken altogether: one fault, one finding, and no excuse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import Peer
from clearskies_reference.messages import GetUpdates
from clearskies_reference.record import StoredRecord
from clearskies_views import Handle, by_verdict, certified, model
from sds_conformance.judging.exercise import certify_reference
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.clearskies.rules import MODEL, RULES

AGAINST = (Verdict.FAIL, Verdict.WARN)


def answering(command: str, answer: pb.Reply) -> Handle:
    """The model, but for one command that it always answers so."""
    inner = model()

    def handle(request: pb.Request) -> pb.Reply:
        if request.WhichOneof("command") != command:
            return inner(request)
        reply = pb.Reply(id=request.id)
        reply.MergeFrom(answer)
        return reply

    return handle


def sending(change: Callable[[bytes], list[bytes]]) -> Handle:
    """The model, but for what it sends: each piece is what ``change`` makes of it."""
    inner = model()

    def handle(request: pb.Request) -> pb.Reply:
        reply = inner(request)
        if reply.HasField("effects"):
            sent = [pb.Sent(link=each.link, data=data) for each in reply.effects.sent for data in change(each.data)]
            del reply.effects.sent[:]
            reply.effects.sent.extend(sent)
        return reply

    return handle


REFUSED = pb.Reply(rejected=pb.Rejected(reason="no"))


def test_a_peer_that_refuses_everything_fails_and_passes_nothing_by_that() -> None:
    outcome = certified(answering("receive", REFUSED))
    assert {"CSDB-02", "CSDB-05", "CSDB-31"} <= by_verdict(outcome, Verdict.FAIL)
    assert not {"CSDB-03", "CSDB-06", "CSDB-16", "CSDB-49", "CSDB-56"} & by_verdict(outcome, Verdict.PASS, Verdict.FAIL)
    assert by_verdict(certified(answering("put", REFUSED)), *AGAINST) == {"CSDB-02"}


def test_what_is_no_message_is_reported_once() -> None:
    assert by_verdict(certified(sending(lambda data: [b"garbage" + data])), *AGAINST) == {"CSDB-15"}


class IgnoresSince(Peer):
    """Answers each request with everything."""

    def missing(self, request: GetUpdates) -> list[StoredRecord]:
        return super().missing(replace(request, since={}))


def test_a_peer_that_sends_everything_again_is_blamed_for_that_and_not_asked_for_ever() -> None:
    outcome = certified(model(IgnoresSince), "many-from-one")
    assert by_verdict(outcome, *AGAINST) == {"CSDB-59"}
    assert outcome.steps < 5_000


def test_a_reader_that_writes_is_blamed_for_that_alone() -> None:
    class WritesAsReader(Peer):
        writes = True

    outcome = certified(model(WritesAsReader), "a-reader-is-told-to-write")
    assert "CSDB-03" in by_verdict(outcome, *AGAINST)
    others = [verdict for verdict in outcome.verdicts if verdict.requirement.id in ("CSDB-05", "CSDB-18")]
    about = [finding.expected for verdict in others for finding in verdict.findings]
    assert [each for each in about if "of rita" in each] == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("capability", ["OBSERVE", "STORE", "RENAME", "READ_ONLY", "WIDE_INTEGERS", "UUID_ACCEPTED"])
def test_what_is_not_declared_is_skipped_and_nothing_fails_by_that(capability: str) -> None:
    without = frozenset({pb.Capability.Value(f"CAPABILITY_{capability}")})
    outcome = certify_reference(RULES, lambda: MODEL.reference(without))
    assert by_verdict(outcome, *AGAINST, Verdict.INCONCLUSIVE, Verdict.ERROR) == set()
