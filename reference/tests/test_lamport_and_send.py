"""Sections "Participant state" (the Lamport timestamp) and "Send Message"."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any

import pytest

from scripted_peers import QUIET, T, causal_ids, content, delivered, in_filter, joined, lamport, log, outgoing, sent
from sds_reference import Config, HistoryEntry, Kind, OwnIds, Participant, RefusedSendError, UnknownChannelError

# ---- the Lamport timestamp -------------------------------------------------------------------------------------------


def test_the_lamport_timestamp_starts_at_the_time_of_joining() -> None:
    assert lamport(joined(now_ms=T)) == T


def test_the_first_message_in_the_millisecond_of_joining_is_one_ahead() -> None:
    assert sent(joined().send("c", b"x", T)).lamport_timestamp == T + 1


def test_a_message_takes_the_current_time_when_that_is_ahead() -> None:
    alice = joined()
    assert sent(alice.send("c", b"x", T + 3_600_000)).lamport_timestamp == T + 3_600_000
    assert lamport(alice) == T + 3_600_000


def test_a_message_exactly_one_millisecond_later_takes_that_time() -> None:
    assert sent(joined().send("c", b"x", T + 1)).lamport_timestamp == T + 1


def test_messages_of_one_millisecond_differ_by_one() -> None:
    alice = joined()
    stamps = [sent(alice.send("c", b"x", T)).lamport_timestamp for _ in range(4)]
    assert stamps == [T + 1, T + 2, T + 3, T + 4]


def test_the_lamport_timestamp_goes_on_by_one_when_the_clock_steps_back() -> None:
    alice = joined()
    alice.send("c", b"x", T + 5_000)
    assert sent(alice.send("c", b"x", T - 3_600_000)).lamport_timestamp == T + 5_001
    assert sent(alice.send("c", b"x", T + 5_000)).lamport_timestamp == T + 5_002
    assert sent(alice.send("c", b"x", T + 9_000)).lamport_timestamp == T + 9_000


def test_joining_again_does_not_reset_the_channel() -> None:
    alice = joined()
    alice.send("c", b"x", T + 5_000, "m")
    alice.join("c", T + 9_000)
    assert (lamport(alice), log(alice)) == (T + 5_000, ["m"])


@pytest.mark.parametrize("reached", [2**53 + 1, 2**63 - 1, 2**63, 2**64 - 2])
def test_a_message_after_a_large_lamport_timestamp_is_exactly_one_ahead(reached: int) -> None:
    alice = joined()
    alice.receive(content("x", at=reached), T)
    assert sent(alice.send("c", b"x", T)).lamport_timestamp == reached + 1


def test_nothing_is_sent_and_nothing_changes_after_the_largest_lamport_timestamp() -> None:
    alice = joined(Config(sync_interval_ms=None, own_ids_in_filter=OwnIds.BEFORE_SENDING))
    alice.send("c", b"x", T, "m")
    alice.receive(content("x", at=2**64 - 1), T)
    before = alice.channel("c").filter.to_wire()
    with pytest.raises(RefusedSendError, match=re.escape("2^64-1")):
        alice.send("c", b"y", T, "n")
    with pytest.raises(RefusedSendError, match=re.escape("2^64-1")):
        alice.send_sync("c", T)
    assert (lamport(alice), log(alice), outgoing(alice)) == (2**64 - 1, ["m", "x"], {"m": "unacknowledged"})
    assert alice.channel("c").filter.to_wire() == before


# ---- what a message carries ------------------------------------------------------------------------------------------


def test_a_message_carries_sender_channel_id_and_content() -> None:
    effects = joined().send("c", b"\x00\xff", T, "m")
    message = sent(effects)
    assert (message.sender_id, message.message_id, message.channel_id) == ("alice", "m", "c")
    assert (message.content, message.kind, effects.message_id) == (b"\x00\xff", Kind.CONTENT, "m")
    assert effects.events == []


def test_the_first_message_has_an_empty_causal_history_and_the_empty_filter() -> None:
    message = sent(joined().send("c", b"x", T))
    assert message.causal_history == ()
    assert message.bloom_filter == bytes(18_752)


def test_the_causal_history_is_the_last_two_of_the_log_oldest_first() -> None:
    alice = joined()
    for at, message_id in enumerate("abcd"):
        alice.receive(content(message_id, at=at), T)
    assert causal_ids(sent(alice.send("c", b"x", T))) == ["c", "d"]


@pytest.mark.parametrize(("late_at", "expected"), [(15, ["b", "d"]), (30, ["late", "d"]), (50, ["d", "late"])])
def test_a_late_arrival_counts_by_its_place_in_the_log_and_not_by_its_arrival(
    late_at: int, expected: list[str]
) -> None:
    alice = joined()
    for message_id, at in (("a", 10), ("b", 20), ("d", 40), ("late", late_at)):
        alice.receive(content(message_id, at=at), T)
    assert causal_ids(sent(alice.send("c", b"x", T))) == expected


@pytest.mark.parametrize(
    ("size", "descending", "expected"),
    [
        (1, False, ["e"]),
        (3, False, ["c", "d", "e"]),
        (3, True, ["e", "d", "c"]),
        (9, False, ["a", "b", "c", "d", "e"]),
        (9, True, ["e", "d", "c", "b", "a"]),
    ],
)
def test_length_and_direction_of_the_causal_history_are_configured(
    size: int, descending: bool, expected: list[str]
) -> None:
    alice = joined(Config(causal_history_size=size, causal_history_descending=descending))
    for at, message_id in enumerate("abcde"):
        alice.receive(content(message_id, at=at), T)
    assert causal_ids(sent(alice.send("c", b"x", T))) == expected


def test_own_messages_are_in_the_causal_history_of_the_next_one() -> None:
    alice = joined()
    alice.send("c", b"x", T, "m-1")
    assert causal_ids(sent(alice.send("c", b"x", T, "m-2"))) == ["m-1"]
    assert causal_ids(sent(alice.send("c", b"x", T, "m-3"))) == ["m-1", "m-2"]


def test_a_buffered_message_is_not_in_the_causal_history() -> None:
    alice = joined()
    alice.receive(content("blocked", "unknown"), T)
    assert sent(alice.send("c", b"x", T)).causal_history == ()


def test_each_hint_stands_beside_its_own_id() -> None:
    alice = joined()
    alice.receive(content("a", at=1), T, b"hint of a")
    alice.send("c", b"x", T, "b", b"hint of b")
    alice.send("c", b"x", T, "c")
    message = sent(alice.send("c", b"x", T))
    assert message.causal_history == (HistoryEntry("b", b"hint of b"), HistoryEntry("c"))
    wide = joined(Config(causal_history_size=9))
    wide.receive(content("a", at=1), T, b"hint of a")
    assert sent(wide.send("c", b"x", T)).causal_history == (HistoryEntry("a", b"hint of a", None),)


def test_no_field_of_the_repair_extension_is_populated() -> None:
    alice = joined()
    alice.receive(content("a", at=1), T)
    alice.receive(content("blocked", "unknown"), T)
    message = sent(alice.send("c", b"x", T))
    assert message.repair_request == ()
    assert [entry.sender_id for entry in message.causal_history] == [None]


@pytest.mark.parametrize(
    ("policy", "in_first", "in_second"),
    [
        (OwnIds.AFTER_SENDING, [False, False, False], [True, False, True]),
        (OwnIds.BEFORE_SENDING, [True, False, False], [True, True, True]),
        (OwnIds.NEVER, [False, False, False], [False, False, True]),
    ],
)
def test_own_ids_enter_the_filter_as_configured(policy: OwnIds, in_first: list[bool], in_second: list[bool]) -> None:
    config = Config(own_ids_in_filter=policy)
    alice = joined(config)

    def held(message: Any) -> list[bool]:
        view = config.bloom_profile.read(message.bloom_filter, config.bloom_parameters)
        return ["m-1" in view, "m-2" in view, "x" in view]

    first = held(sent(alice.send("c", b"x", T, "m-1")))
    alice.receive(content("x"), T)
    second = held(sent(alice.send("c", b"x", T, "m-2")))
    assert (first, second) == (in_first, in_second)


# ---- after broadcasting ----------------------------------------------------------------------------------------------


def test_a_sent_message_is_in_the_outgoing_buffer_and_in_the_own_log() -> None:
    alice = joined()
    alice.send("c", b"x", T, "m")
    assert outgoing(alice) == {"m": "unacknowledged"}
    assert ["m" in alice.channel("c").outgoing, "n" in alice.channel("c").outgoing] == [True, False]
    assert log(alice) == ["m"]
    assert in_filter(alice, "m", "n") == [True, False]


def test_a_reply_to_an_own_message_is_delivered_at_once() -> None:
    alice = joined()
    alice.send("c", b"x", T, "m")
    assert delivered(alice.receive(content("reply", "m"), T)) == ["reply"]


def test_a_message_that_waits_for_an_own_one_is_delivered_after_it_is_sent() -> None:
    alice = joined()
    alice.receive(content("reply", "m"), T)
    alice.send("c", b"x", T, "m")
    assert delivered(alice.tick(T)) == ["reply"]


def test_own_messages_take_their_place_by_lamport_timestamp_and_id() -> None:
    alice = joined()
    alice.send("c", b"x", T, "m")
    for message_id, at in (("n", T + 1), ("l", T + 1), ("z", T), ("a", T + 2)):
        alice.receive(content(message_id, at=at), T)
    assert log(alice) == ["z", "l", "m", "n", "a"]


# ---- message IDs and refusals ----------------------------------------------------------------------------------------


def test_computed_ids_are_distinct_hex_hashes_within_and_across_participants_and_channels() -> None:
    ids = []
    for name in ("alice", "bob"):
        participant = Participant(name, QUIET)
        for channel in ("c", "d"):
            participant.join(channel, T)
            ids += [participant.send(channel, b"ok", T).message_id for _ in range(50)]
            ids += [participant.send_ephemeral(channel, b"ok").message_id for _ in range(50)]
            ids += [sent(participant.send_sync(channel, T)).message_id for _ in range(50)]
    assert len(set(ids)) == 600
    assert all(re.fullmatch("[0-9a-f]{64}", message_id) for message_id in ids)


def test_computed_ids_are_the_same_in_every_run() -> None:
    first, second = joined().send("c", b"x", T), joined().send("c", b"x", T)
    assert first.message_id == second.message_id
    assert first.broadcasts == second.broadcasts


def test_a_computed_id_is_the_hash_of_all_that_tells_messages_apart() -> None:
    alice = joined()
    first, second = alice.send("c", b"\x00\xff", T), alice.send_ephemeral("c", b"\x00\xff")
    head = "0000000000000005 616c696365 0000000000000001 63 "
    count = "0000000000000008 000000000000000"
    tail = " 0000000000000002 00ff"
    assert first.message_id == sha256_of(f"{head} 0000000000000008 000001a3185c5001 {count}1 {tail}")
    assert second.message_id == sha256_of(f"{head} 0000000000000000 {count}2 {tail}")


def sha256_of(hexadecimal: str) -> str:
    return sha256(bytes.fromhex(hexadecimal)).hexdigest()


def test_ids_keep_apart_where_their_parts_would_run_together() -> None:
    one, other = Participant("ab", QUIET), Participant("a", QUIET)
    one.join("c", T)
    other.join("bc", T)
    assert one.send("c", b"x", T).message_id != other.send("bc", b"x", T).message_id


def test_empty_content_is_refused_and_changes_nothing() -> None:
    alice = joined()
    with pytest.raises(RefusedSendError, match="content is empty"):
        alice.send("c", b"", T + 9)
    assert (lamport(alice), log(alice), outgoing(alice)) == (T, [], {})


@pytest.mark.parametrize("used", ["own", "delivered", "buffered"])
def test_an_id_in_use_is_refused_and_changes_nothing(used: str) -> None:
    alice = joined()
    alice.send("c", b"x", T, "own")
    alice.receive(content("delivered", at=1), T)
    alice.receive(content("buffered", "unknown", at=1), T)
    with pytest.raises(RefusedSendError, match=f"message ID '{used}' is in use"):
        alice.send("c", b"x", T + 9, used)
    assert (lamport(alice), log(alice), outgoing(alice)) == (T + 1, ["delivered", "own"], {"own": "unacknowledged"})


def test_a_channel_that_was_not_joined_cannot_be_sent_to() -> None:
    with pytest.raises(UnknownChannelError, match="not a member of channel 'd': join it first"):
        joined().send("d", b"x", T)
