"""The checks: of core SDS, of its repair extension, and of the proposal of 2024. Importing this package registers them.

``core`` has a module for each thing that requirements of several sections speak of: wire (the layout), message (the
meaning), timestamps, history (causal histories), filters, log, acknowledgement, receive (the incoming buffer),
outgoing_buffer (with its sweep), and sync and ephemeral for what these alone are about. Checks that are
alike are rows of a table. ``forum`` has what the proposal says by itself (own), and what it says like SDS (alike).
"""

from __future__ import annotations

from importlib import import_module

_CORE = """
wire acknowledgement ephemeral filters history log message outgoing_buffer receive sync timestamps
"""
"""Of one requirement, the check that is registered first is named first."""
_REPAIR = "arguments channels fields groups receive request_times requests responses sending storms sweeps times"

for _name in _CORE.split():
    import_module(f"{__name__}.core.{_name}")
for _name in _REPAIR.split():
    import_module(f"{__name__}.repair.{_name}")
for _name in ("own", "alike"):
    import_module(f"{__name__}.forum.{_name}")
