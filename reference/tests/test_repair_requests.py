"""SDS-R of the requester: which dependencies are missing, from when on they are asked for, and by which messages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repair_peers import (
    LATER,
    SECOND,
    T_MAX,
    T_MIN,
    U,
    V,
    W,
    asked,
    asking,
    asks,
    both_revisions,
    chosen,
    of_bob,
    repairing,
    requester,
    requesting,
    t_req,
    t_resp,
)
from scripted_peers import T, content, copies, delivered, ephemeral, joined, lost, missing, sent, sync
from sds_reference import SDS_2025_10_AMENDED, SDS_2026_01, AfterRequest, Config, Message, Revision, encode

# ---- what gets an entry ----------------------------------------------------------------------------------------------


@both_revisions
@pytest.mark.parametrize("payload", [None, b"x"], ids=["sync", "content"])
def test_every_unmet_dependency_gets_an_entry_and_a_met_one_none(revision: Revision, payload: bytes | None) -> None:
    alice = requester(revision)
    alice.receive(content("m", sender="bob"), T)
    alice.receive(encode(Message("xavier", "y", "c", T, of_bob("w", "m", "u"), None, (), payload)), T)
    assert t_req(alice) == {"u": U, "w": W}


@both_revisions
def test_a_dependency_that_waits_in_the_incoming_buffer_is_not_asked_for(revision: Revision) -> None:
    alice = requester(revision)
    alice.receive(content("y", *of_bob("u"), sender="bob"), T)
    assert missing(alice.receive(content("z", *of_bob("y")), T)) == ["y"]
    assert t_req(alice) == {"u": U}


def test_copies_of_delivered_and_of_buffered_messages_count() -> None:
    alice = requester()
    alice.receive(content("m", sender="bob"), T)
    alice.receive(content("y", *of_bob("u")), T)
    alice.receive(content("y", *of_bob("v")), T)
    alice.receive(content("m", *of_bob("w"), sender="bob"), T)
    assert t_req(alice) == {"u": U, "v": V, "w": W}


def test_a_content_message_that_depends_on_itself_is_not_asked_for() -> None:
    alice = requester()
    alice.receive(content("u", *of_bob("u", "v"), sender="bob"), T)
    assert t_req(alice) == {"v": V}


def test_a_sync_message_can_have_the_id_of_what_it_names() -> None:
    alice = requester()
    alice.receive(sync("u", *of_bob("u")), T)
    assert t_req(alice) == {"u": U}


@pytest.mark.parametrize("sender", ["alice", "xavier"])
def test_own_messages_coming_back_ephemeral_ones_and_meaningless_ones_have_no_part_in_it(sender: str) -> None:
    alice = requester()
    alice.receive(content("m", sender="bob"), T)
    alice.receive(sync("s", *of_bob("u")), T)
    lamport_timestamp, body = (T, b"x") if sender == "alice" else (None, b"x")
    for payload in (body, None):
        wire = Message(sender, "e", "c", lamport_timestamp, of_bob("v"), None, of_bob("u", "m"), payload)
        alice.receive(encode(wire), T)
    assert (t_req(alice), t_resp(alice)) == ({"u": U}, {})


def test_a_refused_message_has_no_part_in_it() -> None:
    alice = requester()
    alice.receive(sync("s", *of_bob("u")), T)
    with pytest.raises(ValueError, match="without message_id"):
        alice.receive(encode(Message("bob", "", "c", T, of_bob("v"), None, of_bob("u"), b"x")), T)
    assert t_req(alice) == {"u": U}


@both_revisions
def test_the_time_of_an_entry_stays_whatever_names_it_again(revision: Revision) -> None:
    alice = requester(revision)
    alice.receive(content("y", *of_bob("u")), T)
    for number in range(1, 150):
        alice.receive(content(f"y{number}", *of_bob("u")), T + number * SECOND)
        alice.receive(sync("s", *of_bob("u")), T + number * SECOND)
    assert t_req(alice) == {"u": U}


def test_channels_have_buffers_of_their_own() -> None:
    alice = requester()
    alice.join("d", T)
    alice.receive(content("y", *of_bob("u")), T)
    alice.receive(content("y", *of_bob("v"), channel="d"), T)
    alice.receive(asking("u", channel="d"), T)
    alice.receive(content("u", channel="d"), T)
    assert (t_req(alice), t_req(alice, "d")) == ({"u": U}, {"v": V})
    assert asks(alice, LATER) == ["u"]
    assert asked(alice.send_sync("d", T + LATER)) == ["v"]


# ---- SDS-R send message ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("after_ms", "expected"), [(U - 1, []), (U, ["u"]), (U + 1, ["u"])])
def test_an_entry_is_eligible_from_its_t_req_on(after_ms: int, expected: list[str]) -> None:
    for content_too in (False, True):
        alice = requester()
        alice.receive(sync("s", *of_bob("u")), T)
        effects = alice.send("c", b"x", T + after_ms) if content_too else alice.send_sync("c", T + after_ms)
        assert asked(effects) == expected


def test_time_alone_sends_nothing() -> None:
    alice = requester()
    alice.receive(sync("s", *of_bob("u")), T)
    assert [copies(alice.tick(T + after)) for after in range(0, 10 * T_MAX, 10_000)] == [[]] * 120


def test_the_cap_is_three_and_the_lowest_times_go_first() -> None:
    alice = requester()
    for message_id in ("x", "v", "w", "u"):
        alice.receive(content(f"y{message_id}", *of_bob(message_id)), T)
    assert asks(alice, V) == ["u", "v"]
    assert asks(alice, LATER) == ["u", "v", "w"]
    alice.receive(content("u", at=1, sender="bob"), T)
    assert asks(alice, LATER) == ["v", "w", "x"]


@pytest.mark.parametrize("cap", [1, 2, 10, 100])
def test_the_cap_is_configured(cap: int) -> None:
    ids = [f"m{number:02}" for number in range(20)]
    profile = chosen({f"alice, {message_id}": number for number, message_id in enumerate(ids)})
    alice = joined(repairing(profile, max_requests=cap))
    alice.receive(sync("s", *of_bob(*reversed(ids))), T)
    assert asks(alice, LATER) == ids[:cap]


def test_ephemeral_messages_and_resends_ask_for_nothing_new() -> None:
    config = repairing(requesting())
    alice = joined(config)
    original = alice.send("c", b"x", T).broadcasts
    alice.receive(sync("s", *of_bob("u")), T)
    assert asked(alice.send_ephemeral("c", b"x")) == []
    assert alice.tick(T + config.resend_unacknowledged_ms).broadcasts == original


@pytest.mark.parametrize("payload", [None, b"x"], ids=["sync", "content"])
def test_a_request_rides_on_any_sort_of_message_without_changing_the_rest(payload: bytes | None) -> None:
    wires = []
    for ids in ((), ("u",)):
        alice = requester()
        alice.receive(sync("s", *of_bob(*ids)), T)
        effects = alice.send("c", payload, T + LATER, "m") if payload else alice.send_sync("c", T + LATER)
        wires.append(sent(effects))
    bare, full = wires
    assert full == Message("alice", bare.message_id, "c", T + LATER, (), bare.bloom_filter, of_bob("u"), bare.content)
    assert bare.repair_request == ()


# ---- entries after their request -------------------------------------------------------------------------------------


@both_revisions
def test_by_default_every_message_asks_again_until_it_is_repaired(revision: Revision) -> None:
    alice = requester(revision)
    alice.receive(content("y", *of_bob("u")), T)
    assert [asks(alice, after) for after in (U, U + 1, LATER, 10 * LATER)] == [["u"]] * 4
    alice.receive(content("u", at=1, sender="bob"), T)
    assert asks(alice, 10 * LATER) == []


def test_it_may_be_forgotten_until_somebody_names_it_again() -> None:
    alice = requester(after_request=AfterRequest.FORGET)
    alice.receive(content("y", *of_bob("u")), T)
    assert [asks(alice, U), asks(alice, U), t_req(alice)] == [["u"], [], {}]
    alice.receive(content("z"), T + LATER)
    assert t_req(alice) == {}
    alice.receive(sync("s", *of_bob("u")), T + LATER)
    assert t_req(alice) == {"u": LATER + U}
    assert [asks(alice, LATER + U), asks(alice, 10 * LATER)] == [["u"], []]


def test_what_was_forgotten_comes_back_with_any_message_in_the_amended_revision() -> None:
    alice = requester(SDS_2025_10_AMENDED, after_request=AfterRequest.FORGET)
    alice.receive(content("y", *of_bob("u")), T)
    assert [asks(alice, U), asks(alice, U), t_req(alice)] == [["u"], [], {}]
    alice.receive(content("z"), T + LATER)
    assert t_req(alice) == {"u": LATER + U}


def test_it_may_be_kept_and_never_asked_for_again() -> None:
    alice = requester(after_request=AfterRequest.NEVER_AGAIN)
    alice.receive(sync("s", *of_bob("u", "v", "w", "x")), T)
    assert [asks(alice, LATER) for _ in range(3)] == [["u", "v", "w"], ["x"], []]
    alice.receive(sync("s", *of_bob("u")), T + LATER)
    assert list(t_req(alice)) == ["u", "v", "w", "x"]
    assert asks(alice, 10 * LATER) == []


def test_requests_go_on_for_ever_unless_they_may_expire() -> None:
    alice = requester()
    alice.receive(sync("s", *of_bob("u")), T)
    assert asks(alice, 10**9) == ["u"]


def test_requests_that_expire_end_t_max_after_their_t_req() -> None:
    alice = requester(requests_expire=True)
    alice.receive(sync("s", *of_bob("u", "v")), T)
    assert asks(alice, U + T_MAX - 1) == ["u", "v"]
    assert asks(alice, U + T_MAX) == ["v"]
    assert t_req(alice) == {"v": V}
    alice.receive(sync("s", *of_bob("u")), T + LATER)
    assert t_req(alice) == {"v": V, "u": LATER + U}


# ---- arrival ---------------------------------------------------------------------------------------------------------


@both_revisions
@pytest.mark.parametrize(
    "wire",
    [
        pytest.param(content("u", at=1, sender="bob"), id="delivered"),
        pytest.param(content("u", "root", at=1, sender="bob"), id="blocked"),
        pytest.param(encode(Message("bob", "u", "c", 1, (), None, of_bob("u"), b"x")), id="asking for itself"),
    ],
)
def test_what_arrives_before_it_is_asked_for_is_never_asked_for(revision: Revision, wire: bytes) -> None:
    alice = requester(revision)
    alice.receive(content("y", *of_bob("u", "v")), T)
    alice.receive(wire, T + U - 1)
    alice.receive(content("z", *of_bob("u")), T + U)
    assert "u" not in t_req(alice)
    assert t_req(alice)["v"] == V
    assert asks(alice, U) == []
    assert "u" not in asks(alice, LATER)


@both_revisions
def test_a_sync_message_is_not_the_arrival_of_a_message_of_its_id(revision: Revision) -> None:
    alice = requester(revision)
    alice.receive(content("y", *of_bob("u")), T)
    alice.receive(sync("u"), T)
    alice.receive(ephemeral("u"), T)
    assert t_req(alice) == {"u": U}


def losing(drops: bool, revision: Revision = SDS_2026_01) -> Config:
    """A message that is missing for a second is given up as lost."""
    return replace(repairing(requesting(), revision), lost_timeout_ms=SECOND, drops_the_lost=drops)


def test_a_message_that_is_dropped_with_its_lost_dependency_can_be_asked_for_again() -> None:
    alice = joined(losing(True))
    alice.receive(content("u", *of_bob("v"), sender="bob"), T)
    assert lost(alice.tick(T + SECOND)) == ["v"]
    alice.receive(sync("s", *of_bob("u")), T + SECOND)
    assert t_req(alice) == {"u": SECOND + T_MIN}


@pytest.mark.parametrize("drops", [False, True])
def test_what_is_lost_is_not_asked_for_until_it_is_named_again(drops: bool) -> None:
    alice = joined(losing(drops))
    alice.receive(content("y", *of_bob("u", "v")), T)
    alice.receive(content("z", *of_bob("w")), T + 1)
    assert lost(alice.tick(T + SECOND)) == ["u", "v"]
    assert t_req(alice) == {"w": 1 + T_MIN}
    alice.receive(content("new", *of_bob("u")), T + SECOND)
    assert t_req(alice) == {"w": 1 + T_MIN, "u": SECOND + T_MIN}


def test_what_was_overheard_and_then_lost_does_not_come_back() -> None:
    alice = joined(losing(False, SDS_2025_10_AMENDED))
    alice.receive(content("y", *of_bob("u")), T)
    alice.receive(asking("u"), T)
    alice.tick(T + SECOND)
    alice.receive(content("z"), T + SECOND)
    assert t_req(alice) == {}


@both_revisions
def test_an_own_message_of_the_missing_id_ends_the_asking(revision: Revision) -> None:
    alice = requester(revision)
    alice.receive(content("y", *of_bob("u")), T)
    alice.send("c", b"x", T, "u")
    assert t_req(alice) == {}
    assert (asks(alice, LATER), delivered(alice.tick(T + LATER))) == ([], ["y"])
