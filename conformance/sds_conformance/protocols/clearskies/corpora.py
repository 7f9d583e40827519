"""How corpora of ClearSkies are stored and described."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..corpora import Corpora
from .freedoms import FREEDOMS, find_dependent_columns

if TYPE_CHECKING:
    from sds_harness.corpus.kind import CorpusKind

_SIGNALS = (("changed", "changed"), ("conflicts", "in conflict"), ("closed", "hangs up on"))


def kind() -> CorpusKind:
    """Return how corpora of ClearSkies are stored: columns and codecs."""
    from sds_harness.clearskies.corpora import KIND

    return KIND


def in_words(row: Mapping[str, Any]) -> str:
    """Describe the command of a row and the result of its step."""
    parts = [f"link {row['link']}" if row["link"] else "", row["record"], ", ".join(row["arrives"])]
    if row["sent"]:
        parts.append(f"sends {', '.join(row['sent'])}")
    parts += [f"{verb} {', '.join(row[name])}" for name, verb in _SIGNALS if row[name]]
    if row["answer"] not in ("effects", "opened", "state"):
        parts.append(row["answer"] or "no answer")
    return "; ".join(text for text in parts if text)


CORPORA = Corpora(kind, in_words, FREEDOMS, find_dependent_columns)
