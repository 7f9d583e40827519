"""SDS-R of the responder: which requests are taken, when they are answered, and that the answer is the message."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NoReturn

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
    requesting,
    responding,
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
    SDS_2025_10_AMENDED,
    SDS_2026_01,
    AfterLoss,
    Config,
    HashProfile,
    HistoryEntry,
    LocalLog,
    LogEntry,
    Message,
    Participant,
    Revision,
    decode,
    encode,
)
from sds_reference.repair_buffer import RepairBuffer, RepairEntry

both_revisions = pytest.mark.parametrize("revision", [SDS_2026_01, SDS_2025_10_AMENDED], ids=lambda r: r.name)

M, N = 50 * SECOND, 80 * SECOND
"""How long after a request alice answers for "m" and for "n" of bob."""

ANSWERS = repairing(responding(m=M, n=N))


def holder(config: Config = ANSWERS) -> Participant:
    """Alice has "m" and "n" of bob."""
    alice = joined(config)
    for message_id in ("m", "n"):
        alice.receive(content(message_id, at=1, sender="bob"), T)
    return alice


def answers(alice: Participant, since_ms: int = 0, until_ms: int = 3 * T_MAX) -> dict[int, list[str]]:
    """When a tick every second broadcasts what, in milliseconds after T."""
    ticks = {after: copies(alice.tick(T + after)) for after in range(since_ms, until_ms, SECOND)}
    return {after: ids for after, ids in ticks.items() if ids}


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


# ---- what is broadcast -----------------------------------------------------------------------------------------------


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
    for after_loss, expected in ((AfterLoss.DELIVER, [original("m", "lost")]), (AfterLoss.DROP, [])):
        alice = joined(replace(ANSWERS, lost_timeout_ms=SECOND, after_loss=after_loss))
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


# ---- the buffer ------------------------------------------------------------------------------------------------------


def test_a_buffer_is_ordered_by_time_and_has_every_id_once() -> None:
    buffer = RepairBuffer()
    for message_id, due_ms in (("c", 3), ("a", 5), ("b", 1), ("d", 3)):
        assert buffer.add(HistoryEntry(message_id), due_ms)
    assert not buffer.add(HistoryEntry("a", b"hint"), 0)
    assert [(item.entry, item.due_ms) for item in buffer] == [
        (HistoryEntry("b"), 1),
        (HistoryEntry("c"), 3),
        (HistoryEntry("d"), 3),
        (HistoryEntry("a"), 5),
    ]
    assert [item.entry.message_id for item in buffer.due(3)] == ["b", "c", "d"]
    assert buffer.get("a") == RepairEntry(HistoryEntry("a"), 5)
    assert buffer.remove("c") == RepairEntry(HistoryEntry("c"), 3)
    assert (buffer.remove("c"), buffer.get("c"), len(buffer)) == (None, None, 3)
    assert ["a" in buffer, "c" in buffer] == [True, False]
    assert buffer.add(HistoryEntry("c"), 0)
    assert [item.entry.message_id for item in buffer] == ["c", "b", "d", "a"]


# ---- cost ------------------------------------------------------------------------------------------------------------


class LogNobodyReads(LocalLog):
    def __iter__(self) -> Iterator[LogEntry]:
        raise AssertionError("the whole log is read")


class BufferNobodyReads(RepairBuffer):
    def __iter__(self) -> Iterator[RepairEntry]:
        raise AssertionError("the whole buffer is read")


class CacheNobodyReads(dict[str, Message]):
    def __iter__(self) -> Iterator[str]:
        raise AssertionError("the whole cache is read")

    def keys(self) -> NoReturn:
        raise AssertionError("the whole cache is read")

    items = values = keys


class Counting:
    """A hash that counts how often it is taken."""

    def __init__(self) -> None:
        self.taken = 0

    def __call__(self, text: str) -> int:
        self.taken += 1
        return len(text)


def work(revision: Revision, already: int) -> list[int]:
    """How many hashes each operation takes, with a log and buffers that have so many entries already."""
    counting = Counting()
    alice = joined(repairing(HashProfile("", "counting", counting), revision, num_response_groups=2))
    channel, state = alice.channel("c"), repair(alice)
    channel.log = LogNobodyReads()
    state.cache = CacheNobodyReads()
    state.outgoing, state.incoming = BufferNobodyReads(), BufferNobodyReads()
    for number in range(already):
        alice.receive(content(f"m{number}", at=number, sender="bob"), T)
        alice.receive(sync("s", *of_bob(f"unknown{number}")), T)
        alice.receive(asking(f"m{number}"), T)
    assert len(state.cache) == len(state.incoming) == len(state.outgoing) == already
    operations: list[Callable[[], object]] = [
        lambda: alice.receive(content("new", *of_bob("u"), at=T), T),
        lambda: alice.receive(content("u", at=1, sender="bob"), T),
        lambda: alice.receive(asking("u", "unknown0"), T),
        lambda: alice.receive(sync("s"), T),
        lambda: alice.send("c", b"x", T + 1),
        lambda: alice.send_sync("c", T + 1),
        lambda: alice.send_sync("c", T + T_MAX),
        lambda: alice.tick(T - 1),
    ]
    taken = []
    for operation in operations:
        before = counting.taken
        operation()
        taken.append(counting.taken - before)
    return taken


@both_revisions
def test_no_operation_costs_more_as_the_log_and_the_buffers_grow(revision: Revision) -> None:
    assert work(revision, 5) == work(revision, 500)
