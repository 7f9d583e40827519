"""The scenarios: schedules written by hand, one module per part of the protocol. Importing this package registers them.

``core`` is about SDS, ``repair`` about its extension SDS-R, ``forum`` about rules that only the proposal of 2024 has.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages

for _module in walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)
