"""Each global property: the reference keeps it, it says nothing without its premises, and a fault breaks it."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import count

import pytest

from global_schedules import EXERCISES, UNDECLARED, UNEXERCISED, outcomes, play_schedule
from run_helpers import Handle, participant_of, reference
from sds_conformance.judging.judgement import Outcome
from sds_conformance.protocols.properties import Sighting
from sds_conformance.protocols.sds.catalogue import CURRENT, load_catalogue
from sds_conformance.protocols.sds.properties import PROPERTIES, PROPOSED, examine
from sds_conformance.protocols.sds.properties.proposal import HOLDS
from sds_harness.schedules import Schedule
from sds_reference import FORUM_2024, Channel, Config, Effects, HistoryEntry, Kind, Message, Participant
from sds_reference.mutants import MUTANTS
from sds_reference.repair import Repair

FORUM = FORUM_2024.name
CASES = [
    *((CURRENT, property_id, property_id) for property_id in sorted(PROPERTIES)),
    *((FORUM, property_id, property_id.replace("G-", "G-F")) for property_id in HOLDS),
]
"""Revisions, properties of SDS, and the names of these in the revision."""
FAULTS: dict[str, tuple[str, ...]] = {
    "G-01": ("one-level-only", "logs-nothing-with-dependencies"),
    "G-02": ("ties-by-arrival", "own-last-among-equals"),
    "G-03": ("log-by-arrival", "highest-hash-first"),
    "G-06": ("does-not-buffer-outgoing", "unseen-does-not-buffer-outgoing"),
    "G-07": ("sweeps-once-in-an-hour", "answers-in-another-channel", "never-requests"),
    "G-10": ("sent-is-acknowledged",),
    "G-11": ("acknowledges-the-first", "ignores-filters"),
    "G-12": ("never-empties-the-buffer", "buffers-syncs"),
    "G-15": ("one-clock-for-all", "mixed-histories"),
    "G-18": ("delivers ephemerals twice",),
    "G-19": ("log-by-arrival",),
    "G-22": ("keeps-no-own",),
    "G-23": ("everybody is eligible",),
    "G-24": ("asks at once", "repeats-unasked"),
    "G-26": ("does-not-buffer-outgoing",),
    "G-30": ("sweeps-once-in-an-hour",),
    "G-31": ("restamped-copies",),
    "G-35": ("another T_req in every run",),
}
"""By property: mutants, or faults from here, that break it."""
NOT_OF_THE_PROPOSAL = {(FORUM, "buffers-syncs")}
"""Faults that break no property of the proposal of 2024."""


class AsksAtOnce(Repair):
    def t_req(self, entry: HistoryEntry, now_ms: int) -> int:
        return now_ms


class EverybodyIsEligible(Repair):
    def is_eligible_responder(self, entry: HistoryEntry) -> bool:
        return True


class AnotherTimeInEveryRun(Repair):
    _calls = count()

    def t_req(self, entry: HistoryEntry, now_ms: int) -> int:
        return super().t_req(entry, now_ms) + 1_000 * next(self._calls)


class DeliversEphemeralsTwice(Channel):
    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        effects = super().receive(message, now_ms, retrieval_hint)
        if message.kind is Kind.EPHEMERAL:
            effects.events += effects.events
        return effects


def repairing_with(repair: type[Repair]) -> type[Participant]:
    return participant_of(type("ChannelOfATest", (Channel,), {"repair_class": repair}))


OTHER_FAULTS: dict[str, type[Participant]] = {
    "asks at once": repairing_with(AsksAtOnce),
    "everybody is eligible": repairing_with(EverybodyIsEligible),
    "another T_req in every run": repairing_with(AnotherTimeInEveryRun),
    "delivers ephemerals twice": participant_of(DeliversEphemeralsTwice),
}


def start_of(property_id: str, fault: str = "") -> Callable[[], Handle]:
    """Starts the reference or a faulty one, without the capabilities that the schedule of a property leaves out."""
    without = UNDECLARED.get(property_id, ())
    if not fault:
        return lambda: reference(without=without)
    if fault in OTHER_FAULTS:
        return lambda: reference(participant=OTHER_FAULTS[fault], without=without)
    mutant = MUTANTS[fault]
    return lambda: reference(mutant.configure(Config()), participant=mutant.participant_class, without=without)


def sightings(what: Schedule, start: Callable[[], Handle], revision: str) -> dict[str, list[Sighting]]:
    """The results of all properties of a revision, twins included."""
    properties = PROPERTIES if revision == CURRENT else PROPOSED
    group_trace = play_schedule(what, start, revision)
    return properties.examine(group_trace, lambda changed: play_schedule(changed, start, revision))


def test_every_property_has_a_schedule_and_a_fault() -> None:
    assert EXERCISES.keys() == UNEXERCISED.keys() == FAULTS.keys() == PROPERTIES.keys()


def test_every_property_has_a_summary_requirements_and_codes() -> None:
    known = load_catalogue().requirements
    for entry in (*PROPERTIES.values(), *PROPOSED.values()):
        assert entry.summary.endswith("."), entry.id
        assert entry.requirements, entry.id
        assert set(entry.requirements) <= set(known), entry.id
        assert entry.codes, entry.id
        for code, what in entry.codes.items():
            assert re.fullmatch(r"[a-z]+(-[a-z]+){0,3}", code), (entry.id, code)
            assert 0 < len(what) <= 90, (entry.id, code)


@pytest.mark.parametrize(("revision", "property_id", "name"), CASES)
def test_the_reference_keeps_it_where_it_is_exercised(revision: str, property_id: str, name: str) -> None:
    found = sightings(EXERCISES[property_id], start_of(property_id), revision)
    assert outcomes(found.get(name, [])) == {Outcome.HELD}
    assert {each for each, seen in found.items() if Outcome.VIOLATED in outcomes(seen)} == set()
    assert sightings(UNEXERCISED[property_id], reference, revision).get(name, []) == []


@pytest.mark.parametrize(
    ("revision", "property_id", "name", "fault"),
    [(*case, fault) for case in CASES for fault in FAULTS[case[1]] if (case[0], fault) not in NOT_OF_THE_PROPOSAL],
)
def test_a_fault_breaks_it(revision: str, property_id: str, name: str, fault: str) -> None:
    found = sightings(EXERCISES[property_id], start_of(property_id, fault), revision)[name]
    violations = [each for each in found if each.outcome is Outcome.VIOLATED]
    assert violations != []
    codes = (PROPERTIES if revision == CURRENT else PROPOSED)[name].codes
    for violation in violations:
        assert violation.code in codes
        assert violation.expected
        assert violation.seen


def test_twins_are_left_out_where_nothing_can_be_played_again() -> None:
    twins = {name for name, entry in PROPERTIES.items() if entry.twin is not None}
    assert twins == {"G-15", "G-19", "G-35"}
    assert not twins & examine(play_schedule(EXERCISES["G-15"])).keys()


def test_the_id_of_a_withdrawn_property_is_never_used_again_and_others_judge_its_faults() -> None:
    known = load_catalogue().requirements.keys() | PROPERTIES.keys() | PROPOSED.keys()
    for properties in (PROPERTIES, PROPOSED):
        assert not properties.keys() & properties.withdrawn.keys()
        for judged_by in properties.withdrawn.values():
            assert judged_by
            assert set(judged_by) <= known
    with pytest.raises(ValueError, match="G-05 was used before"):
        PROPERTIES.reuse(PROPERTIES["G-31"], "G-05", "", "STATE-11")
