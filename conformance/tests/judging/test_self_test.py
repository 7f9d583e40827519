"""The self-test rejects faults by requirement, accepts what is legal, and does not take a crash for a rejection."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from run_helpers import SHORT, examine_mutant, examine_variant, participant_of, plan, rules_with, unproven
from sds_conformance.judging import exercise
from sds_conformance.judging.catalogue import Consequence
from sds_conformance.judging.exercise import MutantResult
from sds_conformance.judging.plan import Plan
from sds_conformance.judging.rules import Rules
from sds_conformance.protocols.sds.catalogue import load_catalogue
from sds_conformance.protocols.sds.register import CHECKS
from sds_conformance.protocols.sds.rules import MODEL
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Channel, Effects, Message, Participant
from sds_reference.mutants import MUTANTS, Mutant
from sds_reference.variants import VARIANTS, Variant

pytestmark = pytest.mark.exhaustive


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the long scenarios out, where they are not needed."""

    def without_the_long(rules: Rules, *, revision: str, profile: str, scenarios: Iterable[str] = ()) -> Plan:
        wanted = set(scenarios)
        played = [name for name in SHORT if name in wanted or not wanted]
        return replace(plan(scenarios=played, revision=revision, profile=profile), rules=rules)

    monkeypatch.setattr(exercise, "plan", without_the_long)


def register(monkeypatch: pytest.MonkeyPatch, requirement: str, participant: type[Participant]) -> str:
    """A mutant for one test; its name."""
    monkeypatch.setitem(
        MUTANTS, "of-a-test", Mutant("of-a-test", requirement, "is made up", participant_class=participant)
    )
    return "of-a-test"


class CrashesOnDelivery(Channel):
    def deliver(self, message: Message, effects: Effects, retrieval_hint: bytes | None) -> None:
        raise RuntimeError("no room in the log")


@pytest.mark.usefixtures("short")
def test_a_variant_that_is_not_legal_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Variant("wrong", "refuses what comes from a second ahead", (("max_lamport_ahead_ms", 1_000),))
    monkeypatch.setitem(VARIANTS, "wrong", wrong)
    refused = examine_variant("wrong").refused
    assert refused
    assert all(sentence.split()[0] in CHECKS for sentence in refused)


@pytest.mark.usefixtures("short")
def test_a_mutant_that_only_crashes_is_not_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    name = register(monkeypatch, "SDS-RECV-07", participant_of(CrashesOnDelivery))
    kill = examine_mutant(name)
    assert kill.breakdowns > 0
    assert kill.verdict not in ("fail", "warn", "noted")
    assert not kill.killed


@pytest.mark.usefixtures("short")
def test_a_fault_that_another_requirement_sees_is_no_kill(monkeypatch: pytest.MonkeyPatch) -> None:
    starts_at_zero = MUTANTS["starts-at-zero"]
    name = register(monkeypatch, "SDS-MSG-13", starts_at_zero.participant_class)
    kill = examine_mutant(name)
    assert (kill.killed, kill.verdict) == (False, "pass")
    assert starts_at_zero.requirement in kill.also


# ---- Which check it was ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("short")
def test_a_kill_names_the_checks_that_reject_the_mutant() -> None:
    assert examine_mutant("starts-at-zero").checks == (CHECKS["SDS-STATE-02"][0].name,)
    rejecting = examine_mutant("filters-the-missing").checks
    assert len(CHECKS["SDS-STATE-05"]) > 1
    assert rejecting == ("filter_holds_nothing_else",)


def kill_of(requirement: str, *checks: str, killed: bool = True) -> MutantResult:
    return MutantResult("of-a-test", requirement, "is made up", "fail", killed, (), 0, checks, "")


def test_checks_that_no_mutant_makes_fail_are_named() -> None:
    everything = [kill_of(requirement, *(c.name for c in checks)) for requirement, checks in CHECKS.items()]
    assert unproven(everything) == []
    one_is_missing = [kill for kill in everything if kill.requirement != "SDS-SEND-01"]
    assert [check.requirement for check in unproven(one_is_missing)] == ["SDS-SEND-01"]
    first, *others = (check.name for check in CHECKS["SDS-STATE-05"])
    half = [kill for kill in everything if kill.requirement != "SDS-STATE-05"] + [kill_of("SDS-STATE-05", first)]
    assert [check.name for check in unproven(half)] == others


# ---- Consequences ----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("short")
def test_what_fails_beside_it_without_a_reason_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    known = examine_mutant("filter-on-delivery")
    assert known.also
    assert known.unexplained == ()
    silent = replace(load_catalogue(), consequences=())
    kill = exercise.examine_mutant(rules_with(silent), MODEL, "filter-on-delivery")
    assert kill.unexplained == known.also


def test_consequences_that_do_not_come_about_are_named() -> None:
    declared = Consequence(("SDS-ACK-05", "SDS-ACK-06"), ("SDS-STATE-12",), "of a test")
    rules = rules_with(replace(load_catalogue(), consequences=(declared,)))
    seen = replace(kill_of("SDS-ACK-05"), also=("SDS-STATE-12", "SDS-MSG-01"))
    assert exercise.outdated_consequences(rules, [seen]) == ["a fault in SDS-ACK-06 violates SDS-STATE-12"]
    assert exercise.outdated_consequences(rules, [replace(seen, also=())]) == [
        "a fault in SDS-ACK-05 violates SDS-STATE-12",
        "a fault in SDS-ACK-06 violates SDS-STATE-12",
        "a fault in SDS-ACK-05 or SDS-ACK-06 violates SDS-STATE-12",
    ]


# ---- Without a capability --------------------------------------------------------------------------------------------

SYNCLESS = frozenset({pb.CAPABILITY_SYNC, pb.CAPABILITY_PERIODIC_SYNC})


@pytest.mark.usefixtures("short")
def test_what_needs_a_capability_that_is_left_out_is_skipped_and_says_which() -> None:
    kill = examine_mutant("sync-without-filter", SYNCLESS)
    assert kill.has_survived  # its requirement speaks of content, too, and content is as it should be
    kill = examine_mutant("sync-with-content", SYNCLESS)
    assert (kill.killed, kill.has_survived) == (False, False)
    assert "sync" in kill.skipped
