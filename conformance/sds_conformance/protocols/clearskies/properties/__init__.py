"""The properties of all peers of a club together, whatever happens to links. The import registers them."""

from . import convergence, deletions, replication
from .registry import PROPERTIES

__all__ = ["PROPERTIES", "convergence", "deletions", "replication"]
