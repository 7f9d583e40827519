"""Faults that failed under a requirement which they do not violate, and faults without events or a virtual clock."""

from __future__ import annotations

from run_helpers import reference, stage, view
from sds_conformance.judging.judgement import Outcome
from sds_conformance.protocols.sds.register import CHECKS, SCENARIOS
from sds_harness.sds.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config
from sds_reference.mutants import MUTANTS
from sds_reference.variants import VARIANTS


def played(name: str, scenario: str, without: tuple[int, ...] = ()) -> Stage:
    """Play a scenario with a mutant or a legal variant, which does not declare some capabilities."""
    one = MUTANTS.get(name) or VARIANTS[name]
    on = stage(reference(one.configure(Config()), without=without, participant=one.participant_class))
    SCENARIOS[scenario].function(on)
    return on


def violated(on: Stage) -> set[str]:
    """The requirements that any participant violates in any channel."""
    views = [view(on, party.name, channel) for party in on.trace.parties.values() for channel in party.channels]
    return {
        requirement
        for requirement, checks in CHECKS.items()
        for check in checks
        if requirement.startswith("SDS-") and all(on.trace.declaration.can(need) for need in check.needs)
        if any(seen.outcome is Outcome.VIOLATED for one in views for seen in check.function(one))
    }


def test_a_message_that_waited_is_missed_without_delivery_events() -> None:
    blind = (pb.CAPABILITY_DELIVERED, pb.CAPABILITY_OBSERVE)
    assert violated(played("quietly-drops-the-blocked", "waiting-from-ahead", blind)) == {"SDS-RECV-08"}
    assert violated(played("sweep-only", "waiting-from-ahead", blind)) == set()


def test_resends_in_real_time_show_that_nothing_was_acknowledged() -> None:
    hidden = (
        pb.CAPABILITY_VIRTUAL_CLOCK,
        pb.CAPABILITY_ACKNOWLEDGED,
        pb.CAPABILITY_POSSIBLY_ACKNOWLEDGED,
        pb.CAPABILITY_OBSERVE,
    )
    assert violated(played("resends-acknowledged-at-each-tick", "acknowledged-and-done", hidden)) >= {"SDS-OUTSWEEP-04"}
    assert violated(played("resends-sync-acknowledged-at-each-tick", "every-way-to-acknowledge", hidden)) == {
        "SDS-SYNC-12"
    }
