"""The checks: of core SDS, of its repair extension, and of the proposal of 2024. Importing this package registers them.

``core`` has a module for each section of the requirements, and one for DELIVER and CONFLICT. Of section STATE, parts
stand apart: filling (the bloom filter when it is full), joining, and states (of own messages), and of section RECV
own_name; timestamps has what all sections say of Lamport timestamps; unseen has what is read from the wire where an
implementation does not show its buffers. ``forum`` has what the proposal says by itself (own), and what it says like
SDS (alike).
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages

for _module in walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)
