"""Results of an operation of the model: bytes for the network, events for the application."""

from __future__ import annotations

from dataclasses import dataclass, field

from .message import HistoryEntry


@dataclass(frozen=True, slots=True)
class Delivered:
    """A message is handed to the application ("Deliver Message", or at once if it is ephemeral)."""

    channel_id: str
    message_id: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """An own message has left the outgoing buffer ("Review ACK Status")."""

    channel_id: str
    message_id: str


@dataclass(frozen=True, slots=True)
class PossiblyAcknowledged:
    """An own message was in a received bloom filter for the first time ("Review ACK Status")."""

    channel_id: str
    message_id: str


@dataclass(frozen=True, slots=True)
class Missing:
    """Unmet dependencies of a received message that the application may retrieve ("Periodic Incoming Buffer Sweep")."""

    channel_id: str
    entries: tuple[HistoryEntry, ...]


@dataclass(frozen=True, slots=True)
class Lost:
    """Dependencies marked irretrievably lost ("Periodic Incoming Buffer Sweep")."""

    channel_id: str
    message_ids: tuple[str, ...]


Event = Delivered | Acknowledged | PossiblyAcknowledged | Missing | Lost


@dataclass(slots=True)
class Effects:
    """Outcome of one operation: ``broadcasts`` (wire bytes) and ``events``, each in the order of occurrence."""

    broadcasts: list[bytes] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    message_id: str = ""
    """ID of the message that was sent; empty if none was sent."""
