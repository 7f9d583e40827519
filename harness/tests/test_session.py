"""A session numbers requests, checks replies against the rules, and knows the declaration."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from sds_harness import faults
from sds_harness.declaration import printable
from sds_harness.faults import Breakdown, FaultKind
from sds_harness.link import Limits, LocalLink
from sds_harness.sds.language import SDS, open_session
from sds_harness.session import Session
from sds_proto.testee.v1 import testee_pb2 as pb

LIMITS = Limits(start_s=11, command_s=7)

ANSWERS: dict[str, pb.Reply] = {
    "hello": pb.Reply(hello=pb.HelloReply(protocol_version=1, name="dummy")),
    "opened": pb.Reply(opened=pb.Opened()),
    "effects": pb.Reply(effects=pb.Effects()),
    "state": pb.Reply(state=pb.State()),
    "filter": pb.Reply(filter=pb.Filter()),
    "nothing": pb.Reply(),
}
UNSUPPORTED = pb.Reply(unsupported=pb.Unsupported(what="observe"))
REJECTED = pb.Reply(rejected=pb.Rejected(reason="no such handle"))
ERROR = pb.Reply(error=pb.Error(message="disk full"))
TICK = pb.Request(tick=pb.Tick())


class PreparedLink(LocalLink):
    """Answers hello, then with the given replies; counts the requests."""

    def __init__(self, hello: pb.Reply = ANSWERS["hello"], then: pb.Reply = ANSWERS["effects"]) -> None:
        super().__init__(self.answer)
        self.hello, self.then = hello, then
        self.asked = 0
        self.killed = False

    def answer(self, request: pb.Request) -> pb.Reply:
        self.asked += 1
        reply = pb.Reply()
        reply.CopyFrom(self.hello if request.HasField("hello") else self.then)
        reply.id = request.id
        return reply

    def stderr_lines(self) -> tuple[str, ...]:
        return ("last words",) if self.killed else ("not yet the last words",)

    def kill(self) -> None:
        self.killed = True


def session_on(link: PreparedLink) -> Session:
    return open_session(lambda: link, LIMITS, "sds-2026-01")


def broken(call: Callable[[], object]) -> Breakdown:
    with pytest.raises(faults.TesteeError) as caught:
        call()
    return caught.value.breakdown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 漢", "plain é 漢"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;http://x\x07link\x1b]8;;\x1b\\", "link"),
        ("a\nb\x00c", "a�b�c"),
        ("\u202eevil", "�evil"),
        ("\x1b", "�"),
        ("\x9b31m", "�31m"),
        ("y" * 200, "y" * 200),
        ("y" * 201, "y" * 200 + "…"),
    ],
)
def test_what_a_stranger_says_is_printed_without_control_characters(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("hello", "kind", "sentence"),
    [
        (UNSUPPORTED, FaultKind.WRONG_ANSWER, "the handshake was refused: observe"),
        (pb.Reply(rejected=pb.Rejected()), FaultKind.WRONG_ANSWER, "the handshake was refused: no reason given"),
        (ERROR, FaultKind.ERROR, "hello: disk full"),
        (ANSWERS["effects"], FaultKind.WRONG_ANSWER, "hello was answered with effects, not with hello"),
        (
            pb.Reply(hello=pb.HelloReply(protocol_version=2)),
            FaultKind.WRONG_ANSWER,
            "the implementation uses version 2 of the testee protocol, not 1",
        ),
        (
            pb.Reply(hello=pb.HelloReply()),
            FaultKind.WRONG_ANSWER,
            "the handshake has no protocolVersion: answer 1",
        ),
        (
            pb.Reply(hello=pb.HelloReply(protocol_version=1)),
            FaultKind.WRONG_ANSWER,
            "the answer to the handshake names no implementation",
        ),
    ],
)
def test_a_handshake_that_fails_ends_the_session_and_says_why(hello: pb.Reply, kind: FaultKind, sentence: str) -> None:
    link = PreparedLink(hello)
    breakdown = broken(lambda: session_on(link))
    assert (breakdown.kind, breakdown.detail) == (kind, sentence)
    assert link.killed


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (pb.Request(open=pb.Open(channels=["c1"])), "opened"),
        (TICK, "effects"),
        (pb.Request(observe=pb.Observe()), "state"),
        (pb.Request(build_filter=pb.BuildFilter()), "filter"),
    ],
)
def test_a_command_has_one_kind_of_answer_that_belongs_to_it(request_: pb.Request, expected: str) -> None:
    command = request_.WhichOneof("command")
    assert session_on(PreparedLink(then=ANSWERS[expected])).call(request_).HasField(expected)
    for name in set(ANSWERS) - {expected}:
        breakdown = broken(partial(session_on(PreparedLink(then=ANSWERS[name])).call, request_))
        assert breakdown.kind is FaultKind.WRONG_ANSWER
        assert breakdown.detail == f"{command} was answered with {name}, not with {expected}"


def test_after_a_fault_nothing_more_is_asked() -> None:
    link = PreparedLink(then=ERROR)
    session = session_on(link)
    first = broken(lambda: session.call(TICK))
    assert (first.kind, first.detail, first.stderr) == (FaultKind.ERROR, "tick: disk full", ("last words",))
    assert broken(lambda: session.call(pb.Request(send=pb.Send()))) == first
    assert link.asked == 2


# ---- Declared capabilities -------------------------------------------------------------------------------------------

PROMISED: list[tuple[pb.Request, tuple[int, ...]]] = [
    (pb.Request(send_sync=pb.SendSync()), (pb.CAPABILITY_SYNC,)),
    (pb.Request(send_ephemeral=pb.SendEphemeral()), (pb.CAPABILITY_EPHEMERAL,)),
    (pb.Request(observe=pb.Observe()), (pb.CAPABILITY_OBSERVE,)),
    (pb.Request(encode=pb.Encode()), (pb.CAPABILITY_MESSAGE_CODEC,)),
    (pb.Request(repair_times=pb.RepairTimes()), (pb.CAPABILITY_REPAIR_TIMES,)),
    (
        pb.Request(query_filter=pb.QueryFilter(bloom_error_rate=0.1)),
        (pb.CAPABILITY_FILTER_CODEC, pb.CAPABILITY_FILTER_SIZES),
    ),
    (pb.Request(open=pb.Open(channels=["c1", "c2"])), (pb.CAPABILITY_CHANNELS,)),
    (pb.Request(open=pb.Open()), (pb.CAPABILITY_UNNAMED_CHANNEL,)),
    (pb.Request(receive=pb.Receive(retrieval_hint=b"")), (pb.CAPABILITY_RETRIEVAL_HINTS,)),
    (
        pb.Request(send=pb.Send(message_id="m-1", retrieval_hint=b"h")),
        (pb.CAPABILITY_MESSAGE_ID_ACCEPTED, pb.CAPABILITY_RETRIEVAL_HINTS),
    ),
]
"""Requests that need capabilities."""


def refusing(*capabilities: int) -> PreparedLink:
    """An implementation that declares these capabilities, and answers `unsupported` to every command."""
    hello = pb.HelloReply(protocol_version=1, name="dummy", capabilities=map(pb.Capability.Name, capabilities))
    return PreparedLink(pb.Reply(hello=hello), UNSUPPORTED)


@pytest.mark.parametrize("request_", [pb.Request(open=pb.Open(channels=["c1"])), pb.Request(send=pb.Send()), TICK])
def test_what_everybody_needs_cannot_be_unsupported(request_: pb.Request) -> None:
    link = refusing()
    breakdown = broken(lambda: session_on(link).call(request_))
    command = request_.WhichOneof("command")
    assert breakdown.kind is FaultKind.REFUSAL
    assert breakdown.detail == f"{command}, which every implementation needs, was answered `unsupported` (observe)"
    assert link.killed


@pytest.mark.parametrize(("request_", "capabilities"), PROMISED)
def test_what_is_declared_cannot_be_unsupported_and_what_is_not_declared_may(
    request_: pb.Request, capabilities: tuple[int, ...]
) -> None:
    breakdown = broken(lambda: session_on(refusing(*capabilities)).call(request_))
    assert breakdown.kind is FaultKind.REFUSAL
    names = " and ".join(map(SDS.name_of, capabilities))
    assert breakdown.detail.endswith(f", although Hello declares {names}, was answered `unsupported` (observe)")
    everything = frozenset(pb.Capability.values())
    for missing in capabilities:
        link = refusing(*(everything - {missing, pb.CAPABILITY_MESSAGE_ID_REQUIRED}))
        assert session_on(link).call(request_).HasField("unsupported")
        assert not link.killed


@pytest.mark.parametrize("refusal", [UNSUPPORTED, REJECTED, ERROR])
def test_a_refusal_of_a_command_that_does_not_exist_is_honest(refusal: pb.Reply) -> None:
    link = PreparedLink(then=refusal)
    session_on(link).probe_honesty()
    assert not link.killed
