"""Sync messages leave no trace but their effects."""

from __future__ import annotations

from sds_proto.testee.v1 import testee_pb2 as pb

from ..cast import HOUR, Actor, ScriptedPeer, Stage, scenario, take_in, tick_every


@scenario("SYNC-02", "SYNC-04", "SYNC-05", "SYNC-06", needs=(pb.CAPABILITY_SYNC,))
def own_syncs(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """Sync messages are sent between content messages, and hours pass."""
    alice.receive(bob.content(stage.now_ms - 3), bob.content(stage.now_ms - 2), bob.content(stage.now_ms - 1))
    for _ in range(6):
        alice.after(100).send_sync()
    alice.observe()
    alice.after(100).send()
    alice.after(100).send()
    tick_every(alice, HOUR, times=4)


@scenario("SYNC-07", "SYNC-08", "SYNC-09", "SYNC-13", "RECV-10", "MSG-19")
def received_syncs(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """Sync messages arrive in both encodings, with dependencies met and unmet, and somebody depends on one."""
    first = bob.content(stage.now_ms + 1)
    missing = bob.content(stage.now_ms + 2)
    alice.receive(first)
    syncs = [bob.sync(stage.now_ms + 10 + number, first, empty_content=number % 2 == 1) for number in range(8)]
    alice.given(*syncs).observe()
    for number in range(8):
        alice.receive(bob.sync(stage.now_ms + 20, missing, first, empty_content=number % 2 == 1))
    alice.after(50).send()
    alice.receive(bob.content(stage.now_ms + 30, syncs[0], message_id="depends-on-a-sync"))
    alice.receive(bob.sync(stage.now_ms + 21, "never-sent", message_id="content-to-come"))
    take_in(alice, bob.content(stage.now_ms + 31, "content-to-come", message_id="depends-on-content-to-come"))
    take_in(alice, missing).observe()
    alice.after(50).send()


@scenario("SYNC-08", "SYNC-05", needs=(pb.CAPABILITY_SYNC,))
def syncs_between_syncs(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """At one moment a participant sends two sync messages, receives four, and sends another."""
    known = bob.content(stage.now_ms)
    alice.given(known).send_sync()
    alice.send_sync()
    alice.given(*[bob.sync(stage.now_ms + number, known) for number in range(4)]).send_sync()


@scenario("SYNC-12", of_one_text=True)
def a_sync_with_the_id_of_the_logged(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """A sync message has the ID of a content message that is in the log; what it says counts all the same."""
    message = bob.content(stage.now_ms)
    sent = alice.given(message).send()
    alice.given(bob.sync(stage.now_ms + 1, sent, message_id=message.message_id)).observe()


@scenario("RECV-08", of_one_text=True)
def a_sync_with_the_id_of_the_missing(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """A message waits; a sync message comes with the ID that it waits for, then the message itself."""
    take_in(alice, bob.content(stage.now_ms + 1, "to-come"), bob.sync(stage.now_ms + 2, message_id="to-come"))
    take_in(alice, bob.content(stage.now_ms + 3, message_id="to-come"))
