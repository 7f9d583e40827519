"""Probes: read the content of a peer from the wire alone, as any peer could that connects to it.

A scripted peer links to the peer under test, requests all records and closes the link. The peer under test may count
the sent records in its vector clock (rule 3); nothing else changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .actor import Actor
from .streams import Message


@dataclass(frozen=True)
class Seen:
    """The messages that a peer sent to a new scripted peer."""

    updates: tuple[Message, ...]
    request: Message | None
    """The first database.get_updates of the peer; None if it sent none."""

    @property
    def since(self) -> dict[str, Any]:
        """By peer ID, the highest revision that the peer knows, as its first request says."""
        found = self.request.body.members.get("since") if self.request is not None else None
        return found if isinstance(found, dict) else {}

    @property
    def records(self) -> dict[str, dict[str, Any]]:
        """The members of the last update of each uuid, by uuid in lower case. Updates without a uuid are left out."""
        sent = (message.body.members for message in self.updates)
        return {members["uuid"].lower(): members for members in sent if isinstance(members.get("uuid"), str)}

    @property
    def values(self) -> dict[str, list[Any]]:
        """By key, the values of the records that are not deleted. Several records can have one key, because peers may
        hide all but one of them from the application."""
        out: dict[str, list[Any]] = {}
        for members in self.records.values():
            if members.get("deleted") is not True and isinstance(key := members.get("key"), str):
                out.setdefault(key, []).append(members.get("value"))
        return out


def read_as_stranger(actor: Actor) -> Seen:
    """Request all records from a peer under test, as a new peer that knows none. Raises ScheduleStoppedError if the
    peer under test refuses the link."""
    stage = actor.stage
    reader = stage.peer(f"reader of {actor.name} at {len(stage.trace.steps)}")
    link = actor.link(reader)
    if not link.broken:
        link.ask()
        link.cut()
    return Seen(tuple(link.updates), next(iter(link.requests), None))
