"""When messages are resent: the two resend periods, and the ACK status that selects one of them.

A message can be resent only at a tick, so the ticks follow the periods in force.
"""

from __future__ import annotations

from sds_harness.sds.script import MAX_LAMPORT, Part, Peer, Period, Script, greatest, least
from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import scenario, tick_every

FINE_TICKS = 6
COARSE_TICKS = 11
"""Number of ticks that cover three times the longer resend period: an implementation may stop after it has resent a
message three times (AMB-64)."""
NEEDED = (pb.CAPABILITY_RESEND, pb.CAPABILITY_RESEND_PERIOD, pb.CAPABILITY_VIRTUAL_CLOCK)
TWO_PERIODS = pb.Configuration(resend_unacknowledged_ms=30_000, resend_possibly_acknowledged_ms=90_000)
LARGE_CONTENT = bytes(range(256)) * 4
"""Content of the size that every implementation must be able to send."""
UNACKNOWLEDGED, POSSIBLY = Period("resend_unacknowledged_ms"), Period("resend_possibly_acknowledged_ms")


def _wait(alice: Part) -> None:
    """Tick twice in each of three shorter resend periods, then three times in each of three longer resend periods."""
    fine = (least(UNACKNOWLEDGED, POSSIBLY) + 1) // 2
    coarse = greatest(fine, (greatest(UNACKNOWLEDGED, POSSIBLY) + 2) // 3)
    for _ in range(FINE_TICKS):
        alice.after(fine).tick()
    for _ in range(COARSE_TICKS):
        alice.after(coarse).tick()


@scenario("OUTSWEEP-02", "OUTSWEEP-03", needs=NEEDED)
def two_resend_periods(script: Script, alice: Part, bob: Peer) -> None:
    """A filter holds the first of three own messages; nothing acknowledges the other two, and nothing more arrives."""
    # The implementation chooses the periods. The scenario checks whether they differ.
    first = alice.send()
    alice.receive(bob.content(script.now + 1, holds=[first]))
    alice.send()
    alice.send()
    alice.observe()
    _wait(alice)


@scenario("OUTSWEEP-02", needs=NEEDED, asked=TWO_PERIODS)
def found_in_filters_after_copies(script: Script, alice: Part, bob: Peer) -> None:
    """A filter holds an own message before its first resend, or after up to three resends; then it is resent."""
    for copies in range(4):
        own = alice.send()
        tick_every(alice, UNACKNOWLEDGED + 1, times=copies)
        alice.receive(bob.content(script.now + 1, holds=[own]))
        tick_every(alice, POSSIBLY // 2 + 1, times=6)
        alice.receive(bob.content(script.now + 2, own))


@scenario("ACK-06", "STATE-13", needs=NEEDED, asked=TWO_PERIODS)
def a_later_filter_misses_it(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A filter holds the first of two own messages, and a later filter only the second; then both are resent."""
    first, second = alice.send(), alice.send()
    alice.receive(bob.content(script.now + 1, holds=[first]))
    alice.receive(carol.content(script.now + 2, holds=[second]))
    alice.observe()
    _wait(alice)
    alice.observe()


@scenario("ACK-06", needs=NEEDED, asked=TWO_PERIODS)
def a_later_sync_filter_misses_it(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """A filter holds the first of two own messages, a sync message's filter holds neither, another holds the second."""
    first, second = alice.send(), alice.send()
    alice.receive(bob.content(script.now + 1, holds=[first]))
    alice.receive(carol.sync(script.now + 2, holds=["somebody-elses"]))
    alice.receive(dave.sync(script.now + 3, holds=[second]))
    _wait(alice)


@scenario(
    *("OUTSWEEP-01", "MSG-21"),
    needs=(pb.CAPABILITY_RESEND,),
    asked=pb.Configuration(causal_history_size=12, resend_unacknowledged_ms=30_000),
)
def copies_of_messages_of_all_shapes(script: Script, alice: Part, bob: Peer) -> None:
    """Own messages with any bytes, a thousand bytes, a long causal history or a large timestamp are resent."""
    alice.send("dritte Nachricht ☕".encode())
    alice.receive(*[bob.content(script.now + number) for number in range(6)])
    for content in (bytes(range(256)), b" between spaces \n", b"\0", LARGE_CONTENT):
        alice.send(content)
    alice.receive(bob.content(least(2**53 + 1, MAX_LAMPORT - 1_000)))  # a double cannot represent this timestamp
    alice.send()
    alice.send()
    tick_every(alice, UNACKNOWLEDGED, times=3)
