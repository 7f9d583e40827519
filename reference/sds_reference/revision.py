"""Revisions of the SDS text that the model speaks. A revision is data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Revision:
    """One revision of the text."""

    name: str
    title: str
    requests_again: bool = False
    """A received message gives every unmet dependency without an entry in the outgoing repair request buffer a new
    one; otherwise only those it names itself ("SDS-R receive message")."""


SDS_2026_01 = Revision("sds-2026-01", "SDS, the text as published up to August 2026")
SDS_2025_10_AMENDED = Revision(
    "sds-2025-10-amended", "SDS as of October 2025 with an amended receive step of SDS-R", requests_again=True
)

REVISIONS: dict[str, Revision] = {revision.name: revision for revision in (SDS_2026_01, SDS_2025_10_AMENDED)}
"""The revisions by name, the current one first."""
