"""Stored corpora: what recording, judging, comparing and showing them is handed by a protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .freedoms import Freedom

if TYPE_CHECKING:
    from sds_harness.corpus.kind import Kind


@dataclass(frozen=True)
class Corpora:
    """The corpora of a protocol."""

    kind: Callable[[], Kind]
    """How they are stored; called when one is recorded or read, for it needs Arrow, which not everybody has."""
    in_words: Callable[[Mapping[str, Any]], str]
    """What a row was about, and what came of its step, in words."""
    freedoms: Sequence[Freedom] = ()
    """What the text leaves open, asked in this order."""
    following: Callable[[frozenset[str], str], frozenset[str]] = lambda fields, command: frozenset()
    """Of the columns that differ at a command those that differ only because others do."""
    others: Mapping[str, Corpora] = field(default_factory=dict)
    """Those of revisions that are another text."""
