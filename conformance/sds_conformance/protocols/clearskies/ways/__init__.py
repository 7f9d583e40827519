"""The ways that the text leaves open, and which of them an implementation goes. Importing this package registers them.

A function stands under a position, with the ways that there are, and yields the steps that prove one of them. Its
docstring says what the proof is. ``untold`` has the positions of which no run can tell anything.
"""

from __future__ import annotations

from importlib import import_module

_MODULES = "spreading records"

for _name in _MODULES.split():
    import_module(f"{__name__}.{_name}")
