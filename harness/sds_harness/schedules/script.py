"""Builds a schedule in the way in which a test drives participants: one call, one operation.

A script plays nothing, so it cannot branch on the behaviour of an implementation. The script of each protocol adds
the calls for its participants and scripted peers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar, Generic, TypeVar

from ..language import Language
from .operations import Member, Operation, Require

M = TypeVar("M", bound=Member)


class Script(Generic[M]):
    """A schedule that is being written: each call appends an operation."""

    language: ClassVar[Language]
    """The language of the testee protocol, in which the names of capabilities are looked up."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.members: list[M] = []
        self._labels: set[str] = set()
        self._condition = ""
        """The condition that ``add`` gives to operations; "" outside of the block of ``when``."""

    def add(self, *operations: Operation) -> None:
        """Append operations. In a block of `when`, they get its condition."""
        self.operations += [one.with_values(when=self._condition) if self._condition else one for one in operations]

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """The operations that are added in this block are played only if ``condition`` holds (see ``expressions``)."""
        outer = self._condition
        self._condition = f"min({outer}, {condition})" if outer and condition else outer or condition
        try:
            yield
        finally:
            self._condition = outer

    def need(self, *capabilities: int) -> None:
        """End the schedule here unless the implementation declares the capabilities."""
        if capabilities:
            self.add(Require(tuple(self.language.name_of(capability) for capability in capabilities)))

    def unique_label(self, label: str) -> str:
        """Reserve ``label``, or ``label`` with a suffix such as ``~2`` if it is in use. Returns the reserved label."""
        found, number = label, 1
        while found in self._labels:
            number += 1
            found = f"{label}~{number}"
        self._labels.add(found)
        return found
