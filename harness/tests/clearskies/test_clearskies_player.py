"""The player of ClearSkies: what each operation does to peers and links, and what becomes of what is under way."""

from __future__ import annotations

import pytest

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference.mutants import MUTANTS
from clearskies_reference.testee.server import Testee, TesteeOptions
from clearskies_shows import TRIO, arrived, commands, received, shown, values
from clearskies_stages import session_of
from sds_harness.clearskies.operations import (
    Again,
    Ask,
    Calm,
    Close,
    Delete,
    Garble,
    Hold,
    Leave,
    Link,
    Look,
    Member,
    Operation,
    Put,
    Read,
    Release,
    Rename,
    Reopen,
    Say,
    StepClock,
    Tick,
    Unlink,
    Wait,
)
from sds_harness.clearskies.player import MOST_SPOKEN, play
from sds_harness.clearskies.stage import Stage
from sds_harness.schedules import Schedule

LINE = (Link("alice", "bob"), Link("bob", "carol"))
ALL = (Look(),)


def test_what_is_written_gets_to_everybody_and_is_known_by_its_label() -> None:
    show = shown(*LINE, Put("alice", "m1", "k", "[1]"), *ALL)
    assert [values(show, who) for who in ("alice", "bob", "carol")] == [{"k": "[1]"}] * 3
    assert arrived(show, "bob") == ["m1"]
    (packet,) = [packet for packet in show.packets if packet.label == "m1"]
    assert (packet.sender, packet.operation, packet.wire.messages[0].type) == ("alice", 2, "database.update")
    assert show.left_out == {}


def test_records_are_renamed_and_deleted() -> None:
    show = shown(*LINE, Put("alice", "m1", "a", "1"), Rename("bob", "m2", "a", "b"), *ALL)
    assert values(show, "alice") == {"b": "1"}
    show = shown(*LINE, Put("alice", "m1", "a", "1"), Delete("bob", "m2", "a"), *ALL)
    assert values(show, "carol") == {}


def test_several_records_are_written_at_once() -> None:
    show = shown(*LINE, Put("alice", "m1", "k", "1", times=3), *ALL)
    assert values(show, "carol") == {"k": "1", "k.2": "1", "k.3": "1"}
    assert arrived(show, "bob") == ["m1", "m1.2", "m1.3"]


def test_what_is_held_arrives_when_it_is_released_in_order() -> None:
    writes = (Put("alice", "m1"), Put("alice", "m2"))
    held = shown(*LINE, Hold("alice", "bob"), *writes)
    assert arrived(held, "bob") == []
    released = shown(*LINE, Hold("bob", "alice"), *writes, Release("alice", "bob"))
    assert arrived(released, "bob") == ["m1", "m2"]
    every = shown(*LINE, Hold(), *writes, Calm(rounds=3))
    assert arrived(every, "bob") == ["m1", "m2"]
    assert every.settled


def test_a_link_breaks_in_the_middle_of_a_message() -> None:
    show = shown(
        *LINE,
        Hold("alice", "bob"),
        Put("alice", "m1"),
        Put("alice", "m2"),
        Release("alice", "bob", 10),
        Unlink("alice", "bob"),
    )
    (part,) = [act for act in received(show, "bob") if act.operation == 5]
    assert len(part.step.request.receive.data) == 10
    assert part.packet is show.labels["m1"]
    assert {loss.packet.label for loss in show.losses} == {"m1", "m2"}
    assert {(loss.listener, loss.why) for loss in show.losses} == {("bob", "cut")}
    assert commands(show)[-2:] == ["alice disconnect", "bob disconnect"]


def test_a_link_may_be_held_from_its_beginning() -> None:
    show = shown(Put("alice", "m1"), Link("alice", "bob", held=True))
    assert received(show, "bob") == received(show, "alice") == []
    show = shown(Put("alice", "m1"), Link("alice", "bob", held=True), Release())
    assert arrived(show, "bob") == ["m1"]


