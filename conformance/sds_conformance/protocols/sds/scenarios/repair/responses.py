"""Others request messages that a participant has, or lacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sds_harness.sds.script import Message, Part, Peer, Script, entry, greatest, signed
from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import deliver_and_settle, scenario, tick_every
from .participants import FINE, T_MAX, T_MIN, optional_participant, repair_scenario

LONG_MS = 600_000
"""A T_max that is much longer than the period of a sweep."""
AHEAD_MS = 10_000_000
"""Milliseconds by which received Lamport timestamps are ahead of the clock, so that the next own one is known."""


def wait_for_responses(*parts: Part) -> None:
    """Tick until all responses must have been sent: until T_max and then the period of a sweep have passed."""
    for pause in (T_MAX // 2, T_MAX - T_MAX // 2, 30_000, 31_000):
        parts[0].script.advance(pause)
        for part in parts:
            part.tick()


def tick_often(*parts: Part, more: int = 3) -> None:
    """Tick twenty times within T_max, and a few times after it."""
    for _ in range(FINE + more):
        parts[0].script.advance(T_MAX // FINE)
        for part in parts:
            part.tick()


def observe_responses(part: Part) -> None:
    """Observe the pending responses, and tick often until all responses must have been sent."""
    part.observe()
    tick_often(part)
    wait_for_responses(part)


def deliver_messages(part: Part, peer: Peer, number: int, ids: Sequence[str] = ()) -> list[Message]:
    """Let messages of one author be delivered to the participant; ``ids`` are their message IDs."""
    messages = [
        peer.content(part.script.now + count, message_id=ids[count] if ids else None) for count in range(number)
    ]
    part.receive(*messages)
    part.settle(undelivered=messages[-1])
    return messages


def request_messages(peer: Peer, part: Part, *messages: Message, message_id: str | None = None) -> None:
    """Let a content message arrive that requests the messages."""
    part.receive(peer.content(part.script.now, requests=signed(*messages), message_id=message_id))


def request_one_by_one(peer: Peer, part: Part, *messages: Message) -> None:
    """For each of the messages, let a content message arrive that requests it."""
    for message in messages:
        request_messages(peer, part, message)


@repair_scenario(
    *("R-RECV-08", "R-STATE-04", "R-STATE-07", "R-GLOBAL-10"),
    *("R-SWEEP-01", "R-SWEEP-02", "R-SWEEP-04", "R-SWEEP-05", "R-TRESP-01"),
)
def asked_for_what_it_has(script: Script, alice: Part, bob: Peer, dave: Peer, carol: Peer) -> None:
    """A participant gets a request for the last of three messages; no other participant responds."""
    base = script.now + AHEAD_MS
    root, side = bob.content(base), dave.content(base + 1)
    last = bob.content(base + 2, *signed(side, root), requests=["never-sent"])
    alice.receive(root, side, last)
    request_messages(carol, alice, last)
    alice.observe()
    tick_often(alice, more=10)
    alice.observe()
    wait_for_responses(alice)
    alice.send()
    alice.given(dave.content(script.now)).tick()


@repair_scenario("R-RECV-12", "R-RECV-09")
def asked_for_several_at_once(script: Script, alice: Part, bob: Peer, carol: Peer, frank: Peer) -> None:
    """One message requests known and unknown messages, with and without author; another requests a single message."""
    # The IDs are those of the released transcript.
    first, second, third = deliver_messages(alice, bob, 3, ("bob-2", "bob-3", "bob-4"))
    unknown = entry("never-sent", sender="erin")
    asking = (entry("nobody-knows"), first.signed, entry(third), unknown, second.signed)
    alice.given(carol.content(script.now, requests=asking)).observe()
    wait_for_responses(alice)
    request_messages(
        script.peer("carol"), alice, *deliver_messages(alice, frank, 1, ("frank-11",)), message_id="carol-asks-12"
    )
    wait_for_responses(alice)


@repair_scenario("R-RECV-13")
def asked_in_messages_of_all_kinds(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Requests arrive in a sync message, a waiting message, copies of a received and an own message, and content."""
    in_sync, in_blocked, in_copy, in_content, in_own, known = deliver_messages(alice, bob, 6)
    own = alice.send()
    alice.receive(carol.sync(script.now, requests=signed(in_sync)))
    alice.receive(carol.content(script.now, entry("never-sent", sender="x"), requests=signed(in_blocked)))
    alice.receive_copy(known, in_copy)
    alice.receive_copy(own, in_own)
    alice.given(carol.content(script.now, requests=signed(in_content))).observe()
    wait_for_responses(alice)


