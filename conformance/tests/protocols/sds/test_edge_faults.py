"""Faults at edges (other channels, alike IDs, chains, counters, refused input) fail under the right requirement."""

from __future__ import annotations

import pytest

from played import reference, stage, view
from sds_conformance.judging.judgement import Outcome
from sds_conformance.protocols.sds.register import CHECKS, SCENARIOS
from sds_harness.sds.stage import Stage
from sds_reference import Config
from sds_reference.mutants import MUTANTS
from sds_reference.variants import VARIANTS

FAULTS = (
    ("looks-in-all-logs", "one-history-in-three-channels"),
    ("own-messages-meet-anywhere", "own-messages-in-three-channels"),
    ("takes-another-case", "only-one-of-the-channels-is-joined"),
    ("syncs-in-two-channels", "silence-in-three-channels"),
    ("filters-speak-for-all-channels", "own-messages-in-three-channels"),
    ("stops-at-the-repeated", "odd-entries-of-histories"),
    ("one-level-for-ever", "chains-and-fans"),
    ("copies-age-the-filter", "copies-and-syncs-beside-a-small-filter"),
    ("private-short-are-read", "filters-that-nobody-can-read"),
    ("gives-up-at-half-time", "what-comes-before-it-is-given-up"),
    ("drops-at-half-time", "what-comes-before-it-is-given-up"),
    ("second-hit-in-silence", "two-filters-and-a-name"),
    ("filters-the-refused", "refused-and-looked-for"),
    ("buffers-the-refused", "refused-and-looked-for"),
    ("signs-foreign-histories", "repaired-after-detours"),
    ("private-groups-overlap", "response-groups-by-number"),
    ("counts-groups-round-256", "response-groups-by-number"),
)
EDGES = (
    ("lost-for-all", "what-comes-before-it-is-given-up"),
    ("drops-the-lost", "what-comes-before-it-is-given-up"),
    ("sweep-only", "chains-and-fans"),
    ("ack-after-two", "two-filters-and-a-name"),
    ("private-hash", "response-groups-by-number"),
)


def played(name: str, scenario: str) -> Stage:
    """What a mutant, or a legal variant, does in a scenario."""
    one = MUTANTS.get(name) or VARIANTS[name]
    on = stage(reference(one.configure(Config()), participant=one.participant_class))
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


@pytest.mark.parametrize(("mutant", "scenario"), FAULTS)
def test_a_fault_at_an_edge_fails_under_its_own_requirement(mutant: str, scenario: str) -> None:
    assert MUTANTS[mutant].requirement in violated(played(mutant, scenario))


@pytest.mark.parametrize(("variant", "scenario"), EDGES)
def test_a_legal_choice_at_an_edge_is_accepted(variant: str, scenario: str) -> None:
    assert violated(played(variant, scenario)) == set()
