"""Sections "Periodic Sync Message" and "Ephemeral Messages"."""

from __future__ import annotations

import pytest

from scripted_peers import (
    T,
    acknowledged,
    causal_ids,
    content,
    copies,
    delivered,
    ephemeral,
    holding,
    in_filter,
    incoming,
    joined,
    lamport,
    log,
    lost,
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
    Kind,
    Message,
    Missing,
    Participant,
    RefusedSendError,
    decode,
    encode,
)

# ---- sending sync messages -------------------------------------------------------------------------------------------


def test_a_sync_message_has_lamport_timestamp_causal_history_and_filter_and_no_content() -> None:
    alice = joined()
    for message_id, at in (("a", 1), ("b", 2), ("d", 3)):
        alice.receive(content(message_id, at=at), T)
    message = sent(alice.send_sync("c", T + 50))
    assert (message.kind, message.content, message.lamport_timestamp) == (Kind.SYNC, None, T + 50)
    assert (message.sender_id, message.channel_id, causal_ids(message)) == ("alice", "c", ["b", "d"])
    assert message.bloom_filter == holding("a", "b", "d")


def test_a_sync_message_moves_the_local_lamport_timestamp() -> None:
    alice = joined()
    alice.receive(content("x", at=T + 1_000), T)
    assert sent(alice.send_sync("c", T)).lamport_timestamp == T + 1_001
    assert lamport(alice) == T + 1_001
    assert sent(alice.send("c", b"x", T)).lamport_timestamp == T + 1_002


def test_a_sent_sync_message_leaves_none_of_the_traces_of_a_regular_one() -> None:
    alice = joined()
    alice.receive(content("x"), T)
    before = alice.channel("c").filter.to_wire()
    ids = [sent(alice.send_sync("c", T)).message_id for _ in range(20)]
    assert (log(alice), outgoing(alice)) == (["x"], {})
    assert alice.channel("c").filter.to_wire() == before
    assert causal_ids(sent(alice.send("c", b"x", T))) == ["x"]
    assert missing(alice.receive(content("y", ids[0]), T)) == [ids[0]]


def syncs(alice: Participant, until: int, step: int = 1_000) -> list[int]:
    """Milliseconds after T at which a tick every ``step`` broadcast a sync message."""
    return [
        after
        for after in range(0, until + 1, step)
        for wire in alice.tick(T + after).broadcasts
        if decode(wire).kind is Kind.SYNC
    ]


def test_sync_messages_go_out_every_interval() -> None:
    assert syncs(joined(Config()), 100_000) == [30_000, 60_000, 90_000]


def test_no_sync_message_goes_out_before_the_interval_has_passed() -> None:
    alice = joined(Config())
    assert copies(alice.tick(T + 29_999)) == []
    assert len(copies(alice.tick(T + 30_000))) == 1
    assert copies(alice.tick(T + 59_999)) == []


def test_the_interval_is_configured_and_the_backoff_is_added_to_it() -> None:
    assert syncs(joined(Config(sync_interval_ms=7_000)), 22_000) == [7_000, 14_000, 21_000]
    assert syncs(joined(Config(sync_interval_ms=7_000, sync_backoff_ms=3_000)), 22_000) == [10_000, 20_000]


def test_automatic_sync_messages_can_be_switched_off() -> None:
    assert syncs(joined(Config(sync_interval_ms=None)), 600_000, step=10_000) == []


def test_every_channel_has_its_own_sync_messages() -> None:
    alice = joined(Config())
    alice.join("d", T + 10_000)
    assert [decode(wire).channel_id for wire in alice.tick(T + 30_000).broadcasts] == ["c"]
    assert [decode(wire).channel_id for wire in alice.tick(T + 40_000).broadcasts] == ["d"]


def test_an_own_message_starts_the_interval_anew() -> None:
    alice = joined(Config(resend_unacknowledged_ms=10**9))
    alice.send("c", b"x", T + 10_000)
    assert syncs(alice, 50_000) == [40_000]
    alice.send_sync("c", T + 60_000)
    assert copies(alice.tick(T + 89_999)) == []
    assert len(copies(alice.tick(T + 90_000))) == 1


