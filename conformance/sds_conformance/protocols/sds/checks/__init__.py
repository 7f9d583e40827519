"""The checks: of core SDS, of its repair extension, and of the proposal of 2024. Importing this package registers them.

``core`` has a module for each section of the requirements, and one for DELIVER and CONFLICT. Of section STATE, parts
stand apart: filling (the bloom filter when it is full), joining, and states (of own messages), and of section RECV
own_name; timestamps has what all sections say of Lamport timestamps; unseen has what is read from the wire where an
implementation does not show its buffers. ``forum`` has what the proposal says by itself (own), and what it says like
SDS (alike).
"""

from __future__ import annotations

from importlib import import_module

_CORE = """
wire ack deliver ephemeral filling insweep joining message outsweep own_name receive send state states sync timestamps
unseen
"""
"""Of one requirement, the check that is registered first is named first."""
_REPAIR = "arguments channels due_answers fields groups receive request_times requests responses storms sweeps times"

for _name in _CORE.split():
    import_module(f"{__name__}.core.{_name}")
for _name in _REPAIR.split():
    import_module(f"{__name__}.repair.{_name}")
for _name in ("own", "alike"):
    import_module(f"{__name__}.forum.{_name}")
