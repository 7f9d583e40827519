"""Faults in SDS itself."""

from . import acknowledge, deliver, message, receive, send, state, states, subtle, sweeps, sync, unseen

__all__ = [
    "acknowledge",
    "deliver",
    "message",
    "receive",
    "send",
    "state",
    "states",
    "subtle",
    "sweeps",
    "sync",
    "unseen",
]
