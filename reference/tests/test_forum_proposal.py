"""The proposal of 2024, a revision of its own: its wire, its Lamport timestamps, and sync messages that are logged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sds_reference import (
    FORUM_2024,
    Acknowledged,
    Config,
    Delivered,
    HistoryEntry,
    MalformedMessageError,
    Message,
    Missing,
    Participant,
    RefusedSendError,
    build_filter,
)
from sds_reference.wire_fields import LEN, VARINT, WireField, split

T = 100_000_000
CONFIG = Config(FORUM_2024, sync_interval_ms=None)
encode, decode = FORUM_2024.wire.encode, FORUM_2024.wire.decode


def joined(config: Config = CONFIG, name: str = "alice") -> Participant:
    participant = Participant(name, config)
    participant.join("c", T)
    return participant


def sent(participant: Participant, content: bytes = b"x", message_id: str | None = None) -> Message:
    return decode(participant.send("c", content, T, message_id).broadcasts[0])


def synced(participant: Participant) -> Message:
    return decode(participant.send_sync("c", T).broadcasts[0])


def message(message_id: str, *causal: str, at: int, content: bytes | None = b"x", bloom: bytes | None = None) -> bytes:
    return encode(Message("bob", message_id, "c", at, tuple(map(HistoryEntry, causal)), bloom, (), content))


def log(participant: Participant) -> list[str]:
    return [entry.message_id for entry in participant.channel("c").log]


# ---- On the wire -----------------------------------------------------------------------------------------------------


def test_a_message_stands_in_the_numbers_of_the_proposal() -> None:
    full = Message("s", "m", "c", 7, (HistoryEntry("a", b"hint", "bob"), HistoryEntry("b")), b"f", (), b"text")
    assert split(encode(full)) == [
        WireField(1, LEN, b"s"),
        WireField(2, LEN, b"m"),
        WireField(3, VARINT, 7),
        WireField(4, LEN, b"a"),
        WireField(4, LEN, b"b"),
        WireField(5, LEN, b"c"),
        WireField(6, LEN, b"f"),
        WireField(7, LEN, b"text"),
    ]
    assert decode(encode(full)) == replace(full, causal_history=(HistoryEntry("a"), HistoryEntry("b")))


def test_a_timestamp_of_zero_is_set_and_content_of_no_length_is_not() -> None:
    zero = Message("s", "m", "c", 0, content=b"")
    assert decode(encode(zero)) == replace(zero, content=None)
    assert decode(encode(replace(zero, lamport_timestamp=None))).lamport_timestamp is None


@pytest.mark.parametrize("wire", [b"\xff", b"\x0a\x02\xc3\x28", b"\x18" + b"\xff" * 9 + b"\x01"])
def test_what_is_no_message_is_malformed(wire: bytes) -> None:
    with pytest.raises(MalformedMessageError):
        decode(wire)


def test_content_is_text() -> None:
    alice = joined()
    with pytest.raises(RefusedSendError, match="not UTF-8 text"):
        alice.send("c", b"\xff", T)
    with pytest.raises(RefusedSendError, match="not UTF-8 text"):
        alice.send_ephemeral("c", b"\xff")
    with pytest.raises(MalformedMessageError, match="not UTF-8 text"):
        encode(Message("s", "m", "c", 1, content=b"\xff"))
    assert sent(alice, "schön".encode()).lamport_timestamp == 1


# ---- Lamport timestamps ----------------------------------------------------------------------------------------------


def test_a_clock_counts_from_zero_whatever_the_time_is() -> None:
    alice = joined()
    assert alice.channel("c").clock.value == 0
    assert [sent(alice).lamport_timestamp for _ in range(3)] == [1, 2, 3]


def test_a_processed_message_from_ahead_is_matched() -> None:
    alice = joined()
    alice.receive(message("m", at=500), T)
    assert alice.channel("c").clock.value == 500
    alice.receive(message("n", at=20), T)
    assert sent(alice).lamport_timestamp == 501


def test_nothing_follows_the_largest_timestamp() -> None:
    alice = joined()
    alice.receive(message("m", at=2**31 - 1), T)
    with pytest.raises(RefusedSendError, match=r"2\^31-1"):
        alice.send("c", b"x", T)


def test_a_sync_message_carries_the_timestamp_there_is() -> None:
    alice = joined()
    assert synced(alice).lamport_timestamp == 0
    assert sent(alice).lamport_timestamp == 1
    assert [synced(alice).lamport_timestamp for _ in range(2)] == [1, 1]
    assert sent(alice).lamport_timestamp == 2


# ---- Sync messages are received like all others ----------------------------------------------------------------------


def test_a_sync_message_enters_filter_and_log_and_moves_the_clock() -> None:
    alice = joined()
    effects = alice.receive(message("s", at=9, content=None), T)
    channel = alice.channel("c")
    assert effects.events == []
    assert log(alice) == ["s"]
    assert "s" in channel.filter
    assert channel.clock.value == 9
    assert [entry.message_id for entry in sent(alice).causal_history] == ["s"]


def test_a_sync_message_waits_and_is_waited_for() -> None:
    alice = joined()
    waits = alice.receive(message("s", "root", at=9, content=None), T)
    assert waits.events == [Missing("c", (HistoryEntry("root"),))]
    alice.receive(message("m", "s", at=10), T)
    assert log(alice) == []
    delivered = alice.receive(message("root", at=8), T).events
    assert delivered == [Delivered("c", "root", b"x"), Delivered("c", "m", b"x")]
    assert log(alice) == ["root", "s", "m"]


def test_a_sync_message_that_was_given_up_is_logged_without_a_delivery() -> None:
    alice = joined(replace(CONFIG, lost_timeout_ms=1_000))
    alice.receive(message("s", "root", at=9, content=None), T)
    assert [type(event).__name__ for event in alice.tick(T + 1_000).events] == ["Lost"]
    assert log(alice) == ["s"]


def test_own_sync_messages_are_in_the_own_log_and_are_not_resent() -> None:
    alice = joined()
    own = synced(alice).message_id
    assert alice.receive(message("m", own, at=3), T).events == [Delivered("c", "m", b"x")]
    assert log(alice) == [own, "m"]
    assert alice.tick(T + 10_000_000).broadcasts == []


def test_a_sync_message_without_an_id_is_refused() -> None:
    with pytest.raises(MalformedMessageError, match="a sync message without message_id"):
        joined().receive(message("", at=1, content=None), T)


def test_a_sync_message_acknowledges() -> None:
    alice = joined()
    first, second = sent(alice).message_id, sent(alice).message_id
    bloom = build_filter(CONFIG.bloom_profile, CONFIG.bloom_parameters, [second])
    events = alice.receive(message("s", first, at=9, content=None, bloom=bloom), T).events
    assert events[0] == Acknowledged("c", first)
    assert [state.state.value for state in alice.channel("c").outgoing] == ["possibly acknowledged"]


# ---- What the proposal has not ---------------------------------------------------------------------------------------


def test_there_is_no_repair_and_there_are_no_hints() -> None:
    alice = joined(replace(CONFIG, sds_r=True))
    assert alice.channel("c").repair is None
    alice.send("c", b"x", T, "m", b"hint")
    assert decode(alice.send("c", b"y", T).broadcasts[0]).causal_history == (HistoryEntry("m"),)


def test_two_revisions_do_not_understand_each_other() -> None:
    """The channel of the one is no field of the other, or one of another type."""
    alice, bob = joined(), Participant("bob", Config(sync_interval_ms=None))
    bob.join("c", T)
    alice.send("c", b"root", T)
    with pytest.raises(MalformedMessageError):
        bob.receive(alice.send("c", b"x", T).broadcasts[0], T)
    with pytest.raises(MalformedMessageError):
        alice.receive(bob.send("c", b"x", T).broadcasts[0], T)
