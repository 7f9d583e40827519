"""Periodic sweeps when many messages wait at once."""

from __future__ import annotations

from sds_harness.sds.script import Part, Peer, Script
from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import HOUR_MS, QUICK_SYNCS, deliver_and_settle, losing, scenario, syncing, tick_every


@scenario("INSWEEP-04", "INSWEEP-06", "RECV-08", "DELIVER-07")
def many_waiting(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """Several chains wait; their first messages arrive one by one, and the oldest waiting message is delivered last."""
    base = script.now
    roots = [peer.content(base + number) for number, peer in enumerate((bob, carol, dave))]
    middles = [bob.content(base + 10 + number, root) for number, root in enumerate(roots)]
    end = carol.content(base + 20, *middles)
    alice.receive(end, *middles)
    for root in (roots[2], roots[0], roots[1]):
        deliver_and_settle(alice, root).observe()


@scenario("INSWEEP-01", "RECV-08")
def the_last_of_many_is_freed(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Five messages wait for different dependencies; only the dependency of the last one arrives."""
    base = script.now
    roots = [carol.content(base + number) for number in range(5)]
    deliver_and_settle(alice, *[bob.content(base + 10 + number, root) for number, root in enumerate(roots)])
    deliver_and_settle(alice, roots[-1]).observe()


@losing("INSWEEP-05")
def given_up_for_lost(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Two messages wait for longer than the loss timeout; then a dependency of one of them arrives after all."""
    timeout = alice.in_force.lost_timeout_ms
    late = carol.content(script.now + 1)
    alice.receive(bob.content(script.now + 2, late), bob.content(script.now + 3, "never-sent"))
    tick_every(alice, timeout // 4, times=3).observe()
    tick_every(alice, timeout // 2, times=3).observe()
    # A message that was given up is treated normally if it arrives (AMB-108).
    deliver_and_settle(alice, late, carol.content(script.now)).after(100).send()
    alice.observe()


@scenario("RECV-08", "INSWEEP-05", needs=(pb.CAPABILITY_VIRTUAL_CLOCK,), asked=pb.Configuration(lost_timeout_ms=0))
def waits_without_a_loss_timeout(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """No loss timeout is configured: two messages wait for months of sweeps, and then one dependency arrives."""
    late = carol.content(script.now + 1)
    alice.receive(bob.content(script.now + 2, late), bob.content(script.now + 3, "never-sent"))
    for pause in (60_000, HOUR_MS, 24 * HOUR_MS, 1_000 * HOUR_MS):
        tick_every(alice, pause, times=3)
    alice.observe()
    deliver_and_settle(alice, late).observe()


@losing("RECV-05", "RECV-08", "INSWEEP-05")
def given_up_while_others_wait(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """One message waits longer than the loss timeout; two others arrive meanwhile and wait for a shorter time."""
    timeout = alice.in_force.lost_timeout_ms
    first, second = carol.content(script.now), carol.content(script.now + 1)
    alice.receive(bob.content(script.now + 2, "never-sent"))
    tick_every(alice, timeout // 4, times=2)
    alice.receive(bob.content(script.now, first), bob.content(script.now + 1, "never-sent", second))
    tick_every(alice, timeout // 4, times=3).observe()
    deliver_and_settle(alice, first, second).observe()


@losing("RECV-09", "INSWEEP-05")
def waits_while_the_clock_steps_back(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A message waits, the clock steps back by an hour, and the loss timeout passes."""
    timeout = alice.in_force.lost_timeout_ms
    late = carol.content(script.now + 1)
    alice.receive(bob.content(script.now + 2, late))
    alice.after(1).tick()
    script.advance(-HOUR_MS)
    tick_every(alice, timeout // 4, times=6).observe()
    deliver_and_settle(alice, late).observe()
    script.advance(HOUR_MS)
    tick_every(alice, timeout // 2, times=3).observe()


@losing("SYNC-09")
def a_dependency_of_a_sync_never_comes(script: Script, alice: Part, bob: Peer) -> None:
    """A sync message names a dependency that never arrives, and the loss timeout passes."""
    alice.receive(bob.sync(script.now + 1, "never-sent"))
    tick_every(alice, alice.in_force.lost_timeout_ms, times=2).observe()


@scenario("SYNC-01", needs=(pb.CAPABILITY_PERIODIC_SYNC,))
def idle_with_automatic_syncs(script: Script) -> None:
    """A participant is idle in two channels for many sync intervals."""
    alice = script.open(channels=("c1", "c2"), configuration=QUICK_SYNCS)
    for channel in ("c1", "c2"):
        alice.send(channel=channel)
    tick_every(alice, alice.in_force.sync_interval_ms // 2, times=24)


@syncing("SYNC-01", needs=(pb.CAPABILITY_PERIODIC_SYNC, pb.CAPABILITY_DELIVERED))
def idle_after_receiving(script: Script, alice: Part, bob: Peer) -> None:
    """A participant that has sent nothing receives messages, and is idle for many sync intervals."""
    alice.receive(bob.content(script.now + 1), bob.content(script.now + 2))
    alice.settle()
    tick_every(alice, alice.in_force.sync_interval_ms // 2, times=24)


@syncing("SYNC-01", asked=pb.Configuration(sync_interval_ms=60_000))
def idle_with_many_ticks(script: Script, alice: Part, bob: Peer) -> None:
    """A participant with no unacknowledged messages is idle for four sync intervals, with ten ticks in each."""
    alice.receive(bob.content(script.now, alice.send()))
    tick_every(alice, alice.in_force.sync_interval_ms // 10, times=40)


@syncing("SYNC-01", of_one_text=True)
def idle_with_a_long_log(script: Script, alice: Part, bob: Peer) -> None:
    """A participant with many received and no unacknowledged messages is idle for many sync intervals."""
    own = alice.send()
    for _ in range(60):
        alice.after(1).receive(bob.content(script.now, own))
    tick_every(alice, alice.in_force.sync_interval_ms // 2, times=24)


@syncing("SYNC-01", of_one_text=True)
def idle_with_a_timestamp_ahead(script: Script, alice: Part, bob: Peer) -> None:
    """The Lamport timestamp is an hour ahead of the clock, and the participant is idle for many sync intervals."""
    alice.receive(bob.content(script.now + HOUR_MS))
    alice.receive(bob.content(script.now + 3_600_002, alice.send()))
    tick_every(alice, alice.in_force.sync_interval_ms // 2, times=24)


@syncing("SYNC-01")
def idle_with_everything_acknowledged(script: Script, alice: Part, bob: Peer) -> None:
    """A participant is idle for many sync intervals, and all of its messages are acknowledged."""
    sent = alice.send()
    alice.after(1).receive(bob.content(script.now, sent))
    tick_every(alice, alice.in_force.sync_interval_ms // 2, times=24)


@losing("RECV-09", "RECV-08", "INSWEEP-05", asked=pb.Configuration(lost_timeout_ms=60_000), long=True)
def what_comes_before_it_is_given_up(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Messages wait for almost the loss timeout; then a dependency of one of them arrives."""
    timeout = alice.in_force.lost_timeout_ms
    root = carol.content(script.now)
    alice.receive(bob.content(script.now + 1, root), bob.content(script.now + 2, "never-sent"))
    tick_every(alice, timeout // 12, times=11).observe()
    deliver_and_settle(alice, root).observe()
