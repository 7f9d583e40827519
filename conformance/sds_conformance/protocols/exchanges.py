"""Exchanges: short schedules for two implementations, which show whether each understands the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from sds_harness.declaration import Declaration
from sds_harness.schedules import GroupTrace, Schedule

SENDER, RECEIVER = "alice", "bob"
"""The names of the two participants. The sender ("alice", a row of the matrix) and all further participants run the
sending implementation; the receiver ("bob", a column) runs the receiving one.
"""


class AspectMark(Enum):
    """The result of one aspect."""

    YES = "understood"
    NO = "not understood"
    OPEN = "not exercised"
    """A capability is not declared, or the situation did not arise."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The result of one aspect for one ordered pair."""

    mark: AspectMark
    reason: str = ""
    """Explanation; "" if there is none."""


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
    """The private wire layout; "" for the layout of the text."""

    @property
    def speaks(self) -> str:
        return f"dialect {self.dialect}" if self.dialect else "the layout of the text"

    def describe_missing_capabilities(self, *capabilities: int) -> str:
        """A sentence on the first of these capabilities that the side does not declare; "" if it declares all."""
        missing = self.declared.missing_capabilities(capabilities)
        return f"{self.name} does not declare {' and '.join(missing)}" if missing else ""


@dataclass(frozen=True, slots=True)
class Pair:
    """A sender and a receiver. Both can be the same implementation; then two of its participants meet."""

    sender: PairSide
    receiver: PairSide

    @property
    def translated(self) -> bool:
        """Do the wire layouts differ, so that the bytes must be translated?"""
        return self.sender.dialect != self.receiver.dialect


Judge = Callable[[Any, Pair], Cell]
"""Takes the group trace in the form that ``Exchanges.read`` returns."""


@dataclass(frozen=True)
class Exchange:
    """Schedules to play, and the aspects that they decide."""

    name: str
    schedules: tuple[Schedule, ...]
    """The schedules to try, in order: the next one is played if some aspect is not understood in the one before."""
    judges: Mapping[str, Judge]
    """The function that decides each aspect."""
    translated: bool = True
    """Translate between the wire layouts of the two sides if they differ."""
    needs: Callable[[Pair], str] = lambda pair: ""
    """Returns the reason why a pair cannot play it; "" if it can."""


@dataclass(frozen=True)
class Exchanges:
    """The `interop` schedules of a protocol, and the aspects that two implementations must understand of each other."""

    aspects: Mapping[str, str]
    """The aspects in the order of the matrix; the value explains each as "row sends, column receives"."""
    through: str
    """The aspect without which no message arrives."""
    all: tuple[Exchange, ...]
    read: Callable[[GroupTrace, Mapping[str, Any]], Any]
    """Reads a group trace for the judges. The mapping has the private wire layout of each member, None for the layout
    of the text.
    """
    introduced: Callable[[Declaration], str]
    """Describes the declared choices that other implementations must know."""
    profiles: tuple[str, ...] = ()
    """Names of these choices in the handshake, for machine-readable output."""
    notes: Callable[[Pair], Iterable[str]] = lambda pair: ()
    """Describes declared differences that are not a fault of either side."""
    in_common: Mapping[str, int] = field(default_factory=dict)
    """Settings that must be equal for generated schedules to be meaningful, each with a value that few implementations
    use by default.
    """

    @property
    def numbers(self) -> dict[str, int]:
        """The number of each aspect in the matrix."""
        return {aspect: number for number, aspect in enumerate(self.aspects, 1)}

    @property
    def translated(self) -> list[int]:
        """The numbers of the aspects that are played with translation if the layouts differ."""
        return [self.numbers[aspect] for exchange in self.all if exchange.translated for aspect in exchange.judges]
