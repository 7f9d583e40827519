"""Causal dependencies: deliveries, waiting messages, their order, and the state before and after a sweep."""

from __future__ import annotations

from sds_harness.sds.script import Part, Peer, Script, entry
from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import WIDE, deliver_and_settle, scenario, send_optional_messages


@scenario("RECV-05", "RECV-07", "RECV-08", "RECV-09", "STATE-09", "INSWEEP-06", "INSWEEP-02", asked=WIDE)
def a_missing_dependency(script: Script, alice: Part, bob: Peer) -> None:
    """One of three dependencies of a message is missing; the message waits for it, and is delivered when it arrives."""
    base = script.now
    known = [bob.content(base + number) for number in (1, 2)]
    alice.receive(*known)
    for place in range(3):
        missing = bob.content(base + 10 + place)
        depends_on = list(known)
        depends_on.insert(place, missing)
        alice.given(bob.content(base + 20 + place, *depends_on)).observe()
        alice.send()
        deliver_and_settle(alice, missing).observe()
        script.advance(10)


@scenario("RECV-06", "RECV-09", "DELIVER-07", "INSWEEP-04", "INSWEEP-06", asked=WIDE)
def a_chain_in_reverse(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A chain of three messages arrives in reverse order, so that a message waits for one that waits itself."""
    first = bob.content(script.now + 1)
    second = carol.content(script.now + 2, first)
    third = bob.content(script.now + 3, second)
    alice.given(third, second).observe()
    alice.settle()
    alice.send()
    deliver_and_settle(alice, first).observe()


@scenario("RECV-06", "RECV-09")
def a_dependent_of_the_buffered(script: Script, alice: Part, bob: Peer) -> None:
    """A message depends only on a message in the incoming buffer, whose own dependency never arrives."""
    middle = bob.content(script.now + 2, "never-sent")
    deliver_and_settle(alice, middle, bob.content(script.now + 3, middle), bob.content(script.now + 4))
    alice.after(100).send()
    alice.observe()


@scenario("INSWEEP-04", "DELIVER-07", "INSWEEP-06", "RECV-08")
def a_long_chain_in_reverse(script: Script, alice: Part, bob: Peer) -> None:
    """A chain of fifty messages arrives in reverse order."""
    chain = [bob.content(script.now)]
    for number in range(1, 50):
        chain.append(bob.content(script.now + number, chain[-1]))
    deliver_and_settle(alice, *reversed(chain)).observe()


@scenario("DELIVER-07", "RECV-05", "RECV-06")
def a_diamond(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Two messages depend on one message, and a fourth on both; each arrives before a message that it depends on."""
    top = bob.content(script.now + 1)
    left, right = bob.content(script.now + 2, top), carol.content(script.now + 2, top)
    deliver_and_settle(alice, right, carol.content(script.now + 3, left, right), top)
    deliver_and_settle(alice, left)


@scenario("SEND-11", "RECV-07")
def replies_to_own_messages(script: Script, alice: Part, bob: Peer) -> None:
    """Messages arrive that depend on own messages; they are delivered, because own messages are in the own log."""
    first = alice.send()
    second = alice.after(10).send()
    deliver_and_settle(alice, bob.content(script.now + 5, first), bob.content(script.now + 6, first, second))


@scenario("RECV-01", "RECV-11")
def own_messages_come_back(script: Script, alice: Part) -> None:
    """The network reflects own messages, which name own messages in their causal histories."""
    sent = [alice.send(), alice.after(10).send()]
    script.advance(10)
    alice.given(*sent).observe()
    alice.settle()
    alice.send()


@scenario("RECV-01", "RECV-11", asked=WIDE)
def unsent_messages_with_own_sender_id(script: Script, alice: Part, bob: Peer) -> None:
    """Messages of all kinds that the participant never sent arrive with its sender ID, some with timestamps ahead."""
    alice.receive(bob.content(script.now))
    own = alice.send()
    ahead = script.now + 5_000_000
    several = [bob.content(script.now + number, sender="alice") for number in range(1, 6)]
    of_all_kinds = (
        bob.content(ahead, own, several[0], sender="alice"),
        bob.sync(ahead + 9, own, "never-sent", sender="alice"),
        bob.ephemeral(b"typing", sender="alice"),
    )
    alice.receive(*several, *of_all_kinds)
    alice.observe()
    alice.settle()
    alice.send()


@scenario("RECV-04", "SEND-09", "RECV-03", "RECV-11", "STATE-05")
def the_filter_and_the_buffer(script: Script, alice: Part, bob: Peer) -> None:
    """Received messages, also a waiting one, enter the filter, and the waiting one acknowledges an own message."""
    own = alice.send()
    delivered = [bob.content(script.now + number) for number in range(1, 5)]
    alice.receive(*delivered)
    waiting = bob.content(script.now + 10, own, "never-sent")
    alice.given(waiting).observe(waiting)
    alice.after(100).send()
    send_optional_messages(alice, ephemeral=False)


@scenario("SEND-09", "STATE-05", "SYNC-05")
def the_filter_grows(script: Script, alice: Part, bob: Peer) -> None:
    """Every message carries the filter at the time of sending."""
    for _ in range(5):
        alice.after(10).given(bob.content(script.now)).send()
    send_optional_messages(alice, ephemeral=False)


AHEAD_MS = 100_000


def _observe_and_settle(alice: Part) -> None:
    alice.observe()
    alice.settle()
    alice.observe()


@scenario(long=True, violated=("DELIVER-01", "INSWEEP-04"))
def ahead_and_waiting(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A message with a timestamp far ahead waits; its dependency arrives, and the participant sends immediately."""
    root = carol.content(script.now)
    alice.receive(bob.content(script.now + AHEAD_MS, root))
    alice.after(100).given(root).send()
    _observe_and_settle(alice)
    alice.send()


@scenario("INSWEEP-04", "RECV-08", "STATE-11", long=True, asked=WIDE)
def copies_of_what_waits(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A message waits for one of its two dependencies; one to three duplicates arrive before that dependency."""
    for number in range(3):
        first, second = carol.content(script.now), carol.content(script.now + 1)
        waiting = bob.content(script.now + 2, first, second)
        alice.receive(first, *[waiting] * (1 + number))
        alice.receive(bob.content(script.now + 3, second), waiting, second)
        _observe_and_settle(alice)
    later = carol.content(script.now + 9)
    again = bob.content(script.now + 10, later)
    alice.receive(again, bob.sync(script.now + 11, message_id=again))
    deliver_and_settle(alice, later)
    _observe_and_settle(alice)
    alice.after(100).send()


@scenario("RECV-05", "RECV-06", "RECV-09", "INSWEEP-06", long=True, asked=WIDE, violated=("INSWEEP-04",))
def copies_of_dependencies(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A message waits for three dependencies. Another waits for one of the three and for a message that waits forever.

    Dependencies arrive more than once, with duplicates of the waiting messages between them. The last two dependencies
    arrive in the order of the causal history, then (in a second round) in the opposite order.
    """
    base = script.now
    for opposite in (False, True):
        first, second, third = (bob.content(base + number) for number in range(3))
        waiting = carol.content(base + 3, first, second, third)
        middle = bob.content(base + 3, "never-sent")
        another = carol.content(base + 4, first, middle)
        alice.receive(waiting, another)
        for _ in range(3):
            alice.receive(first, waiting, first, middle, another)
            alice.settle()
        early, late = (third, second) if opposite else (second, third)
        alice.given(early, early, first, middle).observe()
        alice.settle()
        deliver_and_settle(alice, late).observe()
        alice.after(10).send()


@scenario("INSWEEP-04", "RECV-08", "STATE-11", long=True, asked=WIDE)
def chains_and_fans(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """Chains of three and five messages arrive in reverse; then four messages wait for the same dependency."""
    for length in (3, 5):
        line = [bob.content(script.now)]
        for number in range(1, length):
            line.append((bob, carol, dave)[number % 3].content(script.now + number, line[-1]))
        alice.receive(*reversed(line[1:]))
        alice.observe()
        alice.after(20).send()
        alice.given(line[0])
        _observe_and_settle(alice)
    root = dave.content(script.now - 50)
    alice.receive(*[peer.content(script.now + 5 + number, root) for number in range(2) for peer in (bob, carol)])
    for _ in range(4):
        alice.after(15_000).send()
        alice.tick()
    alice.given(root)
    _observe_and_settle(alice)
    alice.after(100).send()


@scenario("SEND-08", "MSG-11", needs=(pb.CAPABILITY_RETRIEVAL_HINTS,), long=True)
def hints_of_what_waits(script: Script, alice: Part, bob: Peer) -> None:
    """A message with a transport hint waits, and own messages name it after its delivery."""
    root = bob.content(script.now)
    alice.receive(bob.content(script.now + 5, root), hint=b"of what waits")
    alice.receive(root, hint=b"of the root")
    alice.settle()
    alice.after(100).send()


@scenario("SEND-08", "MSG-11", needs=(pb.CAPABILITY_RETRIEVAL_HINTS,), long=True)
def hints_in_received_histories(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Messages arrive whose causal histories contain hints; the next own messages name those messages."""
    root, late = bob.content(script.now), carol.content(script.now + 1)
    alice.receive(root, hint=b"of the root")
    alice.receive(bob.content(script.now + 2, entry(root, b"of the root, too")))
    alice.after(10).send()
    alice.receive(bob.content(script.now + 3, entry(root, b"of the root"), entry(late, b"of the late one")))
    deliver_and_settle(alice, late)
    alice.after(10).send()


@scenario("STATE-15", "ACK-05", long=True, violated=("STATE-05",))
def acknowledging_while_waiting(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A waiting message acknowledges an own message; its delivery must not acknowledge the own message again."""
    own, root = alice.send(), carol.content(script.now)
    alice.given(bob.content(script.now + 5, own, root)).observe()
    alice.given(root).observe("bob", "carol")
    _observe_and_settle(alice)
    alice.after(10).send()
