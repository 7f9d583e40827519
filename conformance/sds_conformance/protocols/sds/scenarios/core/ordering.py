"""The order of the log."""

from __future__ import annotations

from itertools import permutations

from sds_harness.sds.operations import Entry
from sds_harness.sds.script import Part, Peer, Script
from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import WIDE, deliver_and_settle, scenario, send_optional_messages


def _reveal_log(script: Script, *actors: Part) -> None:
    """Reveal the log by Observe, and by an own message whose causal history names the last entries of the log."""
    for actor in actors:
        actor.observe()
    script.advance(100_000)
    for actor in actors:
        actor.send()


@scenario("DELIVER-04", "STATE-11", "SEND-05", "STATE-10", asked=WIDE)
def late_arrivals(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Independent messages arrive out of Lamport order, the last one in the middle."""
    base = script.now
    alice.given(bob.content(base + 30), carol.content(base + 10), bob.content(base + 20)).observe()
    alice.receive(carol.content(base + 40), carol.content(base + 35), bob.content(base + 5))
    _reveal_log(script, alice)


@scenario("SEND-04", "SEND-05", "SYNC-04", "SEND-11")
def late_arrival_before_the_end(script: Script, alice: Part, bob: Peer) -> None:
    """The last delivered message is not the last of the log; the causal history must still end as the log ends."""
    base = script.now
    for lamport in (10, 20, 30, 40):
        alice.receive(bob.content(base + lamport))
    alice.given(bob.content(base + 15)).after(100).send()
    alice.after(100).receive(bob.content(base + 17))
    send_optional_messages(alice, ephemeral=False)
    alice.send()


def _receive_tied(script: Script, actor: Part, *message_ids: str) -> None:
    """Let a message arrive, and then messages with these IDs and equal Lamport timestamps."""
    actor.receive(script.peer("bob").content(script.now + 1, message_id="earlier"))
    carol = script.peer("carol")
    for message_id in message_ids:
        actor.receive(carol.content(script.now + 50, message_id=message_id))


@scenario("CONFLICT-01", "DELIVER-05", "SEND-05", asked=pb.Configuration(causal_history_size=20))
def ties(script: Script, alice: Part) -> None:
    """Messages with equal Lamport timestamps and IDs of many shapes arrive, not in the order of their IDs."""
    _receive_tied(script, alice, "a0", "B", "9", "a", "10", "Z", "_", "-", "aa")
    _reveal_log(script, alice)


@scenario("CONFLICT-01", asked=pb.Configuration(causal_history_size=20))
def ties_beyond_ascii(script: Script, alice: Part) -> None:
    """Ties between IDs of other alphabets, of the supplementary planes, and of different normal forms."""
    _receive_tied(script, alice, "\U0001f600", "\ue000", "é", "e\u0301", "z", "ß", "ω", "中", "\uffee")
    _reveal_log(script, alice)


@scenario("DELIVER-05")
def ties_in_every_order(script: Script) -> None:
    """Three tied messages arrive in all six orders, at six participants."""
    actors = []
    for number, order in enumerate(permutations(("ida", "idb", "idc"))):
        actors.append(script.open(f"alice{number}", configuration=WIDE))
        _receive_tied(script, actors[-1], *order)
    _reveal_log(script, *actors)


@scenario("CONFLICT-02", asked=WIDE)
def ties_of_hashes(script: Script, alice: Part) -> None:
    """Messages with equal timestamps have IDs that are hashes."""
    _receive_tied(script, alice, *(digit * 32 for digit in ("80", "ff", "00", "7f", "a1")))
    _reveal_log(script, alice)


@scenario("CONFLICT-03", asked=WIDE)
def ties_with_own_messages(script: Script, alice: Part, carol: Peer) -> None:
    """Messages of others carry the timestamps of own messages, with smaller and with larger IDs."""
    alice.receive(script.peer("bob").content(script.now - 50, message_id="earlier"))
    for _ in range(2):
        own = alice.after(10).send()
        for twin in ("shorter", "longer"):
            alice.receive(carol.content(own.lamport, message_id=Entry(own.label, twin=twin)))
    alice.observe()
    alice.after(100_000).send()


@scenario("CONFLICT-03", asked=WIDE)
def ties_with_own_messages_beyond_ascii(script: Script, alice: Part, carol: Peer) -> None:
    """An own and a received message have equal timestamps, and IDs that UTF-16 sorts differently."""
    own = alice.after(10).send(message_id="\ue000")
    alice.receive(carol.content(own.lamport, message_id="\U0001f600"))
    _reveal_log(script, alice)


@scenario("DELIVER-06", "RECV-02", asked=WIDE)
def copies_of_a_message(script: Script, alice: Part, bob: Peer) -> None:
    """Copies of a message arrive before and after its delivery, and so do copies of a message that must wait."""
    root = bob.content(script.now + 10)
    child = bob.content(script.now + 20, root)
    deliver_and_settle(alice, child, child, root, root)
    deliver_and_settle(alice, child, root, bob.content(script.now + 30, child), child)
    _reveal_log(script, alice)


@scenario("DELIVER-06", asked=WIDE, long=True)
def different_messages_with_one_id(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Pairs of messages with the same ID arrive that differ in the timestamp, the content or the sender."""
    for number in range(4):
        at, message_id = script.now + 100 * number, f"used-twice-{number}"
        alice.receive(bob.content(at, message_id=message_id, content=b"one"))
        alice.receive(bob.content(at + 50))
        second = (
            bob.content(at + 60, message_id=message_id, content=b"one"),
            bob.content(at - 60, message_id=message_id, content=b"one"),
            bob.content(at, message_id=message_id, content=b"two"),
            carol.content(at + 60, message_id=message_id, content=b"two"),
        )[number]
        deliver_and_settle(alice, second)
        alice.observe()
    alice.send()


@scenario("SEND-06")
def histories_of_many_lengths(script: Script, alice: Part, bob: Peer) -> None:
    """Messages with 0, 1, 2, 10 and 200 dependencies arrive after their dependencies."""
    base = script.now
    messages = [bob.content(base + number) for number in range(200)]
    alice.receive(*messages)
    for number, count in enumerate((1, 2, 10, 200)):
        alice.receive(bob.content(base + 300 + number, *messages[-count:]))


@scenario("SEND-04", "SEND-05", "SEND-11", "MSG-06", "MSG-17", asked=pb.Configuration(causal_history_size=3))
def histories_as_the_log_grows(script: Script, alice: Part, bob: Peer) -> None:
    """The log is empty at first; each further message, own or received, is followed by a send."""
    for number in range(8):
        script.advance(50)
        if number % 3 == 1:
            alice.receive(bob.content(script.now - 10))
        alice.send()
