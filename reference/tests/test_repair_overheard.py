"""SDS-R of the requester who hears others ask: its own entry goes, and what brings it back."""

from __future__ import annotations

import pytest

from repair_peers import LATER, SECOND, U, V, W, asking, asks, both_revisions, of_bob, requester, t_req
from scripted_peers import T, content, ephemeral, incoming, sent, sync
from sds_reference import SDS_2025_10_AMENDED, HistoryEntry, Revision


@both_revisions
@pytest.mark.parametrize("payload", [None, b"x"], ids=["sync", "content"])
def test_an_overheard_request_removes_the_own_entry_and_no_other(revision: Revision, payload: bytes | None) -> None:
    alice = requester(revision)
    alice.receive(content("y", *of_bob("u", "v", "w")), T)
    alice.receive(asking("v", "unknown", HistoryEntry("w"), payload=payload), T + U - 1)
    assert t_req(alice) == {"u": U}
    assert asks(alice, LATER) == ["u"]


def test_a_copy_of_a_known_message_can_be_overheard_as_well() -> None:
    alice = requester()
    alice.receive(content("asks", sender="carol"), T)
    alice.receive(content("y", *of_bob("u")), T)
    alice.receive(asking("u", payload=b"x"), T)
    assert t_req(alice) == {}


def test_an_overheard_message_has_no_new_entry_until_another_names_it() -> None:
    alice = requester()
    alice.receive(content("y", *of_bob("u")), T)
    alice.receive(asking("u"), T + 1)
    for number in range(10):
        alice.receive(content(f"z{number}"), T + 2 + number)
    assert (t_req(alice), incoming(alice), asks(alice, LATER)) == ({}, ["y"], [])
    alice.receive(content("new", *of_bob("u")), T + LATER)
    assert t_req(alice) == {"u": LATER + U}


@pytest.mark.parametrize(
    "unrelated", [content("z"), sync("s"), content("y", *of_bob("u"))], ids=["content", "sync", "the same message"]
)
def test_in_the_amended_revision_any_message_gives_it_a_new_entry(unrelated: bytes) -> None:
    alice = requester(SDS_2025_10_AMENDED)
    alice.receive(content("y", HistoryEntry("u", b"hint", "bob"), *of_bob("v")), T)
    alice.receive(asking("u"), T + 1)
    assert t_req(alice) == {"v": V}
    alice.receive(unrelated, T + 60 * SECOND)
    assert t_req(alice) == {"v": V, "u": 60 * SECOND + U}
    assert sent(alice.send_sync("c", T + LATER)).repair_request[1] == HistoryEntry("u", b"hint", "bob")


def test_in_the_amended_revision_what_only_a_sync_message_named_comes_back_too() -> None:
    alice = requester(SDS_2025_10_AMENDED)
    alice.receive(sync("s", *of_bob("u")), T)
    alice.receive(asking("u"), T)
    alice.receive(content("z"), T + 7)
    assert t_req(alice) == {"u": 7 + U}


def test_in_the_amended_revision_what_was_never_missing_or_has_arrived_gets_no_entry() -> None:
    alice = requester(SDS_2025_10_AMENDED)
    alice.receive(content("y", *of_bob("u", "v")), T)
    alice.receive(asking("u", "v", "unknown"), T)
    alice.receive(content("u", at=1, sender="bob"), T)
    alice.receive(content("v", "root", at=1, sender="bob"), T)
    alice.receive(content("z"), T)
    assert list(t_req(alice)) == ["root"]


def test_in_the_amended_revision_neither_own_nor_ephemeral_messages_bring_entries_back() -> None:
    alice = requester(SDS_2025_10_AMENDED)
    alice.receive(content("y", *of_bob("u")), T)
    alice.receive(asking("u"), T)
    alice.receive(content("z", sender="alice"), T)
    alice.receive(ephemeral("e"), T)
    alice.send("c", b"x", T)
    alice.tick(T + LATER)
    assert t_req(alice) == {}


@both_revisions
def test_a_message_that_names_and_asks_for_the_same_leaves_no_entry(revision: Revision) -> None:
    alice = requester(revision)
    alice.receive(asking("u", naming=of_bob("u", "v")), T)
    assert t_req(alice) == {"v": V}
    alice.receive(asking("v", naming=of_bob("v", "w")), T + 1)
    assert "v" not in t_req(alice)
    assert t_req(alice)["w"] == 1 + W


def test_an_overheard_request_of_the_amended_revision_is_overheard_again_after_it_came_back() -> None:
    alice = requester(SDS_2025_10_AMENDED)
    alice.receive(content("y", *of_bob("u")), T)
    for number in range(5):
        alice.receive(asking("u"), T + number * SECOND)
        assert t_req(alice) == {}
    alice.receive(sync("s"), T + 5 * SECOND)
    assert t_req(alice) == {"u": 5 * SECOND + U}
