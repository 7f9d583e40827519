"""Each global property: the reference keeps it, it says nothing without its premises, and a fault breaks it."""

from __future__ import annotations

import re

import pytest

from global_schedules import EXERCISES, UNEXERCISED, outcomes, performed, replaying, sightings
from played import Handle, reference
from sds_conformance.judging.judgement import Outcome
from sds_conformance.protocols.properties import Sighting
from sds_conformance.protocols.sds.catalogue import load_catalogue
from sds_conformance.protocols.sds.properties import PROPERTIES, PROPOSED, GroupView, examine
from sds_reference import Channel, Config, Effects, HistoryEntry, Message, Participant
from sds_reference.mutants import MUTANTS
from sds_reference.repair import Repair

ALL = tuple(f"G-{number:02}" for number in range(1, 36))

FAULTS: dict[str, tuple[str, ...]] = {
    "G-01": ("one-level-only", "forgets-the-waiting"),
    "G-02": ("ties-by-arrival", "own-last-among-equals"),
    "G-03": ("log-by-arrival", "highest-hash-first"),
    "G-04": ("first-dependency-only", "delivers-children-first"),
    "G-05": ("log-by-id",),
    "G-06": ("sends-and-forgets", "secretly-forgets"),
    "G-07": ("sweeps-once-in-an-hour", "answers-in-another-channel", "never-asks"),
    "G-08": ("logs-copies", "delivers-copies"),
    "G-09": ("without-zero-bytes",),
    "G-10": ("sent-is-acknowledged",),
    "G-11": ("acknowledges-the-first", "ignores-filters"),
    "G-12": ("never-empties-the-buffer", "buffers-syncs"),
    "G-13": ("follows-the-clock-back",),
    "G-14": ("lamport-in-twos",),
    "G-15": ("one-clock-for-all", "mixed-histories"),
    "G-16": ("deaf-clock",),
    "G-17": ("logs-syncs",),
    "G-18": ("logs-ephemerals",),
    "G-19": ("log-by-arrival",),
    "G-20": ("copies-do-not-cancel",),
    "G-21": ("everybody asks at T_min",),
    "G-22": ("keeps-no-own",),
    "G-23": ("everybody is eligible",),
    "G-24": ("asks at once", "repeats-unasked"),
    "G-25": ("rebroadcasts-the-acknowledged",),
    "G-26": ("sends-and-forgets",),
    "G-27": ("knows-but-the-hour",),
    "G-28": ("sends-and-forgets",),
    "G-29": ("sends-and-forgets",),
    "G-30": ("sweeps-once-in-an-hour",),
    "G-31": ("restamped-copies",),
    "G-32": ("leaky-filter",),
    "G-33": ("names-syncs", "sync-with-content"),
    "G-34": ("is poisoned by a foreign filter",),
    "G-35": ("draws-t-req",),
}
"""By property: mutants, or faults from here, that break it."""


class AsksAtTMin(Repair):
    def t_req(self, entry: HistoryEntry, now_ms: int) -> int:
        return now_ms + self.config.t_min_ms


class AsksAtOnce(Repair):
    def t_req(self, entry: HistoryEntry, now_ms: int) -> int:
        return now_ms


class EverybodyIsEligible(Repair):
    def eligible_responder(self, entry: HistoryEntry) -> bool:
        return True


class PoisonedByAForeignFilter(Channel):
    poisoned = False

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        self.poisoned |= message.bloom_filter is not None and len(message.bloom_filter) < 8
        return Effects() if self.poisoned else super().receive(message, now_ms, retrieval_hint)


def made_of(channel: type[Channel]) -> type[Participant]:
    return type("ParticipantOfATest", (Participant,), {"channel_class": channel})


def repairing_with(repair: type[Repair]) -> type[Participant]:
    return made_of(type("ChannelOfATest", (Channel,), {"repair_class": repair}))


OTHER_FAULTS: dict[str, type[Participant]] = {
    "everybody asks at T_min": repairing_with(AsksAtTMin),
    "asks at once": repairing_with(AsksAtOnce),
    "everybody is eligible": repairing_with(EverybodyIsEligible),
    "is poisoned by a foreign filter": made_of(PoisonedByAForeignFilter),
}


def mutated(name: str) -> Handle:
    if name in OTHER_FAULTS:
        return reference(participant=OTHER_FAULTS[name])
    mutant = MUTANTS[name]
    return reference(mutant.configure(Config()), participant=mutant.participant_class)


def test_every_property_of_the_table_is_there() -> None:
    assert tuple(sorted(PROPERTIES)) == ALL
    assert EXERCISES.keys() == UNEXERCISED.keys() == FAULTS.keys() == PROPERTIES.keys()


def test_every_property_says_what_it_checks_and_what_it_rests_on() -> None:
    known = load_catalogue().requirements
    for entry in PROPERTIES.values():
        assert entry.summary.endswith("."), entry.id
        assert entry.requirements
        assert set(entry.requirements) <= set(known), entry.id


@pytest.mark.parametrize("property_id", ALL)
def test_the_reference_keeps_it_where_it_is_exercised(property_id: str) -> None:
    found = sightings(EXERCISES[property_id])
    assert outcomes(found.get(property_id, [])) == {Outcome.HELD}
    assert {name for name, seen in found.items() if Outcome.VIOLATED in outcomes(seen)} == set()


@pytest.mark.parametrize("property_id", ALL)
def test_it_says_nothing_where_its_premises_are_not_met(property_id: str) -> None:
    assert sightings(UNEXERCISED[property_id]).get(property_id, []) == []


def judged(property_id: str, name: str) -> list[Sighting]:
    entry, performance = PROPERTIES[property_id], performed(EXERCISES[property_id], lambda: mutated(name))
    view = GroupView(performance)
    if entry.function is not None:
        return list(entry.function(view))
    assert entry.twin is not None
    return list(entry.twin(view, replaying(lambda: mutated(name))))


@pytest.mark.parametrize(("property_id", "name"), [(i, name) for i, names in FAULTS.items() for name in names])
def test_a_fault_breaks_it(property_id: str, name: str) -> None:
    violations = [s for s in judged(property_id, name) if s.outcome is Outcome.VIOLATED]
    assert violations != []
    for violation in violations:
        assert violation.code in PROPERTIES[property_id].codes
        assert violation.expected
        assert violation.seen


def test_every_property_says_how_it_can_be_violated() -> None:
    for entry in (*PROPERTIES.values(), *PROPOSED.values()):
        assert entry.codes, entry.id
        for code, what in entry.codes.items():
            assert re.fullmatch(r"[a-z]+(-[a-z]+){0,3}", code), (entry.id, code)
            assert 0 < len(what) <= 90, (entry.id, code)


def test_the_proposal_has_no_code_of_sds_r() -> None:
    assert "never-asked" in PROPERTIES["G-01"].codes
    assert set(PROPOSED["G-F01"].codes) == {"never-delivered", "never-resent"}


def test_twins_are_left_out_where_nothing_can_be_played_again() -> None:
    twins = {name for name, entry in PROPERTIES.items() if entry.twin is not None}
    assert twins == {"G-15", "G-17", "G-18", "G-19", "G-34", "G-35"}
    assert not twins & examine(performed(EXERCISES["G-17"])).keys()
