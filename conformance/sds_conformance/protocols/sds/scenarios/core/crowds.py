"""Large numbers of messages, channels, participants and IDs, which reveal bounds of stores and rare faults.

Nothing is timed, and no log grows beyond a thousand IDs (AMB-96) or beyond the declared limit.
"""

from __future__ import annotations

from sds_harness.sds.script import Message, Part, Peer, Script, greatest
from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import HOUR_MS, deliver_and_settle, resending, scenario, send_optional_messages, tick_every

MANY = 980
SENDERS = 200
LARGE_HISTORY = 600
"""Number of entries of a causal history. An implementation may refuse a history of this length (AMB-47)."""
ROUNDS = 105
AHEAD_MS = 5_000_000
CHANNELS = 33
PARTICIPANTS = 11
SMALL_MESSAGES = pb.Configuration(
    causal_history_size=2, bloom_capacity=1_000, bloom_error_rate=0.01, resend_unacknowledged_ms=30_000
)
"""Configuration: small messages, so that thousands of resends stay cheap."""


def _fits(number: int) -> str:
    """The condition for an operation: the declared limit allows this number of messages, and a few more, in the log."""
    return f"{number + 20} < log_entries" if number else ""


def receive_while_they_fit(alice: Part, *messages: tuple[int, Message]) -> None:
    """Let each message arrive if the declared limit allows the paired number of messages in the log, see `_fits`."""
    for number, message in messages:
        with alice.script.when(_fits(number)):
            alice.receive(message)


