"""The groups, each in the module of what it is about. Importing this package registers them all."""

from __future__ import annotations

from . import (
    ack_reviews,
    bloom,
    forum_decoding,
    forum_encoding,
    forum_lamport,
    hashes,
    lamport,
    message_kinds,
    ordering,
    repair_buffers,
    repair_times,
    transcripts,
    wire_decoding,
    wire_encoding,
)

MODULES = (
    wire_decoding,
    wire_encoding,
    message_kinds,
    lamport,
    forum_decoding,
    forum_encoding,
    forum_lamport,
    ordering,
    bloom,
    hashes,
    repair_times,
    ack_reviews,
    repair_buffers,
    transcripts,
)
"""The order in which they are listed is that of this tuple's imports."""
