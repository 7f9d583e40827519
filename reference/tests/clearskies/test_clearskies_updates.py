"""Sections "Record Changes" and "Requesting Updates": one peer, and the messages on its links."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from clearskies_club import NOW, RO, RW, A, B, C, D, bodies_of, by_read_write, get_updates, peer, plain, update, values
from clearskies_reference import Config, ConfigurationError, Effects, Peer, RefusedWriteError, UnknownLinkError
from clearskies_reference.vector_clock import MAX_INTEGER


def linked(*subscribed: str, **config: Any) -> Peer:
    """A with links 1, 2, ... to peers, all of which have asked for updates."""
    one = peer(config=Config(**config))
    for number, peer_id in enumerate(subscribed, start=1):
        one.connect(number, peer_id, RW, NOW)
        one.receive(number, get_updates(), NOW)
    return one


def take(one: Peer, link: int = 1, **fields: Any) -> Effects:
    return one.receive(link, plain(update(**fields)), NOW)


def test_a_change_goes_to_all_who_asked() -> None:
    one = linked(B, C)
    one.connect(3, D, RW, NOW)
    effects = one.put("k", '{"a": [1, null]}', NOW)
    assert [sent.link for sent in effects.sent] == [1, 2]
    (first, second) = bodies_of(effects.sent)
    assert first == second
    assert first == {
        "type": "database.update",
        "key": "k",
        "value": {"a": [1, None]},
        "uuid": effects.uuid,
        "last_updated_by": A,
        "last_updated_rev": 2,
        "update_time": "2023-11-14T22:13:20.000Z",
        "vector_clock": {A: 2},
    }
    assert effects.events == []


def test_unasked_updates_go_to_everybody() -> None:
    one = peer(config=Config(sends_unrequested=True))
    one.connect(1, B, RW, NOW)
    assert len(one.put("k", "1", NOW).sent) == 1


def test_a_change_of_somebody_is_stored_as_it_is_and_repeated_to_the_others() -> None:
    one = linked(B, C)
    effects = take(one, last_updated_rev=9)
    assert [(sent.link, body) for sent, body in zip(effects.sent, bodies_of(effects.sent), strict=True)] == [
        (2, update(last_updated_rev=9))
    ]
    assert values(one) == {"k": '{"n":1}'}
    assert one.store.revision == 1


def test_a_peer_that_echoes_repeats_it_to_everybody() -> None:
    assert [sent.link for sent in take(linked(B, C, echoes=True)).sent] == [1, 2]


def test_what_is_present_is_not_repeated_whatever_its_clock_says() -> None:
    one = linked(B, C)
    take(one)
    again = take(one, link=2, vector_clock={B: 1, C: 3})
    assert (again.sent, again.events) == ([], [])
    # But the clock of the next change includes the numbers of the received clock.
    assert bodies_of(one.put("k", "2", NOW).sent)[0]["vector_clock"] == {A: 5, B: 1, C: 3}


def test_revisions_count_local_changes_alone() -> None:
    one = linked(B)
    revisions = []
    for value in range(3):
        take(one, uuid=f"{value:032x}", key=f"of B {value}", last_updated_rev=10 + value)
        revisions += [body["last_updated_rev"] for body in bodies_of(one.put(f"of A {value % 2}", "1", NOW).sent)]
    assert revisions == [2, 3, 4]
    assert one.known() == {A: 4, B: 12}


def test_the_counter_starts_with_one_in_either_reading() -> None:
    one = linked(B, first_revision=1)
    assert one.store.revision == 0
    assert bodies_of(one.put("k", "1", NOW).sent)[0]["last_updated_rev"] == 1
    with pytest.raises(ConfigurationError):
        Config(first_revision=0)


def test_there_is_an_end_of_revisions() -> None:
    one = linked(B)
    take(one, last_updated_by=A, last_updated_rev=MAX_INTEGER - 1, vector_clock={A: 1})
    one.put("k", "2", NOW)
    with pytest.raises(RefusedWriteError, match="revision"):
        one.put("k", "3", NOW)
    with pytest.raises(RefusedWriteError, match="revision"):
        one.delete("k", NOW)
    assert values(one) == {"k": "2"}


def test_who_has_lost_its_store_learns_its_revisions_and_clocks_from_others() -> None:
    one = linked(B)
    take(one, last_updated_by=A, last_updated_rev=87, vector_clock={A: 44})
    (sent,) = bodies_of(one.put("k", "2", NOW).sent)
    assert (sent["last_updated_rev"], sent["vector_clock"]) == (88, {A: 47})


# ---- Keys and uuids ----------------------------------------------------------------------------------------------


def test_a_rename_keeps_the_uuid() -> None:
    one = linked(B)
    uuid = one.put("k", "1", NOW).uuid
    effects = one.rename("k", "l", NOW)
    assert effects.uuid == uuid
    assert [(body["key"], body["value"], body["last_updated_rev"]) for body in bodies_of(effects.sent)] == [("l", 1, 3)]
    assert values(one) == {"l": "1"}
    assert one.rename("l", "l", NOW).sent == []


def test_a_renamed_record_leaves_its_old_key_at_others() -> None:
    one = linked(B)
    take(one)
    take(one, key="l", vector_clock={B: 2}, last_updated_rev=2)
    assert values(one) == {"l": '{"n":1}'}


def test_a_rename_onto_a_key_replaces_who_had_it() -> None:
    one = linked(B)
    one.put("k", "1", NOW)
    one.put("l", "2", NOW)
    sent = bodies_of(one.rename("k", "l", NOW).sent)
    assert [(body["key"], body.get("deleted", False)) for body in sent] == [("l", True), ("l", False)]
    assert values(one) == {"l": "1"}


def test_a_deleted_key_is_free_again_under_a_new_uuid() -> None:
    one = linked(B)
    first = one.put("k", "1", NOW).uuid
    (gone,) = bodies_of(one.delete("k", NOW).sent)
    assert (gone["deleted"], gone["uuid"], gone["value"], gone["last_updated_rev"]) == (True, first, None, 3)
    second = one.put("k", "2", NOW).uuid
    assert second != first
    assert {record.uuid: record.deleted for record in one.records()} == {first: True, second: False}


def test_a_suggested_uuid_is_taken_for_a_new_record_alone() -> None:
    one = peer()
    assert one.put("k", "1", NOW, "5" * 32).uuid == "5" * 32
    assert one.put("k", "2", NOW, "6" * 32).uuid == "5" * 32
    assert one.put("l", "2", NOW, "5" * 32).uuid not in ("5" * 32, "6" * 32)


def test_uuids_are_what_the_caller_draws() -> None:
    assert peer().put("k", "1", NOW).uuid == peer().put("k", "1", NOW).uuid
    one = peer()
    assert len({one.put(str(number), "1", NOW).uuid for number in range(500)}) == 500


@pytest.mark.parametrize("key", ["", "a/b", "ключ", "\0", "\U0001f5dd"])
def test_any_string_is_a_key(key: str) -> None:
    one, other = linked(B), linked(B)
    (sent,) = one.put(key, "null", NOW).sent
    other.receive(1, sent.data.replace(A.encode(), C.encode()), NOW)
    assert values(one) == values(other) == {key: "null"}


def test_what_is_not_there_is_not_renamed_or_deleted() -> None:
    one = peer()
    one.put("k", "1", NOW)
    one.delete("k", NOW)
    with pytest.raises(RefusedWriteError, match="no record"):
        one.delete("k", NOW)
    with pytest.raises(RefusedWriteError, match="no record"):
        one.rename("k", "l", NOW)


# ---- Times -------------------------------------------------------------------------------------------------------


def times(one: Peer, *now: int) -> list[str]:
    return [bodies_of(one.put("k", "1", now_ms).sent)[0]["update_time"][11:] for now_ms in now]


def test_a_change_is_later_than_what_it_changes_though_the_clock_goes_back() -> None:
    assert times(linked(B), NOW, NOW, NOW - 5_000) == ["22:13:20.000Z", "22:13:20.001Z", "22:13:20.002Z"]
    assert times(linked(B, time_digits=0), NOW, NOW, NOW + 999) == ["22:13:20Z", "22:13:21Z", "22:13:22Z"]
    assert times(linked(B, advancing_times=False), NOW, NOW - 1) == ["22:13:20.000Z", "22:13:19.999Z"]
    with pytest.raises(ConfigurationError):
        Config(time_digits=10)


def test_a_change_is_later_than_any_time_while_there_is_one_that_can_be_written() -> None:
    one = linked(B)
    take(one, update_time="+9999999999-12-31T23:59:59.9999999999Z")
    with pytest.raises(RefusedWriteError, match="no later update_time"):
        one.put("k", "1", NOW)
    take(one, uuid="2" * 32, key="l", update_time="+9999999999-12-31T23:59:59.99Z")
    assert bodies_of(one.delete("l", NOW).sent)[0]["update_time"] == "+9999999999-12-31T23:59:59.991Z"


# ---- Requesting updates ------------------------------------------------------------------------------------------


def test_a_client_asks_for_what_follows_the_highest_revisions_it_has_seen() -> None:
    one = peer()
    assert bodies_of(one.connect(1, B, RW, NOW).sent) == [{"type": "database.get_updates", "since": {}}]
    take(one, last_updated_rev=7)
    # C overwrites it: the records no longer show that B had a revision 7.
    take(one, last_updated_by=C, last_updated_rev=3, vector_clock={B: 1, C: 1})
    one.put("l", "1", NOW)
    one.disconnect(1)
    assert bodies_of(one.connect(2, B, RW, NOW).sent)[0]["since"] == {A: 2, B: 7, C: 3}


def answered(one: Peer, **since: int) -> list[tuple[str, int]]:
    """The writers and revisions of the updates in the answer to a request, on a new link."""
    number = max(one.links, default=0) + 1
    one.connect(number, f"{number:032x}", RW, NOW)
    sent = bodies_of(one.receive(number, get_updates(**since), NOW).sent, number)
    return [(body["last_updated_by"], body["last_updated_rev"]) for body in sent]


def test_a_server_answers_with_all_that_follows_in_the_order_of_revisions() -> None:
    one = linked(D)
    for number, (by, rev) in enumerate([(C, 8), (B, 9), (C, 4), (B, 3)]):
        fields: dict[str, Any] = {"last_updated_by": by, "vector_clock": {by: 1}, "key": str(number)}
        take(one, uuid=f"{number:032x}", last_updated_rev=rev, **fields)
    assert answered(one) == [(B, 3), (C, 4), (C, 8), (B, 9)]
    assert answered(one, **{B: 3}) == [(C, 4), (C, 8), (B, 9)]
    assert answered(one, **{B: 9, C: 4}) == [(C, 8)]
    assert answered(one, **{B: 9, C: 8}) == []
    assert answered(one, **{B: MAX_INTEGER, C: 0, A: 5}) == [(C, 4), (C, 8)]


def test_who_asks_again_is_answered_again() -> None:
    one = linked(B)
    one.put("k", "1", NOW)
    assert len(one.receive(1, get_updates(), NOW).sent) == 1
    assert len(one.put("k", "2", NOW).sent) == 1


def test_an_update_behind_the_request_in_one_piece_follows_the_answer() -> None:
    one = linked(C)
    one.put("k", "1", NOW)
    one.connect(2, B, RW, NOW)
    both = get_updates() + plain(update(uuid="2" * 32, key="l"))
    assert [sent.link for sent in one.receive(2, both, NOW).sent] == [2, 1]


def test_one_of_several_links_to_a_peer_asks_and_another_if_that_ends() -> None:
    one = peer()
    asked = [[sent.link for sent in one.connect(number, B, RW, NOW).sent] for number in (1, 2, 3)]
    assert asked == [[1], [], []]
    assert [sent.link for sent in one.disconnect(1).sent] == [2]
    assert one.disconnect(3).sent == []
    both = peer(config=Config(asks_on_every_link=True))
    assert [len(both.connect(number, B, RW, NOW).sent) for number in (1, 2)] == [1, 1]


def test_both_of_two_links_are_answered() -> None:
    one = linked(B, B)
    assert [sent.link for sent in one.put("k", "1", NOW).sent] == [1, 2]
    # No update goes back to the peer that it came from, on either link.
    assert take(one, uuid="2" * 32, key="l", link=2).sent == []


def test_links_have_numbers_of_their_own_and_other_ends() -> None:
    one = linked(B)
    for number, peer_id in ((1, C), (2, A), (3, "x")):
        with pytest.raises(ConfigurationError):
            one.connect(number, peer_id, RW, NOW)
    with pytest.raises(UnknownLinkError, match="no link 9"):
        one.receive(9, b"", NOW)
    with pytest.raises(UnknownLinkError):
        one.disconnect(9)


# ---- Signing -----------------------------------------------------------------------------------------------------


def test_what_goes_to_readers_is_signed_and_all_get_the_same() -> None:
    one = linked(B)
    for number in (2, 3):
        one.connect(number, f"{number:032x}", RO, NOW)
        one.receive(number, get_updates(), NOW)
    to_writer, to_reader, to_other = (sent.data for sent in one.put("k", "1", NOW).sent)
    assert to_writer[:1] == b"m"
    assert to_reader == to_other
    body = to_writer[to_writer.index(b"{") :]
    assert to_reader.startswith(b"s%d:344%s\n" % (len(body), body))
    one.connect(4, D, RO, NOW)
    assert one.receive(4, get_updates(), NOW).sent[0].data == to_reader


def test_signed_updates_are_taken_from_writers_as_well() -> None:
    one = linked(B)
    assert one.receive(1, by_read_write(update()), NOW).taken == 1
    assert values(one) == {"k": '{"n":1}'}
    assert linked(B, signs_always=True).put("k", "1", NOW).sent[0].data[:1] == b"s"


def test_who_has_to_sign_needs_a_key() -> None:
    one = peer()
    one.keys = replace(one.keys, read_write_private=None)
    one.connect(1, B, RW, NOW)
    with pytest.raises(ConfigurationError, match="private key"):
        one.connect(2, C, RO, NOW)
    assert list(one.links) == [1]
