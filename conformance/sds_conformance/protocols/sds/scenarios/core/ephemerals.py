"""Ephemeral messages need no synchronisation."""

from __future__ import annotations

from dataclasses import replace

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HistoryEntry, Message

from ..cast import HOUR, WIDE, Actor, ScriptedPeer, Stage, scenario, take_in, tick_every


@scenario("EPHEMERAL-04", "EPHEMERAL-05", "MSG-18", "RECV-05")
def received_ephemerals(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """Ephemeral messages arrive while others wait, and somebody depends on one: it is in no log."""
    alice.receive(bob.ephemeral(b"typing"))
    for number in range(3):
        alice.receive(bob.content(stage.now_ms + number, f"never-sent-{number}"))
    typing = bob.ephemeral(b"still typing")
    take_in(alice, typing, bob.content(stage.now_ms + 9), bob.content(stage.now_ms + 10, typing)).observe()
    alice.after(10).send()


@scenario("EPHEMERAL-05", "RECV-05")
def what_is_missing_comes_as_an_ephemeral(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """A message waits for one that is missing, whose ID an ephemeral message has; then the missing one comes."""
    missing = carol.content(stage.now_ms)
    alice.receive(bob.content(stage.now_ms + 1, missing))
    take_in(alice, carol.ephemeral(b"typing", message_id=missing.message_id)).observe()
    take_in(alice, missing).observe()


@scenario(
    *("EPHEMERAL-01", "EPHEMERAL-02", "EPHEMERAL-03", "MSG-20", "MSG-04", "MSG-13"),
    needs=(pb.CAPABILITY_EPHEMERAL,),
)
def own_ephemerals(stage: Stage, alice: Actor) -> None:
    """Ephemeral messages are sent, and hours pass."""
    alice.given(stage.peer("bob").content(stage.now_ms)).send_ephemeral(b"typing")
    alice.observe()
    alice.after(10).send()
    tick_every(alice, HOUR, times=3)


@scenario("EPHEMERAL-06", asked=WIDE)
def hybrids(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Content comes without a timestamp, but with a history or a filter; what it names came, comes or never does."""
    known, to_come = carol.content(stage.now_ms), carol.content(stage.now_ms + 1)
    alice.receive(known, bob.ephemeral(b"typing"))
    bloom_filter = stage.filter_over(known.message_id)
    for number, names in enumerate(((known.message_id,), (), (known.message_id, to_come.message_id), ("never-sent",))):
        entries = tuple(HistoryEntry(message_id) for message_id in names)
        hybrid = bob.ephemeral(b"half a message", message_id=f"hybrid-{number}")
        alice.receive(replace(hybrid, causal_history=entries, bloom_filter=bloom_filter if number % 2 else None))
    alice.observe()
    alice.after(10).send()
    take_in(alice, to_come, bob.content(stage.now_ms + 2, "hybrid-0", "hybrid-1")).observe()
    alice.after(10).send()


@scenario("RECV-10", "EPHEMERAL-06")
def messages_without_a_kind(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """Messages have neither timestamp nor content, or are half ephemeral and half regular."""
    alice.receive(Message("bob", "none", "c1"), Message("bob", "none-2", "c1", None, (HistoryEntry("x"),), b""))
    known = bob.content(stage.now_ms)
    alice.receive(known)
    alice.receive(replace(bob.ephemeral(b"h", message_id="hybrid"), causal_history=(HistoryEntry(known.message_id),)))
    alice.given(replace(bob.ephemeral(b"h", message_id="hybrid-2"), bloom_filter=b"")).observe()
    alice.after(10).send()
    alice.receive(bob.content(stage.now_ms))
