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
HELLO = pb.HelloReply(protocol_version=1, name="dummy")

COMMANDS: dict[str, pb.Request] = {
    "open": pb.Request(open=pb.Open()),
    "close": pb.Request(close=pb.Close()),
    "send": pb.Request(send=pb.Send()),
    "send_ephemeral": pb.Request(send_ephemeral=pb.SendEphemeral()),
    "send_sync": pb.Request(send_sync=pb.SendSync()),
    "receive": pb.Request(receive=pb.Receive()),
    "tick": pb.Request(tick=pb.Tick()),
    "observe": pb.Request(observe=pb.Observe()),
    "build_filter": pb.Request(build_filter=pb.BuildFilter()),
    "query_filter": pb.Request(query_filter=pb.QueryFilter()),
    "encode": pb.Request(encode=pb.Encode()),
    "decode": pb.Request(decode=pb.Decode()),
    "repair_times": pb.Request(repair_times=pb.RepairTimes()),
}
ANSWERS: dict[str, pb.Reply] = {
    "hello": pb.Reply(hello=HELLO),
    "opened": pb.Reply(opened=pb.Opened()),
    "effects": pb.Reply(effects=pb.Effects()),
    "state": pb.Reply(state=pb.State()),
    "filter": pb.Reply(filter=pb.Filter()),
    "membership": pb.Reply(membership=pb.Membership()),
    "encoded": pb.Reply(encoded=pb.Encoded()),
    "decoded": pb.Reply(decoded=pb.Decoded()),
    "repair_offsets": pb.Reply(repair_offsets=pb.RepairOffsets()),
    "nothing": pb.Reply(),
}
BELONGS = {"open": "opened", "observe": "state", "build_filter": "filter", "query_filter": "membership"}
BELONGS |= {"encode": "encoded", "decode": "decoded", "repair_times": "repair_offsets"}
UNSUPPORTED = pb.Reply(unsupported=pb.Unsupported(what="observe"))
REJECTED = pb.Reply(rejected=pb.Rejected(reason="no such handle"))
ERROR = pb.Reply(error=pb.Error(message="disk full"))


class ScriptedLink(LocalLink):
    """Answers hello, then with the given replies; records the requests."""

    def __init__(
        self, hello: pb.Reply = ANSWERS["hello"], then: pb.Reply = ANSWERS["effects"], off_by: int = 0
    ) -> None:
        super().__init__(self.answer)
        self.hello, self.then, self.off_by = hello, then, off_by
        self.asked: list[pb.Request] = []
        self.timeouts: list[float] = []
        self.killed = False

    def answer(self, request: pb.Request) -> pb.Reply:
        reply = pb.Reply()
        reply.CopyFrom(self.hello if request.HasField("hello") else self.then)
        reply.id = request.id + (self.off_by if not request.HasField("hello") else 0)
        return reply

    def call(self, request: pb.Request, timeout_s: float, reply: type[pb.Reply]) -> pb.Reply:
        kept = pb.Request()
        kept.CopyFrom(request)
        self.asked.append(kept)
        self.timeouts.append(timeout_s)
        answer: pb.Reply = super().call(request, timeout_s, reply)
        return answer

    def stderr_lines(self) -> tuple[str, ...]:
        return ("last words",) if self.killed else ("not yet the last words",)

    def kill(self) -> None:
        self.killed = True


def session_on(link: ScriptedLink) -> Session:
    return open_session(lambda: link, LIMITS, "sds-2026-01")


def broken(call: Callable[[], object]) -> Breakdown:
    with pytest.raises(faults.TesteeError) as caught:
        call()
    return caught.value.breakdown


# ---- The handshake ---------------------------------------------------------------------------------------------------


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
        (REJECTED, FaultKind.WRONG_ANSWER, "the handshake was refused: no such handle"),
        (pb.Reply(rejected=pb.Rejected()), FaultKind.WRONG_ANSWER, "the handshake was refused: no reason given"),
        (ERROR, FaultKind.ERROR, "hello: disk full"),
        (ANSWERS["effects"], FaultKind.WRONG_ANSWER, "hello was answered with effects, not with hello"),
        (
            pb.Reply(hello=pb.HelloReply(protocol_version=2)),
            FaultKind.WRONG_ANSWER,
            "uses version 2 of the testee protocol, not 1",
        ),
        (
            pb.Reply(hello=pb.HelloReply(protocol_version=1)),
            FaultKind.WRONG_ANSWER,
            "the answer to the handshake names no implementation",
        ),
    ],
)
def test_a_handshake_that_fails_ends_the_session_and_says_why(hello: pb.Reply, kind: FaultKind, sentence: str) -> None:
    link = ScriptedLink(hello)
    breakdown = broken(lambda: session_on(link))
    assert (breakdown.kind, breakdown.detail) == (kind, sentence)
    assert link.killed


# ---- Requests and replies --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_one_kind_of_answer_that_belongs_to_it(command: str) -> None:
    expected = BELONGS.get(command, "effects")
    assert session_on(ScriptedLink(then=ANSWERS[expected])).call(COMMANDS[command]).HasField(expected)
    for name in set(ANSWERS) - {expected}:
        session = session_on(ScriptedLink(then=ANSWERS[name]))
        breakdown = broken(partial(session.call, COMMANDS[command]))
        assert breakdown.kind is FaultKind.WRONG_ANSWER
        assert breakdown.detail == f"{command} was answered with {name}, not with {expected}"


