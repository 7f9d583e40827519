"""The checks: of core SDS, of its repair extension, and of the proposal of 2024. Importing this package registers them.

``core`` has a module for each thing that requirements of several sections speak of: wire (the layout), message (the
meaning), timestamps, history (causal histories), filters, log, acknowledgement, receive (the incoming buffer),
outgoing_buffer (with its sweep), and sync and ephemeral for what these alone are about. Checks that are
alike are rows of a table. ``forum`` has what the proposal says by itself (own), and what it says like SDS (alike).
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages

for _module in walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)
