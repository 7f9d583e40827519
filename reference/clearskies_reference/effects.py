"""Results of an operation of the model: bytes for links, events for the application."""

from __future__ import annotations

from dataclasses import dataclass, field

from .record import Record


@dataclass(frozen=True, slots=True)
class Sent:
    """Bytes to write to a link."""

    link: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Changed:
    """A record changed, by another peer's change or by the resolution of a conflict."""

    record: Record


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two versions of one record, or two records with the same key, are in conflict (section "Conflicts")."""

    uuid: str
    """The uuid of the record that the peer had before the conflict."""
    incoming_uuid: str


@dataclass(frozen=True, slots=True)
class LinkClosed:
    """The peer closes a link."""

    link: int
    reason: str


Event = Changed | Conflict | LinkClosed


@dataclass(slots=True)
class Effects:
    """Outcome of one operation. The entries of each list are in the order in which they happened."""

    sent: list[Sent] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """The reason for each rejected message. Rejected messages change nothing."""
    taken: int = 0
    """Number of messages that were not rejected."""
    uuid: str = ""
    """The uuid of the record that the application wrote; empty if it wrote none."""
