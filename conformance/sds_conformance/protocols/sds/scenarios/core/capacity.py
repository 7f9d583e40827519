"""Sizes at which a number goes round, or a filter is full."""

from __future__ import annotations

from sds_proto.testee.v1 import testee_pb2 as pb

from .. import cast
from ..cast import Actor, ScriptedPeer, Stage
from ..scripts import Part, Peer, Script, scenario

SMALL = pb.Configuration(bloom_capacity=20, bloom_error_rate=0.001)
WIDEST = 600
"""Entries of a causal history."""


@scenario("RECV-05", "ACK-01", long=True)
def hundreds_are_missing(script: Script, alice: Part, bob: Peer) -> None:
    """Messages miss 64 to 512 dependencies, or only the last of many."""
    for count in (64, 128, 256, 512):
        alice.receive(bob.content(script.now, *[f"never-sent-{number}" for number in range(count)]))
    known = [bob.content(script.now) for _ in range(WIDEST)]
    alice.receive(*known)
    for count in (255, 256, 300, WIDEST):
        alice.receive(bob.content(script.now, *known[:count], f"never-sent-after-{count}"))
    own = [alice.send() for _ in range(4)]
    for message, count in zip(own, (99, 128, 255, WIDEST), strict=True):
        alice.receive(bob.content(script.now, *known[:count], message))
    alice.settle()


@scenario("ACK-02", long=True)
def a_filter_with_old_messages(script: Script, alice: Part, bob: Peer) -> None:
    """A filter holds the first of 130 own messages."""
    own = [alice.send() for _ in range(130)]
    alice.given(bob.content(script.now, holds=[own[0], own[100]])).observe()


@cast.scenario("STATE-06", "RECV-04", "STATE-05", long=True)
def a_small_filter_message_by_message(stage: Stage, bob: ScriptedPeer) -> None:
    """A filter takes one message after the other, to three times its capacity, and is looked at after each."""
    alice = stage.open(configuration=SMALL)
    capacity = alice.party.in_force.bloom_capacity
    for number in range(3 * capacity if capacity <= 50 else 0):
        message = bob.content(stage.now_ms)
        alice.after(1).receive(message)
        alice.observe(message.message_id, f"bob-{number}")
        if number % 5 == 4:
            alice.send()


@cast.scenario("RECV-04", long=True, violated=("STATE-06",))
def a_small_filter_is_sent_once_a_round(stage: Stage, bob: ScriptedPeer) -> None:
    """Between two own messages come half as many as the filter has room for, one more, and so on to all of them. After
    a roll-over it then holds as many as when it was sent before, but others."""
    alice = stage.open(configuration=SMALL)
    capacity = alice.party.in_force.bloom_capacity
    for between in range(capacity // 2 - 1, capacity + 2) if 8 <= capacity <= 50 else ():
        for _ in range(4):
            messages = [bob.content(stage.now_ms + number) for number in range(between)]
            alice.receive(*messages)
            alice.observe(messages[-1].message_id)
            alice.after(100).send()


@cast.scenario("RECV-04", long=True, violated=("STATE-06",))
def copies_and_syncs_beside_a_small_filter(stage: Stage, bob: ScriptedPeer) -> None:
    """Few messages come, then many copies of the last one and many sync messages: a filter has room for all of them."""
    alice = stage.open(configuration=SMALL)
    capacity = alice.party.in_force.bloom_capacity
    if not 8 <= capacity <= 50:
        return
    messages = [bob.content(stage.now_ms + number) for number in range(5)]
    alice.receive(*messages, *[messages[-1]] * capacity)
    alice.observe(*[message.message_id for message in messages])
    alice.after(10).send()
    alice.receive(*[bob.sync(stage.now_ms + number) for number in range(capacity)])
    alice.observe(*[message.message_id for message in messages])
    alice.after(10).send()
    cast.deliver_and_settle(alice, bob.content(stage.now_ms, messages[0]))


@scenario("RECV-04", asked=SMALL)
def copies_after_a_roll_over(script: Script, alice: Part, bob: Peer) -> None:
    """More messages come than a small filter takes, then copies of the first ones, and new messages again."""
    messages = [bob.content(script.now + number) for number in range(50)]
    alice.receive(*messages)
    alice.observe(messages[-1], messages[-2])
    alice.receive(*messages[:20])
    alice.observe(messages[-1], messages[-2])
    alice.send()
    later = [bob.content(script.now) for _ in range(3)]
    alice.receive(*later)
    alice.observe(*later)
    alice.send()


@cast.scenario(long=True, violated=("RECV-04", "STATE-06"))
def a_large_filter_is_filled(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """A filter of the size that an implementation chose itself is filled, and its newest members are looked for."""
    stage.need(pb.CAPABILITY_OBSERVE)
    capacity = alice.party.in_force.bloom_capacity
    if not 0 < capacity <= 2_000:
        return
    last: list[str] = []
    for number in range(2 * capacity + 2):
        message = bob.content(stage.now_ms)
        alice.receive(message)
        last = [*last, message.message_id][-3:]
        if number % capacity in (0, 1, capacity // 2, capacity - 1):
            alice.observe(*last)
