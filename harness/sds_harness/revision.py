"""The attributes that revisions of all specifications have. Each protocol adds attributes for its model."""

from __future__ import annotations

from typing import Protocol


class Revision(Protocol):
    """One revision of one specification."""

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def prefix(self) -> str:
        """The prefix of the IDs of the revision's requirements, such as "SDS"."""
        ...
