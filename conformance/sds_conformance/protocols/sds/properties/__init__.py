"""Global properties of schedules with many participants. Importing this package registers them."""

from . import acknowledging, convergence, integrity, ordering, repairs, twins
from .group_view import GroupView
from .proposal import PROPOSED
from .registry import PROPERTIES, examine

__all__ = [
    "PROPERTIES",
    "PROPOSED",
    "GroupView",
    "acknowledging",
    "convergence",
    "examine",
    "integrity",
    "ordering",
    "repairs",
    "twins",
]
