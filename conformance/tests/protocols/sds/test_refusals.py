"""Rejecting a valid message violates the requirement that it tests, and proves nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from run_helpers import (
    CHECKS_OF_SDS,
    Handle,
    T,
    altered,
    certified,
    outcomes,
    reference,
    stage,
    view,
    with_verdict,
)
from sds_conformance.judging.check_selection import CheckSelection
from sds_conformance.judging.judgement import Outcome
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.sds.checks.core import receive
from sds_conformance.protocols.sds.register import REGISTER
from sds_conformance.protocols.sds.scenarios.repair.participants import LONGEST_MS, T_MAX_MS
from sds_conformance.protocols.sds.view.refusals import excuse_refusal
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config, Kind, Message
from sds_reference.message import decode
from sds_reference.mutants import MUTANTS
from sds_reference.variants import VARIANTS


def refusing(which: Callable[[Message], bool]) -> Handle:
    """The reference, which refuses these without a look at them."""
    handle = reference()

    def answer(request: pb.Request) -> pb.Reply:
        if request.HasField("receive") and which(decode(request.receive.wire)):
            return pb.Reply(id=request.id, rejected=pb.Rejected(reason="not today"))
        return handle(request)

    return answer


def mutant(name: str) -> Handle:
    return reference(participant=MUTANTS[name].participant_class)


@pytest.mark.parametrize(
    ("which", "due"),
    [
        (lambda m: m.kind is Kind.CONTENT and not m.causal_history, {"SDS-RECV-07", "SDS-SEND-06"}),
        (lambda m: m.kind is Kind.CONTENT and m.causal_history, {"SDS-RECV-08"}),
        (lambda m: m.kind is Kind.SYNC, {"SDS-SYNC-12", "SDS-ACK-07", "SDS-R-RECV-13", "SDS-MSG-19"}),
        (lambda m: m.kind is Kind.EPHEMERAL, {"SDS-EPHEMERAL-04", "SDS-MSG-18"}),
    ],
)
def test_a_refused_message_violates_what_it_was_sent_for_and_no_more(
    which: Callable[[Message], bool], due: set[str]
) -> None:
    """The messages are content with and without met dependencies, a sync message and an ephemeral one."""
    on = stage(refusing(which))
    alice, bob = on.open(configuration=pb.Configuration(sds_r=True)), on.peer("bob")
    own = alice.send()
    first = bob.content(T + 1)
    alice.receive(first, bob.content(T + 3, "never-sent"))
    alice.receive(bob.sync(T + 4, own, first, "gone", requests=["asked-for"]), bob.ephemeral(b"typing"))
    alice.observe()
    seen = view(on)
    checks = CheckSelection(REGISTER.facts, (check for those in CHECKS_OF_SDS.values() for check in those))
    selected = [check for _, check in checks.select(seen)]
    violated = {check.requirement for check in selected if Outcome.VIOLATED in outcomes(check.function, seen)}
    assert violated == due


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
    assert "all messages of other participants were refused, or had no effect" in reasons


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("sds_r", False, "SDS-R is declared, but could not be turned on"),
        ("t_max_ms", LONGEST_MS + 1, f"T_max is too long, although {T_MAX_MS} ms were requested"),
        ("t_max_ms", 2**63, "beyond 2"),
    ],
)
def test_a_configuration_that_leaves_nothing_to_wait_for_ends_the_scenario(field: str, value: int, reason: str) -> None:
    def insists(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("opened") and request.open.configuration.sds_r:
            setattr(reply.opened.configuration, field, value)

    outcome = certified(lambda: altered(insists), scenarios=["asked-for-what-it-has"], profile="sds-r")
    assert any(reason in verdict.reason for verdict in outcome.verdicts)
