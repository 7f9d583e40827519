"""Codec operations: no undeclared operation is sent, and refusals are cleaned and bounded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sds_harness.link import Limits, LocalLink
from sds_harness.sds.codec import Codec, Refused, Undeclared
from sds_harness.sds.language import open_session
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Message, encode
from sds_reference.testee import server

FULL = Message("Ж字🦊", "m-1", "c1", 2**64 - 1, content=b"\x00\xff")
TIMES = {"t_min_ms": 30_000, "t_max_ms": 120_000, "num_response_groups": 3}


def reference(change: Callable[[pb.Request, pb.Reply], None] | None = None, **options: Any) -> LocalLink:
    testee = server.Testee(server.TesteeOptions("1", **options))

    def handle(request: pb.Request) -> pb.Reply:
        reply = testee.handle(request)
        if change is not None and not request.HasField("hello"):
            change(request, reply)
        return reply

    return LocalLink(handle)


def codec_on(link: LocalLink) -> Codec:
    return Codec(open_session(lambda: link, Limits(), "sds-2026-01"))


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


@pytest.mark.parametrize(
    ("words", "reason"), [("\x1b[31m" + "x" * 1_000_000, "x" * 200 + "…"), ("", "no reason given")]
)
def test_the_words_of_a_refusal_are_cleaned_and_bounded(words: str, reason: str) -> None:
    def refuses(request: pb.Request, reply: pb.Reply) -> None:
        reply.rejected.reason = words

    assert codec_on(reference(refuses)).decode(b"") == Refused(reason)
