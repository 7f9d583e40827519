"""Sync messages, which are not logged, delivered or acknowledged, and their effects on other messages."""

from __future__ import annotations

from sds_harness.sds.script import Part, Peer, Script
from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import HOUR_MS, deliver_and_settle, scenario, tick_every


@scenario("SYNC-02", "SYNC-04", "SYNC-05", "SYNC-06", needs=(pb.CAPABILITY_SYNC,))
def own_syncs(script: Script, alice: Part, bob: Peer) -> None:
    """Sync messages are sent between content messages, and hours pass."""
    alice.receive(bob.content(script.now - 3), bob.content(script.now - 2), bob.content(script.now - 1))
    for _ in range(6):
        alice.after(100).send_sync()
    alice.observe()
    alice.after(100).send()
    alice.after(100).send()
    tick_every(alice, HOUR_MS, times=4)


@scenario("SYNC-07", "SYNC-08", "SYNC-09", "SYNC-13", "RECV-10", "MSG-19")
def received_syncs(script: Script, alice: Part, bob: Peer) -> None:
    """Sync messages arrive without content and with empty content, some with gaps; a message depends on one of them."""
    first = bob.content(script.now + 1)
    missing = bob.content(script.now + 2)
    alice.receive(first)
    syncs = [bob.sync(script.now + 10 + number, first, empty_content=number % 2 == 1) for number in range(8)]
    alice.given(*syncs).observe()
    for number in range(8):
        alice.receive(bob.sync(script.now + 20, missing, first, empty_content=number % 2 == 1))
    alice.after(50).send()
    alice.receive(bob.content(script.now + 30, syncs[0], message_id="depends-on-a-sync"))
    alice.receive(bob.sync(script.now + 21, "never-sent", message_id="content-to-come"))
    deliver_and_settle(alice, bob.content(script.now + 31, "content-to-come", message_id="depends-on-content-to-come"))
    deliver_and_settle(alice, missing).observe()
    alice.after(50).send()


@scenario("SYNC-08", "SYNC-05", needs=(pb.CAPABILITY_SYNC,))
def syncs_between_syncs(script: Script, alice: Part, bob: Peer) -> None:
    """At one moment a participant sends two sync messages, receives four, and sends another."""
    known = bob.content(script.now)
    alice.given(known).send_sync()
    alice.send_sync()
    alice.given(*[bob.sync(script.now + number, known) for number in range(4)]).send_sync()


@scenario("SYNC-08", "SYNC-05", needs=(pb.CAPABILITY_SYNC,))
def own_syncs_and_the_filter(script: Script, alice: Part, bob: Peer) -> None:
    """Six sync messages are sent, then content; its filter shows whether it contains the IDs of the sync messages."""
    known = bob.content(script.now)
    alice.receive(known)
    syncs = [alice.after(100).send_sync() for _ in range(6)]
    alice.observe(known, *syncs)
    sent = alice.after(100).send()
    alice.observe(*syncs, sent)
    alice.after(100).send()


@scenario("SYNC-09", needs=(pb.CAPABILITY_SYNC,), of_one_text=True)
def somebody_depends_on_an_own_sync(script: Script, alice: Part, bob: Peer) -> None:
    """A message of Bob depends on a sync message of the participant, which is never in a log (AMB-41)."""
    alice.receive(bob.content(script.now))
    sync = alice.after(100).send_sync()
    deliver_and_settle(alice, bob.content(script.now + 1, sync)).observe()
    alice.after(100).send()


@scenario("SYNC-12", of_one_text=True)
def a_sync_with_the_id_of_the_logged(script: Script, alice: Part, bob: Peer) -> None:
    """A sync message acknowledges own messages, even if it has the ID of a logged content message."""
    message = bob.content(script.now)
    sent = alice.given(message).send()
    alice.given(bob.sync(script.now + 1, sent, message_id=message)).observe()


@scenario("RECV-08", of_one_text=True)
def a_sync_with_the_id_of_the_missing(script: Script, alice: Part, bob: Peer) -> None:
    """A message waits; a sync message comes with the ID that it waits for, then the message itself."""
    deliver_and_settle(alice, bob.content(script.now + 1, "to-come"), bob.sync(script.now + 2, message_id="to-come"))
    deliver_and_settle(alice, bob.content(script.now + 3, message_id="to-come"))
