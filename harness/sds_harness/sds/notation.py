"""The file format for schedules of SDS. ``schedule.schema.json`` in this package is its JSON Schema."""

from sds_proto.testee.v1 import testee_pb2 as pb

from ..schedules.expressions import OF_SDS
from ..schedules.files import Notation
from .operations import OPERATIONS, Entry, Member

NOTATION = Notation(
    OPERATIONS,
    Member,
    Entry,
    named=OF_SDS | frozenset(pb.Limits.DESCRIPTOR.fields_by_name),
    package=__package__,
)