def test_there_is_a_second_link_only_where_one_is_asked_for() -> None:
    assert commands(shown(Link("alice", "bob"), Link("bob", "alice"))).count("alice connect") == 1
    show = shown(Link("alice", "bob"), Link("alice", "bob", second=True), Unlink("alice", "bob"))
    assert commands(show).count("alice connect") == 2
    assert commands(show).count("alice disconnect") == 2


def test_who_ends_comes_again_with_its_store_or_without_it() -> None:
    before = (Put("alice", "m1", "k", "1"), Close("alice"))
    assert values(shown(*before, Reopen("alice"), *ALL), "alice") == {"k": "1"}
    assert values(shown(*before, Reopen("alice", forget=True), *ALL), "alice") == {}
    assert values(shown(Put("bob", "m1"), Close("bob"), Reopen("bob"), *ALL), "bob") == {}


def test_the_links_of_who_ends_break() -> None:
    show = shown(*LINE, Hold("alice", "bob"), Put("alice", "m1"), Close("alice"))
    assert commands(show)[-2:] == ["alice close", "bob disconnect"]
    assert [loss.packet.label for loss in show.losses] == ["m1"]


@pytest.mark.parametrize(
    "operation",
    [
        Put("alice", "m1"),
        Rename("alice", "m1"),
        Delete("alice", "m1"),
        Link("alice", "bob"),
        Unlink("alice", "bob"),
        Release("alice", "bob", 5),
        Close("alice"),
        Tick("alice"),
        Look("alice"),
        Read("alice"),
        Say("xavier", to="alice"),
        Again("xavier", "alice"),
        Ask("xavier", "alice"),
        Garble("xavier", "alice"),
        Leave("xavier", "alice"),
    ],
)
def test_nothing_comes_of_what_one_would_do_that_is_not_there(operation: Operation) -> None:
    show = shown(Close("alice"), operation)
    assert commands(show) == ["alice close"]
    assert show.left_out == {}


def test_who_is_there_is_not_opened_again() -> None:
    assert commands(shown(Reopen("alice"))) == []


def test_each_has_its_own_clock() -> None:
    members = (Member("alice", clock_ms=-500), Member("bob", clock_ms=3_000))
    show = shown(
        Link("alice", "bob"), Put("alice", "m1"), StepClock("bob", 7), Wait(100), Put("bob", "m2"), members=members
    )
    start = show.traces[0].start_ms
    written = [act for act in show.acts if act.step.command == "put"]
    assert [act.step.now_ms - start for act in written] == [-500, 3_107]
    assert [act.step.now_ms - start for act in received(show, "alice")][-1] == -400


def test_refused_changes_are_steps_and_the_rest_is_played() -> None:
    show = shown(*LINE, Delete("alice", "m1", "nothing"), Put("carol", "m2"), Put("alice", "m3"), Look())
    refused = [act for act in show.acts if act.step.answer == "rejected"]
    assert [(act.who, act.step.command) for act in refused] == [("alice", "delete"), ("carol", "put")]
    assert len(values(show, "carol")) == 1


def test_what_is_not_declared_is_left_out() -> None:
    show = shown(*LINE, Put("alice", "m1"), without=frozenset({pb.CAPABILITY_READ_ONLY, pb.CAPABILITY_STORE}))
    assert show.left_out == {-1: "needs the capability read-only"}
    assert arrived(show, "bob") == ["m1"]


# ---- Scripted peers --------------------------------------------------------------------------------------------------


def test_a_scripted_peer_is_linked_once_and_its_updates_are_taken() -> None:
    show = shown(Say("xavier", to="alice", label="x1", key="a"), Say("xavier", to="alice", label="x2", key="b"), Look())
    assert commands(show, "alice").count("connect") == 1
    assert arrived(show, "alice") == ["x1", "x2"]
    assert values(show, "alice") == {"a": '"value x1 of xavier"', "b": '"value x2 of xavier"'}


