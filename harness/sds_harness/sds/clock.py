"""Finds out whether an implementation of SDS uses the time that the suite sets, by the Lamport timestamps of its
messages.

A participant is opened and sends, at times that lie far apart, forwards and backwards: every scenario starts at the
same time, so the clock must also be able to go back. Then the probe advances the time and checks that the timers of the
implementation fire.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Message
from sds_reference.testee.dialect import Dialect

from ..clock import ClockProbe
from ..declaration import printable
from ..session import Session
from ..stage import START_MS, ScheduleStoppedError
from .actor import Actor
from .stage import Stage
from .trace import Step

DAY_MS = 86_400_000
TIMES_MS = (START_MS, START_MS + DAY_MS + 12_345_678, START_MS + 321)
"""Times, in epoch milliseconds, that go forwards and back and are not whole seconds apart."""
EXACT_MS = 10
UNITS = (1, 1_000, 1_000_000)
"""Units of a timestamp per millisecond. A timestamp in seconds or microseconds is wrong, but still shows that the clock
moves."""
WAIT_MS = 60_000
MINUTES = 10
PAUSES = 3
"""The number of days of virtual time that the probe waits for a timer. It sends `tick` after each day."""


def probe_clock(session: Session, dialect: Dialect | None) -> ClockProbe:
    """Find out in a separate session whether an implementation uses the time that the suite sets. Raises
    TesteeError."""
    stage = Stage(session, "the clock", dialect)
    if not stage.revision.lamport_follows_clock:
        return ClockProbe(clock="no field on the wire of this revision depends on the clock")
    try:
        stamps = [_timestamp(stage, number, now_ms) for number, now_ms in enumerate(TIMES_MS)]
    except ScheduleStoppedError as stopped:
        return ClockProbe(clock=f"the Lamport timestamps cannot be read: {printable(str(stopped))}")
    if None in stamps:
        return ClockProbe(clock="the messages have no Lamport timestamps, so the clock cannot be read")
    if not _follow([stamp or 0 for stamp in stamps]):
        return ClockProbe(clock="a static binary? Its Lamport timestamps do not follow the clock")
    stage.now_ms = TIMES_MS[-1]
    try:
        return ClockProbe(timers=next(_standing_timers(stage), ""))
    except ScheduleStoppedError as stopped:
        return ClockProbe(timers=f"whether they fire cannot be seen: {printable(str(stopped))}")


def _timestamp(stage: Stage, number: int, now_ms: int) -> int | None:
    """Open a participant at the time ``now_ms`` and return the Lamport timestamp of its first message; None if it has
    none."""
    stage.now_ms = now_ms
    return stage.open(f"clock-{number}").send().lamport_timestamp


def _follow(stamps: list[int]) -> bool:
    """Do the differences of the timestamps equal the differences of ``TIMES_MS``, in any of the ``UNITS`` or in
    seconds?"""
    pairs = [(at - TIMES_MS[0], stamp - stamps[0]) for at, stamp in zip(TIMES_MS, stamps, strict=True)]
    in_small = any(all(abs(at * unit - seen) <= EXACT_MS * unit for at, seen in pairs) for unit in UNITS)
    return in_small or all(abs(at - seen * 1_000) <= 1_000 for at, seen in pairs)


def _standing_timers(stage: Stage) -> Iterator[str]:
    """For each declared timer that does not fire when time is advanced, a phrase for the report."""
    declared = stage.trace.declaration
    waited = f"{PAUSES} days of virtual time"
    if declared.can(pb.CAPABILITY_DELIVERED):
        alice, bob = stage.open("deliveries"), stage.peer("bob")
        first = bob.content(stage.now_ms)
        second = bob.content(stage.now_ms + 1, first)
        early, late = alice.receive(second), alice.receive(first)
        waits = early.answer != "rejected" and _delivered_ids(early) + _delivered_ids(late) == [first.message_id]
        if waits and not _wait_until(alice, lambda step: bool(_delivered_ids(step))):
            yield f"a message is not delivered within {waited} after its missing dependency arrived"
    if declared.can(pb.CAPABILITY_RESEND):
        alice = stage.open("resends")
        own = alice.send()
        if not _wait_until(alice, lambda step: any(m.message_id == own.message_id for m in step.messages)):
            yield f"nothing is resent in {waited}; do not declare `resend` if that never happens"
    if declared.can(pb.CAPABILITY_PERIODIC_SYNC):
        alice = stage.open("syncs", configuration=pb.Configuration(sync_interval_ms=WAIT_MS))
        # Receive a message instead of sending one: an own message would be resent, and an implementation may send no
        # sync messages while it resends.
        alice.receive(stage.peer("bob").content(stage.now_ms))
        if alice.party.in_force.sync_interval_ms and not _wait_until(
            alice, lambda step: any(map(_is_sync, step.messages))
        ):
            yield f"no sync message is sent in {waited}; do not declare `periodic-sync` if that never happens"
    if declared.can(pb.CAPABILITY_LOST):
        alice = stage.open("losses", configuration=pb.Configuration(lost_timeout_ms=WAIT_MS))
        took = _receive_blocked_message(stage, alice)
        given_up = took and alice.party.in_force.lost_timeout_ms
        if given_up and not _wait_until(alice, lambda step: any(event.kind == "lost" for event in step.events)):
            yield f"nothing is given up in {waited}; do not declare `lost` if that never happens"
    if declared.can(pb.CAPABILITY_SDS_R):
        pb_configuration = pb.Configuration(sds_r=True, t_min_ms=WAIT_MS, t_max_ms=MINUTES * WAIT_MS)
        alice = stage.open("repairs", configuration=pb_configuration)
        # Send at several times: an implementation may drop a repair request some time after T_req, so that a single
        # late send would miss it.
        pauses = [*[WAIT_MS] * (MINUTES + 1), *[DAY_MS] * PAUSES]
        if _receive_blocked_message(stage, alice) and not any(
            alice.after(pause).send().repair_request for pause in pauses
        ):
            yield f"no repair is requested in {waited}; do not declare `sds-r` if that never happens"


def _wait_until(actor: Actor, seen: Callable[[Step], bool]) -> bool:
    """Tick once a day for at most ``PAUSES`` days. Return whether ``seen`` holds for one of the steps."""
    return any(seen(actor.after(DAY_MS).tick()) for _ in range(PAUSES))


def _delivered_ids(step: Step) -> list[str]:
    return [event.message_id for event in step.events if event.kind == "delivered"]


def _is_sync(message: Message) -> bool:
    return message.lamport_timestamp is not None and not message.content


def _receive_blocked_message(stage: Stage, actor: Actor) -> bool:
    """Let the actor receive a message whose dependency never arrives. Returns whether it was accepted."""
    bob = stage.peer("bob")
    never = bob.content(stage.now_ms)
    return actor.receive(bob.content(stage.now_ms + 1, never)).answer != "rejected"
