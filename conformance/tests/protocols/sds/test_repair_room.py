"""Participants under test with SDS-R, and a room in which they hear each other: late, in order, and not everything."""

from __future__ import annotations

import pytest

from run_helpers import T, altered, reference, stage, view
from sds_conformance.protocols.sds.scenarios.core.room import Room, everybody, lose_everything, requests_only
from sds_conformance.protocols.sds.scenarios.repair.live import open_with_repairs, t_max, t_min
from sds_conformance.protocols.sds.scenarios.repair.participants import LONGEST_MS, T_MAX_MS, T_MIN_MS
from sds_harness.sds.actor import Actor
from sds_harness.sds.peer import entries_with_senders
from sds_harness.sds.stage import Stage
from sds_harness.stage import ScheduleStoppedError
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Message

NAMES = ("alice", "bob", "carol")


def room_of(*names: str, delay_ms: int = 100) -> tuple[Stage, Room, list[Actor]]:
    on = stage()
    actors = [open_with_repairs(on, name) for name in names]
    return on, Room(on, actors, delay_ms), actors


def heard(on: Stage, name: str) -> list[tuple[str, str, int]]:
    """The messages that a participant received: kind, sender, and time in milliseconds."""
    return [
        (received.kind.value, received.message.sender_id, received.step.now_ms - T)
        for received in view(on, name).received
    ]


def test_what_a_peer_says_is_heard_by_all_at_once() -> None:
    on, room, _ = room_of(*NAMES)
    room.say(on.peer("zoe").content(T))
    assert [heard(on, name) for name in NAMES] == [[("content", "zoe", 0)]] * 3


def test_what_one_sends_the_others_hear_when_it_is_due_and_not_before() -> None:
    on, room, actors = room_of(*NAMES)
    room.sync(actors[0])
    room.wait(99)
    assert [heard(on, name) for name in NAMES] == [[], [], []]
    room.wait(1)
    assert [heard(on, name) for name in NAMES] == [[], [("sync", "alice", 100)], [("sync", "alice", 100)]]
    room.wait(1_000)
    assert [len(heard(on, name)) for name in NAMES] == [0, 1, 1]
    assert on.now_ms == T + 1_100


def test_a_wait_takes_its_time_whatever_is_under_way() -> None:
    on, room, actors = room_of(*NAMES, delay_ms=30)
    room.sync(actors[0])
    room.wait(50)
    assert on.now_ms == T + 50
    room.wait(0)
    assert on.now_ms == T + 50


def test_messages_arrive_in_the_order_they_were_sent_each_after_its_own_delay() -> None:
    on, room, (alice, bob, _) = room_of(*NAMES)
    room.sync(bob)
    room.wait(40)
    room.sync(alice)
    room.wait(500)
    assert heard(on, "carol") == [("sync", "bob", 100), ("sync", "alice", 140)]


def test_what_is_lost_is_lost_to_whom_it_is_lost() -> None:
    def not_carol(listener: Actor, message: Message) -> bool:
        return listener.name != "carol"

    on, room, (alice, _, _) = room_of(*NAMES)
    room.hears = not_carol
    room.say(on.peer("zoe").content(T))
    room.sync(alice)
    room.wait(100)
    assert [len(heard(on, name)) for name in NAMES] == [1, 2, 0]
    room.hears = lose_everything
    room.sync(alice)
    room.wait(100)
    room.hears = everybody
    room.sync(alice)
    room.wait(100)
    assert [len(heard(on, name)) for name in NAMES] == [1, 3, 1]


def test_who_hears_requests_only_hears_nothing_else() -> None:
    on, room, (alice, _, _) = room_of(*NAMES)
    room.hears = requests_only
    zoe = on.peer("zoe")
    room.say(zoe.content(T))
    room.say(zoe.sync(T, requests=["something"]))
    room.sync(alice)
    room.wait(100)
    assert [heard(on, name) for name in NAMES] == [[("sync", "zoe", 0)]] * 3


