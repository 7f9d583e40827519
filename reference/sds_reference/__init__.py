"""The executable model of SDS, the Scalable Data Sync protocol for distributed logs.

A model to read and to run: one module per concept of the text, no I/O, no clock, no randomness. Start at Participant,
then Channel, which follows the protocol steps heading by heading. What the text leaves open is a field of Config.
The one folder that does I/O is ``testee``, which speaks the testee protocol for ``python -m sds_reference``.
"""

from .bloom_filter import RollingBloomFilter, build_filter
from .bloom_profiles import PROFILES, BloomParameters, BloomProfile, FilterView
from .channel import Channel
from .config import AfterLoss, Config, OwnIds, UnknownChannelPolicy, bloom_profile
from .effects import Acknowledged, Delivered, Effects, Event, Lost, Missing, PossiblyAcknowledged
from .errors import (
    ConfigurationError,
    ForeignFilter,
    MalformedMessage,
    RefusedSend,
    SdsError,
    UnknownChannel,
)
from .local_log import LocalLog, LogEntry
from .message import MAX_LAMPORT, HistoryEntry, Kind, Message, decode, encode
from .outgoing_buffer import AckState
from .participant import UNNAMED_CHANNEL, Participant
from .revision import REVISIONS, SDS_2026_01, Revision

__all__ = [
    "MAX_LAMPORT",
    "PROFILES",
    "REVISIONS",
    "SDS_2026_01",
    "UNNAMED_CHANNEL",
    "AckState",
    "Acknowledged",
    "AfterLoss",
    "BloomParameters",
    "BloomProfile",
    "Channel",
    "Config",
    "ConfigurationError",
    "Delivered",
    "Effects",
    "Event",
    "FilterView",
    "ForeignFilter",
    "HistoryEntry",
    "Kind",
    "LocalLog",
    "LogEntry",
    "Lost",
    "MalformedMessage",
    "Message",
    "Missing",
    "OwnIds",
    "Participant",
    "PossiblyAcknowledged",
    "RefusedSend",
    "Revision",
    "RollingBloomFilter",
    "SdsError",
    "UnknownChannel",
    "UnknownChannelPolicy",
    "bloom_profile",
    "build_filter",
    "decode",
    "encode",
]
