"""The register of the groups of golden vectors of SDS, with the revisions for which each group is built."""

from __future__ import annotations

from functools import partial

from ....vectors.model import VectorRegister

SDS: tuple[str, ...] = ("sds-2026-01", "sds-2025-10-amended")
"""The revisions that share the wire format and the steps of the published specification."""
EVERY = (*SDS, "forum-2024")
"""These revisions, and the proposal of 2024, a separate specification on which SDS is based."""

REGISTER = VectorRegister()
group = partial(REGISTER.group, revisions=SDS)
"""Registers a builder of a group of vectors, by default for the revisions of the published specification."""
