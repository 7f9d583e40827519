"""The number of received messages: in the log, waiting, and in a filter."""

from __future__ import annotations

from sds_harness.sds.actor import Actor
from sds_harness.sds.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import PROFILES, Message

from .register import SMALL_MESSAGES, counting

FILTERED = 50
"""The number of IDs that the filter is configured for."""


@counting("messages in a log", "RECV-07", "RECV-05", declared="log_entries")
def log(stage: Stage, size: int) -> None:
    """So many messages arrive, then a copy of the first, and one that depends on the first."""
    alice, bob = stage.open(configuration=SMALL_MESSAGES), stage.peer("bob")
    base = stage.now_ms
    first = bob.content(base)
    alice.receive(first, *(bob.content(base + number) for number in range(1, size)))
    alice.given(first, bob.content(base + size, first)).settle()
    alice.observe()


@counting("places a message is late", "DELIVER-04", declared="late_places", within=("log_entries",))
def late(stage: Stage, size: int) -> None:
    """So many messages are in the log already that belong behind the one that comes."""
    stage.need(pb.CAPABILITY_OBSERVE)
    alice, bob = stage.open(configuration=SMALL_MESSAGES), stage.peer("bob")
    base = stage.now_ms
    alice.receive(*(bob.content(base + number) for number in range(size)))
    alice.given(bob.content(base - 1, message_id="a-late-one")).observe()


@counting("IDs in a filter", "STATE-06", "RECV-04")
def in_filter(stage: Stage, size: int) -> None:
    """So many messages arrive at one with a filter for a few, and then it shows the filter."""
    known = stage.trace.declaration.profile("bloom") in PROFILES
    asked = pb.Configuration(causal_history_size=2)
    if known:  # else its codec reads the filter, and knows only the default size
        asked.MergeFrom(pb.Configuration(bloom_capacity=FILTERED, bloom_error_rate=0.01))
    alice, bob = stage.open(configuration=asked), stage.peer("bob")
    alice.receive(*(bob.content(stage.now_ms + number) for number in range(size)))
    alice.after(1).send()


@counting("waiting messages", "RECV-08", "INSWEEP-01", declared="waiting_messages", within=("log_entries",))
def waiting(stage: Stage, size: int) -> None:
    """So many messages wait for one, and then it comes."""
    alice, bob = stage.open(configuration=SMALL_MESSAGES), stage.peer("bob")
    root = bob.content(stage.now_ms)
    alice.receive(*(bob.content(stage.now_ms + 1 + number, root) for number in range(size)))
    _release_waiting(alice, root)


@counting(
    "length of a cascade",
    *("INSWEEP-04", "RECV-08"),
    declared="cascade_messages",
    within=("log_entries", "waiting_messages"),
)
def cascade(stage: Stage, size: int) -> None:
    """So many messages depend each on the one before it, the last comes first, and what the first waits for at last."""
    alice, bob = stage.open(configuration=SMALL_MESSAGES), stage.peer("bob")
    line = [bob.content(stage.now_ms)]
    for number in range(size):
        line.append(bob.content(stage.now_ms + 1 + number, line[-1]))
    alice.receive(*reversed(line[1:]))
    _release_waiting(alice, line[0])


def _release_waiting(alice: Actor, root: Message) -> None:
    alice.receive(root)
    alice.settle()
    alice.observe()
