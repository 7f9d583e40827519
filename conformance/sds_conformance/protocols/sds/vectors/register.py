"""The register of the groups of SDS, and the revisions that builders are for."""

from __future__ import annotations

from collections.abc import Callable

from ....vectors.model import Builder, Note, Register

SDS: tuple[str, ...] = ("sds-2026-01", "sds-2025-10-amended")
"""The revisions that share the wire format and the steps of the text as published."""
PROPOSAL: tuple[str, ...] = ("forum-2024",)
"""The proposal that SDS grew from: a text of its own."""
EVERY = SDS + PROPOSAL

REGISTER = Register()


def group(
    name: str, shape: str, title: str, notes: dict[str, Note], revisions: tuple[str, ...] = SDS
) -> Callable[[Builder], Builder]:
    """Register a builder of a group for some revisions, with the notes on its flags."""
    return REGISTER.group(name, shape, title, notes, revisions)
