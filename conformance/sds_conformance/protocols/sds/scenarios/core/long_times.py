"""Times at which a counter overflows: idle for a day, for weeks, beyond 2038 and 2106.

Epoch milliseconds need 41 bits. A signed integer of 32 bits overflows after 25 days in milliseconds, and in 2038 in
epoch seconds. An implementation with such integers works until then. Afterwards its timers never fire, or fire
immediately.
"""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.sds.script import NOW, START, Part, Peer, Period, Script
from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import DAY_MS, deliver_and_settle, losing, resending, scenario, syncing, tick_every

INT32_MS, UINT32_MS = 1 << 31, 1 << 32
"""24.9 and 49.7 days, in milliseconds."""
IN_2038_MS, IN_2106_MS = INT32_MS * 1_000, UINT32_MS * 1_000
"""Epoch times in milliseconds at which epoch seconds overflow 31 and 32 bits."""
IDLE_TICKS = 12
"""Number of sync intervals after a pause within which a sync message is sent, even if the intervals are random."""

POSSIBLY = pb.Configuration(resend_unacknowledged_ms=30_000, resend_possibly_acknowledged_ms=90_000)
TIMED = (pb.CAPABILITY_VIRTUAL_CLOCK,)


def before_each_limit(script: Script, span_ms: Period | int) -> Iterator[Period | int]:
    """Advance the clock to ``span_ms`` before each time at which a counter overflows; yield that time.

    The counters are milliseconds since the start, then seconds of the epoch.
    """
    limits: tuple[Period | int, ...] = (START + INT32_MS, START + UINT32_MS, IN_2038_MS, IN_2106_MS)
    for limit in limits:
        script.advance(limit - span_ms - NOW)
        yield limit


@scenario("STATE-03", "RECV-07", needs=TIMED, long=True, of_one_text=True)
def decades_pass(script: Script, alice: Part, bob: Peer) -> None:
    """Weeks pass between two own messages, then decades; arriving messages have timestamps of these times."""
    alice.send()
    for _ in before_each_limit(script, -DAY_MS):
        alice.send()
        alice.given(bob.content(script.now)).after(1).send()


@resending("OUTSWEEP-01", "OUTSWEEP-06", long=True, of_one_text=True)
def outstanding_for_weeks(script: Script, alice: Part, bob: Peer) -> None:
    """Messages are sent just before a counter overflows; one is then unacknowledged for weeks without a sweep."""
    script.need(*TIMED)
    period = alice.in_force.resend_unacknowledged_ms
    # A new message for each limit, because an implementation may stop resending a message (AMB-64).
    for _ in before_each_limit(script, period // 2):
        own = alice.send()
        alice.after(period // 10 + 1).tick()
        tick_every(alice.after(2 * period), period // 10 + 1, times=4)
        alice.receive(bob.content(script.now, own))
    for pause in (INT32_MS, UINT32_MS):
        own = alice.send()
        tick_every(alice.after(pause), period // 10 + 1, times=4)
        alice.receive(bob.content(script.now, own))


@scenario("OUTSWEEP-02", needs=(pb.CAPABILITY_RESEND_PERIOD, *TIMED), long=True, of_one_text=True)
def possibly_acknowledged_for_weeks(script: Script, bob: Peer) -> None:
    """A filter holds a message, and then no periodic work runs for weeks."""
    # No further ticks after the second pause: an implementation that is merely late would resend in them.
    for number, (pause, more) in enumerate(((INT32_MS, 2), (UINT32_MS, 0))):
        alice = script.open(f"alice{number}", configuration=POSSIBLY)
        alice.receive(bob.content(script.now, holds=[alice.send()]))
        longer = alice.in_force.resend_possibly_acknowledged_ms
        tick_every(alice.after(pause), longer // 10 + 1, times=4)
        tick_every(alice, longer // 2 + 1, times=more)


@syncing("SYNC-01", needs=(pb.CAPABILITY_PERIODIC_SYNC, *TIMED), long=True, of_one_text=True)
def idle_for_weeks(script: Script, alice: Part, bob: Peer) -> None:
    """Own messages are acknowledged, and no periodic work runs for a day, then for weeks; sync messages continue."""
    interval = alice.in_force.sync_interval_ms
    alice.receive(bob.content(script.now, alice.send()))
    for pause in (interval, DAY_MS, INT32_MS):
        tick_every(alice.after(pause), interval + 1, times=IDLE_TICKS)


@scenario("INSWEEP-01", "RECV-08", needs=TIMED, long=True, of_one_text=True)
def waiting_for_weeks(script: Script, bob: Peer, carol: Peer) -> None:
    """No periodic work runs for weeks, then for decades, while messages wait; one dependency arrives before a sweep."""
    pauses: tuple[Period | int, ...] = (INT32_MS, IN_2038_MS - START)
    for number, pause in enumerate(pauses):
        alice = script.open(f"alice{number}")
        roots = [carol.content(script.now + number) for number in range(3)]
        alice.receive(*[bob.content(script.now + 10 + number, root) for number, root in enumerate(roots)])
        deliver_and_settle(alice.after(pause), roots[2]).observe()


@losing("INSWEEP-05", long=True, of_one_text=True)
def not_given_up_before_its_time(script: Script, alice: Part, bob: Peer) -> None:
    """Messages begin to wait shortly before a counter overflows, and the loss timeout passes."""
    timeout = alice.in_force.lost_timeout_ms
    for number, _ in enumerate(before_each_limit(script, timeout // 2)):
        alice.receive(bob.content(script.now, f"never-sent-{number}"))
        tick_every(alice, timeout // 3, times=4)
