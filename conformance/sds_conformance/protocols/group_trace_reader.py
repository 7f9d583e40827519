"""Reading: the interface between a protocol and the stories and diagrams of whole group traces.

The commands ``open``, ``send``, ``receive``, ``tick`` and ``observe`` mean the same in all protocols. An implementation
that signals deliveries declares the capability ``delivered``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from sds_harness.schedules import GroupTrace, Operation, Packet

Key = tuple[str, str]
"""Identifies a sent item: its channel, or the unit of its protocol that corresponds to a channel, and its ID there."""
DELIVERED, ACKNOWLEDGED = "delivered", "acknowledged"
"""The kinds of signals that mean the same in all protocols."""


class Sort(Enum):
    """The purpose of a sent item. Diagrams draw each in its own style."""

    CONTENT = "content"
    """Every participant must deliver and store it."""
    SYNC = "sync"
    """It reports the state of its sender; stories mention it briefly."""
    EPHEMERAL = "ephemeral"
    """Participants deliver it and do not store it."""
    NOISE = "noise"
    """It has no effect."""


@dataclass(frozen=True)
class Item:
    """The part of a sent message or record that stories and diagrams show."""

    key: Key
    """The ID is "" if the item has none."""
    sort: Sort
    kind: str
    """The protocol's name of its kind."""
    sender: str
    time: str = ""
    """Its logical time; "" if it has none."""
    causes: tuple[Key, ...] = ()
    """The items that it depends on."""
    asks: tuple[Key, ...] = ()
    """The items that it requests."""
    says: str | None = None
    """Its content; None if the content is of the usual form."""


@dataclass(frozen=True)
class Signal:
    """A signal of an implementation."""

    kind: str
    keys: tuple[Key, ...]


@dataclass(frozen=True)
class ShownState:
    """The state that a participant showed."""

    log: tuple[Key, ...] | None
    """The log in order; None if the participant showed none."""
    buffers: tuple[Key, ...] = ()
    """The items outside the log that it holds."""


class Teller(Protocol):
    """Names and describes the messages of a group trace."""

    def name(self, packet: Packet) -> str:
        """The name of a broadcast message."""
        ...

    def describe_message(self, packet: Packet) -> str:
        """A description in one line."""
        ...

    def format_dependencies(self, packet: Packet) -> str:
        """The dependencies of a message; "" if it has none."""
        ...

    def describe_requests(self, packet: Packet) -> str:
        """The messages that it asks for, "" for none."""
        ...


class Reading(ABC):
    """Reads the steps of a group trace for stories and diagrams. Each protocol has a subclass."""

    does: Mapping[str, str]
    """Verb phrases for the commands that only this protocol has."""
    signalled: Mapping[str, tuple[str, str]]
    """By kind of signal: the drawing class (``deliver``, ``ack``, ``miss``, ``bad``), and a phrase with a place for the
    names.
    """
    legend: Mapping[str, str]
    """The legend of the arrows, by sort; ``copy`` is content that is sent again."""
    unread: str
    """A description of bytes that cannot be read."""
    copies: tuple[str, str]
    """Verb phrases for content that is sent again: by its sender without a request, and in answer to a request."""
    time: str
    """The name of the logical time."""
    history: str
    """The name of the field that lists the dependencies of a message."""
    to_each: bool = False
    """A message goes to each recipient separately, instead of as a broadcast."""

    @abstractmethod
    def item(self, wire: Any) -> Item | None:
        """The item in a wire; None if the protocol does not know the bytes."""

    def labelled(self, group_trace: GroupTrace, label: str) -> Key | None:
        """The key of the message with a label of the schedule; None if it was never sent, or cannot be read."""
        packet = group_trace.labels.get(label)
        item = self.item(packet.wire) if packet is not None else None
        return item.key if item is not None else None

    @abstractmethod
    def wires(self, step: Any) -> Sequence[Any]:
        """The bytes that a step moves over the network, in order: for ``receive`` the arriving ones, else the sent
        ones.
        """

    @abstractmethod
    def arrived(self, step: Any) -> Item | None:
        """The item that a step received; None if it received none."""

    @abstractmethod
    def signals(self, step: Any) -> Sequence[Signal]:
        """The signals of a step, in order."""

    @abstractmethod
    def shown_state(self, step: Any) -> ShownState | None:
        """The state that a step shows; None if it shows none."""

    @abstractmethod
    def done(self, operation: Operation, packets: Sequence[Packet], teller: Teller) -> str:
        """Describe an operation that only this protocol has, with the messages that it broadcast; "" for other
        operations.
        """

    @abstractmethod
    def note(self, operation: Operation) -> str:
        """Describe the effect of a calm round, or of an operation on all participants; "" if there is none."""

    @abstractmethod
    def answers(self, party: Any) -> bool:
        """Does a participant with these settings answer requests for a message?"""
