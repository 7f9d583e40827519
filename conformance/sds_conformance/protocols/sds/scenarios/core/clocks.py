"""Lamport timestamps under virtual time."""

from __future__ import annotations

from sds_harness.sds.script import MAX_LAMPORT, Part, Peer, Script, least
from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import HOUR_MS, WIDE, deliver_and_settle, may_be_ahead, resending, scenario, tick_every


@scenario("SEND-01", "SEND-03", "STATE-03", "MSG-05")
def frozen_and_running_clock(script: Script, alice: Part) -> None:
    """The participant sends while its clock runs, while the clock stands still, after an hour, and 1 ms later."""
    alice.after(500).send()
    alice.observe()
    for _ in range(4):
        alice.send()
    alice.observe()
    alice.after(1).send()
    alice.after(HOUR_MS).send()
    alice.send()


@scenario("SEND-02", "SEND-01", "STATE-02")
def clock_steps_back(script: Script, alice: Part) -> None:
    """The wall clock goes back by an hour between sends; timestamps must not."""
    alice.after(-60_000).send()
    alice.after(200_000).send()
    alice.after(-HOUR_MS).send()
    alice.send()
    alice.after(2 * HOUR_MS).send()


@scenario("STATE-02")
def clock_at_first_use(script: Script, alice: Part) -> None:
    """An old message arrives first; the Lamport timestamp still starts at the current time."""
    alice.given(script.peer("bob").content(1)).after(-60_000).send()


@scenario("STATE-02", long=True)
def clock_at_first_use_of_several_channels(script: Script) -> None:
    """An old message arrives first in each of three channels; Lamport timestamps still start at the current time."""
    channels = ("c1", "c2", "c3")
    alice = script.open(channels=channels)
    for channel in channels:
        alice.receive(script.peer("bob", channel).content(1))
    script.advance(-60_000)
    for channel in channels:
        alice.send(channel=channel)


@scenario("STATE-02")
def clock_at_first_use_of_a_late_participant(script: Script, alice: Part, bob: Peer) -> None:
    """A participant joins two hours after another one, an old message arrives first, and the clock steps back."""
    alice.send()
    script.advance(2 * HOUR_MS)
    carol = script.open("carol")
    for part in (alice, carol):
        part.given(bob.content(1))
    script.advance(-HOUR_MS)
    for part in (alice, carol):
        part.send()


@scenario("SEND-01", "EPHEMERAL-07")
def sends_after_old_messages(script: Script, alice: Part, bob: Peer) -> None:
    """Right before each send, a message with an old timestamp or without a timestamp arrives, or periodic work runs.

    Neither such a message nor periodic work advances the local Lamport timestamp: the timestamp of each own message is
    the time of the send.
    """
    old = bob.content(script.now - 5_000)
    waiting = bob.content(script.now - 4_000, "never-sent")
    for message in (old, old, waiting, waiting, bob.sync(script.now - 3_000), bob.ephemeral(b"typing")):
        alice.after(1_000).receive(message)
        alice.send()
    for _ in range(2):
        alice.after(1_000).tick().send()
    alice.after(1_000).observe()
    alice.send()


@scenario("DELIVER-01", "DELIVER-02", "SEND-01")
def ahead_and_behind(script: Script, alice: Part, bob: Peer) -> None:
    """Messages with timestamps ahead of a frozen clock, behind it and equal to it are delivered."""
    alice.given(bob.content(script.now + 5_000)).observe()
    alice.send()
    alice.given(bob.content(script.now + 100)).send()
    last = alice.send()
    alice.given(bob.content(last.lamport)).send()
    alice.given(bob.content(script.now + 20_000)).observe()
    alice.send()


@scenario("DELIVER-03", "DELIVER-01")
def waiting_from_ahead(script: Script, alice: Part, bob: Peer) -> None:
    """A message with a timestamp ahead waits for its dependency; only its delivery advances the Lamport timestamp."""
    root = bob.content(script.now + 10)
    alice.given(bob.content(script.now + 9_000, root)).send()
    deliver_and_settle(alice, root).send()


@scenario("DELIVER-03", "DELIVER-01")
def copies_of_a_waiting_message_from_ahead(script: Script, alice: Part, bob: Peer) -> None:
    """A message ahead of the clock waits; its delivery advances the local timestamp, but not its duplicates."""
    root = bob.content(script.now + 10)
    waiting = bob.content(script.now + 9_000, root)
    alice.given(waiting, waiting).send()
    alice.after(1).given(waiting).observe()
    alice.send()
    deliver_and_settle(alice, root).send()


