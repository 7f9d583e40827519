"""The checks, a module for each section of the text, and more for two of them: revisions, asking and answering for
"Requesting Updates", clocks and conflicts for "Conflicts".

Importing this package registers them.
"""

from __future__ import annotations

from importlib import import_module

_SECTIONS = "extension levels layout changes revisions asking answering clocks conflicts deletions"

for _name in _SECTIONS.split():
    import_module(f"{__name__}.{_name}")
