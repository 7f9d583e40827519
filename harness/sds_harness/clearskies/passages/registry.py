"""The register of passages. The decorator ``passage`` adds a function to it."""

from __future__ import annotations

from ...schedules import passages
from ..writer import Writer

Passage = passages.Passage[Writer]
PASSAGES: dict[str, Passage] = {}
passage = passages.decorator_of(PASSAGES, Passage)


def two_writers(writer: Writer) -> bool:
    """Are two writers present?"""
    return len(writer.writers) > 1


def a_reader(writer: Writer) -> bool:
    """Is a read-only peer present?"""
    return bool(writer.readers)