@scenario("MSG-05")
def large_and_zero_timestamps(script: Script, alice: Part, bob: Peer) -> None:
    """Timestamps 0 and 2^53+1 are handled exactly."""
    zero = bob.content(0)
    alice.given(zero).observe()
    alice.receive(bob.content(script.now + 1, zero))
    large = least(2**53 + 1, MAX_LAMPORT - 1_000)
    with script.when(may_be_ahead(large)):
        alice.given(bob.content(large)).send()
        alice.send()


@scenario("MSG-05", "DELIVER-01", "SEND-01", "RECV-07", "STATE-11", long=True, of_one_text=True)
def at_the_ends_of_the_range(script: Script, bob: Peer) -> None:
    """Messages arrive with timestamps at the limits of signed and unsigned integers and of exact doubles."""
    coarse, beyond = 1 << 53, 2**64 - 2
    for number, largest in enumerate((coarse, 2**63 - 2, 2**63 - 1, 2**63, beyond, beyond + 1)):
        alice = script.open(f"alice{number}", configuration=WIDE)
        alice.given(bob.content(script.now + 1), bob.content(largest)).observe()
        if largest == coarse:
            alice.receive(bob.content(largest + 1))
        for _ in range(2 if largest <= beyond else 1):
            alice.send(may_be_refused=True)
        alice.receive(bob.content(script.now))
        if largest < beyond:
            alice.after(1).send(may_be_refused=True)
            alice.observe()


@scenario("SYNC-15", long=True)
def syncs_that_wait_and_the_clock(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A sync message an hour ahead of the clock names a missing message, which arrives after the next own message."""
    missing = carol.content(script.now)
    alice.receive(bob.sync(script.now + HOUR_MS, missing))
    alice.send()
    deliver_and_settle(alice, missing)
    alice.send()


@scenario("SYNC-03", "SYNC-14", "SYNC-15", "SEND-01", needs=(pb.CAPABILITY_SYNC,))
def syncs_and_the_clock(script: Script, alice: Part, bob: Peer) -> None:
    """Sync messages are sent and received under a frozen clock, between content messages."""
    alice.send()
    alice.send_sync()
    alice.send()
    alice.after(1_000).send_sync()
    alice.send_sync()
    alice.send()
    alice.given(bob.sync(script.now + 10_000_000)).send()
    # The first message of a new participant may be a sync message.
    nora = script.open("nora")
    nora.send_sync()
    nora.send()


@scenario("EPHEMERAL-07", "EPHEMERAL-05")
def ephemerals_and_the_clock(script: Script, alice: Part, bob: Peer) -> None:
    """Ephemeral messages are received and sent between content messages under a frozen clock."""
    alice.send()
    alice.given(bob.ephemeral(b"typing")).send()
    alice.send_ephemeral(optional=True)
    alice.send()
    alice.observe()


@resending("OUTSWEEP-05", "MSG-21")
def rebroadcasts_and_the_clock(script: Script, alice: Part, bob: Peer) -> None:
    """A message is resent between two new messages; resending must not change the local Lamport timestamp."""
    alice.given(bob.content(script.now + 80_000_000)).send()
    tick_every(alice, 2 * alice.in_force.resend_unacknowledged_ms + 1_000, times=2)
    alice.send()
    alice.send()


MINUTE = 60_000


@scenario("STATE-04", needs=(pb.CAPABILITY_VIRTUAL_CLOCK,), asked=WIDE)
def a_late_joiner(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A newcomer joins after ten minutes, sends before it receives anything, and its message arrives late."""
    sent = [bob.content(script.now)]
    for number in range(5):
        script.advance(2 * MINUTE)
        sent.append((carol if number % 2 else bob).content(script.now - 5, sent[-1]))
    alice.receive(*sent)
    nora = script.open("nora")
    from_nora = nora.after(100).send()
    script.advance(MINUTE)
    later = bob.content(script.now)
    deliver_and_settle(alice, later, from_nora, carol.content(script.now - 2 * MINUTE)).observe()
    deliver_and_settle(nora, later)
    alice.after(MINUTE).send()
    nora.send()
    nora.observe()
