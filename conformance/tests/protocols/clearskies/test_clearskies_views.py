"""How a trace becomes the facts of one peer: what it must know, what it owes, and when that is due."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import Link, MalformedMessageError, Message, Peer, Record
from clearskies_reference.variants import VARIANTS
from clearskies_views import model, outcomes, stage_of, variant, view_of
from sds_conformance.judging.formats import json_of
from sds_conformance.judging.judgement import Outcome
from sds_conformance.protocols.clearskies.scenarios.cast import listening, look
from sds_conformance.protocols.clearskies.view.facts import equal, has_wide_numbers
from sds_conformance.protocols.clearskies.view.knowledge import excused, fits_limits, forbidden
from sds_conformance.protocols.clearskies.view.replication import answers, askings, changes_owed, relays_owed
from sds_harness.clearskies.clubs import READ_ONLY, READ_WRITE
from sds_harness.clearskies.peer_messages import altered

SLOW = VARIANTS["sends-at-ticks"].peer_class


def test_changes_are_known_by_the_updates_that_show_them() -> None:
    stage = stage_of()
    alice, bob = stage.open(), stage.peer("bob")
    alice.put("before", 1)
    alice.put("before", 2)
    listening(alice, bob)
    alice.after(1_000).rename("before", "after")
    alice.delete("after")
    view = view_of(stage)
    assert [change.kind for change in view.changes] == ["put", "put", "rename", "delete"]
    assert [change.shown.rev if change.shown else None for change in view.changes] == [None, 3, 4, 5]
    assert [(both.one.rev, both.other.rev, both.most) for both in view.successive_changes] == [(3, 4, 2), (4, 5, 1)]


def test_a_peer_is_quiet_when_two_ticks_in_a_row_say_nothing() -> None:
    stage = stage_of(model(SLOW))
    alice, bob = stage.open(), stage.peer("bob")
    listening(alice, bob)
    alice.put("door", "open")
    stage.settle()
    view = view_of(stage)
    ticks = [step.index for step in view.steps if step.command == "tick"]
    assert view.quiet == ticks[2:]
    (owed,) = changes_owed(view)
    assert owed.settled
    assert owed.copies[0].step.index == ticks[0]


def test_pings_do_not_keep_a_peer_from_being_quiet() -> None:
    stage = stage_of(model(VARIANTS["pings"].peer_class))
    alice = stage.open()
    listening(alice, stage.peer("bob"))
    stage.settle()
    assert not stage.trace.unsettled
    assert view_of(stage).quiet


def test_who_polls_is_quiet_and_so_is_who_is_asked_by_him() -> None:
    polls = model(VARIANTS["polls"].peer_class)
    stage = stage_of(polls)
    alice, bob = stage.open(), stage.open("bob")
    alice.link(bob)
    alice.put("door", "open")
    stage.settle()
    assert not stage.trace.unsettled
    for name in ("alice", "bob"):
        view = view_of(stage, name)
        assert len(view.asked) > 2
        assert view.quiet, name


def test_who_gathers_for_seconds_is_not_quiet_because_it_was_ticked_twice() -> None:
    stage = stage_of(variant("sends-in-intervals"))
    alice, bob = stage.open(), stage.peer("bob")
    listening(alice, bob)
    alice.put("door", "open")
    for _ in range(3):
        alice.after(1_000).tick()
    assert view_of(stage).quiet == []
    stage.settle()
    assert view_of(stage).quiet
    assert Outcome.VIOLATED not in outcomes(view_of(stage), "CSDB-14")


def test_what_is_owed_is_not_judged_before_it_is_due() -> None:
    stage = stage_of(model(SLOW))
    alice, bob = stage.open(), stage.peer("bob")
    listening(alice, bob)
    alice.put("door", "open")
    assert outcomes(view_of(stage), "CSDB-14") == []


def test_what_nobody_can_send_any_more_is_not_owed() -> None:
    """Of a record that is written twice before anything is sent, the second version is enough."""
    stage = stage_of(model(SLOW))
    alice, bob = stage.open(), stage.peer("bob")
    link = listening(alice, bob)
    stage.settle()
    link.cut()
    alice.put("door", "open")
    alice.put("door", "shut")
    listening(alice, bob)
    stage.settle()
    assert set(outcomes(view_of(stage), "CSDB-14")) <= {Outcome.HELD}


def test_relays_are_owed_to_all_but_the_one_who_told() -> None:
    stage = stage_of()
    alice, bob, carol = stage.open(), stage.peer("bob"), stage.peer("carol")
    link = listening(alice, bob)
    listening(alice, carol)
    link.say(bob.update("door", "open"))
    assert [owed.link.peer_id for owed in relays_owed(view_of(stage))] == [carol.peer_id]


def test_what_is_newer_with_a_larger_time_is_sure_and_what_may_count_as_concurrent_is_not() -> None:
    stage = stage_of()
    alice, bob = stage.open(), stage.peer("bob")
    link = alice.link(bob)
    link.say(bob.update("door", "open"))
    stage.advance(1_000)
    link.say(bob.update("door", "shut"))
    link.say(bob.update("door", "ajar", at_ms=stage.now_ms - 60_000))
    assert [arrival.outcome for arrival in view_of(stage).arrivals] == ["new", "newer", "open"]


def test_what_comes_again_is_present_and_what_came_before_is_older() -> None:
    stage = stage_of()
    alice, bob = stage.open(), stage.peer("bob")
    link = alice.link(bob)
    first = bob.update("door", "open")
    stage.advance(1_000)
    second = bob.update("door", "shut")
    link.say(first, second, second, first)
    assert [arrival.outcome for arrival in view_of(stage).arrivals] == ["new", "newer", "present", "older"]


def test_two_records_with_one_key_leave_open_what_becomes_of_them() -> None:
    stage = stage_of()
    alice, bob, carol = stage.open(), stage.peer("bob"), stage.peer("carol")
    alice.link(bob).say(bob.update("door", "open"))
    alice.link(carol).say(carol.update("door", "shut"))
    view = view_of(stage)
    last = stage.trace.steps[-1]
    assert view.in_conflict(last)
    assert [held.sure for _, held in view.known.all_at(last.index)] == [False, False]


def test_a_peer_that_is_opened_without_its_store_knows_nothing() -> None:
    stage = stage_of()
    alice, bob = stage.open(), stage.peer("bob")
    alice.link(bob).say(bob.update("door", "open"))
    alice.reopen()
    assert list(view_of(stage).known.all_at(stage.trace.steps[-1].index)) == []


def test_with_its_store_it_knows_what_it_knew() -> None:
    stage = stage_of()
    alice, bob = stage.open(store=True), stage.peer("bob")
    alice.link(bob).say(bob.update("door", "open"))
    alice.reopen()
    view = view_of(stage)
    assert len(list(view.known.all_at(stage.trace.steps[-1].index))) == 1
    stage.close()


def test_who_must_be_refused() -> None:
    stage = stage_of()
    rita, bob, rolf = stage.open("rita", read_only=True), stage.peer("bob"), stage.peer("rolf", read_only=True)
    links = [rita.link(bob), rita.link(rolf)]
    update = bob.update("door", "open")
    links[0].send(update, bob.sign(update), bob.sign(update, READ_ONLY), altered(bob.sign(update)))
    links[1].send(update, bob.sign(update))
    view = view_of(stage, "rita")
    said = [forbidden(READ_ONLY, view.link_of(each), each) for each in view.received]
    assert [bool(why) for why in said] == [True, False, True, True, True, False]
    assert not forbidden(READ_WRITE, view.links[0], view.received[0]), "a read-write peer needs no signature"


@pytest.mark.parametrize(
    ("fields", "odd"),
    [
        ({"key": 1}, "key"),
        ({"uuid": "x"}, "uuid"),
        ({"last_updated_rev": 0}, "revision is 0"),
        ({"last_updated_rev": "2"}, "last_updated_rev"),
        ({"update_time": "yesterday"}, "update_time"),
        ({"vector_clock": []}, "vector_clock"),
        ({"deleted": "no"}, "deleted"),
        ({}, ""),
    ],
)
def test_what_may_be_refused(fields: dict[str, object], odd: str) -> None:
    stage = stage_of()
    alice, bob = stage.open(), stage.peer("bob")
    alice.link(bob).send(bob.frame(json.loads(bob.update("door", "open").body) | fields))
    (update,) = view_of(stage).received
    why = excused(stage.trace.declaration, update)
    assert odd in why
    assert bool(odd) == bool(why)


def test_after_something_odd_a_link_may_be_given_up() -> None:
    stage = stage_of()
    alice, bob = stage.open(), stage.peer("bob")
    link = alice.link(bob)
    link.send(bob.update("door", "open", uuid="x"), bob.update("window", "shut"))
    first, second = view_of(stage).arrivals
    assert first.may_not
    assert second.may_not
    assert not second.due


def test_values_beyond_declared_limits_may_be_refused_by_who_writes() -> None:
    declaration = stage_of().trace.declaration
    assert fits_limits(declaration, '{"a": [1]}')
    assert not fits_limits(declaration, "[" * 200 + "]" * 200)
    assert not fits_limits(declaration, "NaN")
    assert not fits_limits(declaration, f'"{"x" * (1 << 23)}"')


def test_what_was_asked_for_stands_beside_what_was_known() -> None:
    stage = stage_of()
    alice, bob = stage.open(), stage.peer("bob")
    link = alice.link(bob)
    link.say(bob.update("door", "open"))
    stage.settle()
    link.cut()
    alice.link(bob)
    first, second = askings(view_of(stage))
    assert first.at_least == first.since == {}
    assert second.at_least == second.at_most == second.since == {bob.peer_id: 2}


def test_an_answer_has_what_was_expected() -> None:
    stage = stage_of()
    alice = stage.open()
    for number in range(3):
        alice.put(f"key {number}", number)
    look(alice)
    (answer,) = answers(view_of(stage))
    assert [update.rev for update in answer.given] == [2, 3, 4]
    assert {update.version for update in answer.expected} == {update.version for update in answer.given}
    assert all((one.rev or 0) < (other.rev or 0) for one, other in pairwise(answer.given))
    assert not answer.missing
    assert not answer.silent


def test_numbers_are_equal_by_what_they_are_and_true_is_none() -> None:
    assert equal({"a": [1, 2.0]}, {"a": [1.0, 2]})
    assert not equal({"a": True}, {"a": 1})
    assert not equal([1], [1, 2])
    assert not equal({"a": 1}, {"b": 1})


def test_who_takes_nothing_is_known_for_it() -> None:
    class Refuses(Peer):
        def refuse_unauthorised(self, link: Link, update: Record, message: Message) -> None:
            raise MalformedMessageError("no")

    seen = {}
    for name, handle in (("takes", model()), ("refuses", model(Refuses))):
        stage = stage_of(handle)
        alice, bob = stage.open(), stage.peer("bob")
        alice.link(bob).send(bob.update("door", "open"))
        look(alice)
        seen[name] = view_of(stage).took
    assert seen == {"takes": True, "refuses": False}


def test_commands_without_an_answer_of_effects_change_nothing() -> None:
    stage = stage_of()
    alice = stage.open()
    alice.do(pb.Request(delete=pb.Delete(now_ms=stage.now_ms, handle=alice.party.handle, key="nothing")))
    alice.put("door", text="no JSON")
    assert view_of(stage).changes == []


def nested(levels: int, innermost: object) -> object:
    value = innermost
    for level in range(levels):
        value = [value] if level % 2 else {"in": value}
    return value


def test_values_of_very_many_levels_are_compared_and_quoted() -> None:
    one, same, other = nested(9_000, 1), nested(9_000, 1.0), nested(9_000, True)
    assert equal(one, same)
    assert not equal(one, other)
    assert has_wide_numbers(nested(9_000, 1 << 60))
    assert not has_wide_numbers(one)
    assert json_of(one, 80) == "JSON of very many levels"
    assert json_of(nested(1, "é"), 80) == '{"in": "é"}'
