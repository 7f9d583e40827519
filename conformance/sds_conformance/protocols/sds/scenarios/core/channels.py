"""Several channels at once."""

from __future__ import annotations

from dataclasses import replace

from ..cast import Stage, scenario, send_the_optional, take_in


@scenario("MSG-15", "MSG-04", "STATE-01", "STATE-16", "MSG-22")
def two_channels(stage: Stage) -> None:
    """A participant takes part in two channels; nothing crosses over."""
    alice = stage.open(channels=("c1", "c2"))
    in_c1, in_c2 = stage.peer("bob", "c1"), stage.peer("bob", "c2")
    one = alice.send(channel_id="c1")
    two = alice.send(channel_id="c2")
    alice.given(in_c1.content(stage.now_ms + 1_000_000)).send(channel_id="c1")
    alice.send(channel_id="c2")
    alice.receive(replace(in_c2.content(stage.now_ms + 5, one), message_id="crosses-to-c1"))
    take_in(alice, replace(in_c1.content(stage.now_ms + 6, two), message_id="crosses-to-c2"))
    for channel in ("c1", "c2"):
        alice.observe(channel_id=channel)
        alice.after(10).send(channel_id=channel)


@scenario("MSG-16", "RECV-07")
def no_named_channel(stage: Stage) -> None:
    """The application names no channel, and everything is sent once."""
    alice = stage.open(channels=())
    first = alice.send()
    take_in(alice, stage.peer("bob", first.channel_id).content(stage.now_ms + 5, first))
    send_the_optional(alice)
