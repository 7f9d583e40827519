"""When copies go out: the two resend periods, and the state that selects one.

A copy can only go out at a tick, so the ticks follow the periods in force, a dozen at most.
"""

from __future__ import annotations

from sds_harness.stage import ScheduleStoppedError
from sds_proto.testee.v1 import testee_pb2 as pb

from ..cast import Actor, Stage, scenario

FINE_TICKS = 6
ROUNDS = 3
"""Longer periods that are waited for: an implementation may end resending after three copies (AMB-64)."""


def _open(stage: Stage, asked: pb.Configuration | None = None) -> Actor:
    stage.need(pb.CAPABILITY_RESEND, pb.CAPABILITY_RESEND_PERIOD, pb.CAPABILITY_VIRTUAL_CLOCK)
    alice = stage.open(configuration=asked)
    c = alice.party.in_force
    if not c.resend_unacknowledged_ms or not c.HasField("resend_possibly_acknowledged_ms"):
        raise ScheduleStoppedError("the resend periods in force are not known, so copies cannot be assigned to them")
    return alice


def _filter_over(stage: Stage, message_id: str) -> bytes:
    made = stage.filter_over(message_id)
    if made is None:
        raise ScheduleStoppedError("no bloom filter can be made that the implementation understands")
    return made


def _wait(stage: Stage, alice: Actor) -> None:
    """Tick twice in the shorter of the periods, and when that has been seen, as often as the longer one needs."""
    unacknowledged = alice.party.in_force.resend_unacknowledged_ms
    possibly = alice.party.in_force.resend_possibly_acknowledged_ms or 2 * unacknowledged
    fine = -(-min(unacknowledged, possibly) // 2)
    coarse = max(fine, -(-max(unacknowledged, possibly) // 3))
    end = stage.now_ms + ROUNDS * max(unacknowledged, possibly) + 2 * coarse
    for _ in range(FINE_TICKS):
        alice.after(fine).tick()
    while stage.now_ms < end:
        alice.after(coarse).tick()


@scenario("OUTSWEEP-02", "OUTSWEEP-03")
def two_resend_periods(stage: Stage) -> None:
    """A filter holds the first of three messages; nothing speaks for the others, and nobody says anything more."""
    alice = _open(stage)  # with periods of its own choice: that they differ is the question
    first = alice.send()
    alice.receive(stage.peer("bob").content(stage.now_ms + 1, bloom_filter=_filter_over(stage, first.message_id)))
    alice.send()
    alice.send()
    alice.observe()
    _wait(stage, alice)


@scenario("ACK-06", "STATE-13")
def a_later_filter_misses_it(stage: Stage) -> None:
    """A filter holds the first of two messages, a later one the second and not the first; then copies go out."""
    alice = _open(stage, pb.Configuration(resend_unacknowledged_ms=30_000, resend_possibly_acknowledged_ms=90_000))
    first, second = alice.send(), alice.send()
    alice.receive(stage.peer("bob").content(stage.now_ms + 1, bloom_filter=_filter_over(stage, first.message_id)))
    alice.receive(stage.peer("carol").content(stage.now_ms + 2, bloom_filter=_filter_over(stage, second.message_id)))
    alice.observe()
    _wait(stage, alice)
    alice.observe()


@scenario("ACK-06")
def a_later_sync_filter_misses_it(stage: Stage) -> None:
    """A filter holds the first of two messages; a sync message holds neither, and then a filter the second."""
    alice = _open(stage, pb.Configuration(resend_unacknowledged_ms=30_000, resend_possibly_acknowledged_ms=90_000))
    first, second = alice.send(), alice.send()
    alice.receive(stage.peer("bob").content(stage.now_ms + 1, bloom_filter=_filter_over(stage, first.message_id)))
    alice.receive(stage.peer("carol").sync(stage.now_ms + 2, bloom_filter=_filter_over(stage, "somebody-elses")))
    alice.receive(stage.peer("dave").sync(stage.now_ms + 3, bloom_filter=_filter_over(stage, second.message_id)))
    _wait(stage, alice)
