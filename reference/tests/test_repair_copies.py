"""Responses of SDS-R: the message itself, byte for byte, without fields of the responder."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repair_peers import ANSWERS, SECOND, T_MAX, answers, asked, asking, asks, holder, of_bob, repairing, requesting
from scripted_peers import (
    T,
    content,
    copies,
    delivered,
    holding,
    in_filter,
    joined,
    lamport,
    log,
    missing,
    outgoing,
    sync,
)
from sds_reference import HistoryEntry, Message, Participant, decode, encode


def original(message_id: str, *causal: str, requested: tuple[HistoryEntry, ...] = ()) -> bytes:
    """A message of bob with every field that the wire has."""
    entries = tuple(HistoryEntry(i, b"\x00hint\xff", "bob") for i in causal)
    return encode(Message("bob", message_id, "c", T + 9, entries, holding("a", "b"), requested, b"\x00\xff" * 50))


def answer(alice: Participant, message_id: str, sender: str = "bob") -> list[bytes]:
    """What alice broadcasts when she is asked."""
    alice.receive(asking(HistoryEntry(message_id, None, sender)), T + 500 * SECOND)
    return alice.tick(T + 500 * SECOND + T_MAX).broadcasts


def test_a_message_that_was_delivered_at_once_is_answered_byte_for_byte() -> None:
    alice = joined(ANSWERS)
    alice.receive(original("m"), T)
    assert answer(alice, "m") == [original("m")]
    assert answer(alice, "m") == [original("m")]


@pytest.mark.parametrize(
    "wire",
    [
        encode(Message("bob", "m", "c", 0, (), None, (), b"x")),
        encode(Message("bob", "m", "c", 2**64 - 1, (), b"", (), b"x")),
        encode(Message("", "m", "c", T, (HistoryEntry("m", b"", ""),), b"\x00", (), b"x")),
    ],
    ids=["no filter", "empty filter", "empty fields"],
)
def test_absent_and_empty_fields_stay_what_they_are(wire: bytes) -> None:
    alice = joined(replace(ANSWERS, lost_timeout_ms=1))
    alice.receive(wire, T)
    alice.tick(T + 1)
    assert answer(alice, "m", "") == [wire]


def test_a_message_that_waited_for_its_dependencies_is_answered_byte_for_byte() -> None:
    for cascade in (True, False):
        alice = joined(replace(ANSWERS, cascade_on_receive=cascade))
        alice.receive(original("m", "a", "b"), T)
        alice.receive(content("a", at=1, sender="bob"), T)
        alice.receive(content("b", at=1, sender="bob"), T)
        alice.tick(T)
        assert "m" in log(alice)
        assert answer(alice, "m") == [original("m", "a", "b")]


def test_a_message_delivered_in_spite_of_a_loss_is_answered_and_a_dropped_one_is_not() -> None:
    for drops, expected in ((False, [original("m", "lost")]), (True, [])):
        alice = joined(replace(ANSWERS, lost_timeout_ms=SECOND, drops_the_lost=drops))
        alice.receive(original("m", "lost"), T)
        alice.tick(T + SECOND)
        assert answer(alice, "m") == expected


def test_a_message_that_another_had_to_repair_is_answered_byte_for_byte() -> None:
    carol, alice = joined(ANSWERS, "carol"), joined(ANSWERS)
    carol.receive(original("m"), T)
    alice.receive(content("y", *of_bob("m")), T)
    carol.receive(alice.send_sync("c", T + T_MAX).broadcasts[0], T + T_MAX)
    (copy,) = carol.tick(T + 2 * T_MAX).broadcasts
    assert delivered(alice.receive(copy, T + 2 * T_MAX)) == ["m", "y"]
    assert answer(alice, "m") == [original("m")]


def test_an_own_message_is_answered_byte_for_byte() -> None:
    alice = joined(ANSWERS)
    alice.receive(original("a"), T, b"hint")
    wire = alice.send("c", b"\x00x", T, "m", b"own hint").broadcasts
    alice.send("c", b"y", T + 1)
    assert answer(alice, "m", "alice") == wire


@pytest.mark.parametrize("own", [False, True], ids=["received", "own"])
def test_the_request_of_the_original_does_not_go_out_again_and_nothing_else_changes(own: bool) -> None:
    stripped, kept = (joined(repairing(requesting(), copies_keep_requests=keeps)) for keeps in (False, True))
    for alice, whole in ((stripped, False), (kept, True)):
        if own:
            alice.receive(sync("s", *of_bob("u")), T)
            effects = alice.send("c", b"x", T + T_MAX, "m")
            assert asked(effects) == ["u"]
            (wire,) = effects.broadcasts
        else:
            wire = original("m", requested=of_bob("u", "v"))
            alice.receive(wire, T)
        (copy,) = answer(alice, "m", "alice" if own else "bob")
        assert copy == (wire if whole else encode(replace(decode(wire), repair_request=())))
        assert (decode(copy).repair_request != ()) == whole


def test_a_response_is_no_new_message_of_the_responder() -> None:
    alice = holder()
    alice.send("c", b"x", T, "own")
    before = (log(alice), lamport(alice), outgoing(alice), in_filter(alice, "m", "n", "own"))
    alice.receive(asking("m", HistoryEntry("own", None, "alice")), T + SECOND)
    assert copies(alice.tick(T + SECOND)) == ["own"]
    assert copies(alice.tick(T + T_MAX)) == ["m"]
    assert (log(alice), lamport(alice), outgoing(alice), in_filter(alice, "m", "n", "own")) == before
    assert [copies(alice.tick(T + after)) for after in range(T_MAX, 10 * T_MAX, T_MAX)] == [[]] * 9


def test_a_response_and_a_resend_are_two_mechanisms() -> None:
    alice = joined(replace(ANSWERS, resend_unacknowledged_ms=30 * SECOND))
    alice.send("c", b"x", T, "own")
    alice.receive(asking(HistoryEntry("own", None, "alice")), T + 10 * SECOND)
    assert answers(alice, 10 * SECOND, 91 * SECOND) == {
        10 * SECOND: ["own"],
        30 * SECOND: ["own"],
        60 * SECOND: ["own"],
        90 * SECOND: ["own"],
    }


def test_a_response_does_not_hold_a_sync_message_back() -> None:
    alice = joined(replace(ANSWERS, sync_interval_ms=30 * SECOND, sync_only_when_quiet=True))
    alice.send("c", b"x", T, "own")
    alice.receive(asking(HistoryEntry("own", None, "alice")), T)
    assert copies(alice.tick(T + 29 * SECOND)) == ["own"]
    assert len(copies(alice.tick(T + 30 * SECOND))) == 1


def test_a_response_is_a_message_like_any_other_to_who_missed_it() -> None:
    bob, alice, dave = (joined(ANSWERS, name) for name in ("bob", "alice", "dave"))
    first, second = (bob.send("c", b"x", T, message_id).broadcasts[0] for message_id in ("m", "n"))
    for wire in (first, second):
        alice.receive(wire, T)
    assert missing(dave.receive(second, T)) == ["m"]
    assert asks(dave, T_MAX) == ["m"]
    alice.receive(dave.send_sync("c", T + T_MAX).broadcasts[0], T + T_MAX)
    (copy,) = alice.tick(T + 2 * T_MAX).broadcasts
    assert delivered(dave.receive(copy, T + 2 * T_MAX)) == ["m", "n"]
    assert log(dave) == log(alice) == log(bob) == ["m", "n"]
