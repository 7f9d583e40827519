"""Several channels at once."""

from __future__ import annotations

from sds_harness.sds.script import Part, Peer, Script
from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import (
    HOUR_MS,
    QUICK_RESENDS,
    QUICK_SYNCS,
    WIDE,
    deliver_and_settle,
    scenario,
    send_optional_messages,
    tick_every,
)


@scenario("MSG-15", "MSG-04", "STATE-01", "STATE-16", "MSG-22")
def two_channels(script: Script) -> None:
    """A participant has two channels; messages of one channel must have no effect in the other."""
    alice = script.open(channels=("c1", "c2"))
    in_c1, in_c2 = script.peer("bob", "c1"), script.peer("bob", "c2")
    one = alice.send(channel="c1")
    two = alice.send(channel="c2")
    alice.given(in_c1.content(script.now + 1_000_000)).send(channel="c1")
    alice.send(channel="c2")
    alice.receive(in_c2.content(script.now + 5, one, message_id="crosses-to-c1"))
    deliver_and_settle(alice, in_c1.content(script.now + 6, two, message_id="crosses-to-c2"))
    for channel in ("c1", "c2"):
        alice.observe(channel=channel)
        alice.after(10).send(channel=channel)


@scenario("MSG-16", "RECV-07")
def the_unnamed_channel(script: Script) -> None:
    """The application names no channel, so it sends and receives messages in the channel "0"."""
    alice = script.open(channels=())
    first = alice.send()
    deliver_and_settle(alice, script.peer("bob").content(script.now + 5, first))
    send_optional_messages(alice)


