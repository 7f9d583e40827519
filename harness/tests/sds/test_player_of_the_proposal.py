"""The player under the proposal of 2024: its layout, its text, its counting clock, logged sync messages."""

from __future__ import annotations

from typing import Any

from player_helpers import message, shown
from sds_harness.schedules import Operation
from sds_harness.sds import operations as ops
from sds_harness.sds.group_trace import GroupTrace
from sds_reference import FORUM_2024, decode

LARGEST = FORUM_2024.wire.max_lamport


def proposed(*operations: Operation, **schedule: Any) -> GroupTrace:
    return shown(*operations, revision=FORUM_2024.name, **schedule)


def lamport(group_trace: GroupTrace, label: str) -> int | None:
    return message(group_trace, label).lamport_timestamp


# ---- On the wire -----------------------------------------------------------------------------------------------------


def test_what_peers_say_is_in_its_layout_and_has_no_more_than_that_has_room_for() -> None:
    said = ops.Say("mallory", "m1", after=("ghost",), asks=("ghost",), hint=True, senders_named=True)
    group_trace = proposed(said, ops.Say("mallory", "m2", after=("m1",), encoding="reversed"))
    packet = group_trace.labels["m1"]
    assert packet.wire.message == FORUM_2024.wire.decode(packet.wire.raw) != decode(packet.wire.raw)
    (entry,) = message(group_trace, "m1").causal_history
    assert (entry.retrieval_hint, entry.sender_id, message(group_trace, "m1").repair_request) == (None, None, ())
    assert [e.message_id for e in message(group_trace, "m2").causal_history] == ["mallory-m1"]


def test_what_is_no_text_is_said_in_ascii_and_text_is_left_as_it_is() -> None:
    fox = "🦊"
    group_trace = proposed(
        *(ops.Send("alice", "m1", raw="00ff2061"), ops.Say("mallory", "m2", raw="00ff2061")),
        *(ops.Send("alice", "m3", raw=fox.encode().hex()), ops.Say("mallory", "m4", raw=fox.encode().hex())),
        ops.Ephemeral("bob", raw="ff"),
    )
    contents = [message(group_trace, label).content for label in ("m1", "m2", "m3", "m4")]
    assert contents == [b"\x00\x7f a", b"\x00\x7f a", fox.encode(), fox.encode()]
    assert group_trace.left_out == {}
    assert {act.step.answer for act in group_trace.acts} == {"opened", "effects"}


# ---- Lamport timestamps ----------------------------------------------------------------------------------------------


def test_a_peer_counts_on_from_what_participants_sent_in_the_channel() -> None:
    group_trace = proposed(
        *(ops.Say("mallory", "m1"), ops.Say("mallory", "m2")),
        *(ops.Send("alice", "m3"), ops.Wait(60_000), ops.Say("mallory", "m4")),
        *(ops.Say("mallory", "m5", lamport_ms=100), ops.Say("mallory", "m6", lamport_ms=-100)),
        *(ops.Say("mallory", "m7", channel=1), ops.Say("mallory", "m8", lamport_ms=None)),
        channels=("c1", "c2"),
    )
    assert [lamport(group_trace, f"m{number}") for number in range(1, 9)] == [1, 1, 2, 3, 103, 0, 1, None]


def test_no_timestamp_is_larger_than_the_layout_has_room_for() -> None:
    group_trace = proposed(ops.Say("mallory", "m1", lamport_ms=1 << 53), ops.Send("alice", "m2"))
    assert lamport(group_trace, "m1") == LARGEST
    assert "m2" not in group_trace.labels
    assert list(group_trace.left_out) == [1]
