"""Each global property of ClearSkies: the reference keeps it, a fault breaks it, without its premises it is silent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clearskies_group_traces import shown
from clearskies_reference import Config
from clearskies_reference.mutants import MUTANTS
from clearskies_reference.testee.server import Testee, TesteeOptions
from clearskies_reference.variants import VARIANTS
from sds_conformance.exploration.assessment import Scope, assess
from sds_conformance.judging.judgement import Outcome
from sds_conformance.protocols.clearskies.properties import PROPERTIES
from sds_harness.clearskies.group_trace import GroupTrace
from sds_harness.clearskies.operations import (
    Again,
    Calm,
    Close,
    Delete,
    Hold,
    LinkPeers,
    Look,
    Member,
    Operation,
    Put,
    Read,
    Release,
    Reopen,
    Say,
    StepClock,
    Unlink,
    Wait,
)
from sds_harness.clearskies.stage import ROUND_MS
from sds_harness.schedules.operations import Tick

ALL = tuple(f"G-C{number:02}" for number in range(1, 6))
WRITERS = (Member("alice", store=True), Member("bob", store=True), Member("carol"))
LINE = (LinkPeers("alice", "bob"), LinkPeers("bob", "carol"))
END = (Calm(period_ms=1_000), Look(), Read())
MS = Wait(10)
QUIET = (MS, Tick(), Wait(ROUND_MS), Tick())
"""After that all arrivals have been processed, also by peers that process at ticks."""

APART = (*LINE, Put("alice", "m1"), MS, Hold(), Put("alice", "m2"), MS, Put("carol", "m3"), MS, Release(), *END)
GHOST = (
    *(*LINE, Put("alice", "m1"), MS, Unlink("bob", "carol"), Delete("alice", "m2"), *QUIET),
    *(
        Unlink("alice", "bob"),
        Again("zoe", "bob", label="m1"),
        LinkPeers("carol", "bob"),
        LinkPeers("alice", "bob"),
        *END,
    ),
)
FORGERY = Say("mallory", to="bob", read_only=True, after="m1", revision=9, poses_as="alice", signature="forged")
FORGED = (*LINE, Put("alice", "m1"), FORGERY, *END)

EXERCISES: dict[str, tuple[tuple[Operation, ...], tuple[Member, ...]]] = {
    "G-C01": (APART, WRITERS),
    "G-C02": (APART, WRITERS),
    "G-C03": (GHOST, WRITERS),
    "G-C04": (FORGED, WRITERS),
    "G-C05": (APART, WRITERS),
}
FAULTS: dict[str, tuple[str, ...]] = {
    "G-C01": ("does-not-relay",),
    "G-C02": ("smallest-time-wins", "first-version-wins"),
    "G-C03": ("forgets-the-deleted",),
    "G-C04": ("accepts-every-signature",),
    "G-C05": ("relays-again",),
}
"""By property: mutants that break it."""


def model(fault: str = "", **config: object) -> Testee:
    """The reference, or a mutant."""
    if fault:
        mutant = MUTANTS[fault]
        return Testee(TesteeOptions("1", mutant.configure(Config()), mutant.peer_class))
    return Testee(TesteeOptions("1", replace(Config(), **config)))  # type: ignore[arg-type]


def outcomes(group_trace: GroupTrace, what: str) -> set[Outcome]:
    return {sighting.outcome for sighting in PROPERTIES.examine(group_trace, None, [what]).get(what, ())}


def exercised(what: str, fault: str = "") -> GroupTrace:
    operations, members = EXERCISES[what]
    if what == "G-C05":  # by one way there is an end even where everything is repeated
        operations = (LinkPeers("alice", "carol"), *operations)
    return shown(*operations, members=members, testee=model(fault))


@pytest.mark.parametrize("what", ALL)
def test_the_reference_keeps_it(what: str) -> None:
    assert outcomes(exercised(what), what) == {Outcome.HELD}


@pytest.mark.parametrize(("what", "fault"), [(what, fault) for what, those in FAULTS.items() for fault in those])
def test_a_fault_breaks_it(what: str, fault: str) -> None:
    found = PROPERTIES.examine(exercised(what, fault), None, [what])[what]
    codes = {sighting.code for sighting in found if sighting.outcome is Outcome.VIOLATED}
    assert codes
    assert codes <= PROPERTIES[what].codes.keys()


# ---- Blame -----------------------------------------------------------------------------------------------------------


def test_who_was_not_reported_is_reported_from_who_was_and_decides_otherwise() -> None:
    untold = exercised("G-C01", "does-not-relay")
    assert outcomes(untold, "G-C02") <= {Outcome.HELD}
    (finding, *_) = PROPERTIES.examine(untold, None, ["G-C01"])["G-C01"]
    assert "as at other peers of its group" in finding.expected
    two = (LinkPeers("alice", "bob"), Put("alice", "m1"), MS, Hold(), Put("alice", "m2"), MS, Put("bob", "m3"), *END)
    group_trace = shown(*two, members=WRITERS[:2], testee=model("smallest-time-wins"))
    assert outcomes(group_trace, "G-C02") == {Outcome.VIOLATED}
    assert outcomes(group_trace, "G-C01") == {Outcome.HELD}


# ---- Premises --------------------------------------------------------------------------------------------------------

TIES = (*LINE, Put("alice", "m1"), MS, Hold(), Put("alice", "m2"), Put("carol", "m3"), Release(), *END)
OLDER_THAN_WHAT_IT_CHANGES = (
    *(*LINE, Put("alice", "m1"), MS, Hold("bob", "carol"), StepClock("bob", -3_600_000), Put("bob", "m2")),
    *(MS, Put("carol", "m3"), Release(), *END),
)
REVISIONS_TWICE = (
    *(*LINE, Put("carol", "m1", "a"), Put("carol", "m2", "b"), Close("carol"), Reopen("carol"), MS),
    *(Put("carol", "m3", "c"), LinkPeers("bob", "carol"), *END),
)
AN_IMPOSTOR = (*LINE, Say("xavier", to="bob", poses_as="alice", revision=1 << 40), Put("alice", "m1"), *END)
NOT_THE_END = (*LINE, Put("alice", "m1"), Calm(period_ms=1_000), Put("alice", "m2"), Read())
NOT_LINKED = (Put("alice", "m1"), *END)


@pytest.mark.parametrize(
    "operations",
    [TIES, REVISIONS_TWICE, AN_IMPOSTOR, NOT_THE_END, NOT_LINKED],
    ids=["ties", "revisions-twice", "an-impostor", "not-the-end", "not-linked"],
)
@pytest.mark.parametrize("what", ["G-C01", "G-C02"])
def test_where_the_text_does_not_say_the_outcome_nothing_is_said(what: str, operations: tuple[Operation, ...]) -> None:
    assert outcomes(shown(*operations, members=WRITERS, testee=model()), what) == set()


@pytest.mark.parametrize("what", ["G-C01", "G-C02"])
def test_what_is_older_than_what_it_changes_is_not_asked_of_those_who_go_by_their_clock(what: str) -> None:
    group_trace = shown(*OLDER_THAN_WHAT_IT_CHANGES, members=WRITERS, testee=model(advancing_times=False))
    assert outcomes(group_trace, what) <= {Outcome.HELD}


def test_a_copy_of_an_older_version_may_be_in_conflict_with_a_deletion() -> None:
    """One copy has a clock that looks older. Another one was counted at each hop, so it does not look older (CA-15)."""
    chosen = VARIANTS["clocks-count-each-hop"]
    group_trace = shown(
        *(LinkPeers("alice", "bob"), LinkPeers("alice", "carol"), Hold()),
        Say("xavier", to="bob", label="m1", at_ms=60_000),
        Say("xavier", to="carol", label="m2", deleted=True),
        *(Again("xavier", "carol"), Release(), Read()),
        members=WRITERS,
        testee=Testee(TesteeOptions("1", chosen.configure(Config()), chosen.peer_class)),
    )
    assert assess(group_trace, Scope.select(revision="clearskies-database")).findings == []
