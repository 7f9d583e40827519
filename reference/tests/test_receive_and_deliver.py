"""Sections "Receive Message", "Deliver Message" and "Resolve Conflicts"."""

from __future__ import annotations

from itertools import permutations

import pytest

from scripted_peers import (
    QUIET,
    T,
    causal_ids,
    content,
    delivered,
    holding,
    in_filter,
    incoming,
    joined,
    lamport,
    log,
    missing,
    outgoing,
    sent,
    sync,
)
from sds_reference import (
    Config,
    Delivered,
    Effects,
    HistoryEntry,
    LogEntry,
    MalformedMessageError,
    Message,
    Missing,
    Participant,
    encode,
)

# ---- who and what is processed ---------------------------------------------------------------------------------------


def test_an_own_message_coming_back_changes_nothing() -> None:
    alice = joined()
    alice.send("c", b"x", T, "m-1")
    effects = alice.receive(content("m-2", "m-1", at=T + 9_000, sender="alice", bloom=holding("m-1")), T)
    assert effects == Effects()
    assert (lamport(alice), log(alice), outgoing(alice)) == (T + 1, ["m-1"], {"m-1": "unacknowledged"})
    assert in_filter(alice, "m-2") == [False]


def test_a_message_without_sender_is_processed_as_a_foreign_one() -> None:
    assert delivered(joined().receive(content("x", sender=""), T)) == ["x"]


def test_a_message_with_met_dependencies_is_delivered_in_the_same_step() -> None:
    alice = joined()
    payload = b"\x00\xff\xfe\x80\n" * 20_000
    assert alice.receive(content("x", payload=payload), T).events == [Delivered("c", "x", payload)]
    assert delivered(alice.receive(content("y", "x"), T)) == ["y"]


def test_an_older_message_is_delivered_however_old_it_is() -> None:
    alice = joined()
    assert delivered(alice.receive(content("x", at=0), T)) == ["x"]
    assert alice.channel("c").log.last_entries(1) == [LogEntry("x", 0, "xavier", None)]


def test_a_message_with_an_unmet_dependency_is_buffered_put_in_the_filter_and_reported() -> None:
    alice = joined()
    entry = HistoryEntry("unknown", b"\xff\x00\xc3\x28", "bob")
    effects = alice.receive(content("y", entry), T)
    assert effects.events == [Missing("c", (entry,))]
    assert (log(alice), incoming(alice), in_filter(alice, "y", "unknown")) == ([], ["y"], [True, False])


def test_only_the_unmet_dependencies_are_reported() -> None:
    alice = joined()
    alice.receive(content("a"), T)
    assert missing(alice.receive(content("z", "a", "b", "c"), T)) == ["b", "c"]
    assert delivered(alice.receive(content("b"), T)) == ["b"]
    assert delivered(alice.receive(content("c"), T)) == ["c", "z"]


def test_a_buffered_message_does_not_meet_a_dependency() -> None:
    alice = joined()
    alice.receive(content("y", "x"), T)
    assert missing(alice.receive(content("z", "y"), T)) == ["y"]
    assert incoming(alice) == ["y", "z"]


def test_a_copy_of_a_delivered_message_does_nothing() -> None:
    alice = joined()
    alice.receive(content("x", at=1), T)
    assert alice.receive(content("x", at=T + 9_000, payload=b"other"), T) == Effects()
    assert (log(alice), lamport(alice)) == (["x"], T)


def test_a_copy_of_a_buffered_message_does_nothing() -> None:
    alice = joined()
    alice.receive(content("y", "x"), T)
    assert alice.receive(content("y", "x"), T) == Effects()
    assert incoming(alice) == ["y"]
    assert delivered(alice.receive(content("x", at=1), T)) == ["x", "y"]


def test_a_filter_or_entry_details_of_another_sort_do_not_hinder_delivery() -> None:
    alice = joined()
    alice.send("c", b"x", T, "m")
    for number, bloom in enumerate((b"", b"\x00", b"noise" * 9, bytes(65_536))):
        message = content(f"x{number}", HistoryEntry("m", b"hint", "nobody"), bloom=bloom)
        assert delivered(alice.receive(message, T)) == [f"x{number}"]


