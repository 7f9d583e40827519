"""The status of answers that are altered in one way: accepted or not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator

from run_helpers import Handle, altered, reference
from sds_conformance.protocols.sds.catalogue import CURRENT
from sds_conformance.protocols.sds.vectors.material import MATERIAL
from sds_conformance.vectors.running.examination import Examination, VectorExaminer
from sds_conformance.vectors.running.subject import Status
from sds_conformance.vectors.schemas import NUMERAL, TEXT
from sds_harness.link import Limits, LocalLink
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import decode, encode
from sds_reference.wire_fields import varint
from vector_folders import BAD, asked, every_test, failures


def _answers(kind: str, change: Callable[[pb.Reply], object]) -> Callable[[], Handle]:
    def apply(request: pb.Request, reply: pb.Reply) -> None:
        if reply.WhichOneof("answer") == kind:
            change(reply)

    return lambda: altered(apply)


def _statuses(outcome: Examination) -> dict[str, Status]:
    return {a.vector["id"]: a.answer.status for a in outcome.answered}


# ---- repair buffers --------------------------------------------------------------------------------------------------


def _no_entries(reply: pb.Reply) -> None:
    for part in (reply.state.outgoing_repairs, reply.state.incoming_repairs):
        part.ClearField("entries")


def _later(reply: pb.Reply) -> None:
    for part in (reply.state.outgoing_repairs, reply.state.incoming_repairs):
        for entry in part.entries:
            entry.due_ms += 1


def _renamed(reply: pb.Reply) -> None:
    for part in (reply.state.outgoing_repairs, reply.state.incoming_repairs):
        for entry in part.entries:
            entry.message_id += "!"


def test_no_entry_is_a_warning() -> None:
    outcome = asked(_answers("state", _no_entries), ["repair-buffers"])
    assert failures(outcome) == []
    assert outcome.count(Status.WARN) > 15


@pytest.mark.parametrize("change", [_later, _renamed])
def test_another_time_or_another_entry_is_a_failure(change: Callable[[pb.Reply], object]) -> None:
    outcome = asked(_answers("state", change), ["repair-buffers"])
    assert outcome.count(Status.FAIL) > 15
    assert outcome.count(Status.WARN) == 0


@pytest.mark.parametrize("name", ["named-again", "asked-again", "what-waits", "asked-for-what-waits"])
def test_an_entry_that_gets_lost_is_a_failure(name: str) -> None:
    """It is in the first state that has one, and in none after that."""
    shown: list[bool] = []

    def lost(reply: pb.Reply) -> None:
        if any(shown):
            _no_entries(reply)
        shown.append(bool(reply.state.outgoing_repairs.entries or reply.state.incoming_repairs.entries))

    (test,) = [test for test in every_test() if test["id"] == f"repair-buffers/{name}"]
    examiner = VectorExaminer(MATERIAL, lambda _: LocalLink(_answers("state", lost)()), Limits(), CURRENT)
    outcome = examiner.examine([{"group": "repair-buffers", "shape": "repair-buffers", "tests": [test]}])
    assert [a.answer.status for a in outcome.answered] == [Status.FAIL]


# ---- timestamps ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("without", [[], [pb.CAPABILITY_OBSERVE]])
def test_dropping_what_is_beyond_the_range_of_signed_integers_is_legal(without: list[int]) -> None:
    def handle() -> Handle:
        inner = reference(without=without)

        def answer(request: pb.Request) -> pb.Reply:
            if request.WhichOneof("command") == "receive":
                message = decode(request.receive.wire)
                if (message.lamport_timestamp or 0) >= 2**63:
                    request.receive.wire = encode(replace(message, lamport_timestamp=1, content=None))
            return inner(request)

        return answer

    outcome = asked(handle, ["lamport"])
    assert failures(outcome) == []
    statuses = _statuses(outcome)
    assert statuses["lamport/deliver-largest"] is statuses["lamport/deliver-2-63"] is Status.ACCEPTABLE


# ---- wire bytes ------------------------------------------------------------------------------------------------------


def test_content_of_no_length_may_be_written() -> None:
    def write(reply: pb.Reply) -> None:
        if b"\xa2\x01" not in reply.encoded.wire:
            reply.encoded.wire += b"\xa2\x01\x00"

    outcome = asked(_answers("encoded", write), ["wire-encoding"])
    assert failures(outcome) == []
    assert {i for i, status in _statuses(outcome).items() if status is not Status.PASS} == {
        "wire-encoding/sync",
        "wire-encoding/request-in-a-sync",
    }


def _through_a_double(request: pb.Request, reply: pb.Reply) -> None:
    """An encoder of which 2^53+1 and what is above comes out as the next double."""
    if request.WhichOneof("command") != "encode":
        return
    lamport = request.encode.message.lamport_timestamp
    if float(lamport) != lamport:
        at = reply.encoded.wire.index(varint(lamport))
        rest = reply.encoded.wire[at + len(varint(lamport)) :]
        reply.encoded.wire = reply.encoded.wire[:at] + varint(min(int(float(lamport)), 2**64 - 2)) + rest


def test_an_encoder_of_doubles_is_found() -> None:
    statuses = _statuses(asked(lambda: altered(_through_a_double), ["wire-encoding"]))
    assert statuses["wire-encoding/lamport-2-53"] is Status.PASS
    assert statuses["wire-encoding/lamport-2-53-and-1"] is Status.FAIL
    assert statuses["wire-encoding/lamport-largest"] is Status.FAIL


def test_an_encoder_may_refuse_timestamps_beyond_those_that_must_work() -> None:
    def apply(request: pb.Request, reply: pb.Reply) -> None:
        if request.WhichOneof("command") == "encode" and request.encode.message.lamport_timestamp > 2**53 + 10:
            reply.rejected.reason = "too large"

    outcome = asked(lambda: altered(apply), ["wire-encoding"])
    assert failures(outcome) == []
    assert outcome.count(Status.ACCEPTABLE) == 3


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
    ("name", "size"),
    [
        ("bloom_filter", 100),
        ("bloom_filter", 16_383),
        ("content", 400),
        ("content", 16_383),
        ("message_id", 63),
        ("sender_id", 63),
        ("retrieval_hint", 16),
        ("retrieval_hint", 127),
    ],
)
def test_whoever_cuts_a_field_short_is_found(name: str, size: int) -> None:
    outcome = asked(_answers("decoded", lambda reply: _cut(reply, name, size)), ["wire-decoding"])
    failed = {i for i, status in _statuses(outcome).items() if status in BAD}
    assert failed
    assert all("long" in i or "bytes" in i for i in failed)


def test_where_a_text_is_no_utf8_the_rest_still_counts() -> None:
    def read(request: pb.Request, reply: pb.Reply) -> None:
        if request.WhichOneof("command") != "decode" or not _is_no_text(request.decode.wire):
            return
        reply.ClearField("rejected")
        reply.decoded.message.sender_id = "whoever"

    statuses = _statuses(asked(lambda: altered(read), ["wire-decoding"]))
    texts = {i: status for i, status in statuses.items() if "/utf-8-" in i}
    assert len(texts) == 6
    assert set(texts.values()) == {Status.FAIL}


def _is_no_text(wire: bytes) -> bool:
    return any(part in wire for part in (b"b\xffb", b"m\xe4\xb8", b"caf\xe9", b"\xed\xa0", b"a\xc0\xaf", b"\x80abc"))


# ---- what the data say -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["0", "9", "10", "9" * 19, str(2**63), str(2**64 - 1)])
def test_a_numeral_is_an_unsigned_number_of_64_bits(text: str) -> None:
    assert Draft202012Validator(NUMERAL).is_valid(text)


@pytest.mark.parametrize("text", ["", "01", "-1", "1.0", str(2**64), "18446744073709551620", "99999999999999999999"])
def test_what_is_more_is_none(text: str) -> None:
    assert not Draft202012Validator(NUMERAL).is_valid(text)


def test_half_a_pair_of_surrogates_is_no_text() -> None:
    for text in ("", "a", "\n", "\U0001f98a", "\ud7ff\ue000"):
        assert Draft202012Validator(TEXT).is_valid(text)
    for text in ("\ud800", "a\udfff", "\udc00\n"):
        assert not Draft202012Validator(TEXT).is_valid(text)
