"""The first hint of a run: a command breaks it, or most messages are refused, ignored or unreadable."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from run_helpers import Handle, T, altered, certified, reference, reference_command, stage
from sds_conformance.protocols.sds.doubts import doubts, extract_doubt_data
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Message
from sds_reference.message import decode
from sds_reference.mutants import MUTANTS
from suite_terminal import too_wide, typed, words

GREETING = ("every-kind-of-message", "replies-to-own-messages")
OBSERVED = ("a-missing-dependency", "ties", "many-waiting")


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


def mutant(name: str) -> Callable[[], Handle]:
    return lambda: reference(participant=MUTANTS[name].participant_class)


def secretive() -> Handle:
    """The layout of nim-sds, undeclared."""

    def says_nothing(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("hello"):
            reply.hello.profiles.ClearField("dialect")

    return altered(says_nothing, reference(dialect="nim-sds"))


def garbled() -> Handle:
    """An unknown layout."""

    def turns_around(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("receive"):
            reply.rejected.reason = "what is this?"
        sent = [wire[::-1] for wire in reply.effects.broadcasts] if reply.HasField("effects") else []
        if sent:
            reply.effects.ClearField("broadcasts")
            reply.effects.broadcasts.extend(sent)

    return altered(turns_around)


@pytest.mark.parametrize(
    ("start", "dialect", "scenarios", "says"),
    [
        (reference, None, OBSERVED, "$"),
        (erring("observe", after=100), None, OBSERVED, "$"),
        (
            erring("observe"),
            None,
            OBSERVED,
            r"(\d) of \1 times that `observe` was sent, the conversation broke \(observe: Cannot mix BigInt.*no verdict"
            r".*Repair `observe` in the adapter, or remove observe from the answer to Hello",
        ),
        (
            erring("tick"),
            None,
            OBSERVED,
            r"(\d) of \1 times that `tick` was sent.*Repair `tick` in the adapter, and try it",
        ),
        (lambda: reference(dialect="nim-sds"), None, GREETING, "$"),
        (secretive, "nim-sds", GREETING, "$"),
        (mutant("refuses-syncs"), None, GREETING, "$"),
        (
            secretive,
            None,
            GREETING,
            r".*not declared\? Its messages are in the dialect nim-sds: try --dialect nim-sds",
        ),
        (
            reference,
            "nim-sds",
            GREETING,
            r".*Is nim-sds the wrong dialect\? The messages of the implementation are in the layout of the spec",
        ),
        (garbled, None, GREETING, r".*not declared\? None of the known dialects \(nim-sds\) fits"),
        (
            mutant("refuses-everything"),
            None,
            GREETING,
            r"(\d) of \1 valid messages were refused \(.*\).*Does the adapter",
        ),
        (
            mutant("drops-everything"),
            None,
            GREETING,
            r"(\d) of \1 valid messages had no effect.*Does the adapter pass",
        ),
    ],
)
def test_the_likely_question_is_asked(
    start: Callable[[], Handle], dialect: str | None, scenarios: tuple[str, ...], says: str
) -> None:
    asked = doubts(certified(start, scenarios=scenarios, dialect=dialect).doubt_data)
    assert re.match(says, " ".join(asked))


@pytest.mark.parametrize(
    ("refused", "question"),
    [
        (
            lambda message: (message.lamport_timestamp or 0) >= 1 << 32,
            "The implementation accepted all 2 messages whose Lamport timestamp has at most 31 bits, and refused 4 of "
            "4 messages with a longer timestamp.",
        ),
        (lambda message: message.message_id != "bob-1", "Does the adapter pass the bytes of `receive` on"),
    ],
)
def test_if_only_long_timestamps_are_refused_the_question_says_so(
    refused: Callable[[Message], bool], question: str
) -> None:
    def cannot_read(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("receive") and refused(decode(request.receive.wire)):
            reply.rejected.reason = "invalid wire type 7"

    on = stage(altered(cannot_read))
    alice, bob = on.open(), on.peer("bob")
    alice.receive(bob.content(7), bob.content(8), *(bob.content(T + more) for more in range(4)))
    asked = " ".join(doubts([extract_doubt_data(on.trace)]))
    assert "valid messages were refused (invalid wire type 7)" in asked
    assert question in asked


def test_smoke_and_the_first_screen_of_run_ask_it() -> None:
    private = reference_command("--mutant", "undeclared-layout")
    greeted = typed("smoke", "--", *private)
    assert "Warning" in greeted.stdout
    assert "try --dialect nim-sds" in words(greeted.stdout)
    some = ["run", "--environment", "plain", "--scenario", "named-*"]
    judged = typed(*some, "--", *private)
    assert judged.stdout.index("Declares") < judged.stdout.index("Warning") < judged.stdout.index("FAIL")
    assert too_wide(greeted.stdout) == []
    assert "  Warning " not in typed(*some, "--dialect", "nim-sds", "--", *private).stdout
