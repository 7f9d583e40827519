"""The passages of generated schedules. Importing this package registers them all."""

from . import logged_syncs, network, odd_messages, ordering, repairs, rounds, strangers, sweeps_and_resends  # noqa: F401
from .registry import PASSAGES, Passage

__all__ = ["PASSAGES", "Passage"]