def test_whoever_has_left_hears_nothing() -> None:
    on, room, (alice, bob, _) = room_of(*NAMES)
    room.sync(alice)
    room.actors = [alice, bob]
    room.wait(100)
    assert [len(heard(on, name)) for name in NAMES] == [0, 1, 0]


def test_a_sweep_says_how_much_went_out_and_the_others_hear_it() -> None:
    on, room, actors = room_of(*NAMES)
    message = on.peer("zoe").content(T)
    room.say(message)
    room.hears = lambda listener, sent: listener is actors[0] or not sent.repair_request
    room.say(on.peer("yves").sync(T, requests=entries_with_senders(message)))
    assert room.sweep() == 0
    room.wait(T_MAX_MS)
    assert room.sweep() == 1
    room.wait(100)
    copies = [r for name in NAMES for r in view(on, name).received if r.step.now_ms == T + T_MAX_MS + 100]
    assert [r.message for r in copies] == [message, message]
    room.sync(actors[1])
    assert room.sweep() == 0


def test_a_repair_is_asked_for_and_answered_in_the_room() -> None:
    on, room, (alice, bob, carol) = room_of(*NAMES)
    zoe = on.peer("zoe")
    lost = zoe.content(T)
    room.actors = [bob, carol]
    room.say(lost)
    room.actors = [alice, bob, carol]
    room.say(zoe.content(T + 1, *entries_with_senders(lost)))
    for _ in range(30):
        room.wait(10_000)
        room.sync(alice)
        room.sweep()
    assert lost.message_id in view(on).logged_ids
    (missing,) = view(on).repair.missing
    assert missing.requests
    assert missing.arrived is not None
    answers = [a for name in ("bob", "carol") for asked in view(on, name).repair.asked for a in asked.answers]
    assert answers


# ---- Participants with SDS-R -----------------------------------------------------------------------------------------


def test_a_participant_is_asked_for_with_times_and_a_group_that_tell_something() -> None:
    alice = open_with_repairs(stage(), configuration=pb.Configuration(num_response_groups=3))
    asked = alice.party.asked
    assert (asked.sds_r, asked.t_min_ms, asked.t_max_ms, asked.num_response_groups) == (True, T_MIN_MS, T_MAX_MS, 3)
    assert (t_min(alice), t_max(alice)) == (T_MIN_MS, T_MAX_MS)


def test_times_are_those_in_force_and_those_asked_for_only_where_nothing_tells() -> None:
    def knows_better(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("opened"):
            reply.opened.configuration.ClearField("t_min_ms")
            reply.opened.configuration.t_max_ms = LONGEST_MS

    alice = open_with_repairs(stage(altered(knows_better)))
    assert (t_min(alice), t_max(alice)) == (T_MIN_MS, LONGEST_MS)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("sds_r", False, "SDS-R is declared, but could not be turned on"),
        ("t_max_ms", LONGEST_MS + 1, f"T_max is {LONGEST_MS + 1} ms, although {T_MAX_MS} ms were asked for"),
        ("t_max_ms", 2**63, f"T_max is {2**63} ms, although"),
    ],
)
def test_where_there_is_nothing_to_wait_for_the_schedule_ends(field: str, value: int, said: str) -> None:
    def insists(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("opened"):
            setattr(reply.opened.configuration, field, value)

    with pytest.raises(ScheduleStoppedError, match=said):
        open_with_repairs(stage(altered(insists)))


@pytest.mark.parametrize("capability", [pb.CAPABILITY_SDS_R, pb.CAPABILITY_VIRTUAL_CLOCK])
def test_without_sds_r_or_a_clock_that_obeys_the_schedule_ends(capability: int) -> None:
    on = stage(reference(without=[capability]))
    with pytest.raises(ScheduleStoppedError, match="needs the capability"):
        open_with_repairs(on)
    assert on.trace.steps == []
