"""How corpora of SDS are stored, and how their rows are described."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sds_reference import FORUM_2024

from ..corpora import Corpora
from .freedoms import FREEDOMS, FREEDOMS_OF_THE_PROPOSAL, following

if TYPE_CHECKING:
    from sds_harness.corpus.kind import CorpusKind

_SIGNALS = (
    ("delivered", "delivers"),
    ("acknowledged", "acknowledged"),
    ("possibly_acknowledged", "possibly acknowledged"),
    ("missing", "misses"),
    ("lost", "gives up"),
    ("repair_requests", "asks for"),
)


def corpus_kind() -> CorpusKind:
    """Return the columns and codecs of corpora of SDS. The import is local, because it needs PyArrow."""
    from sds_harness.sds.corpora import KIND

    return KIND


def in_words(row: Mapping[str, Any]) -> str:
    """Describe the message that a row receives or sends, and the results of its step."""
    parts = [row["message"]] if row["command"] == "receive" else [", ".join(row["broadcasts"])]
    if row["command"] == "receive" and row["broadcasts"]:
        parts.append(f"sends {', '.join(row['broadcasts'])}")
    parts += [f"{verb} {', '.join(row[name])}" for name, verb in _SIGNALS if row[name]]
    if row["answer"] not in ("effects", "opened", "state"):
        parts.append(row["answer"] or "no answer")
    return "; ".join(part for part in parts if part)


CORPORA = Corpora(
    corpus_kind,
    in_words,
    FREEDOMS,
    following,
    {FORUM_2024.name: Corpora(corpus_kind, in_words, FREEDOMS_OF_THE_PROPOSAL, following)},
)
