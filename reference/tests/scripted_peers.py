"""Helpers for tests of the model: messages of scripted peers, and views of results of the model.

The one channel is "c" unless a test needs more, the participant under test is "alice", and T is the time it joins.
"""

from __future__ import annotations

from sds_reference import (
    Config,
    Delivered,
    Effects,
    HistoryEntry,
    Message,
    Missing,
    Participant,
    build_filter,
    decode,
    encode,
)

T = 1_800_000_000_000

QUIET = Config(sync_interval_ms=None)


def joined(config: Config = QUIET, participant_id: str = "alice", now_ms: int = T) -> Participant:
    """A participant that has joined channel "c"."""
    participant = Participant(participant_id, config)
    participant.join("c", now_ms)
    return participant


def content(
    message_id: str,
    *causal: str | HistoryEntry,
    at: int = T,
    sender: str = "xavier",
    channel: str = "c",
    payload: bytes | None = None,
    bloom: bytes | None = None,
) -> bytes:
    """A content message with Lamport timestamp ``at``; its content is its ID unless ``payload`` is given."""
    text = message_id.encode() if payload is None else payload
    return encode(Message(sender, message_id, channel, at, _entries(causal), bloom, (), text))


def sync(
    message_id: str,
    *causal: str | HistoryEntry,
    at: int = T,
    sender: str = "xavier",
    channel: str = "c",
    bloom: bytes | None = None,
) -> bytes:
    """A sync message: no content field at all."""
    return encode(Message(sender, message_id, channel, at, _entries(causal), bloom))


def ephemeral(message_id: str, payload: bytes = b"now", sender: str = "xavier", channel: str = "c") -> bytes:
    return encode(Message(sender, message_id, channel, content=payload))


def _entries(causal: tuple[str | HistoryEntry, ...]) -> tuple[HistoryEntry, ...]:
    return tuple(HistoryEntry(entry) if isinstance(entry, str) else entry for entry in causal)


def holding(*message_ids: str, config: Config = QUIET) -> bytes:
    """A peer's ``bloom_filter`` over exactly these IDs."""
    return build_filter(config.bloom_profile, config.bloom_parameters, message_ids)


def sent(effects: Effects) -> Message:
    """The one message that was broadcast."""
    (wire,) = effects.broadcasts
    return decode(wire)


def causal_ids(message: Message) -> list[str]:
    return [entry.message_id for entry in message.causal_history]


def delivered(effects: Effects) -> list[str]:
    return [event.message_id for event in effects.events if isinstance(event, Delivered)]


def missing(effects: Effects) -> list[str]:
    """IDs of all Missing events, sorted: their order within an event is not promised."""
    events = [event for event in effects.events if isinstance(event, Missing)]
    return sorted(entry.message_id for event in events for entry in event.entries)


def log(participant: Participant, channel: str = "c") -> list[str]:
    """IDs of the local log, in its order."""
    return [entry.message_id for entry in participant.channel(channel).log]


def lamport(participant: Participant, channel: str = "c") -> int:
    return participant.channel(channel).clock.value


def outgoing(participant: Participant, channel: str = "c") -> dict[str, str]:
    """State of each message in the outgoing buffer, by ID."""
    return {entry.message_id: entry.state.value for entry in participant.channel(channel).outgoing}


def incoming(participant: Participant, channel: str = "c") -> list[str]:
    """IDs of the incoming buffer."""
    return [entry.message.message_id for entry in participant.channel(channel).incoming]


def in_filter(participant: Participant, *message_ids: str) -> list[bool]:
    return [message_id in participant.channel("c").filter for message_id in message_ids]
