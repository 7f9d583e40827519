"""What is known of a participant's Lamport timestamp, worked out by hand for short histories.

T is the time at which the channel was opened. Every test says what the next message has to carry.
"""

from __future__ import annotations

import pytest

from played import T
from sds_conformance.protocols.sds.view.facts import LamportExpectation
from sds_conformance.protocols.sds.view.lamport_tracker import LamportTracker
from sds_conformance.protocols.sds.view.windows import Window


def at(now_ms: int) -> Window:
    """What a clock shows that goes right."""
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


# ---- The first message -------------------------------------------------------------------------------------------


def test_the_first_message_carries_the_time_once_time_has_passed() -> None:
    expected = opened().expect(at(T + 500))
    assert expected.high == T + 501
    assert tolerated(expected, T + 499, T + 500, T + 501, T + 502) == [False, True, True, False]


@pytest.mark.parametrize("used", [False, True], ids=["as the first thing", "after something was received"])
@pytest.mark.parametrize("lamport", [T, T + 1])
def test_a_first_message_in_the_millisecond_of_opening_carries_that_time_or_one_more(lamport: int, used: bool) -> None:
    """AMB-12: from the time of creation to one more than the time of sending."""
    tracker = opened()
    if used:
        tracker.touch(at(T))
    assert tracker.expect(at(T)).tolerates(lamport)


@pytest.mark.parametrize("lamport", [0, 1, T - 1, T + 2, T + 1_000])
def test_a_first_message_carries_no_other_time(lamport: int) -> None:
    assert not opened().expect(at(T)).tolerates(lamport)


def test_a_channel_may_be_initialised_on_opening_or_only_when_it_is_first_used() -> None:
    """AMB-111, seen where the clock has stepped back in between."""
    expected = opened().expect(at(T - 60_000))
    assert tolerated(expected, T - 59_999, T, T + 1) == [True, True, True]
    assert tolerated(expected, T - 60_002, T + 2) == [False, False]


def test_while_nothing_was_sent_or_delivered_it_may_be_initialised_at_any_moment_that_passes() -> None:
    tracker = opened()
    tracker.touch(at(T + 5))
    tracker.touch(at(T + 9_000))
    assert tolerated(tracker.expect(at(T + 6)), T + 5, T + 6, T + 9_001, T + 9_002) == [False, True, True, False]


def test_a_delivery_is_a_use_and_ends_that_freedom() -> None:
    tracker = opened()
    tracker.touch(at(T))
    tracker.delivered(1)
    tracker.touch(at(T - 60_000))
    expected = tracker.expect(at(T - 60_000))
    assert expected.tolerates(T + 1)
    assert not expected.tolerates(T - 59_999)


def test_an_own_message_ends_that_freedom() -> None:
    tracker = after_sending(T + 1)
    tracker.touch(at(T + 9_000))
    assert exactly(tracker.expect(at(T + 6))) == T + 6


def test_before_anything_was_sent_the_value_comes_from_opening() -> None:
    assert opened().expect(at(T)).source == "open"
    assert not opened().expect(at(T)).clock_stepped_back


# ---- After own messages ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("previous", "now_ms", "expected"),
    [(T + 1, T + 1, T + 2), (T + 1, T + 2, T + 2), (T + 1, T + 3_600_000, T + 3_600_000), (T + 9_000, T, T + 9_001)],
)
def test_after_an_own_message_it_is_the_time_or_one_more(previous: int, now_ms: int, expected: int) -> None:
    after = after_sending(previous).expect(at(now_ms))
    assert exactly(after) == expected
    assert (after.source, after.previous) == ("send", previous)
    assert tolerated(after, expected - 1, expected, expected + 1) == [False, True, False]


def test_an_own_message_is_taken_at_its_word() -> None:
    """One wrong timestamp makes one finding, not one for every message after it."""
    assert exactly(after_sending(17).expect(at(T))) == T
    assert exactly(after_sending(T + 1_000_000).expect(at(T))) == T + 1_000_001


def test_a_clock_that_steps_back_is_noticed_until_it_has_caught_up() -> None:
    tracker = after_sending(T + 100, now_ms=T + 100)
    back = tracker.expect(at(T - 3_600_000))
    assert back.clock_stepped_back
    assert exactly(back) == T + 101
    assert not tracker.expect(at(T + 100)).clock_stepped_back


def test_a_message_under_a_used_id_may_or_may_not_have_moved_the_clock() -> None:
    tracker = after_sending(T + 1)
    tracker.maybe_moved(at(T))
    tracker.maybe_moved(at(T))
    assert tolerated(tracker.expect(at(T)), T + 1, T + 2, T + 3, T + 4, T + 5) == [False, True, True, True, False]


def test_what_may_have_moved_the_clock_may_have_moved_it_to_the_time() -> None:
    """@waku/sds raises its timestamp for a sync message that it then does not send, having nothing to say."""
    tracker = after_sending(T + 1)
    tracker.maybe_moved(at(T + 500))
    assert tolerated(tracker.expect(at(T + 500)), T + 499, T + 500, T + 501, T + 502) == [False, True, True, False]


# ---- After deliveries --------------------------------------------------------------------------------------------


def test_a_delivery_from_ahead_sets_the_clock_to_just_that() -> None:
    tracker = after_sending(T + 1)
    tracker.delivered(T + 5_000)
    expected = tracker.expect(at(T))
    assert exactly(expected) == T + 5_001
    assert (expected.source, expected.previous, expected.late_delivery) == ("delivery", T + 5_000, False)


@pytest.mark.parametrize("lamport", [0, T, T + 1])
def test_a_delivery_that_is_not_from_ahead_changes_nothing_but_is_remembered(lamport: int) -> None:
    tracker = after_sending(T + 1)
    tracker.delivered(lamport)
    expected = tracker.expect(at(T))
    assert exactly(expected) == T + 2
    assert (expected.source, expected.late_delivery) == ("send", True)


