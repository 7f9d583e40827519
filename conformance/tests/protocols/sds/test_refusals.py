"""A refusal is no alibi: what is valid and refused violates what it was sent for, and proves nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from run_helpers import (
    Handle,
    T,
    altered,
    certified,
    outcomes,
    reference,
    reference_command,
    rows,
    stage,
    view,
    with_verdict,
)
from sds_conformance.judging.judgement import Outcome
from sds_conformance.judging.registry import CheckFunction
from sds_conformance.judging.verdict import Verdict
from sds_conformance.presentation.invocation import Invocation
from sds_conformance.protocols.sds.checks.core import acknowledgement, ephemeral, log, receive, wire
from sds_conformance.protocols.sds.checks.repair import responses
from sds_conformance.protocols.sds.doubts import doubts
from sds_conformance.protocols.sds.view.refusals import excuse_refusal
from sds_conformance.reports.document import document
from sds_harness.sds.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config, HistoryEntry, Kind, Message
from sds_reference.message import decode
from sds_reference.mutants import MUTANTS
from sds_reference.variants import VARIANTS
from suite_terminal import too_wide, typed, words

HELD, VIOLATED, NOTED = {Outcome.HELD}, {Outcome.VIOLATED}, {Outcome.NOTED}


def refusing(which: Callable[[Message], bool]) -> Handle:
    """The reference, which refuses these without a look at them."""
    handle = reference()

    def answer(request: pb.Request) -> pb.Reply:
        if request.HasField("receive") and which(decode(request.receive.wire)):
            return pb.Reply(id=request.id, rejected=pb.Rejected(reason="not today"))
        return handle(request)

    return answer


KEPT, PROCESSED, ANY_ACKNOWLEDGES = map(rows, ("SDS-RECV-08", "SDS-SYNC-12", "SDS-ACK-07"))


def mutant(name: str) -> Handle:
    return reference(participant=MUTANTS[name].participant_class)


def a_talk(handle: Handle, *, sds_r: bool = False) -> Stage:
    """An own message; content that is met and that is not, a sync message that names the own one, an ephemeral one."""
    on = stage(handle)
    alice, bob = on.open(configuration=pb.Configuration(sds_r=sds_r)), on.peer("bob")
    own = alice.send()
    first = bob.content(T + 1)
    alice.receive(first, bob.content(T + 3, "never-sent"))
    alice.receive(
        bob.sync(T + 4, own, first, "gone", requests=["asked-for"] if sds_r else []), bob.ephemeral(b"typing")
    )
    alice.observe()
    return on


@pytest.mark.parametrize(
    ("which", "due"),
    [
        (lambda m: m.kind is Kind.CONTENT and not m.causal_history, {receive.met_messages_are_not_refused}),
        (lambda m: m.kind is Kind.CONTENT and m.causal_history, {receive.unmet_messages_are_not_refused}),
        (lambda m: m.kind is Kind.SYNC, {PROCESSED, ANY_ACKNOWLEDGES}),
        (lambda m: m.kind is Kind.EPHEMERAL, {ephemeral.delivered_at_once}),
    ],
)
def test_what_is_refused_violates_what_it_was_sent_for_and_no_more(
    which: Callable[[Message], bool], due: set[CheckFunction]
) -> None:
    seen = view(a_talk(refusing(which)))
    everything = {
        receive.met_messages_are_not_refused,
        receive.met_messages_are_delivered,
        receive.unmet_messages_are_not_refused,
        KEPT,
        receive.dependencies_verified,
        log.contentless_messages_leave_no_trace,
        PROCESSED,
        rows("SDS-SYNC-09"),
        ANY_ACKNOWLEDGES,
        rows("SDS-ACK-01"),
        ephemeral.delivered_at_once,
    }
    assert {check for check in everything if Outcome.VIOLATED in outcomes(check, seen)} == due


def test_a_refused_sync_message_leaves_requests_and_gaps_unheard() -> None:
    seen = view(a_talk(refusing(lambda m: m.kind is Kind.SYNC), sds_r=True))
    assert outcomes(responses.requests_in_sync_messages_are_not_refused, seen) == VIOLATED
    output = [*PROCESSED(seen), *acknowledgement.gaps_in_syncs_are_noticed(seen)]
    assert [o.seen for o in output] == ["refused (not today)"] * 2
    assert [o.expected.split(" ", 1)[1] for o in output] == [
        "acknowledged by the sync message",
        "found missing by the sync message",
    ]


def test_the_encoding_is_to_blame_only_where_no_message_with_these_fields_is_taken() -> None:
    hinted = stage(mutant("refuses-hints"))
    plain = stage(refusing(lambda m: m.message_id == "bob-2"))
    for on in (hinted, plain):
        alice, bob = on.open(), on.peer("bob")
        first = bob.content(T + 1)
        alice.receive(first, bob.content(T + 2, HistoryEntry(first.message_id, b"there") if on is hinted else first))
        assert outcomes(receive.met_messages_are_not_refused, view(on)) == VIOLATED
    assert outcomes(wire.reference_encoding_accepted, view(hinted)) == HELD | VIOLATED
    assert outcomes(wire.reference_encoding_accepted, view(plain)) == HELD | VIOLATED, "none had a history"
    alice.send()
    assert outcomes(wire.reference_encoding_accepted, view(plain)) == HELD, "its own message has one"


def test_what_may_be_refused_is_reported_with_its_position() -> None:
    on = stage(reference(VARIANTS["bounded-future"].configure(Config())))
    alice, bob = on.open(), on.peer("bob")
    alice.receive(bob.content(T + 1), bob.content(T + 48 * 3_600_000))
    output = list(receive.met_messages_are_not_refused(view(on)))
    assert [(o.outcome, o.seen) for o in output] == [
        (Outcome.NOTED, "refused 'bob-2', as it may: a Lamport timestamp beyond the declared bound (AMB-107)")
    ]


def test_a_cycle_and_what_names_a_sync_message_may_be_refused() -> None:
    on = stage(refusing(lambda m: m.message_id in ("q", "names-a-sync")))
    alice, bob = on.open(), on.peer("bob")
    gap = bob.sync(T + 3)
    alice.receive(bob.content(T + 1, "q", message_id="p"), bob.content(T + 2, "p", message_id="q"))
    alice.receive(gap, bob.content(T + 4, gap, message_id="names-a-sync"))
    seen = view(on)
    assert [excuse_refusal(seen, r)[-8:] for r in seen.refused] == ["(AMB-45)", " AMB-41)"]
    assert outcomes(receive.unmet_messages_are_not_refused, seen) == set()


# ---- Nothing refused passes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("without", [(), (pb.CAPABILITY_OBSERVE,)], ids=["shown", "unseen"])
def test_who_drops_everything_without_a_word_passes_what_nobody_has_to_be_heard_for(without: tuple[int, ...]) -> None:
    faulty = MUTANTS["drops-everything"].participant_class
    outcome = certified(lambda: reference(participant=faulty, without=without))
    assert with_verdict(outcome, Verdict.PASS) == {"SDS-R-GLOBAL-06", "SDS-R-GLOBAL-07"}
    failed = with_verdict(outcome, Verdict.FAIL)
    assert {"SDS-RECV-03", "SDS-RECV-04", "SDS-RECV-07", "SDS-ACK-01", "SDS-ACK-02", "SDS-SYNC-12"} <= failed
    # A message that was never acknowledged, logged or tracked proves nothing about its later handling.
    assert not failed & {f"SDS-{short}" for short in ("STATE-15", "OUTSWEEP-04", "SEND-11", "MSG-23", "R-STATE-02")}


@pytest.mark.parametrize("name", ["refuses-everything", "undeclared-layout"])
def test_who_refuses_everything_passes_nothing_that_others_are_needed_for(name: str) -> None:
    outcome = certified(lambda: mutant(name))
    passed = with_verdict(outcome, Verdict.PASS)
    assert len(passed) < 8
    assert not passed & {f"SDS-{short}" for short in ("SYNC-09", "RECV-10", "RECV-05", "SEND-04", "RECV-01")}
    assert {"SDS-RECV-07", "SDS-RECV-08", "SDS-SYNC-12", "SDS-MSG-01"} <= with_verdict(outcome, Verdict.FAIL)
    reasons = {v.reason for v in outcome.verdicts if v.verdict is Verdict.INCONCLUSIVE}
    assert "all messages of others were refused, or had no effect" in reasons


# ---- The question to ask ---------------------------------------------------------------------------------------------


def asked(start: Callable[[], Handle], dialect: str | None = None) -> str:
    greeting = ["every-kind-of-message", "replies-to-own-messages"]
    return " ".join(doubts(certified(start, scenarios=greeting, dialect=dialect).doubt_data))


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
    ("start", "dialect", "says"),
    [
        (reference, None, "$"),
        (lambda: reference(dialect="nim-sds"), None, "$"),
        (secretive, "nim-sds", "$"),
        (lambda: mutant("refuses-syncs"), None, "$"),
        (
            secretive,
            None,
            r".*not declared\? Its messages are in the dialect nim-sds: try --dialect nim-sds",
        ),
        (
            reference,
            "nim-sds",
            r".*Is nim-sds the wrong dialect\? Its messages are in the layout of the specification",
        ),
        (garbled, None, r".*not declared\? None of the known dialects \(nim-sds\) fits"),
        (
            lambda: mutant("refuses-everything"),
            None,
            r"(\d) of \1 valid messages were refused \(no\).*Does the adapter",
        ),
        (lambda: mutant("drops-everything"), None, r"(\d) of \1 valid messages had no effect.*Does the adapter pass"),
    ],
)
def test_where_most_is_refused_or_unread_the_likely_question_is_asked(
    start: Callable[[], Handle], dialect: str | None, says: str
) -> None:
    assert re.match(says, asked(start, dialect))


def test_the_report_has_it_as_well() -> None:
    asking = document(certified(lambda: mutant("refuses-everything"), scenarios=["two-channels"]), Invocation(("x",)))
    assert asking["doubts"][-1].endswith("to the right channel?")
    assert document(certified(reference, scenarios=["two-channels"]), Invocation(("x",)))["doubts"] == []


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
