"""The checks, grouped by the items of a trace that they judge. Importing this package registers them."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages

for _module in walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)
