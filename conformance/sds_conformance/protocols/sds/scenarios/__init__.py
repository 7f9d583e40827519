"""The scenarios: schedules written by hand, one module per part of the protocol. Importing this package registers them.

``core`` is about SDS, ``repair`` about its extension SDS-R, ``forum`` about what the proposal of 2024 alone says.
"""

from __future__ import annotations

from importlib import import_module

_PLAYED = """
core.acknowledging core.channels core.clocks core.delivering core.endurance core.ephemerals forum.own core.hostile
core.joining core.lookalikes core.ordering repair.requesting repair.responding repair.everyday repair.fields
repair.groups repair.overhearing repair.statistics repair.together core.resending core.states core.sweeping
core.syncing core.wire repair.anew repair.arguments core.crowds repair.crowds core.long_times
repair.long_times repair.lookalikes core.three_channels core.near_ids core.chains core.capacity core.refused_input
repair.edge_cases
"""
"""In the order in which they are played."""

for _name in _PLAYED.split():
    import_module(f"{__name__}.{_name}")