@pytest.mark.parametrize("length", [0, 1, 2, 10, 1_000])
def test_causal_histories_of_any_length_are_accepted(length: int) -> None:
    alice = joined()
    ids = [f"x{number}" for number in range(length)]
    for number, message_id in enumerate(ids):
        alice.receive(content(message_id, at=number), T)
    assert delivered(alice.receive(content("y", *ids), T)) == ["y"]


# ---- messages that cannot take part ----------------------------------------------------------------------------------


def test_bytes_that_are_not_a_message_are_refused() -> None:
    with pytest.raises(MalformedMessageError):
        joined().receive(b"\xff\xff", T)


def test_a_content_message_without_an_id_is_refused_and_changes_nothing() -> None:
    alice = joined()
    alice.send("c", b"x", T, "m")
    with pytest.raises(MalformedMessageError, match="without message_id"):
        alice.receive(content("", "m", payload=b"x", at=T + 9), T)
    assert (log(alice), outgoing(alice), lamport(alice)) == (["m"], {"m": "unacknowledged"}, T + 1)


def test_a_message_without_a_channel_id_is_refused() -> None:
    with pytest.raises(MalformedMessageError, match="without channel_id"):
        joined(Config(creates_channels=True)).receive(content("x", channel=""), T)


def test_a_message_with_neither_lamport_timestamp_nor_content_does_nothing() -> None:
    alice = joined()
    alice.send("c", b"x", T, "m")
    message = Message("xavier", "x", "c", None, (HistoryEntry("m"), HistoryEntry("unknown")), holding("m"))
    assert alice.receive(encode(message), T) == Effects()
    assert (log(alice), outgoing(alice)) == (["m"], {"m": "unacknowledged"})


@pytest.mark.parametrize("wire", [content("x", at=T + 6_001), sync("x", at=T + 6_001)], ids=["content", "sync"])
def test_a_lamport_timestamp_beyond_the_configured_bound_is_refused(wire: bytes) -> None:
    alice = joined(Config(max_lamport_ahead_ms=1_000))
    with pytest.raises(MalformedMessageError, match=f"{T + 6_001} is more than 1000 ms ahead"):
        alice.receive(wire, T + 5_000)
    assert (log(alice), in_filter(alice, "x")) == ([], [False])
    assert delivered(alice.receive(content("x", at=T + 6_000), T + 5_000)) == ["x"]


def test_no_lamport_timestamp_is_too_far_ahead_by_default() -> None:
    assert delivered(joined().receive(content("x", at=2**64 - 1), T)) == ["x"]


# ---- channels --------------------------------------------------------------------------------------------------------


def test_a_message_of_an_unknown_channel_is_ignored_by_default() -> None:
    alice = joined()
    assert alice.receive(content("x", channel="d"), T) == Effects()
    assert list(alice.channels) == ["c"]


def test_a_message_of_an_unknown_channel_creates_it_if_so_configured() -> None:
    alice = joined(Config(creates_channels=True))
    assert delivered(alice.receive(content("x", channel="d", at=1), T + 7)) == ["x"]
    assert (log(alice, "d"), lamport(alice, "d"), log(alice)) == (["x"], T + 7, [])


def test_a_refused_message_creates_no_channel() -> None:
    alice = joined(Config(creates_channels=True))
    with pytest.raises(MalformedMessageError):
        alice.receive(content("", channel="d", payload=b"x"), T)
    assert list(alice.channels) == ["c"]


def test_two_channels_of_one_participant_share_nothing() -> None:
    alice = joined()
    alice.join("d", T)
    alice.send("c", b"x", T, "m")
    alice.send("d", b"x", T, "m")
    effects = alice.receive(content("x", "m", channel="d", at=T + 9_000, bloom=holding("m")), T)
    assert [event.channel_id for event in effects.events] == ["d", "d"]
    assert (outgoing(alice, "c"), outgoing(alice, "d")) == ({"m": "unacknowledged"}, {})
    assert (log(alice, "c"), log(alice, "d")) == (["m"], ["m", "x"])
    assert (lamport(alice, "c"), lamport(alice, "d")) == (T + 1, T + 9_000)
    assert missing(alice.receive(content("y", "x", channel="c"), T)) == ["x"]
    assert causal_ids(sent(alice.send("c", b"x", T))) == ["m"]