def test_it_changes_a_record_with_or_without_having_heard_of_it() -> None:
    before = (Link("alice", "bob"), Put("alice", "m1", "k"), Wait(1))
    after = shown(*before, Say("xavier", to="alice", after="m1", key="k2", content="new"), Look())
    assert values(after, "bob") == {"k2": '"new"'}
    clock = after.labels["x"].wire.messages[0].body.members["vector_clock"]
    assert len(clock) == 2
    late = Say("xavier", to="alice", after="m1", concurrent=True, at_ms=-1_000)
    show = shown(*before, late, Look())
    assert values(show, "alice") == {"k": '"value m1 of alice"'}
    assert [event.kind for act in received(show, "alice") for event in act.step.events] == ["conflict"]


def test_what_follows_a_label_that_was_never_sent_is_a_record_that_nobody_has() -> None:
    show = shown(Say("xavier", to="alice", after="m9"), Look())
    assert len(values(show, "alice")) == 1


@pytest.mark.parametrize("signature", ["none", "forged", "flipped", "read-only", "usual"])
def test_who_may_only_read_is_not_believed(signature: str) -> None:
    show = shown(Say("mallory", to="carol", read_only=True, signature=signature), Look())
    assert values(show, "carol") == {}
    assert received(show, "carol")[-1].step.refusal


def test_a_scripted_peer_that_may_write_signs_for_those_who_only_read() -> None:
    show = shown(Say("xavier", to="carol"), Look())
    assert len(values(show, "carol")) == 1


def test_a_message_is_repeated_with_its_signature() -> None:
    told = (Link("alice", "carol"), Put("alice", "m1"), Unlink("alice", "carol"), Close("carol"), Reopen("carol"))
    again = shown(*told, Again("mallory", "carol", read_only=True, label="m1"), Look())
    assert len(values(again, "carol")) == 1
    flipped = shown(*told, Again("mallory", "carol", read_only=True, label="m1", flipped=True), Look())
    assert values(flipped, "carol") == {}


def test_a_stranger_asks_and_is_answered() -> None:
    show = shown(Put("alice", "m1"), Ask("xavier", "alice"), Put("alice", "m2", "b"))
    assert [packet.label for packet in show.packets if packet.sender == "alice" and packet.label] == ["m1", "m2"]
    show = shown(Put("alice", "m1"), Ask("xavier", "alice", known=1 << 63))
    assert [packet.label for packet in show.packets if packet.sender == "alice" and packet.label] == []


def test_noise_is_received_as_it_is_and_links_end() -> None:
    show = shown(Garble("xavier", "alice", wire="00ff"), Garble("xavier", "alice", wire="6d"), Leave("xavier", "alice"))
    assert commands(show) == ["alice connect", "alice receive", "alice connect", "alice receive", "alice disconnect"]
    assert [act.step.request.receive.data for act in received(show, "alice")] == [b"\x00\xff", b"m"]


@pytest.mark.parametrize(
    "odd",
    [
        "nan",
        "deep",
        "twice",
        "surrogate",
        "fraction",
        "list",
        "no-clock",
        "no-uuid",
        "no-time",
        "negative",
        "not-deleted",
    ],
)
def test_odd_bodies_are_said_as_they_are(odd: str) -> None:
    show = shown(Say("xavier", to="alice", label="x1", odd=odd))
    plain = shown(Say("xavier", to="alice", label="x1"))
    assert show.breakdown is None
    assert show.labels["x1"].wire.raw != plain.labels["x1"].wire.raw


def test_a_large_body_is_said_but_not_without_end() -> None:
    show = shown(Say("xavier", to="alice", label="x1", odd="large"), members=(Member("alice"),))
    assert 15_000_000 < len(show.labels["x1"].wire.raw) < 1 << 24
    too_many = [Say("xavier", to="alice", label=f"x{number}", odd="large") for number in range(6)]
    show = shown(*too_many, members=(Member("alice"),))
    assert f"{MOST_SPOKEN >> 20} MiB" in show.left_out[4]


def test_large_messages_are_kept_once_and_told_in_full() -> None:
    links = Link("alice", "bob"), Link("alice", "carol")
    writers = tuple(map(Member, ("alice", "bob", "carol")))
    show = shown(*links, Say("xavier", to="alice", label="x1", odd="large"), members=writers)
    (step,) = [act.step for act in show.acts if act.who == "alice" and len(act.step.sent) == 2]
    (_, one), (_, other) = step.sent
    assert one is other
    assert step.reply is not None
    assert not step.reply.effects.sent
    whole = step.whole_reply
    assert whole is not None
    assert [(each.link, each.data) for each in whole.effects.sent] == step.sent
    (line,) = [line for line in show.traces[0].to_json_lines() if line.startswith(f'{{"step":{step.index},')]
    assert len(line) > 2 * len(one)