def test_a_rebroadcast_does_not_hold_a_sync_message_back() -> None:
    alice = joined(Config())
    alice.send("c", b"x", T, "m")
    kinds = [decode(wire).kind for wire in alice.tick(T + 30_000).broadcasts]
    assert kinds == [Kind.CONTENT, Kind.SYNC]


def test_two_participants_that_wait_for_each_other_are_acknowledged_by_sync_messages() -> None:
    for config in (Config(), Config(sync_only_when_quiet=True)):
        alice, bob = joined(config, "alice"), joined(config, "bob")
        bob.receive(alice.send("c", b"x", T, "a").broadcasts[0], T)
        alice.receive(bob.send("c", b"x", T, "b").broadcasts[0], T)
        for now in range(T, T + 120_000, 1_000):
            for one, other in ((alice, bob), (bob, alice)):
                for wire in one.tick(now).broadcasts:
                    other.receive(wire, now)
        assert (outgoing(alice), outgoing(bob)) == ({}, {})


@pytest.mark.parametrize("wire", [content("x", at=1), sync("s")], ids=["content", "sync"])
def test_a_message_of_somebody_else_holds_a_sync_message_back_only_if_so_configured(wire: bytes) -> None:
    for config, expected in ((Config(), [30_000]), (Config(sync_only_when_quiet=True), [50_000])):
        alice = joined(config)
        alice.receive(wire, T + 20_000)
        assert syncs(alice, 55_000) == expected


def test_a_message_received_by_a_clock_that_has_stepped_back_hastens_no_sync_message() -> None:
    alice = joined(Config(sync_only_when_quiet=True))
    alice.receive(content("x", at=1), T + 20_000)
    alice.receive(content("y", at=1), T)
    assert copies(alice.tick(T + 49_999)) == []
    assert len(copies(alice.tick(T + 50_000))) == 1


def test_nothing_is_reported_about_an_empty_log_if_so_configured() -> None:
    alice = joined(Config(sync_with_empty_log=False))
    assert (syncs(alice, 95_000), alice.send_sync("c", T), lamport(alice)) == ([], Effects(), T)
    alice.receive(content("x", at=1), T + 95_000)
    assert copies(alice.tick(T + 119_999)) == []
    assert len(copies(alice.tick(T + 120_000))) == 1
    assert len(alice.send_sync("c", T).broadcasts) == 1
    assert len(joined(Config()).send_sync("c", T).broadcasts) == 1


def test_the_sweeps_go_on_when_no_sync_message_can_follow_the_largest_lamport_timestamp() -> None:
    alice = joined(Config(cascade_on_receive=False))
    alice.send("c", b"x", T, "m")
    alice.receive(content("y", "x", at=2**64 - 1), T)
    alice.receive(content("x", at=2**64 - 1), T)
    effects = alice.tick(T + 30_000)
    assert (copies(effects), delivered(effects)) == (["m"], ["y"])


# ---- receiving sync messages -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [None, b""], ids=["unset content", "empty content"])
def test_a_received_sync_message_is_neither_delivered_nor_logged_nor_put_in_the_filter(body: bytes | None) -> None:
    alice = joined()
    wire = encode(Message("xavier", "s", "c", T + 10**7, content=body))
    assert alice.receive(wire, T) == Effects()
    assert (log(alice), incoming(alice), in_filter(alice, "s")) == ([], [], [False])
    assert lamport(alice) == T
    assert missing(alice.receive(content("y", "s"), T)) == ["s"]


def test_a_sync_message_reports_its_unmet_dependencies_and_is_not_kept() -> None:
    alice = joined()
    entry = HistoryEntry("x", b"hint")
    assert alice.receive(sync("s", entry), T).events == [Missing("c", (entry,))]
    assert incoming(alice) == []
    assert delivered(alice.receive(content("x"), T)) == ["x"]


