"""Odd legal answers pass, and wrong answers that look legal do not."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from run_helpers import Handle, altered, reference
from sds_conformance.protocols.sds.catalogue import CURRENT
from sds_conformance.vectors.running.subject import Status
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import decode, encode
from vector_folders import BAD, asked, failed_groups, failures

FORUM = "forum-2024"
Change = Callable[[pb.Request, pb.Reply], None]


# ---- bytes -----------------------------------------------------------------------------------------------------------


def _encoding(change: Callable[[bytes], bytes]) -> Change:
    def apply(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("encoded"):
            reply.encoded.wire = change(reply.encoded.wire)

    return apply


@pytest.mark.parametrize("revision", [CURRENT, FORUM])
def test_an_encoder_may_write_the_filter_of_every_content_and_sync_message(revision: str) -> None:
    """It is always there (SDS-MSG-07, FORUM-07): an encoder needs no way to leave it out."""

    def apply(request: pb.Request, reply: pb.Reply) -> None:
        said = request.encode.message
        if reply.HasField("encoded") and said.HasField("lamport_timestamp") and not said.HasField("bloom_filter"):
            reply.encoded.wire += b"\x32\x00" if revision == FORUM else b"\x62\x00"

    outcome = asked(lambda: altered(apply), ["wire-encoding"], revision)
    assert failures(outcome) == []
    assert outcome.count(Status.PASS) == len(outcome.answered)


@pytest.mark.parametrize("revision", [CURRENT, FORUM])
def test_a_filter_of_no_length_may_be_read_as_none(revision: str) -> None:
    def apply(request: pb.Request, reply: pb.Reply) -> None:
        message = reply.decoded.message
        if reply.HasField("decoded") and message.HasField("bloom_filter") and not message.bloom_filter:
            message.ClearField("bloom_filter")

    outcome = asked(lambda: altered(apply), ["wire-decoding"], revision)
    (answer,) = (a.answer for a in outcome.answered if a.vector["id"].startswith("wire-decoding/filter-empty"))
    assert answer.status is Status.ACCEPTABLE
    assert failures(outcome) == []


def test_fields_that_nobody_knows_are_a_warning() -> None:
    outcome = asked(lambda: altered(_encoding(lambda wire: wire + b"\x98\x06\x01")), ["wire-encoding"])
    assert {a.answer.status for a in outcome.answered} == {Status.WARN}
    assert outcome.exit_code == 0
    twice = asked(lambda: altered(_encoding(lambda wire: b"\x0a\x01x" + wire)), ["wire-encoding"])
    assert twice.count(Status.FAIL) > twice.count(Status.WARN)
    assert twice.count(Status.PASS) == twice.count(Status.ACCEPTABLE) == 0


# ---- timestamps that need not be taken -------------------------------------------------------------------------------


@pytest.mark.parametrize("without", [[], [pb.CAPABILITY_OBSERVE]])
def test_messages_from_beyond_2_63_can_be_dropped_without_a_word(without: list[int]) -> None:
    inner: list[Callable[[pb.Request], pb.Reply]] = []

    def start() -> Callable[[pb.Request], pb.Reply]:
        inner[:] = [reference(without=without)]
        return dropping

    def dropping(request: pb.Request) -> pb.Reply:
        if request.HasField("receive") and (decode(request.receive.wire).lamport_timestamp or 0) >= 2**63 - 1:
            return pb.Reply(id=request.id, effects=pb.Effects())
        return inner[0](request)

    outcome = asked(start, ["lamport"])
    assert failures(outcome) == []
    answers = {a.vector["id"]: a.answer for a in outcome.answered}
    assert answers["lamport/deliver-2-63"].status is Status.ACCEPTABLE
    assert answers["lamport/send-above-2-63"].status is Status.SKIPPED
    assert "which is legal" in answers["lamport/send-above-2-63"].reason
    assert answers["lamport/deliver-largest-mandatory"].status is Status.PASS


# ---- an unknown hash -------------------------------------------------------------------------------------------------

RANDOM = random.Random(1)


def _times(change: Callable[[pb.RepairTimes, pb.RepairOffsets], object]) -> Callable[[], Callable[..., pb.Reply]]:
    def apply(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("hello"):
            reply.hello.profiles.hash = ""
        if reply.HasField("repair_offsets"):
            change(request.repair_times, reply.repair_offsets)

    return lambda: altered(apply)


def _of_participant(q: pb.RepairTimes) -> int:
    return sum(q.participant_id.encode()) % 1000


def _foreign(q: pb.RepairTimes) -> bool:
    return q.participant_id != q.sender_id


def _alone(q: pb.RepairTimes, a: pb.RepairOffsets) -> None:
    a.in_response_group = q.num_response_groups <= 1 or not _foreign(q)


@pytest.mark.parametrize(
    ("group", "change"),
    [
        ("t-req", lambda q, a: setattr(a, "t_req_ms", q.t_min_ms)),
        ("t-req", lambda q, a: setattr(a, "t_req_ms", q.t_min_ms + _of_participant(q))),
        ("t-req", lambda q, a: setattr(a, "t_req_ms", q.t_min_ms + RANDOM.randrange(90_000))),
        ("t-resp", lambda q, a: setattr(a, "t_resp_ms", 0)),
        ("t-resp", lambda q, a: setattr(a, "t_resp_ms", _of_participant(q) if _foreign(q) else 0)),
        ("response-groups", lambda q, a: setattr(a, "in_response_group", True)),
        ("response-groups", lambda q, a: _alone(q, a)),
    ],
)
def test_a_hash_without_a_name_is_used(
    group: str, change: Callable[[pb.RepairTimes, pb.RepairOffsets], object]
) -> None:
    assert failed_groups(asked(_times(change), [group])) == {group}


# ---- causal histories ------------------------------------------------------------------------------------------------


def _turning(when: Callable[[int], bool]) -> Callable[[], Callable[..., pb.Reply]]:
    count = [0]

    def apply(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("send") and reply.HasField("effects"):
            count[0] += 1
            if when(count[0]):
                wires = [_turned(wire) for wire in reply.effects.broadcasts]
                reply.effects.broadcasts[:] = wires

    return lambda: altered(apply)


def _turned(wire: bytes) -> bytes:
    message = decode(wire)
    return encode(replace(message, causal_history=message.causal_history[::-1]))


@pytest.mark.parametrize(("when", "legal"), [(lambda n: True, True), (lambda n: n % 2 == 0, False)])
def test_causal_histories_have_one_direction(when: Callable[[int], bool], legal: bool) -> None:
    outcome = asked(_turning(when), ["causal-history"])
    assert (failures(outcome) == []) is legal
    assert legal or any("AMB-29" in text for text in failures(outcome))


# ---- altered answers -------------------------------------------------------------------------------------------------


def _answers(kind: str, change: Callable[[pb.Reply], object]) -> Callable[[], Handle]:
    def apply(request: pb.Request, reply: pb.Reply) -> None:
        if reply.WhichOneof("answer") == kind:
            change(reply)

    return lambda: altered(apply)


def _no_entries(reply: pb.Reply) -> None:
    for part in (reply.state.outgoing_repairs, reply.state.incoming_repairs):
        part.ClearField("entries")


def test_no_entry_is_a_warning() -> None:
    outcome = asked(_answers("state", _no_entries), ["repair-buffers"])
    assert failures(outcome) == []
    assert outcome.count(Status.WARN) > 15


def _cut(reply: pb.Reply, name: str, size: int) -> None:
    message = reply.decoded.message
    if name in ("bloom_filter", "content"):
        if message.HasField(name):
            setattr(message, name, getattr(message, name)[:size])
        return
    for entry in (*message.causal_history, *message.repair_request):
        if entry.HasField(name) if name != "message_id" else True:
            setattr(entry, name, getattr(entry, name)[:size])


@pytest.mark.parametrize(
    ("name", "size"), [("bloom_filter", 16_383), ("content", 400), ("sender_id", 63), ("retrieval_hint", 127)]
)
def test_whoever_cuts_a_field_short_is_found(name: str, size: int) -> None:
    outcome = asked(_answers("decoded", lambda reply: _cut(reply, name, size)), ["wire-decoding"])
    failed = {a.vector["id"] for a in outcome.answered if a.answer.status in BAD}
    assert failed
    assert all("long" in i or "bytes" in i for i in failed)
