"""Section "Periodic Outgoing Buffer Sweep": when own messages are broadcast again."""

from __future__ import annotations

from scripted_peers import T, content, copies, holding, joined, lamport, log, outgoing, sync
from sds_reference import Config, Effects, Participant

SECOND = 1_000


def times_of_copies(alice: Participant, message_id: str, until: int, start: int = 0, step: int = SECOND) -> list[int]:
    """Milliseconds after T at which a tick every ``step`` broadcast the message."""
    return [after for after in range(start, until + 1, step) if message_id in copies(alice.tick(T + after))]


def test_an_unacknowledged_message_is_broadcast_again_every_period() -> None:
    alice = joined()
    alice.send("c", b"x", T, "m")
    assert times_of_copies(alice, "m", 100 * SECOND) == [30_000, 60_000, 90_000]


def test_no_copy_goes_out_before_the_period_has_passed() -> None:
    alice = joined()
    alice.send("c", b"x", T, "m")
    assert copies(alice.tick(T + 29_999)) == []
    assert copies(alice.tick(T + 30_000)) == ["m"]
    assert copies(alice.tick(T + 30_000)) == []
    assert copies(alice.tick(T + 59_999)) == []
    assert copies(alice.tick(T + 60_000)) == ["m"]


def test_the_period_of_unacknowledged_messages_is_configured() -> None:
    alice = joined(Config(sync_interval_ms=None, resend_unacknowledged_ms=7_000))
    alice.send("c", b"x", T, "m")
    assert times_of_copies(alice, "m", 22 * SECOND) == [7_000, 14_000, 21_000]


def test_a_late_tick_sends_one_copy_and_the_next_period_starts_there() -> None:
    alice = joined()
    alice.send("c", b"x", T, "m")
    assert copies(alice.tick(T + 100_000)) == ["m"]
    assert copies(alice.tick(T + 129_999)) == []
    assert copies(alice.tick(T + 130_000)) == ["m"]


def test_a_copy_is_the_message_as_it_was_sent_and_leaves_no_trace() -> None:
    alice = joined()
    original = alice.send("c", b"x", T, "m").broadcasts
    alice.receive(content("x", at=T + 9), T)
    filter_before = alice.channel("c").filter.to_wire()
    assert alice.tick(T + 30_000) == Effects(original)
    assert (log(alice), lamport(alice), outgoing(alice)) == (["m", "x"], T + 9, {"m": "unacknowledged"})
    assert alice.channel("c").filter.to_wire() == filter_before


def test_a_possibly_acknowledged_message_is_broadcast_again_at_its_own_longer_period() -> None:
    alice = joined()
    alice.send("c", b"x", T, "m")
    alice.receive(sync("s", bloom=holding("m")), T + 10_000)
    assert times_of_copies(alice, "m", 300 * SECOND, start=10_000) == [100_000, 190_000, 280_000]


def test_the_period_of_possibly_acknowledged_messages_is_configured() -> None:
    alice = joined(Config(sync_interval_ms=None, resend_possibly_acknowledged_ms=11_000))
    alice.send("c", b"x", T, "m")
    alice.receive(sync("s", bloom=holding("m")), T)
    assert times_of_copies(alice, "m", 40 * SECOND) == [11_000, 22_000, 33_000]


def test_possibly_acknowledged_messages_are_not_sent_again_if_so_configured() -> None:
    alice = joined(Config(sync_interval_ms=None, resend_possibly_acknowledged_ms=None))
    alice.send("c", b"x", T, "m")
    alice.send("c", b"x", T, "n")
    alice.receive(sync("s", bloom=holding("m")), T)
    assert times_of_copies(alice, "m", 600 * SECOND) == []
    assert outgoing(alice) == {"m": "possibly acknowledged", "n": "unacknowledged"}


def test_further_filters_do_not_put_the_next_copy_off() -> None:
    alice = joined(Config(sync_interval_ms=None, possible_ack_threshold=99))
    alice.send("c", b"x", T, "m")
    for after in range(0, 90_000, 10_000):
        alice.receive(sync("s", bloom=holding("m")), T + after)
    assert times_of_copies(alice, "m", 100 * SECOND) == [90_000]


def test_messages_due_in_the_same_millisecond_go_out_in_the_order_sent() -> None:
    alice = joined()
    for message_id in "dacb":
        alice.send("c", b"x", T, message_id)
    assert copies(alice.tick(T + 30_000)) == ["d", "a", "c", "b"]


def test_unacknowledged_messages_go_out_before_possibly_acknowledged_ones() -> None:
    alice = joined()
    for message_id in "abcd":
        alice.send("c", b"x", T, message_id)
    alice.receive(sync("s", bloom=holding("a", "c")), T)
    assert copies(alice.tick(T + 90_000)) == ["b", "d", "a", "c"]


def test_each_message_has_a_period_of_its_own() -> None:
    alice = joined()
    alice.send("c", b"x", T, "m")
    alice.send("c", b"x", T + 12_000, "n")
    alice.receive(content("x", "m"), T + 31_000)
    assert times_of_copies(alice, "n", 80 * SECOND) == [42_000, 72_000]


def test_a_message_acknowledged_between_two_periods_is_not_sent_again() -> None:
    alice = joined()
    alice.send("c", b"x", T, "m")
    assert times_of_copies(alice, "m", 45 * SECOND) == [30_000]
    alice.receive(content("x", "m"), T + 46_000)
    assert times_of_copies(alice, "m", 600 * SECOND, start=46_000) == []


def test_a_tick_covers_every_channel() -> None:
    alice = joined()
    alice.join("d", T)
    alice.send("c", b"x", T, "m")
    alice.send("d", b"x", T, "n")
    alice.receive(content("y", "x", channel="d"), T)
    assert copies(alice.tick(T + 30_000)) == ["m", "n"]


def test_a_tick_gives_the_events_of_every_channel() -> None:
    alice = joined(Config(sync_interval_ms=None, lost_timeout_ms=1_000))
    alice.join("d", T)
    for channel in ("c", "d"):
        alice.receive(content("y", "x", channel=channel), T)
    assert [event.channel_id for event in alice.tick(T + 1_000).events] == ["c", "c", "d", "d"]
