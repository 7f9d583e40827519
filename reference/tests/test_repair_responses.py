"""SDS-R of the responder: which requests are taken, when they are answered, and what cancels an answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repair_peers import (
    ANSWERS,
    SECOND,
    T_MAX,
    T_MIN,
    M,
    N,
    answers,
    asking,
    both_revisions,
    chosen,
    holder,
    of_bob,
    repair,
    repairing,
    responding,
    t_req,
    t_resp,
)
from scripted_peers import T, content, copies, delivered, ephemeral, incoming, joined, log, sent, sync
from sds_reference import Config, HistoryEntry, Message, Revision, encode

# ---- which requests are taken ----------------------------------------------------------------------------------------


@both_revisions
@pytest.mark.parametrize("payload", [None, b"x"], ids=["sync", "content"])
def test_a_request_for_a_message_of_the_log_is_answered_once(revision: Revision, payload: bytes | None) -> None:
    alice = holder(replace(ANSWERS, revision=revision))
    alice.receive(asking("n", "m", payload=payload), T)
    assert t_resp(alice) == {"m": M, "n": N}
    assert answers(alice) == {M: ["m"], N: ["n"]}
    assert t_resp(alice) == {}


def test_a_request_in_a_blocked_message_or_in_a_copy_of_a_known_one_counts() -> None:
    alice = holder()
    alice.receive(asking("m", naming=of_bob("u"), payload=b"x"), T)
    assert (t_resp(alice), incoming(alice)) == ({"m": M}, ["asks"])
    alice.receive(asking("n", payload=b"x"), T)
    assert t_resp(alice) == {"m": M, "n": N}


def test_what_is_not_in_the_log_is_not_answered_and_arriving_later_does_not_revive_the_request() -> None:
    alice = joined(ANSWERS)
    alice.receive(content("n", *of_bob("m"), sender="bob"), T)
    alice.receive(asking("m", "n", "unknown"), T)
    assert t_resp(alice) == {}
    assert delivered(alice.receive(content("m", at=1, sender="bob"), T)) == ["m", "n"]
    assert answers(alice) == {}


def test_a_request_for_a_sync_or_an_ephemeral_message_is_not_answered() -> None:
    alice = joined(repairing(responding()))
    alice.receive(sync("s", sender="bob"), T)
    alice.receive(ephemeral("e", sender="bob"), T)
    alice.send_ephemeral("c", b"x", "own")
    own_sync = sent(alice.send_sync("c", T)).message_id
    alice.receive(asking("s", "e", *(HistoryEntry(i, None, "alice") for i in ("own", own_sync))), T)
    assert (t_resp(alice), copies(alice.tick(T + T_MAX))) == ({}, [])


def test_every_item_of_a_request_is_handled_however_many_and_however_odd() -> None:
    alice = holder()
    alice.receive(content("y", *of_bob("u")), T)
    odd = [HistoryEntry(""), HistoryEntry("u"), HistoryEntry("z" * 10_000, b"\xff", "😀")]
    many = [HistoryEntry(f"unknown-{number}", None, "bob") for number in range(1_000)]
    alice.receive(asking(*odd, *many, "m", "m", "n"), T)
    assert (t_resp(alice), t_req(alice)) == ({"m": M, "n": N}, {})


@pytest.mark.parametrize("sender", [None, ""])
def test_a_request_without_a_sender_is_taken_for_one_for_the_cached_message(sender: str | None) -> None:
    alice = holder()
    alice.receive(asking(HistoryEntry("m", None, sender), "n"), T)
    assert t_resp(alice) == {"m": M, "n": N}
    ignoring = holder(repairing(responding(m=M, n=N), needs_sender=True))
    ignoring.receive(asking(HistoryEntry("m", None, sender), "n"), T)
    assert t_resp(ignoring) == {"n": N}


def test_a_wrong_sender_is_taken_by_the_letter_for_the_time_and_for_the_group() -> None:
    hashes = {"alice": 3, "bob": 2, "eve": 7, "m": 1_000, "alice, m": 1, "bob, m": 1, "eve, m": 2}
    for groups, expected in ((1, {"m": 4_000}), (2, {})):
        alice = joined(repairing(chosen(hashes), num_response_groups=groups))
        alice.receive(content("m", sender="bob"), T)
        alice.receive(asking(HistoryEntry("m", None, "eve")), T)
        assert t_resp(alice) == expected
        alice.receive(asking("m"), T)
        assert t_resp(alice) == (expected or {"m": 1_000})


def test_the_own_name_as_a_wrong_sender_does_no_harm() -> None:
    alice = holder()
    alice.receive(asking(HistoryEntry("m", None, "alice")), T)
    assert answers(alice) == {0: ["m"]}


def test_own_messages_coming_back_ask_for_nothing_and_cancel_nothing() -> None:
    alice = holder()
    alice.receive(asking("m"), T)
    alice.receive(asking("n", sender="alice"), T)
    alice.receive(content("m", sender="alice"), T)
    assert t_resp(alice) == {"m": M}


def test_channels_have_caches_and_buffers_of_their_own() -> None:
    alice = holder()
    alice.join("d", T)
    alice.receive(asking("m", channel="d"), T)
    assert (t_resp(alice), t_resp(alice, "d")) == ({}, {})
    alice.receive(content("m", channel="d", sender="bob", payload=b"of d"), T)
    alice.receive(asking("m", channel="d"), T)
    alice.receive(asking("m"), T + 1)
    alice.receive(content("m", channel="d", sender="bob"), T + 2)
    assert (t_resp(alice), t_resp(alice, "d")) == ({"m": 1 + M}, {})


# ---- response groups -------------------------------------------------------------------------------------------------


def test_only_members_of_the_response_group_keep_the_message_and_answer() -> None:
    ids = [f"m{number}" for number in range(8)]
    hashes = {f"alice, {message_id}": number for number, message_id in enumerate(ids)}
    alice = joined(repairing(chosen(hashes | {f"bob, {i}": 6 for i in ids}), num_response_groups=4))
    for message_id in ids:
        alice.receive(content(message_id, at=1, sender="bob"), T)
    alice.receive(asking(*ids), T)
    assert list(t_resp(alice)) == ["m2", "m6"]
    assert sorted(repair(alice).cache) == ["m2", "m6"]
    assert log(alice) == ids


@pytest.mark.parametrize("groups", [1, 2, 3, 7, 128])
def test_the_sender_answers_for_all_its_messages_whatever_the_groups(groups: int) -> None:
    alice = joined(Config(sds_r=True, repair=replace(Config().repair, num_response_groups=groups)))
    ids = [f"m{number}" for number in range(50)]
    for message_id in ids:
        alice.send("c", b"x", T, message_id)
    alice.receive(asking(*(HistoryEntry(message_id, None, "alice") for message_id in ids)), T)
    assert set(t_resp(alice).values()) == {0}
    assert sorted(copies(alice.tick(T))) == sorted(ids)


# ---- when ------------------------------------------------------------------------------------------------------------


def test_the_sender_answers_on_the_first_sweep() -> None:
    alice = joined(ANSWERS)
    wire = alice.send("c", b"x", T, "m").broadcasts
    assert alice.receive(asking(HistoryEntry("m", None, "alice")), T + 77).broadcasts == []
    assert alice.tick(T + 77).broadcasts == wire
    assert alice.tick(T + 78).broadcasts == []


def test_or_on_the_request_if_so_configured() -> None:
    alice = holder(repairing(responding(m=M, n=N), answers_at_once=True))
    wire = alice.send("c", b"x", T, "own").broadcasts
    assert alice.receive(asking("m", HistoryEntry("own", None, "alice")), T + 77).broadcasts == wire
    assert answers(alice, 77) == {77 + M: ["m"]}


@pytest.mark.parametrize(("after_ms", "expected"), [(M - 1, []), (M, ["m"]), (M + 1, ["m"])])
def test_a_response_is_due_from_its_t_resp_on(after_ms: int, expected: list[str]) -> None:
    alice = holder()
    alice.receive(asking("m", "n"), T)
    assert copies(alice.tick(T + after_ms)) == expected
    assert list(t_resp(alice)) == (["n"] if expected else ["m", "n"])


def test_all_that_is_due_goes_out_in_the_order_of_the_times() -> None:
    alice = holder()
    alice.receive(asking("n", "m"), T)
    assert copies(alice.tick(T + T_MAX)) == ["m", "n"]


def test_a_second_request_changes_nothing_about_one_that_is_pending() -> None:
    alice = holder()
    alice.receive(asking("m"), T)
    for number, sender in enumerate(("dave", "erin", "frank")):
        alice.receive(asking("m", sender=sender), T + M - 3 + number)
    alice.receive(asking(HistoryEntry("m", None, "alice")), T + M - 1)
    assert t_resp(alice) == {"m": M}
    assert answers(alice) == {M: ["m"]}


def test_a_request_after_the_response_is_a_new_one() -> None:
    alice = holder()
    for start in (0, M, 2 * M):
        alice.receive(asking("m"), T + start)
        assert answers(alice, start, start + M + 1) == {start + M: ["m"]}


def test_it_may_be_ignored_for_t_min() -> None:
    alice = holder(repairing(responding(m=M, n=N), pauses_after_answers=True))
    alice.receive(asking("m"), T)
    assert copies(alice.tick(T + M)) == ["m"]
    alice.receive(asking("m", "n"), T + M + T_MIN - 1)
    assert t_resp(alice) == {"n": M + T_MIN - 1 + N}
    alice.receive(asking("m"), T + M + T_MIN)
    assert t_resp(alice)["m"] == M + T_MIN + M


def test_a_pause_does_not_outlast_a_clock_that_steps_back() -> None:
    alice = holder(repairing(responding(m=M, n=N), pauses_after_answers=True))
    alice.receive(asking("m"), T + 3_600 * SECOND)
    assert copies(alice.tick(T + 3_700 * SECOND)) == ["m"]
    alice.receive(asking("m"), T)
    assert t_resp(alice) == {"m": M}


# ---- copies of others ------------------------------------------------------------------------------------------------


@both_revisions
@pytest.mark.parametrize("at_ms", [0, M - 1, M])
def test_a_copy_of_the_message_cancels_the_response(revision: Revision, at_ms: int) -> None:
    alice = holder(replace(ANSWERS, revision=revision))
    alice.receive(asking("m", "n"), T)
    assert delivered(alice.receive(content("m", at=1, sender="bob"), T + at_ms)) == []
    assert t_resp(alice) == {"n": N}
    assert copies(alice.tick(T + N)) == ["n"]


def test_a_copy_cancels_a_response_of_the_sender_as_well() -> None:
    alice = joined(ANSWERS)
    alice.send("c", b"x", T, "own")
    alice.receive(asking(HistoryEntry("own", None, "alice")), T)
    alice.receive(content("own", sender="bob"), T)
    assert answers(alice) == {}


@pytest.mark.parametrize(
    "wire",
    [sync("m", sender="bob"), ephemeral("m", sender="bob"), content("y", *of_bob("m")), content("m", channel="d")],
    ids=["sync", "ephemeral", "naming it", "another channel"],
)
def test_nothing_else_cancels_it(wire: bytes) -> None:
    alice = holder()
    alice.join("d", T)
    alice.receive(asking("m"), T)
    alice.receive(wire, T + 1)
    assert t_resp(alice) == {"m": M}


def test_a_copy_that_asks_for_itself_is_a_new_request() -> None:
    alice = holder()
    alice.receive(asking("m"), T)
    alice.receive(encode(Message("bob", "m", "c", 1, (), None, of_bob("m"), b"m")), T + 9)
    assert t_resp(alice) == {"m": 9 + M}


def test_a_request_after_a_copy_is_answered() -> None:
    alice = holder()
    alice.receive(asking("m"), T)
    alice.receive(content("m", at=1, sender="bob"), T + 1)
    alice.receive(asking("m"), T + 2)
    assert t_resp(alice) == {"m": 2 + M}
