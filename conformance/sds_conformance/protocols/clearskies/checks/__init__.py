"""The checks, a module for each section of the text, and three for "Requesting Updates": revisions, asking, answering.

Importing this package registers them.
"""

from __future__ import annotations

from importlib import import_module

_SECTIONS = "extension levels layout changes revisions asking answering clocks conflicts deletions"

for _name in _SECTIONS.split():
    import_module(f"{__name__}.{_name}")
