"""The cost of a buffer depends on its current content, not on deleted entries."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

from sds_reference import Message
from sds_reference.incoming_buffer import BufferedMessage, IncomingBuffer
from sds_reference.outgoing_buffer import OutgoingBuffer, OutgoingEntry

MANY = 100_000
ENOUGH_S = 1.0
"""Seconds of CPU time: several times what these tests take on a slow machine, but less than if each operation iterated
over the deleted entries."""


def all_in_time(times: int, step: Callable[[], object]) -> None:
    """Repeat a step; fail as soon as it takes too long."""
    started = process_time()
    for number in range(times):
        step()
        assert number % 100 or process_time() - started < ENOUGH_S, f"only {number} of {times} in time"


def waiting(dependency: str, number: int) -> BufferedMessage:
    return BufferedMessage(Message("alice", f"m-{number}", "c1", number), {dependency}, number, None)


def test_many_that_become_ready_at_once_are_taken_one_by_one() -> None:
    those = IncomingBuffer()
    for number in range(MANY):
        those.add(waiting("x", number))
    those.mark_met("x")
    all_in_time(MANY, those.take_ready)
    assert (len(those), those.take_ready()) == (0, None)


def test_a_sweep_does_not_walk_over_those_that_were_delivered() -> None:
    those = IncomingBuffer()
    for number in range(MANY):
        those.add(waiting(f"x-{number}", number))
    for number in range(MANY - 1):
        those.mark_met(f"x-{number}")
        assert those.take_ready() is not None
    all_in_time(MANY, lambda: those.take_older(0))
    assert [entry.message.message_id for entry in those] == [f"m-{MANY - 1}"]


def test_a_review_does_not_walk_over_those_that_were_acknowledged() -> None:
    those = OutgoingBuffer()
    for number in range(MANY):
        those.add(OutgoingEntry(f"m-{number}", b"", (), 0))
    for number in range(MANY - 1):
        assert those.acknowledge(f"m-{number}")
    all_in_time(MANY, those.unacknowledged)
    all_in_time(MANY, lambda: next(iter(those)))
    assert [entry.message_id for entry in those.unacknowledged()] == [f"m-{MANY - 1}"]
