"""Traces written by hand, and what SDS-R is about in them: what is missing, who asks for it, and what comes of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from played import Handle, T, altered, stage, view
from sds_conformance.protocols.sds.scenarios.repair.live import repairing
from sds_conformance.protocols.sds.scenarios.repair.participants import T_MAX_MS, T_MIN_MS
from sds_conformance.protocols.sds.view.repair_tracker import NEVER, Answer, RepairTracker
from sds_harness.sds.actor import Actor
from sds_harness.sds.peer import signed
from sds_harness.sds.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HistoryEntry, Message, decode, encode


def tracked(on: Stage) -> RepairTracker:
    return view(on).repair


def indices(answers: list[Answer]) -> list[int]:
    return [answer.step.index for answer in answers]


def sweep(on: Stage, actor: Actor) -> int:
    """Let T_max pass and the periodic work run; the index of its step."""
    on.advance(T_MAX_MS)
    return actor.tick().index


def asking(message: Message, *wanted: Message) -> Message:
    return replace(message, repair_request=signed(*wanted))


# ---- What is missing -------------------------------------------------------------------------------------------------


def test_a_message_is_missing_from_when_it_is_named_until_it_comes() -> None:
    on = stage()
    alice, bob, carol = repairing(on), on.peer("bob"), on.peer("carol")
    here, lost = bob.content(T + 1), bob.content(T + 2)
    alice.receive(here)
    first = alice.receive(carol.content(T + 3, *signed(here, lost)))
    again = alice.receive(carol.sync(T + 4, HistoryEntry(lost.message_id, b"hint", "carol")))
    came = alice.receive(lost)
    alice.receive(carol.content(T + 5, *signed(lost)), lost)
    (missing,) = tracked(on).missing
    assert missing.message_id == lost.message_id
    assert missing.detected.step is first
    assert [r.step for r in missing.named] == [first, again]
    assert missing.first == HistoryEntry("bob-2", None, "bob")
    assert missing.named_before(again) == [missing.first]
    assert missing.named_before(came) == [missing.first, HistoryEntry("bob-2", b"hint", "carol")]
    assert missing.senders == {"bob", "carol"}
    assert (missing.arrived, missing.undisturbed) == (came, came.index)
    assert missing.certain


def test_what_was_named_twice_in_one_message_was_named_once() -> None:
    on = stage()
    repairing(on).receive(on.peer("bob").content(T, "lost", "lost"))
    (missing,) = tracked(on).missing
    assert (len(missing.named), len(missing.entries), missing.senders) == (1, 2, set())


def test_what_comes_as_a_sync_message_or_ephemerally_has_not_come() -> None:
    on = stage()
    alice, bob = repairing(on), on.peer("bob")
    alice.receive(bob.content(T, "lost"), bob.sync(T, message_id="lost"), bob.ephemeral(b"x", "lost"))
    (missing,) = tracked(on).missing
    assert (missing.arrived, missing.undisturbed) == (None, NEVER)
    assert tracked(on).original("lost") is None


def test_nothing_depends_on_itself_and_ephemeral_messages_name_nothing() -> None:
    on = stage()
    alice, bob = repairing(on), on.peer("bob")
    alice.receive(bob.content(T, "itself", message_id="itself"))
    alice.receive(replace(bob.ephemeral(b"x"), causal_history=(HistoryEntry("lost"),)))
    assert tracked(on).missing == []


def test_the_id_of_a_sync_message_is_none_of_content() -> None:
    """Who asks for it all the same has asked for something that was named; nobody has to."""
    on = stage()
    alice, carol = repairing(on), on.peer("carol")
    step = alice.receive(carol.sync(T, "taken", message_id="taken"))
    alice.receive(carol.content(T, HistoryEntry("taken", None, "bob")))
    (missing,) = tracked(on).missing
    assert (missing.detected.step, missing.certain, len(missing.named)) == (step, False, 2)


def test_own_messages_and_those_that_were_refused_reveal_nothing() -> None:
    def refuses_carol(request: pb.Request, reply: pb.Reply) -> None:
        if b"carol" in request.receive.wire:
            reply.rejected.reason = "not from her"

    on = stage(altered(refuses_carol))
    alice, bob, carol = repairing(on), on.peer("bob"), on.peer("carol")
    here = bob.content(T + 1)
    alice.receive(here, carol.content(T + 2, "lost", requests=signed(here)))
    alice.receive(replace(on.peer("alice").content(T + 3, "lost"), repair_request=signed(here)))
    assert (tracked(on).missing, tracked(on).asked) == ([], [])
    assert view(on).repairs == {}


def test_a_refused_message_has_not_come() -> None:
    def refuses_all_copies(request: pb.Request, reply: pb.Reply) -> None:
        if b"lost-one" in request.receive.wire and b"naming" not in request.receive.wire:
            reply.rejected.reason = "no"

    on = stage(altered(refuses_all_copies))
    alice, bob = repairing(on), on.peer("bob")
    alice.receive(bob.content(T, "lost-one", message_id="naming"), bob.content(T, message_id="lost-one"))
    assert [m.arrived for m in tracked(on).missing] == [None]


def test_what_an_odd_message_reveals_is_not_certain() -> None:
    on = stage()
    alice, bob = repairing(on), on.peer("bob")
    alice.receive(bob.content(T, *(f"lost-{number}" for number in range(201))))
    assert len(tracked(on).missing) == 201
    assert not any(missing.certain for missing in tracked(on).missing)


def test_what_others_ask_for_while_it_is_missing_is_overheard() -> None:
    on = stage()
    alice, bob, carol = repairing(on), on.peer("bob"), on.peer("carol")
    lost = bob.content(T + 1)
    alice.receive(carol.sync(T, requests=signed(lost)))
    alice.receive(carol.content(T + 2, *signed(lost)))
    heard = [alice.receive(asking(carol.sync(T), lost)), alice.receive(asking(carol.ephemeral(b"x"), lost))]
    alice.receive(lost)
    alice.receive(carol.sync(T, requests=signed(lost)))
    (missing,) = tracked(on).missing
    assert [r.step for r in missing.overheard] == heard
    assert missing.undisturbed == heard[0].index


def test_a_message_that_names_and_asks_for_the_same_is_overheard_at_once() -> None:
    on = stage()
    alice, bob = repairing(on), on.peer("bob")
    step = alice.receive(bob.content(T, "lost", requests=["lost"]))
    (missing,) = tracked(on).missing
    assert (missing.detected.step, missing.undisturbed) == (step, step.index)


def test_own_messages_ask_before_it_comes_and_after() -> None:
    def asks_on(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("send"):
            sent = decode(reply.effects.broadcasts[0])
            reply.effects.broadcasts[0] = encode(replace(sent, repair_request=(HistoryEntry("lost"),)))

    on = stage(altered(asks_on))
    alice, bob = repairing(on), on.peer("bob")
    unfounded = alice.send()
    alice.receive(bob.content(T, "lost"))
    alice.send()
    alice.receive(bob.content(T, message_id="lost"))
    alice.send()
    alice.send_sync()
    (missing,) = tracked(on).missing
    assert [sent.step.index for sent in missing.requests] == [4, 6]
    assert [(sent.message, entry.message_id) for sent, entry in tracked(on).unfounded] == [(unfounded, "lost")]
    assert [sent.step.index for sent in tracked(on).requesting] == [2, 4, 6, 7]


def test_what_was_given_up_says_so_once() -> None:
    on = stage()
    alice = repairing(on, configuration=pb.Configuration(lost_timeout_ms=1_000))
    alice.receive(on.peer("bob").content(T, "lost"))
    on.advance(2_000)
    given_up = alice.tick()
    alice.receive(on.peer("bob").content(T, "lost", message_id="another"))
    on.advance(2_000)
    alice.tick()
    (missing,) = tracked(on).missing
    assert (missing.lost, missing.undisturbed) == (given_up, given_up.index)


# ---- What others ask for ---------------------------------------------------------------------------------------------


def test_what_is_asked_for_is_held_or_waits_or_is_unknown() -> None:
    on = stage()
    alice, bob, carol = repairing(on), on.peer("bob"), on.peer("carol")
    here, waiting = bob.content(T + 1), bob.content(T + 2, "never-sent")
    alice.receive(here, waiting)
    own = alice.send()
    request = carol.sync(T, requests=[*signed(here, waiting, own), HistoryEntry("unknown", b"hint", "zoe")])
    step = alice.receive(request)
    asked = tracked(on).asked
    assert [a.message_id for a in asked] == ["bob-1", "bob-2", own.message_id, "unknown"]
    assert [(a.held, a.buffered, a.own) for a in asked] == [
        (True, False, False),
        (False, True, False),
        (True, False, True),
        (False, False, False),
    ]
    assert [a.original for a in asked] == [here, waiting, own, None]
    assert [a.author for a in asked] == ["bob", "bob", "alice", ""]
    assert {a.received.step.index for a in asked} == {step.index}
    assert asked[-1].entry == HistoryEntry("unknown", b"hint", "zoe")
    assert all(a.certain for a in asked)


def test_a_message_that_asks_for_itself_had_not_come_yet() -> None:
    on = stage()
    itself = on.peer("bob").content(T, message_id="itself", requests=["itself"])
    repairing(on).receive(itself)
    (asked,) = tracked(on).asked
    assert (asked.held, asked.buffered) == (False, False)


def test_requests_in_ephemeral_messages_and_in_odd_ones_are_not_certain() -> None:
    on = stage()
    alice, bob = repairing(on), on.peer("bob")
    here, there = bob.content(T + 1), bob.content(T + 2)
    alice.receive(here, there)
    alice.receive(asking(bob.ephemeral(b"x"), here))
    alice.receive(bob.sync(T, requests=[*signed(there), *(f"unknown-{number}" for number in range(200))]))
    assert [a.certain for a in tracked(on).asked[:2]] == [False, False]


def test_a_request_repeated_before_the_answer_is_the_same_one() -> None:
    on = stage()
    alice, bob, carol = repairing(on), on.peer("bob"), on.peer("carol")
    here = bob.content(T + 1)
    alice.receive(here)
    first = alice.receive(carol.sync(T, requests=signed(here)))
    again = [alice.receive(peer.sync(T, requests=signed(here))) for peer in (carol, on.peer("dave"))]
    answered = sweep(on, alice)
    (asked,) = tracked(on).asked
    assert (asked.received.step, [r.step for r in asked.repeats]) == (first, again)
    assert indices(asked.answers) == [answered]
    assert asked.answers[0].message == here


def test_after_an_answer_or_a_copy_a_request_is_another_one() -> None:
    on = stage()
    alice, bob, carol = repairing(on), on.peer("bob"), on.peer("carol")
    here = bob.content(T + 1)
    alice.receive(here, carol.sync(T, requests=signed(here)))
    answered = sweep(on, alice)
    alice.receive(carol.sync(T, requests=signed(here)))
    copy = alice.receive(here)
    alice.receive(carol.sync(T, requests=signed(here)))
    again = sweep(on, alice)
    first, second, third = tracked(on).asked
    assert (indices(first.answers), first.copies) == ([answered], [])
    assert (second.answers, [r.step for r in second.copies]) == ([], [copy])
    assert (indices(third.answers), third.copies) == ([again], [])


def test_a_copy_that_asks_for_itself_ends_one_request_and_begins_another() -> None:
    on = stage()
    alice, bob, carol = repairing(on), on.peer("bob"), on.peer("carol")
    here = bob.content(T + 1)
    alice.receive(here, carol.sync(T, requests=signed(here)))
    alice.receive(asking(here, here))
    first, second = tracked(on).asked
    assert (len(first.copies), second.received.message.message_id) == (1, here.message_id)


def test_copies_after_the_answer_are_not_counted() -> None:
    on = stage()
    alice, bob = repairing(on), on.peer("bob")
    here = bob.content(T + 1)
    alice.receive(here, on.peer("carol").sync(T, requests=signed(here)))
    sweep(on, alice)
    alice.receive(here)
    (asked,) = tracked(on).asked
    assert asked.copies == []


def test_what_was_asked_for_in_vain_while_it_waited_counts_anew_once_it_is_held() -> None:
    on = stage()
    alice, bob, carol = repairing(on), on.peer("bob"), on.peer("carol")
    root = bob.content(T + 1)
    waiting = bob.content(T + 2, root)
    alice.receive(waiting)
    alice.receive(carol.sync(T, requests=signed(waiting)), carol.sync(T, requests=signed(waiting)))
    alice.receive(root)
    later = alice.receive(carol.sync(T, requests=signed(waiting)))
    first, second = tracked(on).asked
    assert (first.buffered, first.held, len(first.repeats)) == (True, False, 1)
    assert (second.received.step, second.held, second.repeats) == (later, True, [])


# ---- What goes out ---------------------------------------------------------------------------------------------------


def broadcasting(*wires: bytes) -> Handle:
    """The reference, which on a tick also broadcasts these."""

    def talks(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("tick"):
            reply.effects.broadcasts.extend(wires)

    return altered(talks)


def test_a_broadcast_of_somebody_elses_message_that_nobody_asked_for_is_kept_apart() -> None:
    here = stage().peer("bob").content(T + 1)
    on = stage(broadcasting(encode(here)))
    alice = repairing(on)
    before = alice.tick()
    alice.receive(here)
    tick = alice.tick()
    assert indices(tracked(on).unasked) == [tick.index]
    assert [step.index for step, _ in view(on).strays] == [before.index]


def test_without_sds_r_a_broadcast_of_somebody_elses_message_is_a_stray() -> None:
    here = stage().peer("bob").content(T + 1)
    on = stage(broadcasting(encode(here)))
    alice = on.open()
    alice.receive(here)
    alice.tick()
    assert tracked(on).unasked == []
    assert len(view(on).strays) == 1


def test_a_copy_of_an_own_message_counts_once_somebody_has_asked_for_it() -> None:
    on = stage()
    alice = repairing(on, configuration=pb.Configuration(resend_unacknowledged_ms=T_MIN_MS))
    own = alice.send()
    on.advance(T_MIN_MS)
    alice.tick()
    alice.receive(on.peer("carol").sync(T, requests=signed(own)))
    on.advance(1_000)
    tick = alice.tick()
    (asked,) = tracked(on).asked
    assert indices(asked.answers) == [tick.index]
    assert tracked(on).unasked == []
    assert len(view(on).copies) == 2


@pytest.mark.parametrize("channel", ["elsewhere", ""])
def test_an_answer_that_goes_astray_is_one_of_the_channel_it_was_asked_in(channel: str) -> None:
    def strays(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("tick"):
            wires = [encode(replace(decode(wire), channel_id=channel)) for wire in reply.effects.broadcasts]
            reply.effects.broadcasts[:] = wires

    on = stage(altered(strays))
    alice, bob = repairing(on), on.peer("bob")
    here = bob.content(T + 1)
    alice.receive(here, on.peer("carol").sync(T, requests=signed(here)))
    tick = sweep(on, alice)
    (asked,) = tracked(on).asked
    assert [(a.step.index, a.message.channel_id) for a in asked.answers] == [(tick, channel)]
