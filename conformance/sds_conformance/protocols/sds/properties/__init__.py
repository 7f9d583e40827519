"""Global properties of schedules with many participants. Importing this package registers them."""

from . import acknowledging, convergence, integrity, ordering, repairs, twins
from .group_view import GroupView
from .registry import PROPERTIES, examine

__all__ = [
    "PROPERTIES",
    "GroupView",
    "acknowledging",
    "convergence",
    "examine",
    "integrity",
    "ordering",
    "repairs",
    "twins",
]
