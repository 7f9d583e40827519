"""The checks, one module per section of the requirements. Importing this package registers them all.

Of section STATE, parts stand apart: filling (the bloom filter when it is full), joining, and states (of own messages);
unseen has what is read from the wire where an implementation does not show its buffers.
"""

from . import (
    ack,
    conflict,
    deliver,
    ephemeral,
    filling,
    insweep,
    joining,
    message,
    outsweep,
    receive,
    send,
    state,
    states,
    sync,
    unseen,
    wire,
)

__all__ = [
    "ack",
    "conflict",
    "deliver",
    "ephemeral",
    "filling",
    "insweep",
    "joining",
    "message",
    "outsweep",
    "receive",
    "send",
    "state",
    "states",
    "sync",
    "unseen",
    "wire",
]
