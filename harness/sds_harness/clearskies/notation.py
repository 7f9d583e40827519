"""The file format for schedules of ClearSkies. ``schedule.schema.json`` in this package is its JSON Schema."""

from typing import Any

from clearskies_proto.testee.v1 import testee_pb2 as pb

from ..schedules.files import Notation
from .operations import OPERATIONS, Entry, Member, MessageCopy


def _entry(**fields: Any) -> Entry | MessageCopy:
    return Entry(**fields) if "peer" in fields else MessageCopy(**fields)


NOTATION = Notation(
    OPERATIONS,
    Member,
    _entry,
    named=frozenset(pb.Limits.DESCRIPTOR.fields_by_name),
    absent={
        "tick": frozenset({"route"}),
        "calm": frozenset({"store"}),
        "look": frozenset({"channel", "filter"}),
        "member": frozenset({"late"}),
    },
    package=__package__,
)
