"""Lamport timestamps at boundaries that no mutant and no legal variant reaches. T is when the channel was opened."""

from __future__ import annotations

import pytest

from run_helpers import T
from sds_conformance.protocols.sds.view.facts import LamportExpectation
from sds_conformance.protocols.sds.view.lamport_tracker import LamportTracker
from sds_conformance.protocols.sds.view.windows import Window


def at(now_ms: int) -> Window:
    """The timestamps of a correct clock."""
    return Window(now_ms, now_ms)


def opened() -> LamportTracker:
    return LamportTracker(at(T))


def after_sending(lamport: int, now_ms: int = T) -> LamportTracker:
    tracker = opened()
    tracker.sent(lamport, at(now_ms), sync=False)
    return tracker


def exactly(expected: LamportExpectation) -> int:
    """The one value that the letter allows."""
    assert expected.low == expected.high
    return expected.low


def tolerated(expected: LamportExpectation, *lamports: int) -> list[bool]:
    return [expected.tolerates(lamport) for lamport in lamports]


def test_a_channel_may_be_initialised_on_opening_or_only_when_it_is_first_used() -> None:
    """AMB-111, seen where the clock has stepped back in between."""
    expected = opened().expect(at(T - 60_000))
    assert tolerated(expected, T - 59_999, T, T + 1) == [True, True, True]
    assert tolerated(expected, T - 60_002, T + 2) == [False, False]


def test_what_may_have_moved_the_clock_may_have_moved_it_to_the_time() -> None:
    """@waku/sds raises its timestamp for a sync message that it then does not send, having nothing to say."""
    tracker = after_sending(T + 1)
    tracker.maybe_moved(at(T + 500))
    assert tolerated(tracker.expect(at(T + 500)), T + 499, T + 500, T + 501, T + 502) == [False, True, True, False]


def test_a_received_sync_message_moves_nothing_by_the_letter_and_its_own_value_is_tolerated() -> None:
    """AMB-17."""
    tracker = after_sending(T + 1)
    tracker.received_undelivered(T + 7_000, sync=True)
    expected = tracker.expect(at(T))
    assert exactly(expected) == T + 2
    assert (expected.sync_high, expected.buffered_high) == (T + 7_001, T)
    assert expected.tolerates(T + 7_001)


def test_a_delivery_in_the_step_of_a_message_may_have_come_before_it_or_after_it() -> None:
    tracker = after_sending(T + 1)
    before = tracker.low
    tracker.delivered(T + 500)
    tracker.blur(before)
    assert tolerated(tracker.expect(at(T)), T + 1, T + 2, T + 501, T + 502) == [False, True, True, False]


@pytest.mark.parametrize("syncs", [1, 2, 3, 10])
def test_a_clock_that_own_sync_messages_do_not_move_is_tolerated_however_many_are_sent(syncs: int) -> None:
    tracker = after_sending(T + 1)
    for _ in range(syncs):
        assert tracker.expect(at(T)).tolerates(T + 2)
        tracker.sent(T + 2, at(T), sync=True)
    assert tolerated(tracker.expect(at(T)), T + 1, T + 2) == [False, True]
