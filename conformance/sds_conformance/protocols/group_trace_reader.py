"""The interface between a protocol and the stories and diagrams of group traces.

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
"""Identifies a sent item: (channel, ID in this channel). Protocols without channels use another unit as the channel."""
DELIVERED, ACKNOWLEDGED = "delivered", "acknowledged"
"""The kinds of signals that mean the same in all protocols."""


class Sort(Enum):
    """The purpose of a sent item. Diagrams draw the items of each purpose in their own style."""

    CONTENT = "content"
    """A message or record that every participant must deliver and store."""
    SYNC = "sync"
    """A message that reports the state of its sender. Stories mention such messages only briefly."""
    EPHEMERAL = "ephemeral"
    """A message that participants deliver and do not store."""
    NOISE = "noise"
    """A message that has no effect on its receivers."""


@dataclass(frozen=True)
class Item:
    """The part of a sent message or record that stories and diagrams show."""

    key: Key
    """Channel and ID of the item. The ID is "" if the item has none."""
    sort: Sort
    kind: str
    """The kind of the item, as the protocol names it."""
    sender: str
    time: str = ""
    """The logical time of the item; "" if it has none."""
    causes: tuple[Key, ...] = ()
    """The items on which this item depends."""
    asks: tuple[Key, ...] = ()
    """The items that this item requests."""
    says: str | None = None
    """The content of the item for descriptions; None if there is none, or if it is generated text."""


@dataclass(frozen=True)
class Signal:
    """A signal of an implementation, such as a delivery, and the items that it names."""

    kind: str
    keys: tuple[Key, ...]


@dataclass(frozen=True)
class ShownState:
    """The state that a participant showed."""

    log: tuple[Key, ...] | None
    """The log in order; None if the participant showed none."""
    buffers: tuple[Key, ...] = ()
    """The items in the participant's buffers."""


class Teller(Protocol):
    """Names and describes the messages of a group trace. Stories implement it."""

    def name(self, packet: Packet) -> str:
        """The name of a broadcast message."""
        ...

    def describe_message(self, packet: Packet) -> str:
        """A description of a message, in one line."""
        ...

    def format_dependencies(self, packet: Packet) -> str:
        """The dependencies of a message; "" if it has none."""
        ...

    def describe_requests(self, packet: Packet) -> str:
        """The messages that a message requests; "" if it requests none."""
        ...


class Reading(ABC):
    """Reads the steps of a group trace for stories and diagrams. Each protocol has a subclass."""

    does: Mapping[str, str]
    """For each command that only this protocol has, a verb phrase that says what the participant does."""
    signalled: Mapping[str, tuple[str, str]]
    """By kind of signal: (drawing class, which is ``deliver``, ``ack``, ``miss`` or ``bad``; phrase with ``{}`` for the
    names of the items).
    """
    legend: Mapping[str, str]
    """By sort of item: the legend of its arrows. ``copy`` stands for content that is sent again."""
    unread: str
    """A description of bytes that cannot be read."""
    copies: tuple[str, str]
    """Two verbs for sending content again: by its sender without a request, and in answer to a request."""
    time: str
    """The name of the logical time."""
    history: str
    """The name of the field that lists the dependencies of a message."""
    to_each: bool = False
    """Is a message sent to each recipient separately, instead of as a broadcast?"""

    @abstractmethod
    def item(self, wire: Any) -> Item | None:
        """The item in a message on the wire; None if its bytes cannot be read."""

    def labelled(self, group_trace: GroupTrace, label: str) -> Key | None:
        """The key of the message with a label of the schedule; None if it was never sent, or cannot be read."""
        packet = group_trace.labels.get(label)
        item = self.item(packet.wire) if packet is not None else None
        return item.key if item is not None else None

    @abstractmethod
    def wires(self, step: Any) -> Sequence[Any]:
        """The messages that a step moves over the network, in order: for ``receive`` the arriving message, else the
        sent messages.
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
        """Describe an operation that only this protocol has, and the messages that it broadcast in ``packets``.

        Returns "" for other operations.
        """

    @abstractmethod
    def note(self, operation: Operation) -> str:
        """Describe an operation on all participants, such as a calm phase; "" for other operations."""

    @abstractmethod
    def answers(self, party: Any) -> bool:
        """Does a participant with these settings answer requests for a message?"""
