"""Exchanges: short schedules for two implementations, and what interop learns from each of who understands whom."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from sds_harness.declaration import Declaration
from sds_harness.schedules import Performance, Schedule

SENDER, RECEIVER = "alice", "bob"
"""Bob is made of the implementation that receives, the column of the matrix; alice, and whoever else takes part, of the
one that sends, the row."""


class Mark(Enum):
    """Whether something is understood."""

    YES = "understood"
    NO = "not understood"
    OPEN = "not exercised"
    """Not declared, or the situation did not arise."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One aspect of one ordered pair."""

    mark: Mark
    reason: str = ""
    """Why, in words; "" where there is nothing to say."""


YES = Cell(Mark.YES)


def no(reason: str) -> Cell:
    return Cell(Mark.NO, reason)


def left_open(reason: str) -> Cell:
    return Cell(Mark.OPEN, reason)


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a pair."""

    name: str
    declared: Declaration
    dialect: str
    """The private wire layout in use, "" for that of the text."""

    @property
    def speaks(self) -> str:
        return f"dialect {self.dialect}" if self.dialect else "the layout of the text"

    def lacks(self, *capabilities: int) -> str:
        """That it does not declare one of these, in words; "" if it declares all."""
        missing = self.declared.lacking(capabilities)
        return f"{self.name} does not declare {' and '.join(missing)}" if missing else ""


@dataclass(frozen=True, slots=True)
class Pair:
    """Who sends and who receives; both can be the same implementation, of which two participants then meet."""

    sender: Side
    receiver: Side

    @property
    def translated(self) -> bool:
        """Have they different wire layouts, so that bytes are not understood as they are?"""
        return self.sender.dialect != self.receiver.dialect


Judge = Callable[[Any, Pair], Cell]
"""Takes a performance as its protocol reads it."""


@dataclass(frozen=True)
class Exchange:
    """What is played, and who tells what from it."""

    name: str
    schedules: tuple[Schedule, ...]
    """The first; another is played where something is not understood with the one before."""
    judges: Mapping[str, Judge]
    """By aspect."""
    translated: bool = True
    """Played with translation, where the two have different wire layouts."""
    needs: Callable[[Pair], str] = lambda pair: ""
    """Why it cannot be played, in words; "" if it can."""


@dataclass(frozen=True)
class Exchanges:
    """What two implementations of a protocol must understand of each other, and how that is found out."""

    aspects: Mapping[str, str]
    """What is looked at, in order, with what it means for "row sends, column receives"."""
    through: str
    """The aspect without which nothing gets through at all."""
    all: tuple[Exchange, ...]
    read: Callable[[Performance, Mapping[str, Any]], Any]
    """A performance, and the private wire layouts of its members (None for that of the text), for the judges."""
    introduced: Callable[[Declaration], str]
    """What an implementation chose that others have to know, in words."""
    profiles: tuple[str, ...] = ()
    """The same for programs, by the names that the handshake has for it."""
    notes: Callable[[Pair], Iterable[str]] = lambda pair: ()
    """What two declare differently, and is no fault of either."""
    in_common: Mapping[str, int] = field(default_factory=dict)
    """What has to be configured alike for generated schedules to say anything, with a value that few have anyway."""

    @property
    def numbers(self) -> dict[str, int]:
        """The number of each aspect in the matrix."""
        return {aspect: number for number, aspect in enumerate(self.aspects, 1)}

    @property
    def translated(self) -> list[int]:
        """The numbers of the aspects that are played with translation, where there has to be some."""
        return [self.numbers[aspect] for exchange in self.all if exchange.translated for aspect in exchange.judges]
