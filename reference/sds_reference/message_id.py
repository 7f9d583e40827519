"""Section "Message": a globally unique identifier, "likely based on a message hash"."""

from __future__ import annotations

from hashlib import sha256


def computed_message_id(
    sender_id: str, channel_id: str, lamport_timestamp: int | None, serial: int, content: bytes
) -> str:
    """The default message ID: 64 lower-case hex digits of a SHA-256 over everything that makes the message unique.

    A hash of the content alone would collide (two participants say "ok"). So the hash also covers the sender, the
    channel, the Lamport timestamp (unique per sender and channel) and ``serial`` (a counter, which distinguishes
    messages without timestamp). Each part is prefixed with its length.
    """
    digest = sha256()
    lamport = b"" if lamport_timestamp is None else lamport_timestamp.to_bytes(8, "big")
    for part in (sender_id.encode(), channel_id.encode(), lamport, serial.to_bytes(8, "big"), content):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()
