"""The checks: of core SDS, of its repair extension, and of the proposal of 2024. Importing this package registers them.

``core`` has a module for each topic of the requirements: wire (the layout), message (the meaning of fields),
timestamps, history (causal histories), filters, log, acknowledgement, receive (the incoming buffer), outgoing_buffer
(with its sweep), and sync and ephemeral for requirements on these kinds of messages only. Similar checks are rows of a
table. ``repair`` has the checks of SDS-R. ``forum`` has the requirements that only the proposal has (proposal_rules),
and the requirements that it shares with SDS (shared_requirements).
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages

for _module in walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)
