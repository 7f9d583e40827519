"""The executable model of SDS, the Scalable Data Sync protocol for distributed logs.

The model has one module per concept of the specification. It reads no clock and uses no randomness. Start reading at
Participant, then Channel, whose methods follow the protocol steps heading by heading. Choices that the specification
leaves open are fields of Config, or subclasses for the variants. The optional extension SDS-R is in ``repair``; a
channel uses it only if Config.sds_r is set. Only the folder ``testee`` does I/O: it speaks the testee protocol for
``python -m sds_reference``.
"""

from .bloom_filter import RollingBloomFilter, build_filter
from .bloom_profiles import PROFILES, BloomParameters, BloomProfile, FilterView
from .channel import Channel
from .config import Config, OwnIds, RepairConfig, bloom_profile
from .effects import Acknowledged, Delivered, Effects, Event, Lost, Missing, PossiblyAcknowledged
from .errors import (
    ConfigurationError,
    ForeignFilterError,
    MalformedMessageError,
    RefusedSendError,
    SdsError,
    UnknownChannelError,
)
from .hash_profiles import HASH_PROFILES, HashProfile, hash_profile
from .local_log import LocalLog, LogEntry
from .message import MAX_LAMPORT, HistoryEntry, Kind, Message, decode, encode
from .outgoing_buffer import AckState
from .participant import UNNAMED_CHANNEL, Participant
from .repair_times import default_response_groups, in_response_group, t_req_offset, t_resp_offset
from .revision import FORUM_2024, REVISIONS, SDS_2025_10_AMENDED, SDS_2026_01, Revision
from .wire_formats import V2026_01, WireFormat

__all__ = [
    "FORUM_2024",
    "HASH_PROFILES",
    "MAX_LAMPORT",
    "PROFILES",
    "REVISIONS",
    "SDS_2025_10_AMENDED",
    "SDS_2026_01",
    "UNNAMED_CHANNEL",
    "V2026_01",
    "AckState",
    "Acknowledged",
    "BloomParameters",
    "BloomProfile",
    "Channel",
    "Config",
    "ConfigurationError",
    "Delivered",
    "Effects",
    "Event",
    "FilterView",
    "ForeignFilterError",
    "HashProfile",
    "HistoryEntry",
    "Kind",
    "LocalLog",
    "LogEntry",
    "Lost",
    "MalformedMessageError",
    "Message",
    "Missing",
    "OwnIds",
    "Participant",
    "PossiblyAcknowledged",
    "RefusedSendError",
    "RepairConfig",
    "Revision",
    "RollingBloomFilter",
    "SdsError",
    "UnknownChannelError",
    "WireFormat",
    "bloom_profile",
    "build_filter",
    "decode",
    "default_response_groups",
    "encode",
    "hash_profile",
    "in_response_group",
    "t_req_offset",
    "t_resp_offset",
]
