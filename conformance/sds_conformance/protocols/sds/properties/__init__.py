"""Global properties: statements about all participants of a schedule together. Importing this package registers
them.
"""

from . import acknowledgements, convergence, copies, ordering, repairs, twins
from .group_view import GroupView
from .proposal import PROPOSED
from .registry import PROPERTIES, examine

__all__ = [
    "PROPERTIES",
    "PROPOSED",
    "GroupView",
    "acknowledgements",
    "convergence",
    "copies",
    "examine",
    "ordering",
    "repairs",
    "twins",
]
