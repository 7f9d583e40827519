"""The proposal of 2024 as a revision: what is spoken, what is legal in it though unusual, and what is not."""

from __future__ import annotations

from itertools import count

import pytest

from run_helpers import (
    certified,
    outcomes,
    participant_of,
    reference,
    reference_command,
    stage,
    variant,
    verdict_on,
    view,
    with_verdict,
)
from sds_conformance.judging.judgement import Outcome
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.sds.checks.forum import proposal_rules as forum
from sds_conformance.protocols.sds.register import CHECKS
from sds_harness.sds.stage import Stage
from sds_harness.stage import COUNTING_START_MS
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import FORUM_2024, Channel
from suite_terminal import typed, words

FORUM = FORUM_2024.name


def proposing(handle: type[Channel] = Channel) -> Stage:
    return stage(reference(participant=participant_of(handle)), revision=FORUM)


# ---- What is legal ---------------------------------------------------------------------------------------------------


def test_syncs_that_a_shown_log_leaves_out_are_reported_and_not_reproached() -> None:
    def hides(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("state"):
            kept = [entry for entry in reply.state.log.entries if not entry.message_id.startswith("sync-")]
            del reply.state.log.entries[:]
            reply.state.log.entries.extend(kept)

    inner = reference()

    def answer(request: pb.Request) -> pb.Reply:
        reply = inner(request)
        hides(request, reply)
        return reply

    outcome = certified(lambda: answer, scenarios=["syncs-*"], revision=FORUM)
    verdict = verdict_on(outcome, "FORUM-37")
    assert verdict.verdict is Verdict.PASS
    assert "does not show in the log" in verdict.findings[0].seen


@pytest.mark.exhaustive
@pytest.mark.parametrize("without", [pb.CAPABILITY_OBSERVE, pb.CAPABILITY_DELIVERED, pb.CAPABILITY_SYNC])
def test_the_reference_is_not_accused_of_what_it_does_not_show(without: int) -> None:
    outcome = certified(lambda: reference(without=[without]), scenarios=["*"], revision=FORUM)
    assert with_verdict(outcome, Verdict.FAIL, Verdict.WARN, Verdict.ERROR) == set()
    assert len(with_verdict(outcome, Verdict.PASS)) > 20


# ---- What is not -----------------------------------------------------------------------------------------------------


def test_what_speaks_sds_does_not_conform_to_the_proposal() -> None:
    def as_ever(request: pb.Request) -> pb.Reply:
        if request.HasField("hello"):
            request.hello.revision = "sds-2026-01"
        return inner(request)

    inner = reference()
    outcome = certified(lambda: as_ever, revision=FORUM)
    assert {"FORUM-01", "FORUM-04", "FORUM-06"} <= with_verdict(outcome, Verdict.FAIL)
    assert with_verdict(outcome, Verdict.ERROR) == set()


def test_what_speaks_the_proposal_does_not_conform_to_sds() -> None:
    def as_ever(request: pb.Request) -> pb.Reply:
        if request.HasField("hello"):
            request.hello.revision = FORUM
        return inner(request)

    inner = reference()
    outcome = certified(lambda: as_ever, profile="core")
    assert {"SDS-MSG-01", "SDS-MSG-04"} <= with_verdict(outcome, Verdict.FAIL)
    assert with_verdict(outcome, Verdict.ERROR) == set()


# ---- The trace, and what is expected ---------------------------------------------------------------------------------


def test_a_dependency_on_an_own_sync_message_is_nobodys_fault() -> None:
    played = stage(variant("forum-forgets-its-syncs"), revision=FORUM)
    alice, bob = played.open(), played.peer("bob")
    own = alice.send_sync()
    assert own is not None
    alice.receive(bob.content(5, own))
    alice.settle()
    (received,) = view(played).received
    assert "may or may not be" in received.oddity
    for checks in CHECKS.values():
        for check in checks:
            if check.requirement.startswith("FORUM-"):
                assert Outcome.VIOLATED not in outcomes(check.function, view(played)), check.name


def test_a_first_message_from_nowhere_is_reported_and_one_from_the_clock_is_a_violation() -> None:
    for first, expected in ((1, Outcome.HELD), (7, Outcome.NOTED), (COUNTING_START_MS, Outcome.VIOLATED)):
        numbers = count(first)
        counting = type("Counting", (Channel,), {"next_lamport": lambda self, now_ms, numbers=numbers: next(numbers)})
        played = proposing(counting)
        played.open().send()
        assert outcomes(forum.counting_starts_at_0, view(played)) == {expected}


# ---- The command line ------------------------------------------------------------------------------------------------


def test_the_certificate_names_the_text_and_says_nothing_of_repairs() -> None:
    result = typed("run", "--revision", FORUM, "--scenario", "ties", "--", *reference_command())
    assert result.exit_code == 0
    text = words(result.stdout)
    assert f"Against {FORUM}: the proposal of 2024, a separate protocol from which SDS grew" in text
    assert f"environment sds-r: {FORUM} has no SDS-R" in text
    assert "Repairs" not in text
    assert "without SDS-R" not in text


def test_one_requirement_of_the_proposal_is_shown_with_its_conversation() -> None:
    scenarios = ["--scenario", "counting-from-zero", "--environment", "plain"]
    result = typed("run", "--revision", FORUM, "--select", "forum-09", *scenarios)
    text = words(result.stdout)
    assert result.exit_code == 0
    assert "alice joins c1 at T" in text
    assert "Lamport 1" in text
