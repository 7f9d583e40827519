"""How conflicts at a peer and their results are read from a trace."""

from __future__ import annotations

from typing import Any

import pytest

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import Link, LoserOfKey, MalformedMessage, Message, Peer, Record
from clearskies_views import model, outcomes, stage_of, view_of
from sds_conformance.judging.judgement import Outcome
from sds_conformance.protocols.clearskies.scenarios.cast import listening, look, tell, version
from sds_conformance.protocols.clearskies.scenarios.scripts import HOUR_MS
from sds_conformance.protocols.clearskies.view.clocks import Compared, merges
from sds_conformance.protocols.clearskies.view.meetings import (
    INCOMING,
    PRESENT,
    contests,
    disagreement,
    fates,
    keys_met,
    takes_updates,
    versions_met,
)
from sds_harness.clearskies.stage import Stage

BOB, CAROL = "b" * 32, "c" * 32


def outcome_of_the_last(stage: Stage) -> str:
    return view_of(stage).arrivals[-1].outcome


# ---- The newer of two, for peers that count by the text
# ---------------------------------------------------------------


@pytest.mark.parametrize(("later_ms", "outcome"), [(1_000, "newer"), (-1_000, "open")])
def test_who_counts_what_it_receives_may_see_a_conflict(later_ms: int, outcome: str) -> None:
    """By rule 4 the peer's own number may have grown, which Bob's next change does not know."""
    stage = stage_of()
    alice, bob = stage.open(), stage.peer("bob")
    link = alice.link(bob)
    link.say(bob.update("door", "open"))
    link.say(bob.update("door", "shut", at_ms=stage.now_ms + later_ms))
    assert outcome_of_the_last(stage) == outcome


def test_who_has_heard_a_change_makes_a_newer_one_whatever_the_time() -> None:
    stage = stage_of()
    alice, bob = stage.open(), stage.peer("bob")
    link = listening(alice, bob)
    alice.put("door", "open")
    link.say(bob.update("door", "shut", after=link.updates[-1], at_ms=stage.now_ms - HOUR_MS))
    assert outcome_of_the_last(stage) == "newer"


def test_unless_something_came_of_it_since_then() -> None:
    stage = stage_of()
    alice, bob = stage.open(), stage.peer("bob")
    link = listening(alice, bob)
    alice.put("door", "open")
    heard = link.updates[-1]
    link.send(heard)
    link.say(bob.update("door", "shut", after=heard, at_ms=stage.now_ms - HOUR_MS))
    assert outcome_of_the_last(stage) == "open"


def test_what_knows_only_more_of_the_peer_itself_is_in_no_sure_conflict() -> None:
    stage = stage_of()
    alice, bob = stage.open(), stage.peer("bob")
    link = alice.link(bob)
    link.say(version(bob, "door", "open", {bob.peer_id: 2, alice.peer_id: 1}))
    link.say(version(bob, "door", "shut", {bob.peer_id: 1, alice.peer_id: 9}))
    assert outcome_of_the_last(stage) == "open"


@pytest.mark.parametrize(
    ("clock", "outcome"),
    [({"bob": 2, "carol": 1}, "equal"), ({"carol": 1}, "older"), ({"bob": 1, "carol": 2}, "conflict")],
)
def test_clocks_say_what_met(clock: dict[str, int], outcome: str) -> None:
    stage = stage_of()
    alice, bob, carol = stage.open(), stage.peer("bob"), stage.peer("carol")
    ids = {"bob": bob.peer_id, "carol": carol.peer_id}
    alice.link(bob).say(version(bob, "door", "open", {ids["bob"]: 2, ids["carol"]: 1}))
    stage.settle()
    alice.link(carol).say(version(carol, "door", "shut", {ids[name]: n for name, n in clock.items()}))
    look(alice)
    view = view_of(stage)
    assert view.arrivals[-1].outcome == outcome
    (met,) = versions_met(view)
    assert met.uuids == {view.arrivals[-1].update.uuid}
    # A contested version is no longer certain, so no second finding repeats it.
    held = view.known.now(str(met.incoming.uuid))
    assert held is not None
    assert held.update is None


# ---- What is left ----------------------------------------------------------------------------------------------------


def in_conflict(stage: Stage, later_ms: int) -> None:
    """Bob and Carol have changed a record; Carol's change comes last, and is later by so much."""
    alice, bob, carol = stage.open(), stage.peer("bob"), stage.peer("carol")
    tell(alice.link(bob), bob.update("lamp", "on"), version(bob, "door", "open", {bob.peer_id: 2}))
    clock = {bob.peer_id: 1, carol.peer_id: 1}
    tell(alice.link(carol), version(carol, "door", "shut", clock, at_ms=stage.now_ms + later_ms))
    look(alice)


