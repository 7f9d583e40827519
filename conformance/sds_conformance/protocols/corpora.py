"""The interface between a protocol and the commands that record, judge, compare and show corpora."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .freedoms import Freedom

if TYPE_CHECKING:
    from sds_harness.corpus.kind import CorpusKind


@dataclass(frozen=True)
class Corpora:
    """The corpora of a protocol."""

    kind: Callable[[], CorpusKind]
    """Returns the storage format. Called only to record or read a corpus, because the import needs Arrow."""
    in_words: Callable[[Mapping[str, Any]], str]
    """Describes a row for users: the command of its step, and the result."""
    freedoms: Sequence[Freedom] = ()
    """The choices that the text leaves open, in the order in which they are tried."""
    following: Callable[[frozenset[str], str], frozenset[str]] = lambda fields, command: frozenset()
    """Returns those of the differing columns that differ only as a consequence of others. Takes the columns and the
    command.
    """
    others: Mapping[str, Corpora] = field(default_factory=dict)
    """The corpora of revisions with a separate text, by revision."""
