"""Helpers for tests of the model: messages of scripted peers, and views of results of the model.

The one channel is "c" unless a test needs more, the participant under test is "alice", and T is the time it joins.
"""

from __future__ import annotations

from sds_reference import Config, Delivered, Effects, Message, Participant, encode

T = 1_800_000_000_000

QUIET = Config(sync_interval_ms=None)


def joined(config: Config = QUIET) -> Participant:
    """A participant that has joined channel "c"."""
    participant = Participant("alice", config)
    participant.join("c", T)
    return participant


def content(
    message_id: str, *, at: int = T, sender: str = "xavier", channel: str = "c", payload: bytes | None = None
) -> bytes:
    """A content message with Lamport timestamp ``at``; its content is its ID unless ``payload`` is given."""
    text = message_id.encode() if payload is None else payload
    return encode(Message(sender, message_id, channel, at, content=text))


def sync(message_id: str, at: int = T) -> bytes:
    """A sync message: no content field at all."""
    return encode(Message("xavier", message_id, "c", at))


def delivered(effects: Effects) -> list[str]:
    return [event.message_id for event in effects.events if isinstance(event, Delivered)]


def log(participant: Participant, channel: str = "c") -> list[str]:
    """IDs of the local log, in its order."""
    return [entry.message_id for entry in participant.channel(channel).log]


def incoming(participant: Participant) -> list[str]:
    """IDs of the incoming buffer."""
    return [entry.message.message_id for entry in participant.channel("c").incoming]
