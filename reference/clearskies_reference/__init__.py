"""The executable model of the ClearSkies database extension.

The model has one module per concept of the specification. It reads no clock and uses no randomness of its own. Start
reading at Peer, then Database. Choices that the specification leaves open are fields of Config, or subclasses of Peer
for the variants. Only two parts do I/O: ``sqlite_store`` keeps a store in a file, and ``testee`` speaks the testee
protocol for ``python -m clearskies_reference``.
"""

from .config import AccessLevel, Config, LoserOfKey, Relay, Resolution
from .database import Database
from .effects import Changed, Conflict, Effects, Event, LinkClosed, Sent
from .errors import (
    BrokenFramingError,
    ClearSkiesError,
    ConfigurationError,
    MalformedMessageError,
    RefusedWriteError,
    StoreError,
    UnknownLinkError,
)
from .framing import Message, Parser
from .messages import EXTENSION, GetUpdates, get_updates_body, read, update_body
from .peer import ClubLink, Peer
from .record import Record, StoredRecord
from .signing import PROFILES, Keys, SignatureProfile, private_key, public_key, signature_profile
from .sqlite_store import SqliteStore
from .store import MemoryStore, Store
from .timestamps import Timestamp, timestamp
from .vector_clock import VectorClock, is_before, merge, vector_clock

__all__ = [
    "EXTENSION",
    "PROFILES",
    "AccessLevel",
    "BrokenFramingError",
    "Changed",
    "ClearSkiesError",
    "ClubLink",
    "Config",
    "ConfigurationError",
    "Conflict",
    "Database",
    "Effects",
    "Event",
    "GetUpdates",
    "Keys",
    "LinkClosed",
    "LoserOfKey",
    "MalformedMessageError",
    "MemoryStore",
    "Message",
    "Parser",
    "Peer",
    "Record",
    "RefusedWriteError",
    "Relay",
    "Resolution",
    "Sent",
    "SignatureProfile",
    "SqliteStore",
    "Store",
    "StoreError",
    "StoredRecord",
    "Timestamp",
    "UnknownLinkError",
    "VectorClock",
    "get_updates_body",
    "is_before",
    "merge",
    "private_key",
    "public_key",
    "read",
    "signature_profile",
    "timestamp",
    "update_body",
    "vector_clock",
]