@scenario("STATE-16", "STATE-08", "RECV-07")
def messages_without_a_channel(script: Script) -> None:
    """The application names no channel, so the channel is "0"; messages without a channel ID must have no effect in it.

    One of these messages has the ID of a missing message, others name an own message, and one has a timestamp half an
    hour ahead.
    """
    alice = script.open(channels=())
    bob, no_channel = script.peer("bob", "0"), ("channel",)
    own = alice.send()
    alice.receive(bob.content(script.now + 1, "root"))
    alice.receive(bob.content(script.now, message_id="root", empty=no_channel))
    alice.receive(bob.content(script.now + 2, message_id="of-no-channel", empty=no_channel))
    alice.receive(bob.content(script.now + HOUR_MS // 2, own, empty=no_channel))
    alice.receive(bob.sync(script.now + 3, own, empty=no_channel))
    alice.observe()
    alice.after(100).send()
    alice.settle()
    deliver_and_settle(alice, bob.content(script.now, message_id="root")).observe()
    alice.send()


@scenario("SEND-01", "STATE-08", "STATE-12", "RECV-07", long=True)
def traffic_of_a_channel_that_was_not_joined(script: Script, alice: Part, bob: Peer) -> None:
    """Messages of a channel that was not joined name an own message, or have the ID of a missing message.

    Some of these messages have timestamps half an hour ahead. None of the messages may change anything, not even in the
    millisecond in which it arrives.
    """
    own, elsewhere = alice.send(), script.peer("bob", "elsewhere")
    alice.receive(bob.content(script.now + 1, "root"))
    ahead = script.now + HOUR_MS // 2
    alice.receive(elsewhere.content(ahead, own), elsewhere.sync(ahead + 1, own), elsewhere.content(ahead, holds=[own]))
    alice.receive(elsewhere.content(script.now, message_id="root"))
    alice.observe()
    alice.send()
    alice.settle()
    deliver_and_settle(alice, bob.content(script.now, message_id="root")).observe()
    alice.send()


CHANNELS = ("c1", "c2", "c3")
AHEAD_MS = 5_000_000


def _open_in_three(script: Script, asked: pb.Configuration | None = None) -> tuple[Part, list[Peer]]:
    """Open a participant in three channels. Return the participant and a peer of the same name in each channel."""
    return script.open(channels=CHANNELS, configuration=asked), [script.peer("bob", channel) for channel in CHANNELS]


@scenario("RECV-06", "RECV-07", "RECV-08", "STATE-05", long=True, asked=WIDE, violated=("STATE-16",))
def one_history_in_three_channels(script: Script) -> None:
    """A dependency arrives in one channel after another; messages wait in each channel until it arrives there.

    At the end, messages with the same ID arrive in all channels. Two of them wait for different dependencies, and one
    has no dependencies.
    """
    alice, peers = _open_in_three(script, WIDE)
    root, now = "root", script.now
    for peer in peers:
        alice.receive(peer.content(now + 5, root, message_id="kid"))
    for number, peer in enumerate(peers):
        alice.receive(peer.content(now, message_id=root))
        for later in peers[number + 1 :]:
            alice.receive(later.content(now + 6, root, message_id=f"late-{number}"))
        alice.tick()
    first, second, third = peers
    alice.receive(first.content(now + 7, "never-sent", message_id="same"))
    alice.receive(second.content(now + 7, "to-come", message_id="same"))
    alice.receive(third.content(now + 7, message_id="same"))
    deliver_and_settle(alice, second.content(now + 6, message_id="to-come"))
    for channel in CHANNELS:
        alice.observe("never-sent", channel=channel)
        alice.after(10).send(channel=channel)


@scenario("RECV-06", "STATE-12", "STATE-16", "STATE-01", long=True)
def own_messages_in_three_channels(script: Script) -> None:
    """In each of three channels, messages name own messages of another channel; then one from the future arrives."""
    alice, peers = _open_in_three(script)
    own = [alice.send(channel=channel) for channel in CHANNELS]
    for number, peer in enumerate(peers):
        other = own[(number + 1) % 3]
        alice.receive(peer.content(script.now + 1, other))
        alice.receive(peer.content(script.now + 2, holds=[other]))
    for peer in peers:
        alice.given(peer.content(script.now + AHEAD_MS)).after(10)
        for channel in CHANNELS:
            alice.send(channel=channel)
    alice.settle()
    for channel in CHANNELS:
        alice.observe(channel=channel)


@scenario("OUTSWEEP-01", "STATE-12", needs=(pb.CAPABILITY_RESEND,), long=True)
def nobody_answers_in_three_channels(script: Script) -> None:
    """Own messages in three channels stay unacknowledged: one in each, a second in the last, later one in the first.

    At the end, a message in the second channel stays unacknowledged while the first channel is used again and again.
    """
    alice, peers = _open_in_three(script, QUICK_RESENDS)
    period = alice.in_force.resend_unacknowledged_ms
    for channel in (*CHANNELS, CHANNELS[-1]):
        alice.after(10).send(channel=channel)
    tick_every(alice, period // 2 + 1, times=8)
    alice.send(channel=CHANNELS[0])
    alice.receive(peers[1].content(script.now))
    tick_every(alice, period // 2 + 1, times=8)
    alice.send(channel=CHANNELS[1])
    for _ in range(6):
        alice.after(period // 2 + 1).send(channel=CHANNELS[0])
        alice.tick()


@scenario("INSWEEP-01", "INSWEEP-04", long=True)
def waiting_in_three_channels(script: Script) -> None:
    """In each of three channels a chain of messages waits; its first message arrives last."""
    alice, peers = _open_in_three(script)
    roots = [peer.content(script.now, message_id=f"root-{peer.channel}") for peer in peers]
    for peer, root in zip(peers, roots, strict=True):
        missing = [peer.content(script.now + 3 + number, f"never-sent-{number}") for number in range(2)]
        kid = peer.content(script.now + 1, root)
        alice.receive(*missing, peer.content(script.now + 2, kid), kid)
    deliver_and_settle(alice, *roots)
    for channel in CHANNELS:
        alice.observe(channel=channel)


@scenario("SYNC-01", needs=(pb.CAPABILITY_PERIODIC_SYNC,), long=True)
def idle_in_three_channels(script: Script) -> None:
    """A message is sent in each of three channels, then nothing for many sync intervals."""
    alice, peers = _open_in_three(script, QUICK_SYNCS)
    interval = alice.in_force.sync_interval_ms
    for peer in peers:
        own = alice.send(channel=peer.channel)
        alice.after(1).receive(peer.content(script.now, own))
    tick_every(alice, interval // 2, times=24)


@scenario("SYNC-01", needs=(pb.CAPABILITY_PERIODIC_SYNC,), long=True)
def sends_in_one_of_three_channels(script: Script) -> None:
    """A message is sent in each of three channels; then only the first is used again."""
    alice, peers = _open_in_three(script, QUICK_SYNCS)
    interval = alice.in_force.sync_interval_ms
    for peer in peers:
        own = alice.send(channel=peer.channel)
        alice.after(1).receive(peer.content(script.now, own))
    for _ in range(24):
        alice.after(interval // 2).send(channel=CHANNELS[0])
        alice.tick()


NEAR = ("C1", "c1 ", " c1", "c1\u200b", "c10", "c", "\uff431")
"""Names that are similar to the name of a channel: in another case, with blanks, with invisible characters, longer,
shorter, and in full width."""


@scenario("STATE-16", "RECV-07", long=True)
def only_one_of_the_channels_is_joined(script: Script, alice: Part) -> None:
    """Messages arrive for channels whose names are similar to the name of the only joined channel."""
    own = alice.send()
    for name in NEAR:
        peer = script.peer("bob", name)
        alice.receive(peer.content(script.now + 1, own, message_id=f"for-{name}"))
    alice.receive(script.peer("bob").content(script.now + 2))
    alice.after(10).send()
    alice.observe()


@scenario("MSG-15", "RECV-07", long=True, violated=("STATE-16",))
def channels_with_one_form(script: Script) -> None:
    """The names of two channels are equal in a Unicode normal form, and two others differ by a blank at the end."""
    for number, names in enumerate((("c\u00e9", "ce\u0301"), ("c1", "c1 "))):
        alice = script.open(f"alice{number}", channels=names)
        for name in names:
            alice.receive(script.peer("bob", name).content(script.now, message_id=f"of {name}"))
            alice.after(5).send(channel=name)
        for name in names:
            alice.after(5).send(channel=name)
            alice.observe(channel=name)
