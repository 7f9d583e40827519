"""Exchanges: short schedules for two implementations, which show whether each understands the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from sds_harness.declaration import Declaration
from sds_harness.schedules import GroupTrace, Schedule

SENDER, RECEIVER = "alice", "bob"
"""The names of the two main participants. The implementation in the row of the matrix plays the sender ("alice") and
all further participants; the implementation in the column plays the receiver ("bob").
"""


class AspectMark(Enum):
    """The result of one aspect for one ordered pair of implementations."""

    YES = "understood"
    NO = "not understood"
    OPEN = "not exercised"
    """A capability is not declared, or the trace did not exercise the aspect."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the matrix: the result of one aspect for one ordered pair, with its reason."""

    mark: AspectMark
    reason: str = ""


YES = Cell(AspectMark.YES)


def failed_cell(reason: str) -> Cell:
    return Cell(AspectMark.NO, reason)


def left_open(reason: str) -> Cell:
    return Cell(AspectMark.OPEN, reason)


@dataclass(frozen=True, slots=True)
class PairSide:
    """One implementation of a pair."""

    name: str
    declared: Declaration
    dialect: str
    """The private wire layout; "" for the layout of the specification."""

    @property
    def speaks(self) -> str:
        return f"dialect {self.dialect}" if self.dialect else "the layout of the specification"

    def describe_missing_capabilities(self, *capabilities: int) -> str:
        """A sentence that names those of ``capabilities`` that the implementation does not declare; "" if there are
        none.
        """
        missing = self.declared.missing_capabilities(capabilities)
        return f"{self.name} does not declare {' and '.join(missing)}" if missing else ""


@dataclass(frozen=True, slots=True)
class Pair:
    """A sending and a receiving implementation. Both can be the same implementation, which then plays two
    participants.
    """

    sender: PairSide
    receiver: PairSide

    @property
    def translated(self) -> bool:
        """Do the wire layouts differ, so that the bytes must be translated?"""
        return self.sender.dialect != self.receiver.dialect


Judge = Callable[[Any, Pair], Cell]
"""Returns the result of an aspect. Takes the group trace in the form that ``Exchanges.read`` returns."""


@dataclass(frozen=True)
class Exchange:
    """Schedules to play, and the aspects that they decide."""

    name: str
    schedules: tuple[Schedule, ...]
    """The schedules to try, in order, until the receiver has understood all aspects."""
    judges: Mapping[str, Judge]
    """By aspect: the function that decides it."""
    translated: bool = True
    """Are messages translated between the wire layouts of the two sides if these differ?"""
    needs: Callable[[Pair], str] = lambda pair: ""
    """Returns the reason why a pair cannot play the schedules; "" if it can."""


@dataclass(frozen=True)
class Exchanges:
    """The `interop` schedules of a protocol, and the aspects that two implementations must understand of each other."""

    aspects: Mapping[str, str]
    """By aspect, in the order of the matrix: an explanation, with the row as the sender and the column as the
    receiver.
    """
    through: str
    """The aspect that all others need: without it, no message arrives."""
    all: tuple[Exchange, ...]
    read: Callable[[GroupTrace, Mapping[str, Any]], Any]
    """Converts a group trace to the form that the aspects' functions take. The mapping has the private wire layout of
    each participant; None for the layout of the specification.
    """
    introduced: Callable[[Declaration], str]
    """Describes the declared profiles that other implementations must know."""
    profiles: tuple[str, ...] = ()
    """The kinds of the profiles that ``introduced`` describes, as the handshake names them; for machine-readable
    output.
    """
    notes: Callable[[Pair], Iterable[str]] = lambda pair: ()
    """Describes differences between the declarations of the two sides that are not a fault of either."""
    in_common: Mapping[str, int] = field(default_factory=dict)
    """Settings that must be equal in both implementations when they play generated schedules, each with a value that
    few implementations use by default.
    """

    @property
    def numbers(self) -> dict[str, int]:
        """The number of each aspect in the matrix."""
        return {aspect: number for number, aspect in enumerate(self.aspects, 1)}

    @property
    def translated(self) -> list[int]:
        """The numbers of the aspects that are played with translation if the layouts differ."""
        return [self.numbers[aspect] for exchange in self.all if exchange.translated for aspect in exchange.judges]