def test_a_sync_message_with_unmet_dependencies_is_kept_until_they_are_met_if_so_configured() -> None:
    alice = joined(Config(buffer_syncs=True))
    alice.receive(sync("s", "x"), T)
    alice.receive(sync("s", "x", "y"), T)
    assert incoming(alice) == ["s", "s"]
    assert delivered(alice.receive(content("x", at=1), T)) == ["x"]
    assert incoming(alice) == ["s"]
    assert delivered(alice.receive(content("y", at=1), T)) == ["y"]
    assert (incoming(alice), log(alice), in_filter(alice, "s")) == ([], ["x", "y"], [False])


def test_a_kept_sync_message_with_lost_dependencies_is_not_delivered() -> None:
    alice = joined(Config(buffer_syncs=True, lost_timeout_ms=1_000, sync_interval_ms=None))
    alice.receive(sync("s", "x"), T)
    effects = alice.tick(T + 1_000)
    assert (lost(effects), delivered(effects), log(alice), incoming(alice)) == (["x"], [], [], [])


def test_sync_messages_of_one_id_are_all_processed() -> None:
    alice = joined()
    alice.send("c", b"x", T, "m")
    assert acknowledged(alice.receive(sync("s"), T)) == []
    assert acknowledged(alice.receive(sync("s", "m"), T)) == ["m"]


@pytest.mark.parametrize("config", [Config(), Config(buffer_syncs=True)], ids=["not kept", "kept"])
def test_a_sync_message_whose_id_is_that_of_a_missing_message_does_not_stand_in_for_it(config: Config) -> None:
    alice = joined(config)
    alice.receive(content("y", "x"), T)
    alice.receive(sync("x", "unknown"), T)
    assert "y" in incoming(alice)
    assert delivered(alice.receive(content("x", at=1), T)) == ["x", "y"]


# ---- ephemeral messages ----------------------------------------------------------------------------------------------


def test_an_ephemeral_message_carries_content_and_nothing_of_the_log() -> None:
    alice = joined()
    alice.receive(content("x"), T)
    effects = alice.send_ephemeral("c", b"typing", "e")
    assert sent(effects) == Message("alice", "e", "c", content=b"typing")
    assert (effects.message_id, effects.events) == ("e", [])


def test_a_sent_ephemeral_message_changes_nothing() -> None:
    alice = joined()
    message_id = alice.send_ephemeral("c", b"typing").message_id
    assert (log(alice), outgoing(alice), lamport(alice), in_filter(alice, message_id)) == ([], {}, T, [False])
    assert [copies(alice.tick(T + after)) for after in range(0, 200_000, 10_000)] == [[]] * 20


def test_empty_ephemeral_content_is_refused() -> None:
    with pytest.raises(RefusedSendError, match="content is empty"):
        joined().send_ephemeral("c", b"")


def test_a_received_ephemeral_message_is_delivered_at_once_and_never_logged() -> None:
    alice = joined()
    alice.receive(content("blocked", "unknown"), T)
    assert alice.receive(ephemeral("e"), T).events == [Delivered("c", "e", b"now")]
    assert (log(alice), incoming(alice), lamport(alice), in_filter(alice, "e")) == ([], ["blocked"], T, [False])
    assert missing(alice.receive(content("y", "e"), T)) == ["e"]


def test_an_own_ephemeral_message_coming_back_is_ignored() -> None:
    assert joined().receive(ephemeral("e", sender="alice"), T) == Effects()


def test_a_message_without_lamport_timestamp_is_ephemeral_whatever_else_it_carries() -> None:
    alice = joined()
    wire = encode(Message("xavier", "e", "c", None, (HistoryEntry("unknown"),), holding("e"), (), b"now"))
    assert alice.receive(wire, T).events == [Delivered("c", "e", b"now")]
    assert (log(alice), incoming(alice)) == ([], [])


def test_ephemeral_ids_enter_the_filter_only_if_so_configured() -> None:
    alice = joined(Config(ephemeral_ids_in_filter=True))
    alice.receive(ephemeral("e"), T)
    assert (in_filter(alice, "e"), log(alice)) == ([True], [])
