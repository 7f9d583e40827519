"""The sizes of numbers: of the elapsed time, and of timestamps."""

from __future__ import annotations

from sds_harness.sds.stage import Stage
from sds_harness.stage import START_MS
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import MAX_LAMPORT

from ..scenarios.core.long_times import IN_2106_MS
from ..view.odd_messages import LARGEST_LAMPORT, ROOM_AFTER
from .register import DIMENSIONS, SMALL_MESSAGES

LAST_MS = (1 << 53) - (1 << 40)
"""Epoch times in milliseconds up to here, and some beyond, are exact in floating point."""


@DIMENSIONS.dimension(
    "milliseconds that pass",
    *("STATE-03", "SEND-01", "OUTSWEEP-01", "INSWEEP-01", "RECV-07"),
    demanded=IN_2106_MS - START_MS,
    position="the text names no end of time",
    most=LAST_MS - START_MS,
)
def time(stage: Stage, size: int) -> None:
    """So much time passes while a message is outstanding and another waits; what it waits for comes, and more."""
    stage.need(pb.CAPABILITY_VIRTUAL_CLOCK)
    alice, bob = stage.open(configuration=SMALL_MESSAGES), stage.peer("bob")
    # Timestamps that do not follow a clock stay small at any time, and their wire format may be too small for more.
    floor = stage.revision.lamport_floor
    root = bob.content(floor(stage.now_ms) + 1)
    alice.send()
    alice.receive(bob.content(floor(stage.now_ms) + 2, root))
    alice.after(size).tick()
    alice.send()
    alice.receive(root, bob.content(floor(stage.now_ms) + 3))
    alice.send()
    alice.settle()


@DIMENSIONS.dimension(
    "Lamport timestamp",
    *("DELIVER-01", "DELIVER-04", "RECV-07", "SEND-01"),
    demanded=LARGEST_LAMPORT,
    position="AMB-14",
    most=MAX_LAMPORT - ROOM_AFTER,
    fits=lambda revision: revision.wire.max_lamport - ROOM_AFTER,
    declared="lamport_ahead_ms",
    declared_from=START_MS,
    at_once=True,
)
def lamport(stage: Stage, size: int) -> None:
    """Messages with a timestamp one below it, and with itself, arrive; between them one is sent."""
    if stage.trace.declaration.limit("lamport_ahead_ms") is not None:
        stage.need(pb.CAPABILITY_VIRTUAL_CLOCK)
    alice, bob = stage.open(configuration=SMALL_MESSAGES), stage.peer("bob")
    alice.receive(bob.content(size - 1))
    alice.send()
    alice.receive(bob.content(size))
    alice.settle()
    alice.observe()
