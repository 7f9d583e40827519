"""The buffers of SDS-R: in the order of their times, and no dearer to use as they and the log grow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NoReturn

from repair_peers import LATER, T_MAX, T_MIN, asking, asks, both_revisions, chosen, of_bob, repair, repairing
from scripted_peers import T, content, joined, sync
from sds_reference import HashProfile, HistoryEntry, LocalLog, LogEntry, Message, Revision
from sds_reference.repair_buffer import RepairBuffer, RepairEntry


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


def test_the_buffer_of_requests_is_read_only_as_far_as_they_are_due() -> None:
    ids = [f"m{number}" for number in range(2_000)]
    alice = joined(repairing(chosen({f"alice, {message_id}": number for number, message_id in enumerate(ids)})))
    alice.receive(sync("s", *of_bob(*ids)), T)
    read = repair(alice).outgoing.due(T + T_MIN + 1)
    assert [item.entry.message_id for item in read] == ["m0", "m1"]
    everything = repair(alice).outgoing.due(T + LATER)
    assert next(everything).entry.message_id == "m0"
    assert asks(alice, LATER) == ["m0", "m1", "m2"]


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