@repair_scenario("R-RECV-08", "R-RECV-13", long=True)
def asked_in_messages_that_acknowledge(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Requests arrive in content and sync messages that also acknowledge own messages, or depend on missing ones."""
    known = iter(deliver_messages(alice, bob, 8))
    for write in (carol.content, carol.sync):
        for is_blocked in (False, True):
            names = ["never-sent"] if is_blocked else []
            alice.receive(write(script.now, alice.send(), *names, requests=signed(next(known))))
            alice.receive(write(script.now, *names, holds=[alice.send()], requests=signed(next(known))))
    alice.observe()
    wait_for_responses(alice)


@repair_scenario("R-STATE-08", "R-STATE-07", "R-SWEEP-05")
def asked_for_all_that_came_in_other_ways(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A participant gets requests for messages that had waited, for repaired messages, and for own messages."""
    own = alice.send()
    # this message acknowledges the own message, so that a repeated broadcast is a response
    root = bob.content(script.now + 1, *signed(own))
    waited = bob.content(script.now + 2, *signed(root))
    deliver_and_settle(alice, waited, root)
    repaired = bob.content(script.now + 3)
    alice.given(bob.content(script.now + 4, *signed(repaired))).after(T_MAX + 1_000).send()
    deliver_and_settle(alice, repaired)
    request_one_by_one(carol, alice, root, waited, repaired, own)
    wait_for_responses(alice)
    alice.observe()


@repair_scenario("STATE-12", "STATE-08", "SEND-10", "OUTSWEEP-01", "R-STATE-08", of_one_text=True)
def asked_for_unacknowledged_messages(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Three own messages stay unacknowledged. Others request two of them, and again a day later."""
    own = [alice.send() for _ in range(3)]
    for _ in range(2):
        request_messages(carol, alice, own[0])
        alice.given(bob.sync(script.now, requests=signed(own[1]))).observe()
        wait_for_responses(alice)
        alice.observe()
        tick_every(alice, greatest(1, alice.in_force.resend_unacknowledged_ms) // 2 + 1, times=3)
    alice.observe()


@repair_scenario("R-STATE-08", "R-RECV-08", of_one_text=True)
def asked_for_before_the_acknowledgement(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A participant gets requests for own messages; others acknowledge them before the next sweep.

    The requester still misses these messages. A causal history names the first, and a filter holds the second.
    """
    named, held, asked_and_named = (alice.send() for _ in range(3))
    request_messages(carol, alice, named, held)
    alice.receive(bob.content(script.now, named), bob.content(script.now + 1, holds=[held]))
    alice.receive(bob.content(script.now + 2, asked_and_named, requests=signed(asked_and_named)))
    alice.observe()
    wait_for_responses(alice)


@repair_scenario("R-STATE-05", long=True, asked=pb.Configuration(t_max_ms=LONG_MS))
def somebody_else_answers_in_other_words(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Responses to a request differ from the original in the filter, the repair request or a hint (AMB-65)."""
    root, lost = bob.content(script.now), carol.content(script.now, message_id="lost")
    alice.receive(root)
    hinted = entry(root, b"hint", bob.name)
    asked = [bob.content(script.now + number, hinted, content=b"wanted") for number in range(1, 5)]
    alice.receive(*asked)
    alice.settle()
    request_messages(carol, alice, *asked)
    again: list[dict[str, Any]] = [{"content": b"wanted", "message_id": message} for message in asked]
    alice.receive(
        bob.content(asked[0].lamport, hinted, holds=[root], **again[0]),
        bob.content(asked[1].lamport, hinted, bloom_filter=b"\xff" * 37, **again[1]),
        bob.content(asked[2].lamport, hinted, requests=signed(lost), **again[2]),
        bob.content(asked[3].lamport, *signed(root), **again[3]),
    )
    alice.observe()
    wait_for_responses(alice)


@repair_scenario("R-STATE-05", "R-RECV-02")
def somebody_else_answers_first(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Six messages are requested; others respond with three of them before the participant responds."""
    messages = deliver_messages(alice, bob, 6)
    request_one_by_one(carol, alice, *messages)
    alice.observe()
    alice.receive(*messages[::2])
    observe_responses(alice)


@repair_scenario("R-STATE-06", "R-RECV-08", asked=pb.Configuration(t_max_ms=LONG_MS))
def asked_for_again_and_again(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Messages are requested once; later others request them repeatedly until the participant has responded."""
    messages = deliver_messages(alice, bob, 5)
    request_messages(carol, alice, *messages)
    alice.observe()
    tick_often(alice)
    script.advance(T_MIN)
    since = script.mark()
    peers = [script.peer(name) for name in ("dave", "erin", "frank")]
    for number in range(FINE + 4):
        if number % 3 == 0 and number < FINE:
            peer = peers[number // 3 % 3]
            requests = [peer.content(script.now, requests=signed(message)) for message in messages]
            alice.receive_unanswered(since, *requests)
            alice.observe()
        alice.after(T_MAX // FINE).tick()
    wait_for_responses(alice)


@repair_scenario("R-SWEEP-04", "R-RECV-10", "R-TRESP-03", asked=pb.Configuration(t_max_ms=LONG_MS))
def asked_again_after_the_answer(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """Carol requests four messages, and again after all responses; then Dave requests the same four messages."""
    messages = deliver_messages(alice, bob, 4)
    for peer in (carol, carol, dave):
        request_messages(peer, alice, *messages)
        observe_responses(alice)


@repair_scenario("R-RECV-09", "R-STATE-04")
def asked_for_what_it_lacks(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A delivered, a waiting and an unknown message are requested; the unknown message arrives after the request."""
    there, late = bob.content(script.now + 1), bob.content(script.now + 2)
    waiting = bob.content(script.now + 3, "never-sent")
    alice.receive(there, waiting)
    request_one_by_one(carol, alice, late, waiting, there)
    alice.observe()
    alice.after(1_000).receive(late)
    observe_responses(alice)


@repair_scenario("R-SWEEP-03", "R-SWEEP-02")
def sweep_at_t_resp(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Eight messages are requested; the periodic work runs exactly when some responses are due, and just before."""
    messages = deliver_messages(alice, bob, 8)
    request_messages(carol, alice, *messages)
    alice.observe()
    for nth, ms in ((3, 0), (7, 0), (8, -1), (8, 0)):
        alice.await_due(*messages, nth=nth, ms=ms).tick()
    wait_for_responses(alice)


@repair_scenario("R-TRESP-02", "R-STATE-08", asked=pb.Configuration(t_max_ms=LONG_MS))
def authors_are_asked(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """A participant gets requests for own messages and for those of another author at the same time."""
    own = [alice.send() for _ in range(6)]
    messages = deliver_messages(alice, bob, 4)
    alice.receive(bob.content(script.now, *signed(*own)))  # this message acknowledges the own messages
    request_one_by_one(carol, alice, *own[:3])
    request_messages(dave, alice, *messages, *own[3:])
    alice.observe()
    tick_often(alice)
    alice.observe()
    wait_for_responses(alice)


@scenario("R-RECV-08")
def t_max_is_zero(script: Script, bob: Peer, carol: Peer, dave: Peer) -> None:
    """Requests arrive at a participant with T_max 0, which may be refused (AMB-09), and with the usual T_max."""
    hasty = pb.Configuration(t_min_ms=0, t_max_ms=0)
    for configuration, instance in ((hasty, "hasty"), (None, "")):
        with optional_participant(script, "alice", configuration, instance) as alice:
            own, (message,) = alice.send(), deliver_messages(alice, bob, 1)
            request_messages(carol, alice, own, message)
            alice.receive(dave.content(script.now, "never-sent"))
            tick_every(alice, 60_000, times=2)
            wait_for_responses(alice)


@repair_scenario("R-RECV-02", "R-STATE-05", "R-RECV-13")
def copies_of_formerly_blocked_messages(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Four messages waited and were delivered. Three are requested; duplicates arrive, one of them with a request.

    Each of them depends on two messages. The first one was delivered before them.
    """
    known, root = bob.content(script.now), bob.content(script.now + 1)
    waited = [bob.content(script.now + 2 + number, *signed(known, root)) for number in range(4)]
    deliver_and_settle(alice, known, *waited, root)
    request_messages(carol, alice, *waited[:3])
    alice.observe()
    alice.receive(waited[0], waited[1])
    alice.receive_copy(waited[3], root)
    observe_responses(alice)
