"""How much of a conversation is kept."""

from __future__ import annotations

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.room import ENTRY_BYTES, LARGE_BYTES, weight


def test_small_messages_weigh_what_they_are_on_the_wire() -> None:
    record = pb.Record(vector_clock={"a" * 32: 1})
    assert weight(record) == record.ByteSize()


def test_the_entries_of_maps_and_lists_count_in_large_ones() -> None:
    record = pb.Record(value="x" * LARGE_BYTES, vector_clock={"a" * 32: 1, "b" * 32: 2})
    assert weight(record) == record.ByteSize() + 2 * ENTRY_BYTES
    state = pb.State(records=[record, pb.Record(key="small", vector_clock={"a" * 32: 1})])
    assert weight(state) == state.ByteSize() + 4 * ENTRY_BYTES
