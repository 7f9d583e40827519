"""Messages wait for dependencies; the state is observed before and after a sweep."""

from __future__ import annotations

from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import WIDE, Part, Peer, Script, deliver_and_settle, entry, scenario

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
