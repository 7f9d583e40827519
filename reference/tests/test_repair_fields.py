"""The fields that SDS-R adds to messages: who sent what is named, what is asked for, and when they stay unset."""

from __future__ import annotations

from repair_peers import LATER, T_MIN, U, of_bob, repairing, requester, requesting, t_req
from scripted_peers import T, content, delivered, holding, incoming, joined, log, missing, sent, sync
from sds_proto.wire.v2026_01 import message_pb2 as pb
from sds_reference import Config, HistoryEntry, Message, encode


def populated(wire: bytes) -> set[str]:
    """Names of the fields that are on the wire, those of history entries with a dot before."""
    message = pb.Message.FromString(wire)
    entries = [*message.causal_history, *message.repair_request]
    return {field.name for field, _ in message.ListFields()} | {
        f".{field.name}" for entry in entries for field, _ in entry.ListFields()
    }


def test_without_sds_r_both_fields_stay_unset_although_something_is_missing() -> None:
    alice = joined(Config(resend_unacknowledged_ms=10_000))
    alice.receive(content("m", sender="bob"), T)
    alice.receive(content("blocked", *of_bob("u", "v")), T)
    wires = alice.send("c", b"x", T + LATER).broadcasts + alice.send_sync("c", T + LATER).broadcasts
    wires += alice.tick(T + 2 * LATER).broadcasts + alice.send_ephemeral("c", b"x").broadcasts
    assert len(wires) == 5
    for wire in wires:
        assert populated(wire) & {"repair_request", ".sender_id"} == set()
    assert alice.channel("c").repair is None


def test_without_sds_r_messages_with_the_fields_are_processed_as_those_without() -> None:
    plain, repairing_peers = joined(Config()), joined(Config())
    plain.receive(content("m"), T)
    repairing_peers.receive(content("m"), T)
    for number, causal in enumerate([("m",), ("u",), ("m", "u")]):
        for payload in (None, b"x"):
            bare = Message(
                "bob", f"y{number}", "c", T, tuple(HistoryEntry(i) for i in causal), holding("m"), (), payload
            )
            full = Message("bob", f"y{number}", "c", T, of_bob(*causal), holding("m"), of_bob("m", "u"), payload)
            without, with_fields = plain.receive(encode(bare), T), repairing_peers.receive(encode(full), T)
            assert (delivered(without), missing(without)) == (delivered(with_fields), missing(with_fields))
    assert (
        (log(plain), incoming(plain))
        == (log(repairing_peers), incoming(repairing_peers))
        == (["m", "y0"], ["y1", "y2"])
    )
    assert repairing_peers.tick(T + LATER).events == plain.tick(T + LATER).events
    assert repairing_peers.send_sync("c", T + LATER) == plain.send_sync("c", T + LATER)


def test_every_entry_of_a_causal_history_names_the_original_sender() -> None:
    alice = joined(repairing(requesting()))
    alice.receive(content("a", at=1, sender="bob"), T, b"hint")
    alice.send("c", b"x", T, "b")
    assert sent(alice.send("c", b"x", T)).causal_history == (
        HistoryEntry("a", b"hint", "bob"),
        HistoryEntry("b", None, "alice"),
    )


def test_a_message_that_somebody_else_repaired_is_still_of_its_original_sender() -> None:
    alice = requester()
    alice.receive(content("y", *of_bob("u"), sender="carol"), T)
    alice.receive(content("u", at=1, sender="bob"), T)
    assert sent(alice.send_sync("c", T)).causal_history == (*of_bob("u"), HistoryEntry("y", None, "carol"))


def test_a_request_has_id_hint_and_sender_of_what_is_missing() -> None:
    alice = requester()
    entry = HistoryEntry("u", b"\xff\x00", "bob")
    alice.receive(content("y", entry), T)
    assert sent(alice.send("c", b"x", T + LATER)).repair_request == (entry,)


def test_an_entry_learns_from_later_messages_what_it_does_not_know_and_nothing_else() -> None:
    alice = requester()
    for number, entry in enumerate(
        [HistoryEntry("u"), HistoryEntry("u", None, ""), HistoryEntry("u", b"1"), HistoryEntry("u", b"2", "bob")]
    ):
        alice.receive(content(f"y{number}", entry), T + number)
    alice.receive(sync("s", HistoryEntry("u", b"3", "mallory")), T + 9)
    assert sent(alice.send_sync("c", T + LATER)).repair_request == (HistoryEntry("u", b"1", "bob"),)
    assert t_req(alice) == {"u": U}


def test_nothing_missing_leaves_the_field_unset() -> None:
    alice = requester()
    alice.receive(content("m", sender="bob"), T)
    wires = [alice.send("c", b"x", T + LATER).broadcasts[0], alice.send_sync("c", T + LATER).broadcasts[0]]
    assert ["repair_request" in populated(wire) for wire in wires] == [False, False]
    alice.receive(sync("s", *of_bob("u")), T + LATER)
    assert "repair_request" not in populated(alice.send_sync("c", T + LATER + T_MIN).broadcasts[0])
