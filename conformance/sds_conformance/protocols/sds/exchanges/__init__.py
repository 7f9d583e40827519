"""The `interop` schedules of SDS, and the functions that describe each side."""

from __future__ import annotations

from dataclasses import replace

from sds_reference import FORUM_2024

from ...exchanges import Exchanges
from .agreement import ABOUT_AGREEMENT
from .aspects import MEANINGS, Aspect, describe_declaration, describe_filters, notes
from .reactions import ReadGroupTrace
from .single_messages import ABOUT_MESSAGES

EXCHANGES = Exchanges(
    MEANINGS,
    Aspect.CONTENT,
    (*ABOUT_MESSAGES, *ABOUT_AGREEMENT),
    ReadGroupTrace,
    describe_declaration,
    ("bloom", "hash"),
    notes,
    # Equal filter sizes let generated schedules show more: some implementations drop all messages whose filter has
    # another size.
    {"bloom_capacity": 24},
)

PROPOSED = replace(
    EXCHANGES,
    aspects={aspect: meaning for aspect, meaning in MEANINGS.items() if aspect != Aspect.REPAIR},
    all=tuple(exchange for exchange in EXCHANGES.all if Aspect.REPAIR not in exchange.judges),
    introduced=describe_filters,
    profiles=("bloom",),
)
"""The `interop` schedules of the proposal of 2024, which has no SDS-R."""
OF_OTHER_TEXTS = {FORUM_2024.name: PROPOSED}
