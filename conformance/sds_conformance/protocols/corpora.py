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
    """How the corpora of a protocol are stored, described and compared."""

    kind: Callable[[], CorpusKind]
    """Returns how corpora are stored: columns and codecs. Call it only to record or read a corpus: it imports
    PyArrow.
    """
    in_words: Callable[[Mapping[str, Any]], str]
    """Describes a row in one line: the message of its command, and the results."""
    freedoms: Sequence[Freedom] = ()
    """The permitted differences between traces, in the order in which they are tried."""
    following: Callable[[frozenset[str], str], frozenset[str]] = lambda fields, command: frozenset()
    """Takes the differing columns and the command. Returns the columns that differ only because other columns do."""
    others: Mapping[str, Corpora] = field(default_factory=dict)
    """By revision: its corpora, for each revision that needs other definitions than those in this object."""
