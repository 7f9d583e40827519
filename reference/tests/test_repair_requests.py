"""SDS-R of the requester: which dependencies are missing, from when on they are asked for, and by which messages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repair_peers import (
    SECOND,
    T_MAX,
    T_MIN,
    asked,
    asking,
    asks,
    chosen,
    of_bob,
    repair,
    repairing,
    requester,
    requesting,
    t_req,
    t_resp,
)
from scripted_peers import (
    T,
    content,
    copies,
    delivered,
    ephemeral,
    holding,
    incoming,
    joined,
    lamport,
    log,
    lost,
    missing,
    sent,
    sync,
)
from sds_proto.wire.v2026_01 import message_pb2 as pb
from sds_reference import (
    SDS_2025_10_AMENDED,
    SDS_2026_01,
    AfterLoss,
    AfterRequest,
    Config,
    HistoryEntry,
    Kind,
    Message,
    Participant,
    Revision,
    decode,
    encode,
)

both_revisions = pytest.mark.parametrize("revision", [SDS_2026_01, SDS_2025_10_AMENDED], ids=lambda r: r.name)

U, V, W = (T_MIN + after for after in (5 * SECOND, 10 * SECOND, 15 * SECOND))
"""When alice asks for "u", "v" and "w" if she misses them from T on."""

LATER = 200 * SECOND
"""When every T_req of T has long passed."""


# ---- message fields --------------------------------------------------------------------------------------------------


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


# ---- what becomes of an entry that was asked for ---------------------------------------------------------------------


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


def losing(after_loss: AfterLoss, revision: Revision = SDS_2026_01) -> Config:
    """What is missing for a second is lost."""
    return replace(repairing(requesting(), revision), lost_timeout_ms=SECOND, after_loss=after_loss)


def test_a_message_that_is_dropped_with_its_lost_dependency_can_be_asked_for_again() -> None:
    alice = joined(losing(AfterLoss.DROP))
    alice.receive(content("u", *of_bob("v"), sender="bob"), T)
    assert lost(alice.tick(T + SECOND)) == ["v"]
    alice.receive(sync("s", *of_bob("u")), T + SECOND)
    assert t_req(alice) == {"u": SECOND + T_MIN}


@pytest.mark.parametrize("after_loss", AfterLoss)
def test_what_is_lost_is_not_asked_for_until_it_is_named_again(after_loss: AfterLoss) -> None:
    alice = joined(losing(after_loss))
    alice.receive(content("y", *of_bob("u", "v")), T)
    alice.receive(content("z", *of_bob("w")), T + 1)
    assert lost(alice.tick(T + SECOND)) == ["u", "v"]
    assert t_req(alice) == {"w": 1 + T_MIN}
    alice.receive(content("new", *of_bob("u")), T + SECOND)
    assert t_req(alice) == {"w": 1 + T_MIN, "u": SECOND + T_MIN}


def test_what_was_overheard_and_then_lost_does_not_come_back() -> None:
    alice = joined(losing(AfterLoss.DELIVER, SDS_2025_10_AMENDED))
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


# ---- overheard requests ----------------------------------------------------------------------------------------------


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


# ---- SDS-R Periodic Sync Message -------------------------------------------------------------------------------------

QUIET_SYNCS = Config(
    sds_r=True,
    repair=repairing(requesting(u=5 * SECOND)).repair,
    sync_interval_ms=20 * SECOND,
    sync_only_when_quiet=True,
    resend_unacknowledged_ms=10**12,
)


def sync_times(alice: Participant, since_ms: int, until_ms: int) -> dict[int, list[str]]:
    """In which seconds after T sync messages go out while somebody else speaks every five, and what they ask for."""
    times: dict[int, list[str]] = {}
    for after in range(since_ms, until_ms, SECOND):
        if after % (5 * SECOND) == 0:
            alice.receive(sync(f"s{after}"), T + after)
        for wire in alice.tick(T + after).broadcasts:
            assert decode(wire).kind is Kind.SYNC
            times[after // SECOND] = [entry.message_id for entry in decode(wire).repair_request]
    return times


def test_a_due_request_waits_for_nobodys_silence() -> None:
    alice = joined(QUIET_SYNCS)
    alice.receive(content("y", *of_bob("u")), T)
    assert U == 35 * SECOND
    assert sync_times(alice, 0, 100 * SECOND) == {35: ["u"], 55: ["u"], 75: ["u"], 95: ["u"]}


def test_without_a_due_request_the_silence_is_waited_for() -> None:
    alice = joined(QUIET_SYNCS)
    assert sync_times(alice, 0, 100 * SECOND) == {}
    alice.receive(content("y", *of_bob("u")), T + 100 * SECOND)
    assert sync_times(alice, 100 * SECOND, 135 * SECOND) == {}
    alice.receive(content("u", at=1, sender="bob"), T + 135 * SECOND - 1)
    assert sync_times(alice, 135 * SECOND, 200 * SECOND) == {}


def test_a_due_request_does_not_hasten_a_sync_message() -> None:
    alice = joined(QUIET_SYNCS)
    alice.receive(content("y", *of_bob("u")), T)
    alice.send("c", b"x", T + 34 * SECOND)
    assert sync_times(alice, 34 * SECOND, 60 * SECOND) == {54: ["u"]}


def test_requests_that_have_expired_lift_nothing() -> None:
    alice = joined(
        Config(
            sds_r=True,
            repair=repairing(requesting(u=5 * SECOND), requests_expire=True).repair,
            sync_interval_ms=20 * SECOND,
            sync_only_when_quiet=True,
            sync_with_empty_log=False,
        )
    )
    alice.receive(sync("s", *of_bob("u")), T)
    assert copies(alice.send_sync("c", T + U + T_MAX)) == []
    assert sync_times(alice, U + T_MAX, U + T_MAX + 60 * SECOND) == {}


def test_a_due_request_is_something_to_say_although_the_log_is_empty() -> None:
    alice = joined(
        Config(sds_r=True, repair=QUIET_SYNCS.repair, sync_interval_ms=30 * SECOND, sync_with_empty_log=False)
    )
    alice.receive(content("y", *of_bob("u")), T)
    before = lamport(alice)
    assert (copies(alice.tick(T + U - 1)), copies(alice.send_sync("c", T + U - 1))) == ([], [])
    assert (lamport(alice), log(alice)) == (before, [])
    assert asks(alice, U) == ["u"]


def test_a_sync_message_with_an_empty_log_asks_as_soon_as_its_period_has_passed() -> None:
    alice = joined(Config(sds_r=True, repair=QUIET_SYNCS.repair, sync_with_empty_log=False))
    alice.receive(content("y", *of_bob("u")), T)
    asking_at = [after for after in range(0, 120 * SECOND, SECOND) if alice.tick(T + after).broadcasts]
    assert asking_at == [60 * SECOND, 90 * SECOND]


# ---- cost ------------------------------------------------------------------------------------------------------------


def test_the_buffer_of_requests_is_read_only_as_far_as_they_are_due() -> None:
    ids = [f"m{number}" for number in range(2_000)]
    alice = joined(repairing(chosen({f"alice, {message_id}": number for number, message_id in enumerate(ids)})))
    alice.receive(sync("s", *of_bob(*ids)), T)
    read = repair(alice).outgoing.due(T + T_MIN + 1)
    assert [item.entry.message_id for item in read] == ["m0", "m1"]
    everything = repair(alice).outgoing.due(T + LATER)
    assert next(everything).entry.message_id == "m0"
    assert asks(alice, LATER) == ["m0", "m1", "m2"]
