"""The checks, one module per section of the requirements. Importing this package registers them all."""

from . import ack, conflict, deliver, ephemeral, insweep, message, outsweep, receive, send, state, sync, wire

__all__ = [
    "ack",
    "conflict",
    "deliver",
    "ephemeral",
    "insweep",
    "message",
    "outsweep",
    "receive",
    "send",
    "state",
    "sync",
    "wire",
]
