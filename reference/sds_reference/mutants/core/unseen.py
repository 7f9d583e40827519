"""Faults of the buffers of a participant that does not show them."""

from __future__ import annotations

from ..registry import mutant
from .acknowledge import FallsBack
from .send import SendsAndForgets
from .state import BufferOfOne, OptimisticBuffer, PossiblyIsGone


@mutant("SDS-SEND-10", "does not remember what it sent, and shows nothing", unseen=True)
class SecretlyForgets(SendsAndForgets):
    pass


@mutant("SDS-STATE-08", "takes every message for possibly acknowledged, and shows nothing", unseen=True)
class SecretlyOptimistic(OptimisticBuffer):
    pass


@mutant("SDS-STATE-09", "has room for one waiting message, and shows nothing", unseen=True)
class SecretBufferOfOne(BufferOfOne):
    pass


@mutant("SDS-STATE-13", "drops a possibly acknowledged message, and shows nothing", unseen=True)
class SecretlyGone(PossiblyIsGone):
    pass


@mutant("SDS-ACK-06", "falls back to unacknowledged, and shows nothing", unseen=True)
class SecretlyFallsBack(FallsBack):
    pass
