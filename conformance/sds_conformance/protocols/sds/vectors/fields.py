"""Messages in vectors: absent fields are unset on the wire, bytes are hex, timestamps are strings."""

from __future__ import annotations

from typing import Any

from sds_reference import HistoryEntry, Message


def message_json(message: Message) -> dict[str, Any]:
    """The fields of ``message`` as JSON values."""
    out: dict[str, Any] = {
        "sender_id": message.sender_id,
        "message_id": message.message_id,
        "channel_id": message.channel_id,
    }
    if message.lamport_timestamp is not None:
        out["lamport_timestamp"] = str(message.lamport_timestamp)
    out["causal_history"] = [entry_json(entry) for entry in message.causal_history]
    if message.bloom_filter is not None:
        out["bloom_filter"] = message.bloom_filter.hex()
    out["repair_request"] = [entry_json(entry) for entry in message.repair_request]
    if message.content is not None:
        out["content"] = message.content.hex()
    return out


def entry_json(entry: HistoryEntry) -> dict[str, str]:
    """The fields of a history entry as JSON values."""
    out = {"message_id": entry.message_id}
    if entry.retrieval_hint is not None:
        out["retrieval_hint"] = entry.retrieval_hint.hex()
    if entry.sender_id is not None:
        out["sender_id"] = entry.sender_id
    return out


def message_of(fields: dict[str, Any]) -> Message:
    """Create the message with these fields, which the schema has validated."""
    lamport = fields.get("lamport_timestamp")
    return Message(
        fields["sender_id"],
        fields["message_id"],
        fields["channel_id"],
        int(lamport) if lamport is not None else None,
        tuple(map(entry_of, fields["causal_history"])),
        _bytes(fields.get("bloom_filter")),
        tuple(map(entry_of, fields["repair_request"])),
        _bytes(fields.get("content")),
    )


def entry_of(fields: dict[str, str]) -> HistoryEntry:
    """The history entry with these fields."""
    return HistoryEntry(fields["message_id"], _bytes(fields.get("retrieval_hint")), fields.get("sender_id"))


def _bytes(text: str | None) -> bytes | None:
    return bytes.fromhex(text) if text is not None else None
