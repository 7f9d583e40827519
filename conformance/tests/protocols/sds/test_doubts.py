"""The first hint if a command breaks most runs, or if a number is too large for its reader."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from run_helpers import Handle, T, altered, certified, reference, stage
from sds_conformance.protocols.sds.doubts import doubts, extract_doubt_data
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Message
from sds_reference.message import decode

SHOWN = ("a-missing-dependency", "ties", "many-waiting")


def erring(command: str, *, after: int = 0) -> Callable[[], Handle]:
    """Starts the reference, which answers that command with an error from some time on, counted over all processes."""
    asked = 0

    def errs(request: pb.Request, reply: pb.Reply) -> None:
        nonlocal asked
        if request.WhichOneof("command") == command:
            asked += 1
            if asked > after:
                reply.error.message = "Cannot mix BigInt and other types"

    return lambda: altered(errs)


def describe(start: Callable[[], Handle]) -> str:
    return " ".join(doubts(certified(start, scenarios=SHOWN).doubt_data))


@pytest.mark.parametrize(
    ("start", "says"),
    [
        (
            erring("observe"),
            r"(\d) of \1 times that `observe` was sent, the conversation broke \(observe: Cannot mix BigInt.*no verdict"
            r".*Repair `observe` in the adapter, or remove observe from the answer to Hello",
        ),
        (erring("tick"), r"(\d) of \1 times that `tick` was sent.*Repair `tick` in the adapter, and try it"),
        (erring("observe", after=100), "$"),
        (reference, "$"),
    ],
)
def test_a_command_that_breaks_most_of_the_runs_is_named(start: Callable[[], Handle], says: str) -> None:
    assert re.match(says, describe(start))


def narrow(refused: Callable[[Message], bool]) -> Handle:
    """The reference, which cannot read some messages."""
    handle = reference()

    def answer(request: pb.Request) -> pb.Reply:
        if request.HasField("receive") and refused(decode(request.receive.wire)):
            return pb.Reply(id=request.id, rejected=pb.Rejected(reason="invalid wire type 7"))
        return handle(request)

    return answer


@pytest.mark.parametrize(
    ("refused", "question"),
    [
        (
            lambda message: (message.lamport_timestamp or 0) >= 1 << 32,
            "It accepted all 2 whose Lamport timestamp has no more than 31 bits, and refused 4 of 4 with a longer one.",
        ),
        (lambda message: message.message_id != "bob-1", "Does the adapter pass the bytes of `receive` on"),
    ],
)
def test_where_timestamps_draw_the_line_it_is_reported(refused: Callable[[Message], bool], question: str) -> None:
    on = stage(narrow(refused))
    alice, bob = on.open(), on.peer("bob")
    alice.receive(bob.content(7), bob.content(8), *(bob.content(T + more) for more in range(4)))
    asked = " ".join(doubts([extract_doubt_data(on.trace)]))
    assert "valid messages were refused (invalid wire type 7)" in asked
    assert question in asked
