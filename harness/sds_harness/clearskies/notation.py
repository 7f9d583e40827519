"""How schedules of ClearSkies stand in files: ``schedule.schema.json`` of this package has their shape and bounds."""

from ..schedules.files import Notation
from .operations import OPERATIONS, Member

NOTATION = Notation(OPERATIONS, Member, __package__)
