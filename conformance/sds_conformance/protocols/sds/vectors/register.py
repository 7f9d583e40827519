"""The register of the groups of golden vectors of SDS, with the revisions for which each group is built."""

from __future__ import annotations

from collections.abc import Callable

from ....vectors.model import Builder, Note, VectorRegister

SDS: tuple[str, ...] = ("sds-2026-01", "sds-2025-10-amended")
"""The revisions that share the wire format and the steps of the published specification."""
PROPOSAL: tuple[str, ...] = ("forum-2024",)
"""The proposal of 2024, a separate specification on which SDS is based."""
EVERY = SDS + PROPOSAL

REGISTER = VectorRegister()


def group(
    name: str, shape: str, title: str, notes: dict[str, Note], revisions: tuple[str, ...] = SDS
) -> Callable[[Builder], Builder]:
    """Register a builder of a group of vectors for some revisions. ``notes`` explains the flags of the vectors in the
    group.
    """
    return REGISTER.group(name, shape, title, notes, revisions)
