"""Rules hold while other work is pending: messages wait or are unacknowledged, or the clock has stepped."""

from __future__ import annotations

from sds_harness.sds.script import Part, Peer, Script, least
from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import HOUR_MS, deliver_and_settle, resending, scenario, tick_every

SHORT = (b"x", b"ok", b"\0", b"yes")
QUIET = pb.Configuration(
    sync_interval_ms=30_000, resend_unacknowledged_ms=HOUR_MS, resend_possibly_acknowledged_ms=HOUR_MS
)
"""Configuration: many sync intervals pass between two resends."""
QUIET_AND_IMPATIENT = pb.Configuration(
    sync_interval_ms=30_000,
    resend_unacknowledged_ms=HOUR_MS,
    resend_possibly_acknowledged_ms=HOUR_MS,
    lost_timeout_ms=60_000,
)
IMPATIENT = pb.Configuration(resend_unacknowledged_ms=30_000, lost_timeout_ms=60_000)
"""Configuration: missing dependencies are soon given up as lost."""


@resending("OUTSWEEP-01", "STATE-08", "MSG-21")
def copies_of_short_contents_and_with_hints(script: Script, alice: Part) -> None:
    """Own messages with contents of a few bytes, and own messages with retrieval hints, are resent."""
    for content in SHORT:
        alice.send(content)
    for hint in (b"where it is stored", b"x", None):
        alice.send(hint=hint)
    tick_every(alice, alice.in_force.resend_unacknowledged_ms + 1, times=3).observe()


