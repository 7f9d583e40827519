"""The player under the proposal of 2024: its layout, its text, its counting clock, logged sync messages."""

from __future__ import annotations

from typing import Any

from player_helpers import NOT_CAROL, delivered, message, shown
from sds_harness.schedules import Operation
from sds_harness.sds import operations as ops
from sds_harness.sds.performance import Performance
from sds_reference import FORUM_2024, Kind, Message, decode

LARGEST = FORUM_2024.wire.max_lamport


def proposed(*operations: Operation, **schedule: Any) -> Performance:
    return shown(*operations, revision=FORUM_2024.name, **schedule)


def lamport(show: Performance, label: str) -> int | None:
    return message(show, label).lamport_timestamp


def source_of(show: Performance, who: str, message_id: str) -> list[str]:
    """The source of each arrival of a message."""
    return [a.source for a in show.acts if a.who == who and _id(a.step.arrived) == message_id]


def _id(message: Message | None) -> str:
    return message.message_id if message is not None else ""


def sync_of(show: Performance, who: str) -> Message:
    return next(
        packet.wire.message
        for packet in show.packets
        if packet.sender == who and packet.wire.message is not None and packet.wire.message.kind is Kind.SYNC
    )


# ---- On the wire -----------------------------------------------------------------------------------------------------


def test_what_peers_say_is_in_its_layout_and_has_no_more_than_that_has_room_for() -> None:
    said = ops.Say("mallory", "m1", after=("ghost",), asks=("ghost",), hint=True, senders_named=True)
    show = proposed(said, ops.Say("mallory", "m2", after=("m1",), encoding="reversed"))
    packet = show.labels["m1"]
    assert packet.wire.message == FORUM_2024.wire.decode(packet.wire.raw) != decode(packet.wire.raw)
    (entry,) = message(show, "m1").causal_history
    assert (entry.retrieval_hint, entry.sender_id, message(show, "m1").repair_request) == (None, None, ())
    assert [e.message_id for e in message(show, "m2").causal_history] == ["mallory-m1"]


def test_a_copy_that_asks_for_something_is_a_copy() -> None:
    show = proposed(ops.Send("alice", "m1", route=NOT_CAROL), ops.Again("m1", "carol", asks=("ghost",)))
    (copy,) = [act.step.received.message for act in show.acts if act.source == "again"]
    assert copy == message(show, "m1")


def test_noise_is_read_in_its_layout() -> None:
    show = proposed(ops.Garble("alice", "1803"))
    (packet,) = show.packets
    assert packet.wire.message is not None
    assert packet.wire.message.lamport_timestamp == 3


def test_what_is_no_text_is_said_in_ascii_and_text_is_left_as_it_is() -> None:
    fox = "🦊"
    show = proposed(
        *(ops.Send("alice", "m1", raw="00ff2061"), ops.Say("mallory", "m2", raw="00ff2061")),
        *(ops.Send("alice", "m3", raw=fox.encode().hex()), ops.Say("mallory", "m4", raw=fox.encode().hex())),
        ops.Ephemeral("bob", raw="ff"),
    )
    contents = [message(show, label).content for label in ("m1", "m2", "m3", "m4")]
    assert contents == [b"\x00\x7f a", b"\x00\x7f a", fox.encode(), fox.encode()]
    assert show.left_out == {}
    assert {act.step.answer for act in show.acts} == {"opened", "effects"}


# ---- Lamport timestamps ----------------------------------------------------------------------------------------------


def test_a_peer_counts_on_from_what_participants_sent_in_the_channel() -> None:
    show = proposed(
        *(ops.Say("mallory", "m1"), ops.Say("mallory", "m2")),
        *(ops.Send("alice", "m3"), ops.Wait(60_000), ops.Say("mallory", "m4")),
        *(ops.Say("mallory", "m5", lamport_ms=100), ops.Say("mallory", "m6", lamport_ms=-100)),
        *(ops.Say("mallory", "m7", channel=1), ops.Say("mallory", "m8", lamport_ms=None)),
        channels=("c1", "c2"),
    )
    assert [lamport(show, f"m{number}") for number in range(1, 9)] == [1, 1, 2, 3, 103, 0, 1, None]


def test_no_timestamp_is_larger_than_the_layout_has_room_for() -> None:
    show = proposed(ops.Say("mallory", "m1", lamport_ms=1 << 53), ops.Send("alice", "m2"))
    assert lamport(show, "m1") == LARGEST
    assert "m2" not in show.labels
    assert list(show.left_out) == [1]


# ---- Sync messages ---------------------------------------------------------------------------------------------------


def test_a_sync_message_that_was_missed_is_fetched_from_the_store_with_what_depends_on_it() -> None:
    talk = (ops.Send("alice", "m1"), ops.Sync("alice", route=NOT_CAROL), ops.Send("alice", "m2"))
    show = proposed(*talk, ops.Lookup("carol"), ops.Lookup("carol"))
    sync = sync_of(show, "alice").message_id
    assert sync in {entry.message_id for entry in message(show, "m2").causal_history}
    assert source_of(show, "carol", sync) == ["store"]
    assert delivered(show, "carol") == ["m1", "m2"]


def test_under_sds_no_sync_message_is_in_a_store() -> None:
    show = shown(ops.Sync("alice", route=NOT_CAROL), ops.Lookup("carol"))
    assert [act.source for act in show.acts if act.step.command == "receive"] == ["network"]


def test_a_group_in_calm_comes_to_rest_although_each_sync_message_is_logged() -> None:
    show = proposed(ops.Send("alice", "m1", route=NOT_CAROL), ops.Send("bob", "m2"), ops.Calm(20, 60_000))
    assert show.settled
    assert show.calm_rounds < 20
