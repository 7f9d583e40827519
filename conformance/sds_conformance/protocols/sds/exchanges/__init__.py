"""Who understands whom among implementations of SDS: the exchanges, and what is said of each side."""

from __future__ import annotations

from ...exchanges import Exchanges
from .agreeing import ABOUT_AGREEMENT
from .aspects import MEANINGS, Aspect, introduced, notes
from .heard import Heard
from .understanding import ABOUT_MESSAGES

EXCHANGES = Exchanges(
    MEANINGS,
    Aspect.CONTENT,
    (*ABOUT_MESSAGES, *ABOUT_AGREEMENT),
    Heard,
    introduced,
    ("bloom", "hash"),
    notes,
    # Filters of another size are foreign: some drop what carries one, and after that nothing of note happens.
    {"bloom_capacity": 24},
)
