"""Golden vectors of SDS: the groups, each in the module of what it is about, and what it takes to ask for them.

``material`` is what the rest of the suite is handed. ``shapes`` names who asks for what; the askers stand in
``running``, what plays whole conversations in ``conversations``. Importing this package registers all groups.
"""

from __future__ import annotations

from importlib import import_module

_IN_THE_ORDER_OF_FILES = """
ack_reviews bloom forum_decoding wire_encoding message_kinds forum_lamport hashes ordering repair_buffers repair_times
transcripts
"""

for _name in _IN_THE_ORDER_OF_FILES.split():
    import_module(f"{__name__}.{_name}")
