"""The passages of generated schedules. Importing this package registers them all."""

from . import conflicts, hostile, links, records, restarts
from .registry import PASSAGES, Passage

__all__ = ["PASSAGES", "Passage", "conflicts", "hostile", "links", "records", "restarts"]
