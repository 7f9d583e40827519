"""The interface between the small worlds (see ``worlds``) of a protocol and ``exhaust``, which enumerates them.

A protocol has one alphabet: the names of events that a user can select, the world that they make, and the schedule of
each word. The enumeration in ``worlds`` knows no protocol.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import ClassVar

from ..declaration import Declaration
from .operations import Schedule
from .word_schedules import Unfolded
from .worlds import AlphabetPart, Word, World


class Alphabet(ABC):
    """The events of the small worlds of one protocol."""

    names: tuple[str, ...]
    """All names that a user can select."""
    usual: tuple[AlphabetPart, ...]
    """The parts that are played by default."""
    example: AlphabetPart
    """A short alphabet in which participants send something, for messages to users."""
    others: ClassVar[Mapping[str, str]]
    """A sentence on each name that does not write operations: arrivals, and settings of the whole world."""

    @abstractmethod
    def select_possible(
        self, declared: Declaration, profile: str, wanted: Collection[AlphabetPart]
    ) -> tuple[AlphabetPart, ...]:
        """The selected parts that an implementation with this declaration can play in a profile, in the usual order."""

    @abstractmethod
    def world(self, participants: int, parts: Collection[AlphabetPart]) -> World:
        """The world with this number of participants and these parts. Raises ValueError if there is none."""

    @abstractmethod
    def make_setting(self, parts: Collection[AlphabetPart]) -> Schedule:
        """The participants and the configuration of all schedules of a world."""

    @abstractmethod
    def unfold(self, world: World, word: Word, setting: Schedule) -> Unfolded:
        """The word as a schedule. ``setting`` has everything that all words share."""

    def check(self, participants: int, most: int, parts: Collection[AlphabetPart]) -> set[str]:
        """Check a request for a world. Returns the names in the parts.

        Raises ValueError for unknown names, and for a number of participants that is not from 1 to ``most``.
        """
        if not 1 <= participants <= most:
            raise ValueError(f"the number of participants is between 1 and {most}, not {participants}")
        if unknown := self.unknown(parts):
            raise ValueError(f"unknown event {unknown[0]!r}: events are {', '.join(self.names)}")
        return {name for part in parts for name in part.names}

    def unknown(self, parts: Collection[AlphabetPart]) -> list[str]:
        """The names in the parts that no event has."""
        return [name for part in parts for name in part.names if name not in self.names]

    def select(self, there: Collection[str], wanted: Collection[AlphabetPart]) -> tuple[AlphabetPart, ...]:
        """The parts in ``wanted`` without the names that are not in ``there``, in the usual order and without
        duplicates."""
        names = [name for name in self.names if name in there]
        return tuple(
            dict.fromkeys(AlphabetPart(tuple(n for n in names if n in part.names), part.most) for part in wanted)
        )
