"""What all peers of a club have to keep together, whatever links do. Importing this package registers it all."""

from . import convergence, deletions, spreading
from .registry import PROPERTIES

__all__ = ["PROPERTIES", "convergence", "deletions", "spreading"]
