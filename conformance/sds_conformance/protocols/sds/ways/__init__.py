"""The ways that the text leaves open, and which of them an implementation goes. Importing this package registers them.

A function stands under a position, with the ways that there are, and yields the steps that prove one of them. Its
docstring says what the proof is: a value that only one of the ways can have, or a signal that only one of them gives.
What more than one way explains is not told. ``untold`` has the positions of which no run can tell anything.
"""

from __future__ import annotations

from importlib import import_module

_MODULES = "clocks logs deliveries losses odd kinds filters acknowledging copies requesting responding settings"

for _name in _MODULES.split():
    import_module(f"{__name__}.{_name}")
