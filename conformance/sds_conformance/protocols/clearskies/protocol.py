"""The ClearSkies database extension: a replicated key-value store between peers on links."""

from __future__ import annotations

from .. import Protocol
from ..corpora import Corpora
from ..words import Words
from .dimensions import DIMENSIONS
from .exchanges import EXCHANGES
from .introducing import against, notes
from .rules import MODEL, RULES
from .schedules import REPERTOIRE
from .vectors.material import MATERIAL
from .words import Narrator


def _corpora() -> Corpora:
    """Only who has a corpus at hand pays for what reads one."""
    from .corpora import CORPORA

    return CORPORA


PROTOCOL = Protocol(
    "ClearSkies",
    RULES,
    Words(
        Narrator,
        "Which part of the database extension is judged: there is one, all of it.",
        ("changes-spread",),
        against,
        "The peers that are opened are the implementation; all others are scripted.",
        notes,
    ),
    MODEL,
    MATERIAL,
    REPERTOIRE,
    EXCHANGES,
    dimensions=DIMENSIONS,
    corpora=_corpora,
)