@scenario("RECV-08", "RECV-05", "DELIVER-04", "DELIVER-06", "STATE-05", "STATE-10", "STATE-14", long=True)
def a_crowd_waits_for_one(script: Script, alice: Part, bob: Peer) -> None:
    """Messages of 200 senders wait for one dependency; then copies, an old message and long histories arrive."""
    base = script.now
    own, root = alice.send(), bob.content(base + 1)
    peers = [script.peer(f"p{number}") for number in range(SENDERS)]
    waiting = [peers[number % SENDERS].content(base + 2 + number, root) for number in range(MANY)]
    receive_while_they_fit(alice, *enumerate(waiting))
    alice.observe()
    deliver_and_settle(alice, root).observe()
    alice.given(waiting[0], waiting[len(waiting) // 2], script.peer("late").content(base - 1)).observe()
    alice.receive(bob.content(base + 2_000, own))
    for place in (0, 1, 100, 199):
        gap = f"never-sent-{place}"
        alice.receive(bob.content(base + 2_001 + place, *waiting[:place], gap, *waiting[place:199]))
    alice.receive(bob.content(base + 2_300, "never-sent", *waiting), bob.content(base + 2_301, *waiting, "never-sent"))
    alice.settle()
    alice.after(100).send()


@scenario("INSWEEP-04", long=True)
def a_chain_of_a_thousand(script: Script, alice: Part) -> None:
    """Each of nearly a thousand messages depends on the previous one, and the last one arrives first."""
    peers = [script.peer(name) for name in ("bob", "carol", "dave")]
    line = [peers[0].content(script.now)]
    for number in range(1, MANY):
        line.append(peers[number % 3].content(script.now + number, line[-1]))
    receive_while_they_fit(alice, *reversed([*enumerate(line)]))
    alice.settle()
    alice.observe()


@scenario(
    *("SEND-10", "OUTSWEEP-01", "OUTSWEEP-02", "ACK-01", "ACK-02", "MSG-14", "MSG-21", "SEND-11"),
    long=True,
    asked=SMALL_MESSAGES,
)
def many_own_messages_unacknowledged(script: Script, alice: Part, bob: Peer) -> None:
    """Own messages stay unacknowledged; then filters hold some of them, and causal histories name many."""
    own = []
    for number in range(MANY):
        with script.when(_fits(number)):
            own.append(alice.send())
    alice.observe()
    period = alice.in_force.resend_unacknowledged_ms
    # Many sweeps, because an implementation may be unable to resend all messages at once.
    for pause in (period, *[period // 10 + 1] * 11):
        alice.after(pause).tick()
    _send_filter(script, alice, bob, own[::4] + own[-1:])
    middle = slice(150, 150 + LARGE_HISTORY)
    alice.receive(bob.content(script.now + 1, *own[:100], *own[-100:]), bob.content(script.now, *own[middle]))
    alice.observe()
    # A filter holds some of the own messages that no history named. After it, no more messages arrive.
    left = [*own[100:150], *own[middle.stop : -100]]
    _send_filter(script, alice, bob, left[2::4])
    tick_every(alice, alice.in_force.resend_possibly_acknowledged_ms // 5 + 1, times=13)


def _send_filter(script: Script, alice: Part, bob: Peer, own: list[Message]) -> None:
    """Let a peer send a filter that holds all own messages, or every 20th of them if the filter has no room for all."""
    for held, room in ((own, f"bloom_capacity >= {len(own)}"), (own[::20], f"bloom_capacity < {len(own)}")):
        with script.when(room):
            alice.given(bob.content(script.now, holds=held)).observe()


@resending("STATE-12", "ACK-04", "STATE-08", long=True)
def a_hundred_copies(script: Script, alice: Part, bob: Peer) -> None:
    """A filter holds one of two messages; then nothing arrives for a hundred resend periods and a month."""
    first, _ = alice.send(), alice.send()
    alice.receive(bob.content(script.now + 1, holds=[first]))
    c = alice.in_force
    tick_every(alice, greatest(c.resend_unacknowledged_ms, c.resend_possibly_acknowledged_ms), times=ROUNDS)
    tick_every(alice, 360 * HOUR_MS, times=2).observe()


@scenario("SYNC-04", "SYNC-12", "EPHEMERAL-04", "ACK-07", "RECV-03", "DELIVER-01", long=True)
def a_hundred_of_each_kind(script: Script, alice: Part, bob: Peer) -> None:
    """Over a hundred messages of each kind are sent and received; some acknowledge others, some wait."""
    for number in range(ROUNDS):
        own, other = alice.after(10).send(), alice.send()
        send_optional_messages(alice)
        gap = f"never-sent-{number}"
        alice.receive(bob.sync(script.now, *[gap][: number % 2], own), bob.ephemeral(b"typing"))
        alice.receive(bob.content(script.now, other, gap), bob.content(script.now + AHEAD_MS + 100 * number))


@scenario("MSG-15", "RECV-07", long=True)
def many_channels(script: Script) -> None:
    """A participant takes part in many channels, and in each a message is sent and acknowledged."""
    names = tuple(f"c{number}" for number in range(1, CHANNELS + 1))
    alice = script.open(channels=names)
    peers = {name: script.peer(f"peer-of-{name}", name) for name in names}
    sent = {}
    for name, peer in peers.items():
        alice.receive(peer.content(script.now))
        sent[name] = alice.send(channel=name)
    for name, peer in peers.items():
        alice.receive(peer.content(script.now + 1, sent[name]))
    alice.settle()
    for name in names:
        alice.send(channel=name)


@scenario("STATE-05", "RECV-05", "RECV-08", long=True)
def many_participants(script: Script) -> None:
    """Many participants of one process each receive messages that no other participant receives.

    Then two of them receive a message with two dependencies. Each of the two lacks the dependency that the other has.
    """
    actors = [script.open(f"alice{number}") for number in range(PARTICIPANTS)]
    for actor in actors:
        peer = script.peer(f"peer-of-{actor.name}")
        actor.receive(*[peer.content(script.now + number) for number in range(5)])
    for actor in actors:
        actor.after(10).send()
    bob = script.peer("bob")
    dependencies = [bob.content(script.now + number) for number in range(2)]
    waiting = bob.content(script.now + 2, *dependencies)
    for actor, known in zip(actors[:2], dependencies, strict=True):
        actor.receive(known, waiting)
    for actor, missing in zip(actors[:2], reversed(dependencies), strict=True):
        deliver_and_settle(actor, missing).observe()


@scenario("RECV-05", "RECV-07", "RECV-08", "STATE-07", long=True)
def long_ids_that_look_alike(script: Script, alice: Part, bob: Peer) -> None:
    """IDs of up to 1,024 characters differ only in the last character; messages wait for some of these IDs.

    Two filters hold five IDs each. Five missing IDs differ from these only in the last character, or only in the first.
    """
    for name, of_one in (("dora", "{1}{0}"), ("erin", "{0}{1}")):
        actor = script.open(name)
        for number in range(5):
            known, missing = (of_one.format(f"{last}{number}", "x" * 1_022) for last in "12")
            actor.receive(bob.content(script.now, message_id=known), bob.content(script.now + 1, missing))
        actor.after(10).send()
    late = []
    for number, length in enumerate((33, 65, 101, 129, 201, 256, 512, 1_001, 1_024)):
        known, missing = ("x" * (length - 1) + last for last in "12")
        alice.receive(bob.content(script.now + number, message_id=known))
        alice.receive(bob.content(script.now + 20 + number, missing))
        late.append(bob.content(script.now + 10 + number, message_id=missing))
    deliver_and_settle(alice, *late).after(100).send()


@scenario("DELIVER-04", long=True, asked=pb.Configuration(causal_history_size=100))
def late_by_ninety_places(script: Script, alice: Part, bob: Peer) -> None:
    """A message arrives after ninety later ones, and causal histories are long enough to show its place in the log."""
    base = script.now
    newer = [bob.content(base + 10 + number) for number in range(99)]
    alice.given(*newer, bob.content(base + 15, message_id="late")).after(1_000).send()


@scenario("DELIVER-04", "STATE-11", long=True, asked=pb.Configuration(causal_history_size=200))
def late_by_all_places(script: Script, alice: Part, bob: Peer) -> None:
    """A message arrives after 150 later ones, and another is older than all; causal histories show the whole log."""
    base = script.now
    alice.receive(*[bob.content(base + 10 + number) for number in range(159)])
    alice.receive(bob.content(base + 18, message_id="late"), bob.content(base + 1, message_id="oldest"))
    alice.after(1_000).send()
