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
    repair_fields,
    repair_groups,
    repair_overhearing,
    repair_requesting,
    repair_responding,
    repair_statistics,
    repair_together,
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
    "repair_fields",
    "repair_groups",
    "repair_overhearing",
    "repair_requesting",
    "repair_responding",
    "repair_statistics",
    "repair_together",
    "resending",
    "states",
    "sweeping",
    "syncing",
    "wire",
]
