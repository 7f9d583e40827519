"""Ephemeral messages, and messages that are half ephemeral and half regular."""

from __future__ import annotations

from sds_harness.sds.script import Message, Part, Peer, Script
from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import HOUR_MS, WIDE, deliver_and_settle, scenario, tick_every


@scenario("EPHEMERAL-04", "EPHEMERAL-05", "MSG-18", "RECV-05")
def received_ephemerals(script: Script, alice: Part, bob: Peer) -> None:
    """Ephemeral messages arrive while others wait, and a message depends on an ephemeral one, which is in no log."""
    alice.receive(bob.ephemeral(b"typing"))
    for number in range(3):
        alice.receive(bob.content(script.now + number, f"never-sent-{number}"))
    typing = bob.ephemeral(b"still typing")
    deliver_and_settle(alice, typing, bob.content(script.now + 9), bob.content(script.now + 10, typing)).observe()
    alice.after(10).send()


@scenario("EPHEMERAL-04", asked=pb.Configuration(bloom_capacity=10, bloom_error_rate=0.1))
def ephemerals_and_a_full_filter(script: Script, alice: Part, bob: Peer) -> None:
    """A small filter is filled with received messages; then a hundred ephemeral messages arrive.

    Such a filter seems to contain some of the ephemeral messages.
    """
    alice.receive(*[bob.content(script.now + number) for number in range(10)])
    alice.receive(*[bob.ephemeral(f"typing, {number}".encode()) for number in range(100)])


@scenario("EPHEMERAL-05", "RECV-05")
def what_is_missing_comes_as_an_ephemeral(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A message waits; an ephemeral message with the ID of its dependency arrives, then the dependency."""
    missing = carol.content(script.now)
    alice.receive(bob.content(script.now + 1, missing))
    deliver_and_settle(alice, carol.ephemeral(b"typing", message_id=missing)).observe()
    deliver_and_settle(alice, missing).observe()


@scenario(
    *("EPHEMERAL-01", "EPHEMERAL-02", "EPHEMERAL-03", "MSG-20", "MSG-04", "MSG-13"),
    needs=(pb.CAPABILITY_EPHEMERAL,),
)
def own_ephemerals(script: Script, alice: Part) -> None:
    """Ephemeral messages are sent, and hours pass."""
    alice.given(script.peer("bob").content(script.now)).send_ephemeral(b"typing")
    alice.observe()
    alice.after(10).send()
    tick_every(alice, HOUR_MS, times=3)


@scenario("EPHEMERAL-06", asked=WIDE)
def hybrids(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Content arrives without timestamp, but with history or filter; some of its dependencies never arrive."""
    known, to_come = carol.content(script.now), carol.content(script.now + 1)
    alice.receive(known, bob.ephemeral(b"typing"))
    histories: tuple[tuple[Message | str, ...], ...] = ((known,), (), (known, to_come), ("never-sent",))
    for number, names in enumerate(histories):
        holds = [known] if number % 2 else None
        alice.receive(bob.ephemeral(b"half a message", *names, message_id=f"hybrid-{number}", holds=holds))
    alice.observe()
    alice.after(10).send()
    deliver_and_settle(alice, to_come, bob.content(script.now + 2, "hybrid-0", "hybrid-1")).observe()
    alice.after(10).send()


@scenario("RECV-10", "EPHEMERAL-06")
def messages_without_a_kind(script: Script, alice: Part, bob: Peer) -> None:
    """Messages have neither timestamp nor content, or are half ephemeral and half regular."""
    alice.receive(
        bob.write(None, (), content=None, message_id="none"),
        bob.write(None, ("x",), content=None, message_id="none-2", bloom_filter=b""),
    )
    known = bob.content(script.now)
    alice.receive(known)
    alice.receive(bob.ephemeral(b"h", known, message_id="hybrid"))
    alice.given(bob.ephemeral(b"h", message_id="hybrid-2", bloom_filter=b"")).observe()
    alice.after(10).send()
    alice.receive(bob.content(script.now))
