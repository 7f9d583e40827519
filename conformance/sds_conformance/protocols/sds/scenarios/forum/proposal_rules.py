"""Rules of the proposal of 2024 only: timestamps count from 0, and sync messages are treated like all others."""

from __future__ import annotations

from sds_harness.sds.script import MAX_LAMPORT, Part, Peer, Script
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_proto.wire.forum_2024.message_pb2 import Message as Wire

from ..scripts import HOUR_MS, WIDE, deliver_and_settle, losing, scenario, tick_every


@scenario("FORUM-09", "FORUM-15", "FORUM-04", "FORUM-05", "FORUM-35")
def counting_from_zero(script: Script, alice: Part) -> None:
    """A participant that has received nothing sends content and sync messages; hours pass between some of them."""
    alice.observe()
    for _ in range(3):
        alice.send()
    alice.after(HOUR_MS).send()
    alice.send_sync(optional=True)
    alice.after(HOUR_MS).send_sync(optional=True)
    alice.send()
    alice.observe()


@scenario("FORUM-04", "FORUM-15", "FORUM-23")
def at_the_end_of_31_bits(script: Script, bob: Peer) -> None:
    """Received timestamps are close to the maximum of 31 bits; messages are sent until none can follow."""
    for number, largest in enumerate((MAX_LAMPORT - 1_000, MAX_LAMPORT - 1, MAX_LAMPORT)):
        alice = script.open(f"alice{number}", configuration=WIDE)
        alice.given(bob.content(1), bob.content(largest)).observe()
        for _ in range(3):
            alice.send(may_be_refused=True)
        alice.receive(bob.content(2))
        alice.observe()


@scenario("FORUM-09", "FORUM-35", needs=(pb.CAPABILITY_SYNC,))
def a_sync_at_first(script: Script, alice: Part) -> None:
    """The first message of a new participant is a sync message, and the second one is content."""
    alice.send_sync()
    alice.send()
    alice.observe()


@scenario("FORUM-35", "FORUM-23", needs=(pb.CAPABILITY_SYNC,))
def syncs_after_receptions(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """After each reception, the participant shows its state and sends a sync message.

    A message with a timestamp ahead arrives, then one that waits, its dependency, a late one, and a sync message.
    """
    alice.send()
    root = carol.content(script.now + 300)
    waits = bob.content(script.now + 500, root)
    messages = (bob.content(script.now + 100), waits, root, carol.content(1), bob.sync(script.now + 900))
    for message in messages:
        alice.after(1_000).receive(message)
        alice.settle().observe()
        alice.send_sync()
        alice.observe()
    alice.send()


@scenario("FORUM-03", needs=(pb.CAPABILITY_SYNC,))
def syncs_with_one_timestamp(script: Script, alice: Part, bob: Peer) -> None:
    """Sync messages follow content and a late message, and all have one timestamp."""
    late = bob.content(1)
    first = alice.send()
    alice.send()
    for _ in range(2):
        alice.after(1_000).send_sync()
    alice.receive(late)
    alice.after(1_000).send_sync()
    alice.after(1_000).given(bob.content(1, first)).send_sync()


@scenario("FORUM-04", "FORUM-15", "FORUM-17")
def negative_timestamps(script: Script, alice: Part, bob: Peer) -> None:
    """Messages with negative timestamps arrive between ordinary ones; own messages follow."""
    alice.receive(*[bob.content(number) for number in range(1, 13)])
    for lamport in (-1, -(2**31)):
        message = Wire(
            sender_id="bob",
            message_id=f"at {lamport}",
            lamport_timestamp=lamport,
            channel_id="c1",
            content=f"sent at {lamport}",
        )
        alice.receive_bytes(message.SerializeToString())
        alice.send()
        alice.receive(bob.content(script.now))
        alice.send()


@scenario("FORUM-37", "FORUM-20", "FORUM-23", "FORUM-16", "FORUM-24", asked=WIDE)
def syncs_like_all_others(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Sync messages with timestamps ahead arrive, and one waits; messages depend on them, and own messages follow."""
    base = script.now
    known = bob.content(base)
    sync = bob.sync(base + 50_000, known)
    alice.given(known, sync).observe()
    alice.given(carol.content(base + 50_001, sync), carol.sync(base + 90_000)).send()
    root = bob.content(base + 90_010)
    waits = carol.sync(base + 90_020, root)
    alice.given(waits, bob.content(base + 90_030, waits)).send()
    deliver_and_settle(alice, root).observe()
    deliver_and_settle(alice, bob.content(base + 90_040, waits, sync)).send()


@scenario("FORUM-37", "FORUM-19", "FORUM-27")
def syncs_of_many(script: Script, alice: Part) -> None:
    """Peers send only sync messages, each of which names the previous one; these acknowledge own messages."""
    peers = [script.peer(name) for name in ("bob", "carol", "dave")]
    own, other = alice.send(), alice.send()
    last = own
    for number in range(9):
        script.advance(1_000)
        last = peers[number % 3].sync(script.now, last)
        alice.receive(last)
    alice.given(peers[1].sync(script.now, holds=[other])).observe()
    alice.send()
    deliver_and_settle(alice, peers[0].content(script.now + 1, last)).observe()


@scenario("FORUM-40", "FORUM-20", needs=(pb.CAPABILITY_VIRTUAL_CLOCK,))
def ten_minutes_of_talk(script: Script, alice: Part, bob: Peer) -> None:
    """Twenty messages arrive within ten minutes, then the participant sends a message."""
    for _ in range(20):
        alice.receive(bob.content(script.now))
        script.advance(28_000)
    alice.send()


@losing("FORUM-31", asked=pb.Configuration(lost_timeout_ms=60_000))
def one_loss_after_another(script: Script, alice: Part, bob: Peer) -> None:
    """Three times, a message whose dependency never arrives is given up; the last is a sync message."""
    for write in (bob.content, bob.content, bob.sync):
        missing = bob.content(script.now)
        alice.receive(write(script.now + 10, missing))
        tick_every(alice, alice.in_force.lost_timeout_ms // 2 + 1, times=6)
        alice.receive(bob.content(script.now + 20))


@losing("FORUM-31", asked=pb.Configuration(lost_timeout_ms=60_000))
def many_losses_at_once(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Six messages wait until they are given up; each has two dependencies that never arrive."""
    for number in range(6):
        missing = [carol.content(script.now + number) for _ in range(2)]
        alice.receive(bob.content(script.now + number + 10, *missing))
    tick_every(alice, alice.in_force.lost_timeout_ms // 2 + 1, times=5)
