"""Shows which option of a position an implementation takes. Importing this package registers the functions.

Each function belongs to a position of ``catalogue/positions.json`` and yields the steps that prove one of its options.
Its docstring names the proof: a value or a signal that no other option can give.
"""

from __future__ import annotations

from importlib import import_module

_MODULES = "clocks log deliveries odd_messages sync_and_ephemeral filters acknowledgements copies repair settings"

for _name in _MODULES.split():
    import_module(f"{__name__}.{_name}")
