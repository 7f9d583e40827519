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
    """An example of a small selection of events in which participants send messages. It is quoted in messages to
    users.
    """
    others: ClassVar[Mapping[str, str]]
    """Maps a name that stands for no operation (an arrival, or a setting of the whole world) to a sentence that
    explains it.
    """

    @abstractmethod
    def select_possible(
        self, declared: Declaration, profile: str, wanted: Collection[AlphabetPart]
    ) -> tuple[AlphabetPart, ...]:
        """The parts in ``wanted`` that an implementation with this declaration can play, in the order of the
        alphabet.
        """

    @abstractmethod
    def world(self, participants: int, parts: Collection[AlphabetPart]) -> World:
        """The small world (see ``worlds``) with ``participants`` participants and the events of ``parts``. Raises
        ValueError if the protocol has no such world.
        """

    @abstractmethod
    def make_setting(self, parts: Collection[AlphabetPart]) -> Schedule:
        """A schedule without operations: the participants and the configuration that all schedules of a world share."""

    @abstractmethod
    def unfold(self, world: World, word: Word, setting: Schedule) -> Unfolded:
        """Convert a word (a sequence of events) to a schedule. ``setting`` is the result of `make_setting`."""

    def check(self, participants: int, most: int, parts: Collection[AlphabetPart]) -> set[str]:
        """Check a user's selection of events and number of participants. Returns the names of the selected events.

        Raises ValueError for unknown names, and for a number of participants that is not from 1 to ``most``.
        """
        if not 1 <= participants <= most:
            raise ValueError(f"the number of participants is between 1 and {most}, not {participants}")
        if unknown := self.unknown(parts):
            raise ValueError(f"unknown event {unknown[0]!r}: events are {', '.join(self.names)}")
        return {name for part in parts for name in part.names}

    def unknown(self, parts: Collection[AlphabetPart]) -> list[str]:
        """The names in ``parts`` that are not names of events in this alphabet."""
        return [name for part in parts for name in part.names if name not in self.names]

    def select(self, there: Collection[str], wanted: Collection[AlphabetPart]) -> tuple[AlphabetPart, ...]:
        """The parts in ``wanted``, reduced to the names in ``there``, in the order of the alphabet and without
        duplicates.
        """
        names = [name for name in self.names if name in there]
        return tuple(
            dict.fromkeys(AlphabetPart(tuple(n for n in names if n in part.names), part.most) for part in wanted)
        )
