"""Codec operations: typed results, and no undeclared operation is sent; hostile answers are values or faults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sds_harness import faults
from sds_harness.faults import FaultKind
from sds_harness.link import Limits, LocalLink
from sds_harness.sds.codec import Codec, DecodedMessage, Refused, RepairOffsets, Undeclared
from sds_harness.sds.language import open_session
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HistoryEntry, Message, encode
from sds_reference.testee import server

LIMITS = Limits(start_s=20, command_s=10, exit_s=5)

FULL = Message(
    "Ж字🦊",
    "m-1",
    "c1",
    2**64 - 1,
    (HistoryEntry("a", b"", ""), HistoryEntry("b"), HistoryEntry("b", b"\x00\xff", "bob")),
    b"\x80",
    (HistoryEntry("z", None, "bob"),),
    b"\x00\xff",
)
TIMES = {"t_min_ms": 30_000, "t_max_ms": 120_000, "num_response_groups": 3}


def reference(change: Callable[[pb.Request, pb.Reply], None] | None = None, **options: Any) -> LocalLink:
    testee = server.Testee(server.TesteeOptions("1", **options))

    def handle(request: pb.Request) -> pb.Reply:
        reply = testee.handle(request)
        if change is not None and not request.HasField("hello"):
            change(request, reply)
        return reply

    return LocalLink(handle)


def codec_on(link: LocalLink, **options: Any) -> Codec:
    return Codec(open_session(lambda: link, LIMITS, "sds-2026-01"), **options)


# ---- Messages --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lamport", [-1, 2**64])
def test_a_timestamp_that_no_wire_carries_is_a_fault_of_the_caller(lamport: int) -> None:
    with pytest.raises(ValueError, match="out of range"):
        codec_on(reference()).encode(replace(FULL, lamport_timestamp=lamport))


# ---- Undeclared, hostile ---------------------------------------------------------------------------------------------

OPERATIONS: dict[str, tuple[int, Callable[[Codec], object]]] = {
    "encode": (pb.CAPABILITY_MESSAGE_CODEC, lambda codec: codec.encode(FULL)),
    "decode": (pb.CAPABILITY_MESSAGE_CODEC, lambda codec: codec.decode(encode(FULL))),
    "build_filter": (pb.CAPABILITY_FILTER_CODEC, lambda codec: codec.build_filter(["a"])),
    "query_filter": (pb.CAPABILITY_FILTER_CODEC, lambda codec: codec.query_filter(b"", ["a"])),
    "repair_times": (pb.CAPABILITY_REPAIR_TIMES, lambda codec: codec.repair_times("bob", "m-1", "alice", **TIMES)),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_what_is_not_declared_is_never_asked_for(name: str) -> None:
    def nothing_is_asked(request: pb.Request, reply: pb.Reply) -> None:
        pytest.fail(f"{request.WhichOneof('command')} was asked for")

    capability, operation = OPERATIONS[name]
    answer = operation(codec_on(reference(nothing_is_asked, without=frozenset({capability}))))
    assert isinstance(answer, Undeclared)
    assert answer == Undeclared(capability)
    assert answer.reason.startswith("needs the capability ")


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_words_of_a_refusal_are_cleaned_and_bounded(name: str) -> None:
    def refuses(request: pb.Request, reply: pb.Reply) -> None:
        reply.rejected.reason = words

    operation = OPERATIONS[name][1]
    words = "\x1b[31m" + "x" * 1_000_000
    assert operation(codec_on(reference(refuses))) == Refused("x" * 200 + "…")
    words = ""
    assert operation(codec_on(reference(refuses))) == Refused("no reason given")


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("effects", FaultKind.WRONG_ANSWER),
        ("error", FaultKind.ERROR),
        ("unsupported", FaultKind.REFUSAL),
    ],
)
def test_what_is_no_answer_is_a_fault_and_ends_the_session(name: str, answer: str, kind: FaultKind) -> None:
    def wrong(request: pb.Request, reply: pb.Reply) -> None:
        getattr(reply, answer).SetInParent()

    codec, operation = codec_on(reference(wrong)), OPERATIONS[name][1]
    for _ in range(2):
        with pytest.raises(faults.TesteeError) as caught:
            operation(codec)
        assert caught.value.breakdown.kind is kind


def test_answers_of_any_shape_are_values_to_be_compared() -> None:
    def odd(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("query_filter"):
            reply.membership.hits.extend([True] * 3)
        if request.HasField("decode"):
            reply.decoded.Clear()
            reply.decoded.kind = 99  # type: ignore[assignment]
        if request.HasField("repair_times"):
            reply.repair_offsets.t_req_ms = 2**64 - 1

    codec = codec_on(reference(odd))
    made = codec.build_filter(["a"])
    assert isinstance(made, bytes)
    assert codec.query_filter(made, ["a"]) == (True,) * 4
    assert codec.decode(encode(FULL)) == DecodedMessage(Message("", "", ""), None)
    output = codec.repair_times("bob", "m-1", "alice", **TIMES)
    assert isinstance(output, RepairOffsets)
    assert output.t_req_ms == 2**64 - 1