def test_a_clock_can_be_large_and_a_writer_another_one() -> None:
    say = Say("xavier", to="alice", label="x1", clock_members=500, clock_number=7, revision=1 << 63, poses_as="bob")
    (message,) = shown(say).labels["x1"].wire.messages
    members = message.body.members
    assert len(members["vector_clock"]) == 502
    assert members["last_updated_rev"] == 1 << 63
    bob = shown().traces[0].club.join("bob")
    assert members["last_updated_by"] == bob
    assert 7 in members["vector_clock"].values()


@pytest.mark.parametrize(
    ("digits", "time"),
    [(0, "08:00:00Z"), (1, "08:00:00.0Z"), (3, "08:00:00.007Z"), (9, "08:00:00.007000000Z")],
)
def test_a_time_is_said_as_precisely_as_it_is_asked_for(digits: int, time: str) -> None:
    show = shown(Wait(7), Say("xavier", to="alice", digits=digits))
    (message,) = show.labels["x"].wire.messages
    assert message.body.members["update_time"].endswith(f"T{time}")


# ---- Reading and calm ------------------------------------------------------------------------------------------------


def test_a_stranger_reads_all_that_everybody_has() -> None:
    show = shown(*LINE, Put("alice", "m1", times=2), Read())
    answers = [p for p in show.packets if p.operation == 3 and p.sender in ("alice", "bob", "carol")]
    told = [p.sender for p in answers for m in p.wire.messages if m.type == "database.update"]
    assert {who: told.count(who) for who in told} == {"alice": 2, "bob": 2, "carol": 2}
    assert commands(show, "alice")[-6:] == ["receive", *["tick"] * 4, "disconnect"]


def test_a_reader_of_the_same_name_as_a_participant_is_left_out() -> None:
    show = shown(Read(), members=(Member("stranger"), Member("bob")))
    assert "refused" in show.left_out[0]


def test_calm_ends_when_nobody_has_anything_to_say() -> None:
    show = shown(*LINE, Put("alice", "m1"), Calm(period_ms=1_000))
    assert (show.settled, show.calm_rounds) == (True, 2)


def test_gossip_without_an_end_is_broken_off_and_told() -> None:
    mutant = MUTANTS["relays-again"]
    testee = Testee(TesteeOptions("1", peer_class=mutant.peer_class))
    members = tuple(Member(name) for name in ("alice", "bob", "carol"))
    ring = (Link("alice", "bob"), Link("bob", "carol"), Link("carol", "alice"))
    show = shown(*ring, Put("alice", "m1"), Put("alice", "m2"), members=members, testee=testee)
    assert "still something under way" in show.left_out[3]
    assert show.traces[0].unsettled
    assert 4 not in show.began


def test_two_implementations_are_linked_to_each_other() -> None:
    stages = [Stage(session_of(), "a schedule") for _ in range(2)]
    schedule = Schedule(TRIO, (*LINE, Put("alice", "m1", "k", "1"), Look()), ())
    show = play(schedule, {"alice": stages[0], "bob": stages[1], "carol": stages[0]})
    assert [values(show, who) for who in schedule.names] == [{"k": "1"}] * 3
    assert [trace.steps for trace in show.traces] == [
        [act.step for act in show.acts if act.trace is trace] for trace in show.traces
    ]
    assert show.traces[0].club.name_of(show.traces[1].parties["bob"].participant_id) == "bob"


def test_the_same_schedule_is_played_the_same() -> None:
    operations = (*LINE, Hold(), Put("alice", "m1"), Put("bob", "m2"), Calm(), Read())
    one, other = shown(*operations), shown(*operations)
    assert commands(one) == commands(other)
    assert len(one.packets) == len(other.packets)
