"""Golden vectors of the ClearSkies database extension: the groups, each in the module of what it is about.

``material`` is what the rest of the suite is handed. ``shapes`` names who asks for what; the askers stand in
``running``. Importing this package registers all groups.
"""

from __future__ import annotations

from importlib import import_module

_IN_THE_ORDER_OF_FILES = """
conflicts key_conflicts framing framing_written get_updates ghost_records signatures signed_updates vector_clocks
"""

for _name in _IN_THE_ORDER_OF_FILES.split():
    import_module(f"{__name__}.{_name}")
