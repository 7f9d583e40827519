"""Global properties on generated schedules: no legal implementation is accused, and faults are found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from global_schedules import play_schedule, replaying
from run_helpers import Handle, reference
from sds_conformance.exploration.assessment import Scope, assess
from sds_conformance.judging.judgement import Outcome
from sds_conformance.protocols.properties import Sighting
from sds_conformance.protocols.sds.properties import examine
from sds_harness.schedules import Schedule
from sds_harness.sds.generator import Grammar, generate_schedule
from sds_harness.sds.operations import Calm, Look
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config
from sds_reference.mutants import MUTANTS
from sds_reference.variants import VARIANTS

pytestmark = pytest.mark.exhaustive

SEED = 11
SMALL = Grammar(most=4, longest=2)
UNSEEN = (pb.CAPABILITY_OBSERVE,)
VARIANT_NAMES = tuple(VARIANTS)


def calmed(index: int) -> Schedule:
    """A generated schedule that ends in peace, now and then with a store."""
    drawn = generate_schedule(SEED, index, SMALL)
    return replace(drawn, operations=(*drawn.operations, Calm(rounds=20, store=index % 3 == 0), Look()))


def accusations(what: Schedule, handle: Handle) -> list[tuple[str, Sighting]]:
    found = examine(play_schedule(what, lambda: handle), replaying(lambda: handle))
    return [(name, s) for name, seen in found.items() for s in seen if s.outcome is Outcome.VIOLATED]


@pytest.mark.parametrize("without", [(), UNSEEN], ids=["seen", "unseen"])
@pytest.mark.parametrize("index", range(4))
def test_the_reference_is_never_accused(index: int, without: tuple[int, ...]) -> None:
    assert accusations(calmed(index), reference(without=without)) == []


@pytest.mark.parametrize("name", VARIANT_NAMES)
def test_no_legal_variant_is_accused(name: str) -> None:
    index = 100 + VARIANT_NAMES.index(name)
    assert accusations(calmed(index), reference(VARIANTS[name].configure(Config()))) == []


@pytest.mark.parametrize(
    "capability",
    [
        pb.CAPABILITY_DELIVERED,
        pb.CAPABILITY_ACKNOWLEDGED,
        pb.CAPABILITY_POSSIBLY_ACKNOWLEDGED,
        pb.CAPABILITY_SYNC,
        pb.CAPABILITY_EPHEMERAL,
        pb.CAPABILITY_RESEND,
        pb.CAPABILITY_SDS_R,
        pb.CAPABILITY_CHANNELS,
    ],
)
def test_what_is_not_declared_is_not_held_against_anybody(capability: int) -> None:
    for index in range(2):
        assert accusations(calmed(200 + index), reference(without=(capability,))) == []
        assert accusations(calmed(210 + index), reference(without=(capability, *UNSEEN))) == []


@pytest.mark.parametrize("name", ["log-by-arrival", "ignores-filters"])
def test_generated_schedules_find_faults(name: str) -> None:
    handle = faulty(name)
    assert any(accusations(generate_schedule(SEED, index), handle) for index in range(10))


@pytest.mark.parametrize("name", ["keeps-clock-on-delivery", "first-dependency-only"])
def test_a_requirement_finds_what_a_withdrawn_property_found(name: str) -> None:
    played = (play_schedule(generate_schedule(SEED, index), lambda: faulty(name)) for index in range(10))
    found = (
        {finding.requirement for finding in assess(group_trace, Scope.select()).findings} for group_trace in played
    )
    assert any(MUTANTS[name].requirement in requirements for requirements in found)


def faulty(name: str) -> Handle:
    mutant = MUTANTS[name]
    return reference(mutant.configure(Config()), participant=mutant.participant_class)