def test_after_a_fault_nothing_more_is_asked() -> None:
    link = ScriptedLink(then=ERROR)
    session = session_on(link)
    first = broken(lambda: session.call(pb.Request(tick=pb.Tick())))
    assert broken(lambda: session.call(pb.Request(send=pb.Send()))) == first
    assert len(link.asked) == 2


# ---- Declared capabilities -------------------------------------------------------------------------------------------

HINT = b"where it is kept"
PROMISED: dict[str, tuple[pb.Request, tuple[int, ...]]] = {
    "send_sync": (COMMANDS["send_sync"], (pb.CAPABILITY_SYNC,)),
    "send_ephemeral": (COMMANDS["send_ephemeral"], (pb.CAPABILITY_EPHEMERAL,)),
    "observe": (COMMANDS["observe"], (pb.CAPABILITY_OBSERVE,)),
    "build_filter": (COMMANDS["build_filter"], (pb.CAPABILITY_FILTER_CODEC,)),
    "query_filter": (COMMANDS["query_filter"], (pb.CAPABILITY_FILTER_CODEC,)),
    "encode": (COMMANDS["encode"], (pb.CAPABILITY_MESSAGE_CODEC,)),
    "decode": (COMMANDS["decode"], (pb.CAPABILITY_MESSAGE_CODEC,)),
    "repair_times": (COMMANDS["repair_times"], (pb.CAPABILITY_REPAIR_TIMES,)),
    "a filter of a size": (
        pb.Request(build_filter=pb.BuildFilter(bloom_capacity=0)),
        (pb.CAPABILITY_FILTER_CODEC, pb.CAPABILITY_FILTER_SIZES),
    ),
    "a question to a filter of a size": (
        pb.Request(query_filter=pb.QueryFilter(bloom_error_rate=0.1)),
        (pb.CAPABILITY_FILTER_CODEC, pb.CAPABILITY_FILTER_SIZES),
    ),
    "two channels": (pb.Request(open=pb.Open(channels=["c1", "c2"])), (pb.CAPABILITY_CHANNELS,)),
    "no channel": (pb.Request(open=pb.Open()), (pb.CAPABILITY_UNNAMED_CHANNEL,)),
    "an ID": (pb.Request(send=pb.Send(message_id="m-1")), (pb.CAPABILITY_MESSAGE_ID_ACCEPTED,)),
    "a hint sent": (pb.Request(send=pb.Send(retrieval_hint=HINT)), (pb.CAPABILITY_RETRIEVAL_HINTS,)),
    "a hint received": (pb.Request(receive=pb.Receive(retrieval_hint=b"")), (pb.CAPABILITY_RETRIEVAL_HINTS,)),
    "an ID and a hint": (
        pb.Request(send=pb.Send(message_id="m-1", retrieval_hint=HINT)),
        (pb.CAPABILITY_MESSAGE_ID_ACCEPTED, pb.CAPABILITY_RETRIEVAL_HINTS),
    ),
    "an ephemeral with an ID": (
        pb.Request(send_ephemeral=pb.SendEphemeral(message_id="m-1")),
        (pb.CAPABILITY_EPHEMERAL, pb.CAPABILITY_MESSAGE_ID_ACCEPTED),
    ),
}
"""Requests that need capabilities."""
FOR_EVERYBODY = {
    "open": pb.Request(open=pb.Open(channels=["c1"], configuration=pb.Configuration(causal_history_size=2))),
    "close": COMMANDS["close"],
    "send": COMMANDS["send"],
    "receive": COMMANDS["receive"],
    "tick": COMMANDS["tick"],
}


def refusing(*capabilities: int) -> ScriptedLink:
    """An implementation that declares these capabilities, and answers `unsupported` to every command."""
    hello = pb.HelloReply(protocol_version=1, name="dummy", capabilities=map(pb.Capability.Name, capabilities))
    return ScriptedLink(pb.Reply(hello=hello), UNSUPPORTED)


@pytest.mark.parametrize("command", FOR_EVERYBODY)
def test_what_everybody_needs_cannot_be_unsupported(command: str) -> None:
    link = refusing()
    breakdown = broken(lambda: session_on(link).call(FOR_EVERYBODY[command]))
    assert breakdown.kind is FaultKind.REFUSAL
    assert breakdown.detail == f"{command}, which every implementation needs, was answered `unsupported` (observe)"
    assert link.killed


@pytest.mark.parametrize("name", PROMISED)
def test_what_is_declared_cannot_be_unsupported(name: str) -> None:
    request, capabilities = PROMISED[name]
    breakdown = broken(lambda: session_on(refusing(*capabilities)).call(request))
    assert breakdown.kind is FaultKind.REFUSAL
    names = " and ".join(map(SDS.name_of, capabilities))
    assert breakdown.detail.endswith(f", although Hello declares {names}, was answered `unsupported` (observe)")


@pytest.mark.parametrize("name", PROMISED)
def test_what_is_not_declared_may_be_unsupported(name: str) -> None:
    request, capabilities = PROMISED[name]
    everything = frozenset(pb.Capability.values())
    for missing in capabilities:
        link = refusing(*(everything - {missing, pb.CAPABILITY_MESSAGE_ID_REQUIRED}))
        assert session_on(link).call(request).HasField("unsupported")
        assert not link.killed
