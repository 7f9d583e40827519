"""SDS, Scalable Data Sync, in two revisions of its text, and the proposal of 2024 that it grew from."""

from __future__ import annotations

from .. import Protocol
from ..corpora import Corpora
from ..words import Words
from .dimensions import DIMENSIONS
from .doubts import doubts
from .exchanges import EXCHANGES, OF_OTHER_TEXTS
from .introducing import against, forgone, notes
from .rules import MODEL, RULES
from .schedules import REPERTOIRE
from .vectors.material import MATERIAL
from .words import Narrator


def _corpora() -> Corpora:
    """Only who has a corpus at hand pays for what reads one."""
    from .corpora import CORPORA

    return CORPORA


PROTOCOL = Protocol(
    "SDS",
    RULES,
    Words(
        Narrator,
        "Part of SDS to judge: with the SDS-R extension, without it, or the extension alone.",
        ("every-kind-of-message", "replies-to-own-messages"),
        against,
        "Who joins a channel is the implementation; all others are scripted.",
        notes,
        doubts,
        forgone,
        {"sds-r": "SDS-R"},
    ),
    MODEL,
    MATERIAL,
    REPERTOIRE,
    EXCHANGES,
    OF_OTHER_TEXTS,
    corpora=_corpora,
    dimensions=DIMENSIONS,
)
