"""The register of passages. The decorator ``passage`` adds a function to it."""

from __future__ import annotations

from dataclasses import dataclass

from ...schedules import passages
from ..writer import Text, Writer


@dataclass(frozen=True)
class Passage(passages.Passage[Writer]):
    """A passage of schedules of SDS."""

    repairs: bool = False
    """Whether the passage is about SDS-R."""
    logged_syncs: bool = False
    """Whether the passage is about sync messages in the log, which only some revisions have."""

    def is_of(self, text: Text) -> bool:
        """Can the passage be used in schedules for the revision ``text``?"""
        return (text.repairs or not self.repairs) and (text.syncs_are_logged or not self.logged_syncs)


PASSAGES: dict[str, Passage] = {}
passage = passages.decorator_of(PASSAGES, Passage)
