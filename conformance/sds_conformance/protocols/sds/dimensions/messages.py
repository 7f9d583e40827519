"""The sizes of a message and its parts."""

from __future__ import annotations

from functools import partial

from sds_harness.sds.stage import Stage
from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HistoryEntry

from ..view.odd_messages import LARGEST_CONTENT, LARGEST_HINT, LARGEST_HISTORY, LARGEST_ID
from .register import DIMENSIONS, SMALL_MESSAGES

LARGEST_FRAME = 16 << 20
"""Bytes that fit in a reply of the testee protocol, which may contain them three times, in base64."""
MOST_ENTRIES = 200_000
"""Entries of a history whose IDs fit into one message."""

at_once = partial(DIMENSIONS.dimension, at_once=True)
"""Registers a dimension of a single message."""


@at_once(
    "causal history entries",
    "RECV-05",
    "RECV-07",
    demanded=LARGEST_HISTORY,
    position="AMB-47",
    most=MOST_ENTRIES,
    declared="history_entries",
    within=("log_entries",),
)
def history(stage: Stage, size: int) -> str | None:
    """A causal history names so many messages: all there, the last one missing, the first one missing."""
    alice, bob = stage.open(configuration=SMALL_MESSAGES), stage.peer("bob")
    base = stage.now_ms
    known = [bob.content(base + number) for number in range(size)]
    alice.receive(*known)
    whole = alice.receive(bob.content(base + size, *known))
    alice.receive(bob.content(base + size + 1, *known[:-1], "never-sent"))
    alice.receive(bob.content(base + size + 2, "never-sent", *known[1:]))
    alice.settle()
    alice.observe()
    return _describe_missing_delivery(whole)


@at_once(
    "content bytes",
    "RECV-07",
    "SEND-11",
    demanded=LARGEST_CONTENT,
    position="no position names a bound beyond 100 KiB",
    most=LARGEST_FRAME,
    declared="content_bytes",
)
def content(stage: Stage, size: int) -> str | None:
    """A content of so many bytes is received, and one is sent."""
    alice, bob = stage.open(configuration=SMALL_MESSAGES), stage.peer("bob")
    large = stage.as_sendable(bytes(number % 251 for number in range(min(size, 1 << 10))) * (size // (1 << 10) + 1))[
        :size
    ]
    received = alice.receive(bob.content(stage.now_ms, content=large))
    alice.after(1).send(large)
    alice.settle()
    return _describe_missing_delivery(received)


@at_once(
    "message ID bytes",
    "RECV-05",
    "RECV-07",
    demanded=LARGEST_ID,
    position="no position names a bound beyond 1,024 characters",
    most=LARGEST_FRAME >> 2,
    declared="message_id_bytes",
)
def message_id(stage: Stage, size: int) -> str | None:
    """Two IDs of so many bytes differ in the last one; what depends on the second waits until it comes."""
    alice, bob = stage.open(configuration=SMALL_MESSAGES), stage.peer("bob")
    known, missing = ("x" * (size - 1) + last for last in "12")
    first = alice.receive(bob.content(stage.now_ms, message_id=known))
    alice.receive(bob.content(stage.now_ms + 2, missing))
    alice.receive(bob.content(stage.now_ms + 1, message_id=missing))
    alice.settle()
    return _describe_missing_delivery(first)


@at_once(
    "retrieval hint bytes",
    *("MSG-10", "MSG-11", "SEND-08"),
    demanded=LARGEST_HINT,
    position="the text leaves to applications what a hint is",
    most=LARGEST_FRAME >> 2,
    declared="hint_bytes",
)
def hint(stage: Stage, size: int) -> str | None:
    """A message is sent with a hint of so many bytes, which the next one passes on; another names a missing one so."""
    stage.need(pb.CAPABILITY_RETRIEVAL_HINTS)
    alice, bob = stage.open(configuration=SMALL_MESSAGES), stage.peer("bob")
    own = alice.send(retrieval_hint=b"\x01" * size)
    passed_on = [entry for entry in alice.after(1).send().causal_history if entry.message_id == own.message_id]
    alice.receive(bob.content(stage.now_ms, HistoryEntry("never-sent", b"\x02" * size)))
    alice.observe()
    whole = any(entry.retrieval_hint == b"\x01" * size for entry in passed_on)
    return None if whole else "the hint of an own message is not passed on with it"


def _describe_missing_delivery(step: Step) -> str | None:
    """A sentence on a message that was neither refused nor delivered, else None. Beyond the demanded size no check
    requires it.
    """
    if step.reply is None or step.answer == "rejected":
        return None
    there = any(event.kind == "delivered" for event in step.events)
    return None if there else f"step {step.index}: taken, and not delivered"
