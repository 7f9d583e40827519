"""What clubs can come to by what is legal, and no check may hold against them: lost stores, taken keys, other peers."""

from __future__ import annotations

import json

import pytest

from clearskies_reference import Peer
from clearskies_reference.config import Resolution
from clearskies_reference.conflict_choices import CountsEachSending
from clearskies_views import (
    by_verdict,
    certified,
    model,
    request_all,
    stage_of,
    subscribe,
    view_of,
)
from sds_conformance.judging.judgement import Outcome
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.clearskies.register import REGISTER
from sds_conformance.protocols.clearskies.scenarios import conflicts, deletions
from sds_conformance.protocols.clearskies.view.peer_view import FACT_KINDS
from sds_harness.clearskies.stage import Stage

PLOTS = [
    name
    for name, scenario in REGISTER.scenarios.items()
    if scenario.function.__module__ in (conflicts.__name__, deletions.__name__)
]


def accused(stage: Stage, name: str = "alice") -> set[str]:
    """The requirements of which any check says that they are violated."""
    view = view_of(stage, name)
    return {
        check.requirement
        for checks in REGISTER.checks.values()
        for check in checks
        if all(FACT_KINDS[fact](view) for fact in check.of)
        and any(seen.outcome is Outcome.VIOLATED for seen in check.function(view))
    }


@pytest.mark.parametrize("clocks_count_hops", [False, True])
@pytest.mark.parametrize("resolution", [Resolution.SEPARATE, Resolution.MERGE])
def test_an_application_that_decides_is_not_held_to_the_default(
    resolution: Resolution, clocks_count_hops: bool
) -> None:
    peer_class = CountsEachSending if clocks_count_hops else Peer
    outcome = certified(model(peer_class, resolution=resolution, clocks_count_hops=clocks_count_hops), *PLOTS)
    assert by_verdict(outcome, Verdict.FAIL, Verdict.WARN, Verdict.ERROR) == set()
    assert "CSDB-54" in by_verdict(outcome, Verdict.INCONCLUSIVE)
    assert outcome.breakdowns == []


def test_who_lost_its_store_uses_its_revisions_again() -> None:
    stage = stage_of()
    alice, bob = stage.open(), stage.peer("bob")
    subscribe(alice, bob)
    alice.put("door", "open")
    alice.reopen()
    subscribe(alice, bob)
    alice.put("door", "shut")
    stage.settle()
    view = view_of(stage)
    assert [change.shown.rev if change.shown else None for change in view.changes] == [2, 2]
    assert accused(stage) == set()


def test_a_key_that_somebody_else_has_renamed_is_not_there_to_be_deleted() -> None:
    stage = stage_of()
    alice, bob = stage.open(), stage.open("bob")
    alice.link(bob)
    alice.put("door", "open")
    bob.after(1_000).rename("door", "gate")
    assert alice.delete("door").answer == "rejected"
    assert accused(stage) == set()


def test_an_old_copy_is_not_in_conflict_with_what_came_of_a_conflict_in_which_it_was() -> None:
    stage = stage_of()
    alice, bob, carol = stage.open(), stage.peer("bob"), stage.peer("carol")
    link = alice.link(bob)
    first = json.loads(bob.update("door", "open").body)

    def say_again(number: int) -> None:
        link.say(bob.frame(first | {"vector_clock": {bob.peer_id: number}}))

    say_again(2)
    say_again(4)
    stage.advance(1_000)
    clock = {bob.peer_id: 2, carol.peer_id: 1}
    alice.link(carol).say(carol.update("door", uuid=first["uuid"], deleted=True, vector_clock=clock))
    say_again(3)
    request_all(alice)
    assert [arrival.outcome for arrival in view_of(stage).arrivals] == ["new", "present", "newer", "open"]
    assert accused(stage) == set()


def test_a_copy_of_what_a_peer_has_made_itself_is_no_forgery() -> None:
    stage = stage_of()
    alice, bob, rolf = stage.open(), stage.peer("bob"), stage.peer("rolf", read_only=True)
    link = subscribe(alice, bob)
    alice.put("door", "open")
    (update,) = [message for message in link.received_messages if message.type.endswith("update")]
    alice.link(rolf).send(rolf.frame(update.body.members))
    request_all(alice)
    view = view_of(stage)
    assert [bool(arrival.prohibition) for arrival in view.arrivals] == [True]
    assert view.forbidden_arrivals == []
    assert accused(stage) == set()


def test_an_update_behind_a_request_is_not_owed_in_the_answer() -> None:
    stage = stage_of()
    alice, bob = stage.open(), stage.peer("bob")
    link = alice.link(bob)
    link.send(bob.get_updates().wire + bob.update("door", "open").wire)
    stage.settle()
    assert link.updates == []
    assert accused(stage) == set()


def test_a_peer_that_was_killed_has_what_it_had() -> None:
    stage = stage_of()
    alice, bob = stage.open(store=True), stage.peer("bob")
    link = subscribe(alice, bob)
    alice.put("door", "open")
    link.say(bob.update("gate", "shut"))
    alice.reopen(killed=True)
    subscribe(alice, bob)
    alice.after(1_000).put("door", "ajar")
    request_all(alice)
    view = view_of(stage)
    assert [change.shown.rev if change.shown else None for change in view.changes] == [2, 3]
    assert view.known.same_era(1, len(stage.trace.steps))
    assert accused(stage) == set()
