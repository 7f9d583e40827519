"""Several channels at once."""

from __future__ import annotations

from ..scripts import HOUR_MS, Part, Peer, Script, deliver_and_settle, scenario, send_optional_messages


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
