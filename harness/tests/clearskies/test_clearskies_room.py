"""The memory that a run may keep for messages of peers that contain a map."""

from __future__ import annotations

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.room import COPIES, ENTRY_BYTES, weight


def test_each_entry_of_a_large_map_counts() -> None:
    clock = {f"{number:032x}": 1 for number in range(5_000)}
    state = pb.State(records=[pb.Record(uuid="u", vector_clock=clock)], known=pb.Known(since=clock))
    reply = pb.Reply(state=state)
    assert weight(reply, reply.ByteSize()) == COPIES * reply.ByteSize() + ENTRY_BYTES * (1 + 2 * len(clock))
