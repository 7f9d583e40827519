"""Revisions of the SDS text that the model speaks. A revision is data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Revision:
    """One revision of the text."""

    name: str
    title: str


SDS_2026_01 = Revision("sds-2026-01", "SDS, the text as published up to August 2026")

REVISIONS: dict[str, Revision] = {revision.name: revision for revision in (SDS_2026_01,)}
