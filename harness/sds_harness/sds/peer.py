"""Scripted peers: participants whose wire messages the harness writes itself, byte by byte if needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from sds_reference import HistoryEntry, Message

Dependency = str | Message | HistoryEntry

_UNKNOWN_IDS_FROM = 10_000_000


class ScriptedPeer:
    """A peer in one channel. Its only state is a counter for its message IDs."""

    def __init__(self, name: str, channel_id: str, says: str = "content {number} of {name}") -> None:
        self.name = name
        self.channel_id = channel_id
        self._says = says
        self._count = 0

    def content(
        self,
        lamport: int,
        *depends_on: Dependency,
        content: bytes | None = None,
        message_id: str | None = None,
        bloom_filter: bytes | None = None,
        requests: Sequence[Dependency] = (),
    ) -> Message:
        """A content message that depends on the given messages.

        ``requests`` are the messages in its repair request (SDS-R).
        """
        number = self._next()
        return Message(
            self.name,
            f"{self.name}-{number}" if message_id is None else message_id,
            self.channel_id,
            lamport,
            history(depends_on),
            bloom_filter,
            history(requests),
            self._says.format(number=number, name=self.name).encode() if content is None else content,
        )

    def sync(
        self,
        lamport: int,
        *depends_on: Dependency,
        message_id: str | None = None,
        bloom_filter: bytes | None = None,
        requests: Sequence[Dependency] = (),
    ) -> Message:
        """Write a sync message that depends on the given messages."""
        message = self.content(
            lamport, *depends_on, message_id=message_id, bloom_filter=bloom_filter, requests=requests
        )
        prefix = "sync-" if message_id is None else ""
        return replace(message, message_id=prefix + message.message_id, content=None)

    def ephemeral(self, content: bytes, message_id: str | None = None) -> Message:
        """Write an ephemeral message."""
        number = self._next()
        return Message(self.name, message_id or f"eph-{self.name}-{number}", self.channel_id, content=content)

    def skip(self, messages: int) -> None:
        """Advance the counter by a number of messages that were written elsewhere."""
        self._count += messages

    def _next(self) -> int:
        self._count += 1
        return self._count


@cache
def unknown_ids(count: int) -> tuple[str, ...]:
    """Message IDs in the format of scripted peers that no peer uses; they differ only in the number at the end."""
    return tuple(f"bob-{number}" for number in range(_UNKNOWN_IDS_FROM, _UNKNOWN_IDS_FROM + count))


def history(depends_on: Sequence[Dependency]) -> tuple[HistoryEntry, ...]:
    """Make a causal history from message IDs, messages or entries."""
    return tuple(
        entry
        if isinstance(entry, HistoryEntry)
        else HistoryEntry(entry.message_id if isinstance(entry, Message) else entry)
        for entry in depends_on
    )
