"""Reading: what telling and drawing whole performances is handed by a protocol.

The commands ``open``, ``send``, ``receive``, ``tick`` and ``observe`` mean the same in all of them; whoever signals
what it delivers declares the capability ``delivered``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from sds_harness.schedules import Operation, Packet

Key = tuple[str, str]
"""What is sent, by its channel (or whatever it belongs to) and its ID there."""
DELIVERED, ACKNOWLEDGED = "delivered", "acknowledged"
"""Kinds of signals that mean the same in all protocols."""


class Sort(Enum):
    """What is to become of something that is sent; each is drawn in a way of its own."""

    CONTENT = "content"
    """Everybody is to deliver it and to keep it."""
    SYNC = "sync"
    """It tells others how far one has come, and is told in a few words."""
    EPHEMERAL = "ephemeral"
    """It is to be delivered, and nobody keeps it."""
    NOISE = "noise"
    """Nothing."""


@dataclass(frozen=True)
class Item:
    """Something that is sent, a message or a record, as far as it is told and drawn."""

    key: Key
    """Without an ID if it has none."""
    sort: Sort
    kind: str
    """As its protocol calls it."""
    sender: str
    time: str = ""
    """Its logical time, "" if it has none."""
    causes: tuple[Key, ...] = ()
    """What it depends on."""
    asks: tuple[Key, ...] = ()
    """What it asks for."""
    says: str | None = None
    """What it says, if that is not of the usual."""


@dataclass(frozen=True)
class Signal:
    """What an implementation signalled."""

    kind: str
    keys: tuple[Key, ...]


@dataclass(frozen=True)
class Shown:
    """What a participant showed of its state."""

    log: tuple[Key, ...] | None
    """In log order; None if it showed none."""
    buffers: tuple[Key, ...] = ()
    """What else it holds."""


class Teller(Protocol):
    """Knows what the messages of a performance are called."""

    def name(self, packet: Packet) -> str:
        """Of what was broadcast."""
        ...

    def about(self, packet: Packet) -> str:
        """In one line."""
        ...

    def after(self, packet: Packet) -> str:
        """What it depends on, "" for nothing."""
        ...

    def asks(self, packet: Packet) -> str:
        """The messages that it asks for, "" for none."""
        ...


class Reading(ABC):
    """How the steps of a performance are read, told and drawn. Each protocol has its own."""

    does: Mapping[str, str]
    """What a participant does by a command that only this protocol has, in words: it says something."""
    signalled: Mapping[str, tuple[str, str]]
    """How signals are told, by kind: the class they are drawn in (``deliver``, ``ack``, ``miss``, ``bad``), and words
    around the names."""
    legend: Mapping[str, str]
    """What arrows are, by sort; ``copy`` is content that is sent once more."""
    unread: str
    """What bytes are in which nothing stands."""
    copies: tuple[str, str]
    """That content is sent once more, as a verb: unasked by whoever sent it first, and in answer to one who misses
    it."""
    time: str
    """What its logical time is called."""
    history: str
    """What tells of a message what it depends on."""
    to_each: bool = False
    """What one tells several goes to each of them by itself, and not to all at once."""

    @abstractmethod
    def item(self, wire: Any) -> Item | None:
        """What stands in a wire, None if that is nothing that the protocol knows."""

    @abstractmethod
    def wires(self, step: Any) -> Sequence[Any]:
        """What a step brings over the network: of ``receive`` what arrives, of all others what is broadcast, in
        order."""

    @abstractmethod
    def arrived(self, step: Any) -> Item | None:
        """What stands in what a step received."""

    @abstractmethod
    def signals(self, step: Any) -> Sequence[Signal]:
        """The signals of a step, in order."""

    @abstractmethod
    def shown(self, step: Any) -> Shown | None:
        """The state that a step shows, None if it shows none."""

    @abstractmethod
    def done(self, operation: Operation, packets: Sequence[Packet], teller: Teller) -> str:
        """An operation that only this protocol has, in words, with what it broadcast itself; "" for any other."""

    @abstractmethod
    def note(self, operation: Operation) -> str:
        """What a calm round brings, or what happens to all at once in another operation, in words; "" if nothing
        does."""

    @abstractmethod
    def answers(self, party: Any) -> bool:
        """Does a participant, by how it was opened, answer those who ask for a message?"""
