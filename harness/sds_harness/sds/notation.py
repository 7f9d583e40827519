"""The file format for schedules of SDS: ``schedule.schema.json`` of this package has their shape and bounds."""

from ..schedules.files import Notation
from .operations import OPERATIONS, Entry, Member

NOTATION = Notation(OPERATIONS, Member, Entry, package=__package__)
