"""Several channels at once."""

from __future__ import annotations

from ..scripts import Script, deliver_and_settle, scenario, send_optional_messages


@scenario("MSG-15", "MSG-04", "STATE-01", "STATE-16", "MSG-22")
def two_channels(script: Script) -> None:
    """A participant takes part in two channels; nothing crosses over."""
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
    """The application names no channel, and sends and receives messages."""
    alice = script.open(channels=())
    first = alice.send()
    deliver_and_settle(alice, script.peer("bob").content(script.now + 5, first))
    send_optional_messages(alice)
