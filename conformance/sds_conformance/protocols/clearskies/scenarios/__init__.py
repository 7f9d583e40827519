"""The scenarios: schedules written by hand, one module per part of the text. Importing this package registers them."""

from __future__ import annotations

from importlib import import_module

_PLAYED = "levels layout changes revisions requests conflicts deletions persistence"
"""In the order in which they are played."""

for _name in _PLAYED.split():
    import_module(f"{__name__}.{_name}")
