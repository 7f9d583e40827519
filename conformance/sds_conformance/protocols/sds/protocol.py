"""SDS, Scalable Data Sync, in two revisions of its text, and the proposal of 2024 that it grew from."""

from __future__ import annotations

from .. import Protocol
from ..words import Words
from .corpora import CORPORA
from .exchanges import EXCHANGES
from .introducing import LIMITS, against, forgone, notes
from .rules import MODEL, RULES
from .schedules import REPERTOIRE
from .vectors.material import MATERIAL
from .words import Narrator

PROTOCOL = Protocol(
    "SDS",
    RULES,
    Words(
        Narrator,
        "Which part of SDS is judged: with the SDS-R extension, without it, or the extension alone.",
        ("every-kind-of-message", "replies-to-own-messages"),
        against,
        "Who joins a channel is the implementation; all others are scripted.",
        notes,
        LIMITS,
        forgone,
        {"sds-r": "SDS-R"},
    ),
    MODEL,
    MATERIAL,
    REPERTOIRE,
    EXCHANGES,
    CORPORA,
)
