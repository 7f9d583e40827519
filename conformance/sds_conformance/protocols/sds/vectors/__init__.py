"""The groups, each in the module of what it is about. Importing this package registers them all."""

from __future__ import annotations

from importlib import import_module

_LISTED = """
ack_reviews bloom forum_decoding forum_encoding forum_lamport hashes lamport message_kinds ordering repair_buffers
repair_times transcripts wire_decoding wire_encoding
"""

for _name in _LISTED.split():
    import_module(f"{__name__}.{_name}")