@pytest.mark.parametrize(("later_ms", "left"), [(1, INCOMING), (-1, PRESENT)])
def test_the_later_one_is_left(later_ms: int, left: str) -> None:
    stage = stage_of()
    in_conflict(stage, later_ms)
    view = view_of(stage)
    (fate,) = fates(view)
    assert fate.left == left == fate.meeting.later
    assert fate.meeting.signalled
    assert {clock == fate.seen.clock for _, _, clock in merges(view)} == {True}
    for requirement in ("CSDB-39", "CSDB-51", "CSDB-52", "CSDB-54"):
        assert set(outcomes(view, requirement)) == {Outcome.HELD}, requirement


def test_what_happens_to_a_record_afterwards_ends_what_is_known_of_a_meeting() -> None:
    stage = stage_of()
    in_conflict(stage, 1)
    stage.actors[0].put("door", "ajar")
    look(stage.actors[0])
    view = view_of(stage)
    assert [fate.shown.step.index < view.changes[0].step.index for fate in fates(view)] == [True]


class RefusesCarol(Peer):
    def refuse_unauthorised(self, link: Link, update: Record, message: Message) -> None:
        if update.value == '"shut"':
            raise MalformedMessage("no")


def test_what_is_declined_has_met_nothing() -> None:
    stage = stage_of(model(RefusesCarol))
    in_conflict(stage, 1)
    view = view_of(stage)
    assert [arrival.declined for arrival in view.arrivals] == [False, False, True]
    assert versions_met(view) == []
    assert takes_updates(view)


# ---- Keys ------------------------------------------------------------------------------------------------------------


def two_with_a_key(stage: Stage, **fields: Any) -> None:
    alice, bob, carol = stage.open(), stage.peer("bob"), stage.peer("carol")
    alice.link(bob).say(bob.update("door", "open"))
    alice.link(carol).say(carol.update("door", "shut", at_ms=stage.now_ms + 1_000, **fields))
    look(alice)
    alice.observe()


@pytest.mark.parametrize("loser", LoserOfKey)
def test_on_the_wire_the_loser_may_still_be_there(loser: LoserOfKey) -> None:
    stage = stage_of(model(loser_of_key=loser))
    two_with_a_key(stage)
    on_the_wire, observed = contests(view_of(stage))
    assert len(on_the_wire.having) == (1 if loser is LoserOfKey.EVERYBODY else 2)
    assert on_the_wire.left == (INCOMING if loser is LoserOfKey.EVERYBODY else "")
    assert observed.left == INCOMING
    assert not observed.nobody
    assert not observed.ignored


def test_a_deletion_takes_no_key() -> None:
    stage = stage_of()
    two_with_a_key(stage, deleted=True)
    assert keys_met(view_of(stage)) == []


@pytest.mark.parametrize("linked", [True, False])
def test_who_has_not_heard_of_both_need_not_agree(linked: bool) -> None:
    stage = stage_of()
    alice, alan, bob = stage.open("alice"), stage.open("alan"), stage.peer("bob")
    for actor in (alice, alan):
        listening(actor, bob).say(bob.update(f"lamp of {actor.name}", "on"))
        actor.after(1_000).put("door", actor.name)
    if linked:
        alice.link(alan)
    stage.settle()
    for actor in (alice, alan):
        actor.observe()
    found = [one.agrees(other) for name in ("alice", "alan") for one, other, _ in disagreement(view_of(stage, name))]
    assert found == ([True, True] if linked else [])


def test_who_has_not_heard_of_a_later_change_need_not_have_it() -> None:
    stage = stage_of()
    alice, alan, bob = stage.open("alice"), stage.open("alan"), stage.peer("bob")
    for actor in (alice, alan):
        listening(actor, bob).say(bob.update(f"lamp of {actor.name}", "on"))
        actor.after(1_000).put("door", actor.name)
    line = alice.link(alan)
    stage.settle()
    line.cut()
    alan.after(1_000).put("door", "changed since then")
    for actor in (alice, alan):
        actor.observe()
    assert list(disagreement(view_of(stage, "alice"))) == []


# ---- Comparisons -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "said", "about"),
    [
        ({BOB: 1}, {BOB: 1}, (True, True), "numbers"),
        ({BOB: 1}, {BOB: 1, CAROL: 1}, (True, False), "absent"),
        ({BOB: 1}, {BOB: 1, CAROL: 1}, (True, True), "absent"),
        ({BOB: 1}, {BOB: 1, CAROL: 1}, (False, False), "numbers"),
        ({BOB: 1 << 53}, {BOB: (1 << 53) + 1}, (True, False), "wide"),
        ({BOB: 1 << 53}, {BOB: (1 << 53) + 1}, (True, True), "wide"),
        ({BOB: 1 << 53}, {BOB: (1 << 53) + 1}, (False, False), ""),
    ],
)
def test_a_comparison_is_about_one_thing(
    one: dict[str, int], other: dict[str, int], said: tuple[bool, bool], about: str
) -> None:
    stage = stage_of()
    stage.open()
    assert Compared(stage.trace.steps[0], one, other, said).about == about


def test_who_resolves_is_read_from_what_is_in_force() -> None:
    stage = stage_of()
    in_conflict(stage, 1)
    stage.actors[0].party.in_force.resolution = pb.RESOLUTION_MERGE
    assert outcomes(view_of(stage), "CSDB-54") == []
