"""What every revision of a text tells of itself; the rest is between a protocol and its model."""

from __future__ import annotations

from typing import Protocol


class Revision(Protocol):
    """One revision of one text."""

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def prefix(self) -> str:
        """With what the IDs of its requirements begin."""
        ...
