"""Probes: what a peer has, read from the wire alone, as anybody could who connects to it.

A scripted peer links itself, asks for everything and hangs up. Whoever sends a record may count that in its vector
clock (rule 3); everything else stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .actor import Actor
from .streams import Message


@dataclass(frozen=True)
class Seen:
    """What a peer told a stranger."""

    updates: tuple[Message, ...]
    """What it sent, in order."""
    request: Message | None
    """The database.get_updates with which it began, None if it sent none."""

    @property
    def since(self) -> dict[str, Any]:
        """The highest known revisions of which the request tells."""
        found = self.request.body.members.get("since") if self.request is not None else None
        return found if isinstance(found, dict) else {}

    @property
    def records(self) -> dict[str, dict[str, Any]]:
        """The members of the last update of each uuid, by the uuid in lower case. Those without one are left out."""
        sent = (message.body.members for message in self.updates)
        return {members["uuid"].lower(): members for members in sent if isinstance(members.get("uuid"), str)}

    @property
    def values(self) -> dict[str, list[Any]]:
        """By key, the values of the records that are not deleted: more than one where some are hidden."""
        out: dict[str, list[Any]] = {}
        for members in self.records.values():
            if members.get("deleted") is not True and isinstance(key := members.get("key"), str):
                out.setdefault(key, []).append(members.get("value"))
        return out


def look(actor: Actor, *, read_only: bool = False) -> Seen:
    """What a peer under test tells a stranger who asks for everything. Raises ScheduleStopped if it lets nobody in."""
    stage = actor.stage
    reader = stage.peer(f"reader of {actor.name} at {len(stage.trace.steps)}", read_only=read_only)
    link = actor.link(reader)
    if not link.broken:
        link.ask()
        link.cut()
    return Seen(tuple(link.updates), next(iter(link.requests), None))
