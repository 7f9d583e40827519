"""Builds a schedule in the way in which a test drives participants: one call, one operation.

A script plays nothing, so it cannot branch on the behaviour of an implementation. The script of each protocol adds
the calls for its participants and scripted peers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar, Generic, TypeVar

from ..language import Language
from .operations import Member, Operation, Repeat, Require

M = TypeVar("M", bound=Member)


class Script(Generic[M]):
    """A schedule that is being written."""

    language: ClassVar[Language]
    """The commands of the testee protocol, which has the names of capabilities."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.members: list[M] = []
        self._labels: set[str] = set()
        self._condition = ""
        """The condition of the operations that are added now."""

    def add(self, *operations: Operation) -> None:
        """Append operations."""
        self.operations += [one.with_values(when=self._condition) if self._condition else one for one in operations]

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """Play the operations that are added here only if a comparison holds, see ``expressions``."""
        outer, before = self._condition, self._time()
        self._condition = f"min({outer}, {condition})" if outer and condition else outer or condition
        try:
            yield
        finally:
            self._condition = outer
            if self._time() is not before:
                self._forget_time()

    @contextmanager
    def repeat(self, most: int, rounds: str = "", until: str = "") -> Iterator[None]:
        """Repeat the operations that are added here, see ``Repeat``."""
        begin = len(self.operations)
        self._forget_time()
        yield
        self._forget_time()
        body = self.operations[begin:]
        self.operations.insert(begin, Repeat(len(body), most, rounds, until, when=self._condition))
        for peer, count in Counter(getattr(operation, "peer", "") for operation in body).items():
            self._skip_numbers(peer, count * (most - 1))

    def _skip_numbers(self, peer: str, count: int) -> None:
        """Leave out numbers of messages of a scripted peer, which are used when operations are repeated."""

    def _time(self) -> object:
        """The present time, if it is known."""
        return None

    def _forget_time(self) -> None:
        """Called when an unknown time has passed."""

    def need(self, *capabilities: int) -> None:
        """End the schedule here unless the implementation declares the capabilities."""
        if capabilities:
            self.add(Require(tuple(self.language.name_of(capability) for capability in capabilities)))

    def unique_label(self, label: str) -> str:
        """The label, or a similar one that is not in use."""
        found, number = label, 1
        while found in self._labels:
            number += 1
            found = f"{label}~{number}"
        self._labels.add(found)
        return found
