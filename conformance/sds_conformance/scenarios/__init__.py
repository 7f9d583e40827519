"""The scenarios: schedules written by hand, one module per part of the protocol.

Importing this package registers them all.
"""

from . import (
    acknowledging,
    channels,
    clocks,
    delivering,
    endurance,
    ephemerals,
    hostile,
    joining,
    lookalikes,
    ordering,
    resending,
    states,
    sweeping,
    syncing,
    wire,
)

__all__ = [
    "acknowledging",
    "channels",
    "clocks",
    "delivering",
    "endurance",
    "ephemerals",
    "hostile",
    "joining",
    "lookalikes",
    "ordering",
    "resending",
    "states",
    "sweeping",
    "syncing",
    "wire",
]