@resending("OUTSWEEP-01", "STATE-08", "ACK-02")
def copies_while_others_wait(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """Messages of three senders wait for dependencies that never arrive, while own messages are due to be resent.

    After the first resends, a filter holds one of the own messages. Then all own messages are due to be resent again.
    """
    own = [alice.send() for _ in range(3)]
    alice.receive(*[peer.content(script.now + 1, f"never-sent-{peer.name}") for peer in (bob, carol, dave)])
    period = alice.in_force.resend_unacknowledged_ms + 1
    tick_every(alice, period, times=2)
    alice.receive(bob.content(script.now + 2, "never-sent-bob", holds=[own[0]]))
    tick_every(alice, period, times=2).observe()
    tick_every(alice, alice.in_force.resend_possibly_acknowledged_ms + 1, times=2)


@resending("OUTSWEEP-01", "STATE-08", "ACK-01", "ACK-02")
def copies_while_others_are_acknowledged(script: Script, alice: Part, bob: Peer) -> None:
    """Several times in each resend period, an arriving message names one of many own messages, or its filter holds one.

    The first own message is never acknowledged.
    """
    _, *others = [alice.send() for _ in range(16)]
    pause = alice.in_force.resend_unacknowledged_ms // 3 + 1
    for number, own in enumerate(others):
        script.advance(pause)
        named, held = ([own], []) if number % 2 else ([], [own])
        alice.receive(bob.content(script.now, *named, holds=held or None))
        alice.tick()
    alice.observe()


@resending("OUTSWEEP-01", "STATE-08")
def copies_while_syncs_and_ephemerals_arrive(script: Script, alice: Part, bob: Peer) -> None:
    """Nothing acknowledges two own messages; sync messages arrive after the first, ephemeral ones after the second."""
    pause = alice.in_force.resend_unacknowledged_ms // 3 + 1
    alice.send()
    for _ in range(9):
        alice.after(pause).receive(bob.sync(script.now))
        alice.tick()
    alice.send()
    for _ in range(9):
        alice.after(pause).receive(bob.ephemeral(b"typing"))
        alice.tick()


@resending("OUTSWEEP-01", long=True)
def copies_while_the_message_comes_back(script: Script, alice: Part) -> None:
    """Nobody acknowledges a message; copies of it arrive back at the participant between the resends."""
    pause = alice.in_force.resend_unacknowledged_ms // 3 + 1
    own = alice.send()
    for _ in range(9):
        script.advance(pause)
        alice.receive(own)
        alice.tick()


@scenario("OUTSWEEP-01", "STATE-08", needs=(pb.CAPABILITY_RESEND, pb.CAPABILITY_LOST), asked=IMPATIENT)
def copies_after_a_loss(script: Script, alice: Part, bob: Peer) -> None:
    """A dependency is given up while an own message is unacknowledged; another own message follows the loss."""
    pause = least(alice.in_force.resend_unacknowledged_ms + 1, alice.in_force.lost_timeout_ms)
    alice.send()
    alice.receive(bob.content(script.now + 1, "never-sent"))
    tick_every(alice, pause, times=5)
    alice.send()
    tick_every(alice, pause, times=4).observe()


@scenario("DELIVER-01", "CONFLICT-01", "RECV-07", "STATE-10", needs=(pb.CAPABILITY_LOST,), asked=IMPATIENT)
def deliveries_after_a_loss(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A message waits until its dependency, which never arrives, is given up; then the message may be delivered.

    Then messages arrive with the timestamp of the message that waited, and a message that depends on it.
    """
    at = script.now + HOUR_MS
    alice.receive(carol.content(script.now))
    waiting = bob.content(at, "never-sent", message_id="middle")
    alice.receive(waiting)
    tick_every(alice, alice.in_force.lost_timeout_ms // 2 + 1, times=4).observe()
    alice.send()
    for message_id in ("first", "same-as-the-others", "last"):
        alice.receive(carol.content(at, message_id=message_id))
    alice.receive(bob.content(at + 1, waiting))
    alice.observe()
    alice.send()


@scenario("SYNC-01", needs=(pb.CAPABILITY_PERIODIC_SYNC, pb.CAPABILITY_LOST), asked=QUIET_AND_IMPATIENT)
def idle_after_a_loss(script: Script, alice: Part, bob: Peer) -> None:
    """A participant is idle for many sync intervals after it has given up a dependency."""
    alice.receive(bob.content(script.now + 1), bob.content(script.now + 2, "never-sent"))
    tick_every(alice, alice.in_force.sync_interval_ms // 2, times=26)


@resending("OUTSWEEP-01", "STATE-08")
def copies_while_others_join_and_leave(script: Script, alice: Part) -> None:
    """Several times in each resend period, another participant of the implementation joins and leaves."""
    alice.send()
    for number in range(12):
        script.advance(alice.in_force.resend_unacknowledged_ms // 3 + 1)
        other = script.open(f"other-{number}")
        alice.tick()
        other.leave()
    alice.observe()


@scenario("INSWEEP-04", "RECV-08", "DELIVER-07")
def equal_contents_wait(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Messages with equal contents, of one sender and of two, wait for a dependency with the same content."""
    root = carol.content(script.now, content=b"ok")
    for number in (1, 2):
        alice.receive(*[peer.content(script.now + number, root, content=b"ok") for peer in (bob, carol)])
    deliver_and_settle(alice, root).observe()
    alice.send()


@scenario("ACK-01", "ACK-02", "ACK-07", "SYNC-12", "STATE-13")
def newcomers_acknowledge(
    script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer, erin: Peer, frank: Peer
) -> None:
    """Peers that have sent nothing before acknowledge own messages: by syncs, filters, and messages that wait."""
    alice.given(*[bob.content(script.now - number) for number in range(8, 0, -1)])
    own = [alice.send() for _ in range(4)]
    alice.receive(carol.sync(script.now + 1, own[0]), dave.sync(script.now + 2, holds=[own[1]]))
    alice.receive(erin.content(script.now + 3, "never-sent", own[2]), frank.content(script.now + 4, own[3]))
    alice.observe()


@scenario("SYNC-01", needs=(pb.CAPABILITY_PERIODIC_SYNC,), asked=QUIET)
def idle_with_unacknowledged_messages(script: Script, alice: Part, bob: Peer) -> None:
    """A participant is idle for many sync intervals; its messages are unacknowledged or possibly acknowledged."""
    own = [alice.send() for _ in range(2)]
    alice.receive(bob.content(script.now + 1, holds=own[:1]))
    tick_every(alice, alice.in_force.sync_interval_ms // 2, times=26)


@scenario("SYNC-01", needs=(pb.CAPABILITY_PERIODIC_SYNC,), asked=QUIET)
def idle_while_messages_wait(script: Script, alice: Part, bob: Peer) -> None:
    """A participant is idle for many sync intervals; its messages are acknowledged, and two messages of others wait."""
    own = alice.send()
    alice.receive(bob.content(script.now + 1, own), bob.content(script.now + 2, "never-sent"))
    alice.receive(bob.content(script.now + 3, own, "never-sent-too"))
    tick_every(alice, alice.in_force.sync_interval_ms // 2, times=26)


@scenario("INSWEEP-04", "RECV-08", "ACK-01", "SEND-04")
def a_busy_participant(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Messages wait for each other, own messages are unacknowledged; duplicates arrive, then the dependencies."""
    own = [alice.send() for _ in range(3)]
    root = carol.content(script.now + 1)
    middle = bob.content(script.now + 2, root)
    last, other = carol.content(script.now + 3, middle, own[0]), bob.content(script.now + 4, root, own[1])
    alice.receive(last, other, last, carol.content(script.now + 5, "never-sent", holds=[own[2]]))
    alice.observe()
    deliver_and_settle(alice, middle).send()
    deliver_and_settle(alice, root, last).send()
    alice.receive(bob.content(script.now + 6, own[2], last))
    alice.observe()
    alice.after(1_000).send()
