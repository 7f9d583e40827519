"""The file format for schedules of ClearSkies: ``schedule.schema.json`` of this package has their shape and bounds."""

from ..schedules.files import Notation
from .operations import OPERATIONS, Member

NOTATION = Notation(OPERATIONS, Member, package=__package__)
