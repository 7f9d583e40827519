"""Recognises which of the behaviours that a position allows (its ways) an implementation has.

Importing this package registers the functions.

Each function belongs to a position of ``catalogue/positions.json`` and yields (step, way) for steps that prove one of
its ways. The docstring of a function describes the proof: a value or a signal that no other way can give.
"""

from __future__ import annotations

from importlib import import_module

_MODULES = "clocks log deliveries odd_messages sync_and_ephemeral filters acknowledgements copies repair settings"

for _name in _MODULES.split():
    import_module(f"{__name__}.{_name}")
