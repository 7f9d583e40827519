"""The file format for schedules of SDS: ``schedule.schema.json`` of this package has their shape and bounds."""

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
