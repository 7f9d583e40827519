"""The passages of generated schedules. Importing this package registers them all."""

from . import conflicts, hostile, links, records, restarts  # noqa: F401
from .registry import PASSAGES, Passage

__all__ = ["PASSAGES", "Passage"]