# ---- Deliver Message: the Lamport timestamp --------------------------------------------------------------------------


def test_the_local_lamport_timestamp_matches_a_delivered_one_that_is_greater() -> None:
    alice = joined()
    alice.receive(content("x", at=T + 5_000), T)
    assert lamport(alice) == T + 5_000
    assert sent(alice.send("c", b"x", T)).lamport_timestamp == T + 5_001


@pytest.mark.parametrize("at", [0, T - 1, T])
def test_the_local_lamport_timestamp_stays_when_a_delivered_one_is_not_greater(at: int) -> None:
    alice = joined()
    alice.receive(content("x", at=at), T)
    assert lamport(alice) == T


def test_a_buffered_message_moves_the_lamport_timestamp_only_when_it_is_delivered() -> None:
    alice = joined()
    alice.receive(content("y", "x", at=T + 9_000), T)
    assert lamport(alice) == T
    alice.receive(content("x", at=1), T)
    assert lamport(alice) == T + 9_000


# ---- Resolve Conflicts: the order of the log -------------------------------------------------------------------------


def test_the_log_is_ordered_by_lamport_timestamp_whatever_the_arrival() -> None:
    for order in permutations([(10, "d"), (20, "c"), (30, "b"), (40, "a")]):
        alice = joined()
        for at, message_id in order:
            alice.receive(content(message_id, at=at), T)
        assert log(alice) == ["d", "c", "b", "a"]


def test_large_lamport_timestamps_are_ordered_as_numbers() -> None:
    stamps = [2**64 - 1, 9, 2**53 + 1, 0, 2**63, 10, 2**53, 2**63 - 1]
    alice = joined()
    for at in stamps:
        alice.receive(content(f"{at}", at=at), T)
    assert [int(message_id) for message_id in log(alice)] == [0, 9, 10, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1]


@pytest.mark.parametrize(
    "ids",
    [
        pytest.param(["10", "9", "B", "a", "a0"], id="bytes and not numbers, letters or a locale"),
        pytest.param(["00" * 32, "7f" * 32, "80" * 32, "ff" * 32], id="hex hashes"),
        pytest.param(["z", "é", "\ue000", "\uffff", "😀"], id="supplementary after all of the basic plane"),
        pytest.param(["e", "e\u0301", "é"], id="not normalised"),
        pytest.param(["a", "a\x00", "a\x00b", "ab"], id="a prefix first"),
    ],
)
def test_equal_lamport_timestamps_are_ordered_by_the_utf_8_bytes_of_the_id(ids: list[str]) -> None:
    for order in list(permutations(ids))[:24]:
        alice = joined()
        for message_id in order:
            alice.receive(content(message_id), T)
        assert log(alice) == ids


def test_all_participants_have_the_same_log_after_concurrent_messages_of_one_millisecond() -> None:
    group = [Participant(name, QUIET) for name in ("alice", "bob", "carol", "dave")]
    for member in group:
        member.join("c", T)
    wires = {member: member.send("c", b"x", T).broadcasts[0] for member in group}
    for member in group:
        for sender, wire in reversed(wires.items()):
            if sender is not member:
                assert len(delivered(member.receive(wire, T))) == 1
    logs = [log(member) for member in group]
    assert logs == [sorted(logs[0])] * 4
    assert len(logs[0]) == 4


def test_a_dependency_with_a_larger_lamport_timestamp_is_delivered_first_and_logged_last() -> None:
    alice = joined()
    alice.receive(content("y", "x", at=10), T)
    assert delivered(alice.receive(content("x", at=20), T)) == ["x", "y"]
    assert log(alice) == ["y", "x"]
