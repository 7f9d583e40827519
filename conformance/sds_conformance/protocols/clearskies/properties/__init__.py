"""The global properties of ClearSkies, such as convergence. They judge all peers of a group trace together.

Importing this package registers them."""

from . import convergence, deletions, replication
from .registry import PROPERTIES

__all__ = ["PROPERTIES", "convergence", "deletions", "replication"]
