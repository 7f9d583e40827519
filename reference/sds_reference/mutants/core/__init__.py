"""Faults in SDS itself. Importing this package registers them."""

from . import acknowledge, deliver, message, receive, refusals, send, state, states, subtle, sweeps, sync, unseen  # noqa: F401