def test_the_next_own_message_ends_what_was_remembered() -> None:
    tracker = after_sending(T + 1)
    tracker.delivered(T)
    tracker.rebroadcast(asked_for=False)
    tracker.ephemeral_passed()
    before = tracker.expect(at(T))
    assert (before.late_delivery, before.rebroadcast, before.ephemeral) == (True, True, True)
    tracker.sent(T + 2, at(T), sync=False)
    after = tracker.expect(at(T))
    assert (after.late_delivery, after.rebroadcast, after.ephemeral) == (False, False, False)


def test_a_delivery_before_the_first_message_narrows_what_the_clock_can_be() -> None:
    tracker = opened()
    tracker.touch(at(T + 100))
    tracker.delivered(T + 50)
    expected = tracker.expect(at(T))
    assert tolerated(expected, T + 49, T + 51, T + 101, T + 102) == [False, True, True, False]


# ---- What does not move the clock, and is tolerated if it does ---------------------------------------------------


def test_a_message_that_waits_moves_nothing_by_the_letter_and_its_own_value_is_tolerated() -> None:
    """AMB-15."""
    tracker = after_sending(T + 1)
    tracker.received_undelivered(T + 9_000, sync=False)
    expected = tracker.expect(at(T))
    assert exactly(expected) == T + 2
    assert (expected.buffered_high, expected.sync_high) == (T + 9_001, T)
    assert tolerated(expected, T + 1, T + 2, T + 9_001, T + 9_002) == [False, True, True, False]


def test_of_several_that_wait_the_furthest_ahead_counts() -> None:
    tracker = after_sending(T + 1)
    for lamport in (T + 10, T + 30, T + 20):
        tracker.received_undelivered(lamport, sync=False)
    assert tracker.expect(at(T)).buffered_high == T + 31


def test_a_received_sync_message_moves_nothing_by_the_letter_and_its_own_value_is_tolerated() -> None:
    """AMB-17."""
    tracker = after_sending(T + 1)
    tracker.received_undelivered(T + 7_000, sync=True)
    expected = tracker.expect(at(T))
    assert exactly(expected) == T + 2
    assert (expected.sync_high, expected.buffered_high) == (T + 7_001, T)
    assert expected.tolerates(T + 7_001)


def test_an_own_message_ends_that_tolerance() -> None:
    tracker = after_sending(T + 1)
    tracker.received_undelivered(T + 7_000, sync=True)
    tracker.received_undelivered(T + 9_000, sync=False)
    tracker.sent(T + 2, at(T), sync=False)
    assert tolerated(tracker.expect(at(T)), T + 3, T + 7_001, T + 9_001) == [True, False, False]


def test_when_what_waited_is_delivered_its_timestamp_is_the_clock() -> None:
    tracker = after_sending(T + 1)
    tracker.received_undelivered(T + 9_000, sync=False)
    tracker.delivered(T + 9_000)
    assert tolerated(tracker.expect(at(T)), T + 9_000, T + 9_001, T + 9_002) == [False, True, False]


def test_where_deliveries_are_not_told_whatever_arrived_may_have_moved_the_clock() -> None:
    tracker = after_sending(T + 1)
    tracker.maybe_delivered(T + 5_000)
    tracker.maybe_delivered(T + 300)
    assert tolerated(tracker.expect(at(T)), T + 1, T + 2, T + 301, T + 5_001, T + 5_002) == [
        False,
        True,
        True,
        True,
        False,
    ]


def test_a_delivery_in_the_step_of_a_message_may_have_come_before_it_or_after_it() -> None:
    tracker = after_sending(T + 1)
    before = tracker.low
    tracker.delivered(T + 500)
    tracker.blur(before)
    assert tolerated(tracker.expect(at(T)), T + 1, T + 2, T + 501, T + 502) == [False, True, True, False]


# ---- Own sync messages -------------------------------------------------------------------------------------------


def test_an_own_sync_message_moves_the_clock_by_the_letter_and_standing_still_is_tolerated() -> None:
    """AMB-18: one more than the sync message; the same again is for SYNC-14 to warn of."""
    tracker = after_sending(T + 1)
    tracker.sent(T + 2, at(T), sync=True)
    expected = tracker.expect(at(T))
    assert exactly(expected) == T + 3
    assert expected.source == "sync"
    assert tolerated(expected, T + 1, T + 2, T + 3, T + 4) == [False, True, True, False]


@pytest.mark.parametrize("syncs", [1, 2, 3, 10])
def test_a_clock_that_own_sync_messages_do_not_move_is_tolerated_however_many_are_sent(syncs: int) -> None:
    tracker = after_sending(T + 1)
    for _ in range(syncs):
        assert tracker.expect(at(T)).tolerates(T + 2)
        tracker.sent(T + 2, at(T), sync=True)
    assert tolerated(tracker.expect(at(T)), T + 1, T + 2) == [False, True]


def test_after_the_next_content_message_the_sync_message_is_forgotten() -> None:
    tracker = after_sending(T + 1)
    tracker.sent(T + 2, at(T), sync=True)
    tracker.sent(T + 3, at(T), sync=False)
    expected = tracker.expect(at(T))
    assert (exactly(expected), expected.source) == (T + 4, "send")
    assert not expected.tolerates(T + 3)


def test_a_delivery_from_ahead_ends_the_tolerance_for_a_sync_message_before_it() -> None:
    tracker = after_sending(T + 1)
    tracker.sent(T + 2, at(T), sync=True)
    tracker.delivered(T + 500)
    assert tolerated(tracker.expect(at(T)), T + 2, T + 500, T + 501) == [False, False, True]
