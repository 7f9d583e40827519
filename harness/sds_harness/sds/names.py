"""Names for messages that do not depend on the message IDs of an implementation.

The name of a content message consists of its sender and its label in the schedule; without a label, of the sender, the
kind and a number. Messages of scripted peers, and messages of unknown origin, keep their ID, which the schedule
determines. The ID of a sync message may be that of another message (AMB-43), so sync messages are identified by sender
and Lamport timestamp as well.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence
from graphlib import TopologicalSorter

from sds_reference import Kind, Message

from .group_trace import GroupTrace

Key = tuple[str, str]
"""Channel and message ID."""


class Names:
    """The names of all messages of a group trace."""

    def __init__(self, group_trace: GroupTrace) -> None:
        channels = group_trace.schedule.channels
        self._home = channels[0] if channels else "0"
        self._names: dict[Key, str] = {}
        self._syncs: dict[tuple[str, str, str, int | None], str] = {}
        self._syncs_by_id: dict[Key, str] = {}
        self._messages: dict[Key, Message] = {}
        counts: Counter[tuple[str, str, str]] = Counter()
        taken: Counter[str] = Counter()
        for packet in group_trace.packets:
            message = packet.wire.message
            if message is None:
                continue
            key, sync = (message.channel_id, message.message_id), message.kind is Kind.SYNC
            if key not in self._messages or (self._messages[key].kind is Kind.SYNC and not sync):
                self._messages[key] = message
            known = _place(message) in self._syncs if sync else key in self._names
            if known or not packet.act or message.sender_id != packet.sender:
                continue
            kind = message.kind.value
            if packet.label:
                name = f"{packet.sender}#{packet.label}"
            else:
                counts[packet.sender, kind, message.channel_id] += 1
                name = f"{packet.sender}/{kind}{counts[packet.sender, kind, message.channel_id]}"
            name += self._channel_suffix(message.channel_id)
            taken[name] += 1
            name = name if taken[name] == 1 else f"{name}~{taken[name]}"
            if sync:
                self._syncs[_place(message)] = name
                self._syncs_by_id.setdefault(key, name)
            else:
                self._names[key] = name

    def names_of(self, channel_id: str, message_id: str) -> str:
        """The name of the message with the ID ``message_id``; "=" and the ID if no participant of the schedule sent
        it."""
        key = (channel_id, message_id)
        return self._names.get(key) or self._syncs_by_id.get(key) or f"={message_id}{self._channel_suffix(channel_id)}"

    def name_message(self, message: Message) -> str:
        """The name of a message; a sync message is also identified by sender and Lamport timestamp."""
        sync = self._syncs.get(_place(message)) if message.kind is Kind.SYNC else None
        return sync or self.names_of(message.channel_id, message.message_id)

    def sorted(self, channel_id: str, message_ids: Iterable[str]) -> list[str]:
        """The names of the messages with these IDs, sorted, without duplicates."""
        return sorted({self.names_of(channel_id, message_id) for message_id in message_ids})

    def newest(self, message: Message) -> str:
        """The name of the entry with the greatest Lamport timestamp in a causal history; "" for an empty history.

        Causal histories of all lengths contain this entry.
        """
        newest = self._newest(message)
        return self.names_of(*newest) if newest is not None else ""

    def newest_lamport(self, message: Message) -> int | None:
        """The Lamport timestamp of the newest entry in a causal history; None for an empty history, or if no
        participant or scripted peer sent the message."""
        newest = self._newest(message)
        return self._lamport(newest) if newest in self._messages else None

    def content_of(self, message: Message, lamport: int) -> list[str | int]:
        """The fields of a broadcast message that the specification determines, with ``lamport`` in place of its
        timestamp."""
        return [
            self.name_message(message),
            message.kind.value,
            message.sender_id,
            message.channel_id,
            lamport,
            self.newest(message),
            (message.content or b"").hex(),
        ]

    def in_causal_order(self, delivered: Sequence[Key]) -> list[Key]:
        """The deliveries of one step in causal order, with independent ones sorted by name.

        A sequence that violates the causal order is returned unchanged, so that the violation stays visible.
        """
        if len(delivered) < 2 or len(set(delivered)) < len(delivered):
            return list(delivered)
        place = {key: number for number, key in enumerate(delivered)}
        causes = {key: {cause for cause in self._causes(key) if cause in place} for key in delivered}
        if any(place[cause] >= place[key] for key, those in causes.items() for cause in those):
            return list(delivered)
        sorter = TopologicalSorter(causes)
        sorter.prepare()
        ready: list[tuple[str, Key]] = []
        out = []
        while sorter.is_active():
            for key in sorter.get_ready():
                heapq.heappush(ready, (self.names_of(*key), key))
            out.append(heapq.heappop(ready)[1])
            sorter.done(out[-1])
        return out

    def _newest(self, message: Message) -> Key | None:
        entries = ((message.channel_id, entry.message_id) for entry in message.causal_history)
        return max(entries, key=lambda key: (self._lamport(key), key[1]), default=None)

    def _causes(self, key: Key) -> list[Key]:
        message = self._messages.get(key)
        return [(key[0], entry.message_id) for entry in message.causal_history] if message is not None else []

    def _lamport(self, key: Key) -> int:
        message = self._messages.get(key)
        return message.lamport_timestamp or 0 if message is not None else -1

    def _channel_suffix(self, channel_id: str) -> str:
        return "" if channel_id == self._home else f"@{channel_id}"


def _place(message: Message) -> tuple[str, str, str, int | None]:
    """A key that identifies a sync message, also if other sync messages have the same ID."""
    return message.channel_id, message.sender_id, message.message_id, message.lamport_timestamp
