"""The passages that generated schedules are made of. Importing this package registers them all."""

from . import network, odd_messages, ordering, repairs, rounds, strangers, upkeep
from .registry import PASSAGES, Passage

__all__ = ["PASSAGES", "Passage", "network", "odd_messages", "ordering", "repairs", "rounds", "strangers", "upkeep"]
