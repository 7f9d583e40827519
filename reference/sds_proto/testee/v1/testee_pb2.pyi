from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Capability(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CAPABILITY_UNSPECIFIED: _ClassVar[Capability]
    CAPABILITY_VIRTUAL_CLOCK: _ClassVar[Capability]
    CAPABILITY_OBSERVE: _ClassVar[Capability]
    CAPABILITY_SYNC: _ClassVar[Capability]
    CAPABILITY_EPHEMERAL: _ClassVar[Capability]
    CAPABILITY_CHANNELS: _ClassVar[Capability]
    CAPABILITY_DELIVERED: _ClassVar[Capability]
    CAPABILITY_ACKNOWLEDGED: _ClassVar[Capability]
    CAPABILITY_POSSIBLY_ACKNOWLEDGED: _ClassVar[Capability]
    CAPABILITY_MISSING: _ClassVar[Capability]
    CAPABILITY_LOST: _ClassVar[Capability]
    CAPABILITY_RESEND: _ClassVar[Capability]
    CAPABILITY_RESEND_PERIOD: _ClassVar[Capability]
    CAPABILITY_PERIODIC_SYNC: _ClassVar[Capability]
    CAPABILITY_MESSAGE_ID_ACCEPTED: _ClassVar[Capability]
    CAPABILITY_MESSAGE_ID_REQUIRED: _ClassVar[Capability]
    CAPABILITY_RETRIEVAL_HINTS: _ClassVar[Capability]
    CAPABILITY_FILTER_CODEC: _ClassVar[Capability]
    CAPABILITY_SDS_R: _ClassVar[Capability]
    CAPABILITY_UNNAMED_CHANNEL: _ClassVar[Capability]
    CAPABILITY_MESSAGE_CODEC: _ClassVar[Capability]
    CAPABILITY_REPAIR_TIMES: _ClassVar[Capability]
    CAPABILITY_FILTER_SIZES: _ClassVar[Capability]

class AckState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ACK_STATE_UNSPECIFIED: _ClassVar[AckState]
    ACK_STATE_UNACKNOWLEDGED: _ClassVar[AckState]
    ACK_STATE_POSSIBLY_ACKNOWLEDGED: _ClassVar[AckState]
    ACK_STATE_ACKNOWLEDGED: _ClassVar[AckState]

class MessageKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MESSAGE_KIND_UNSPECIFIED: _ClassVar[MessageKind]
    MESSAGE_KIND_CONTENT: _ClassVar[MessageKind]
    MESSAGE_KIND_SYNC: _ClassVar[MessageKind]
    MESSAGE_KIND_EPHEMERAL: _ClassVar[MessageKind]
CAPABILITY_UNSPECIFIED: Capability
CAPABILITY_VIRTUAL_CLOCK: Capability
CAPABILITY_OBSERVE: Capability
CAPABILITY_SYNC: Capability
CAPABILITY_EPHEMERAL: Capability
CAPABILITY_CHANNELS: Capability
CAPABILITY_DELIVERED: Capability
CAPABILITY_ACKNOWLEDGED: Capability
CAPABILITY_POSSIBLY_ACKNOWLEDGED: Capability
CAPABILITY_MISSING: Capability
CAPABILITY_LOST: Capability
CAPABILITY_RESEND: Capability
CAPABILITY_RESEND_PERIOD: Capability
CAPABILITY_PERIODIC_SYNC: Capability
CAPABILITY_MESSAGE_ID_ACCEPTED: Capability
CAPABILITY_MESSAGE_ID_REQUIRED: Capability
CAPABILITY_RETRIEVAL_HINTS: Capability
CAPABILITY_FILTER_CODEC: Capability
CAPABILITY_SDS_R: Capability
CAPABILITY_UNNAMED_CHANNEL: Capability
CAPABILITY_MESSAGE_CODEC: Capability
CAPABILITY_REPAIR_TIMES: Capability
CAPABILITY_FILTER_SIZES: Capability
ACK_STATE_UNSPECIFIED: AckState
ACK_STATE_UNACKNOWLEDGED: AckState
ACK_STATE_POSSIBLY_ACKNOWLEDGED: AckState
ACK_STATE_ACKNOWLEDGED: AckState
MESSAGE_KIND_UNSPECIFIED: MessageKind
MESSAGE_KIND_CONTENT: MessageKind
MESSAGE_KIND_SYNC: MessageKind
MESSAGE_KIND_EPHEMERAL: MessageKind

class Request(_message.Message):
    __slots__ = ("id", "hello", "open", "close", "send", "send_ephemeral", "send_sync", "receive", "tick", "observe", "build_filter", "query_filter", "encode", "decode", "repair_times")
    ID_FIELD_NUMBER: _ClassVar[int]
    HELLO_FIELD_NUMBER: _ClassVar[int]
    OPEN_FIELD_NUMBER: _ClassVar[int]
    CLOSE_FIELD_NUMBER: _ClassVar[int]
    SEND_FIELD_NUMBER: _ClassVar[int]
    SEND_EPHEMERAL_FIELD_NUMBER: _ClassVar[int]
    SEND_SYNC_FIELD_NUMBER: _ClassVar[int]
    RECEIVE_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    OBSERVE_FIELD_NUMBER: _ClassVar[int]
    BUILD_FILTER_FIELD_NUMBER: _ClassVar[int]
    QUERY_FILTER_FIELD_NUMBER: _ClassVar[int]
    ENCODE_FIELD_NUMBER: _ClassVar[int]
    DECODE_FIELD_NUMBER: _ClassVar[int]
    REPAIR_TIMES_FIELD_NUMBER: _ClassVar[int]
    id: int
    hello: Hello
    open: Open
    close: Close
    send: Send
    send_ephemeral: SendEphemeral
    send_sync: SendSync
    receive: Receive
    tick: Tick
    observe: Observe
    build_filter: BuildFilter
    query_filter: QueryFilter
    encode: Encode
    decode: Decode
    repair_times: RepairTimes
    def __init__(self, id: _Optional[int] = ..., hello: _Optional[_Union[Hello, _Mapping]] = ..., open: _Optional[_Union[Open, _Mapping]] = ..., close: _Optional[_Union[Close, _Mapping]] = ..., send: _Optional[_Union[Send, _Mapping]] = ..., send_ephemeral: _Optional[_Union[SendEphemeral, _Mapping]] = ..., send_sync: _Optional[_Union[SendSync, _Mapping]] = ..., receive: _Optional[_Union[Receive, _Mapping]] = ..., tick: _Optional[_Union[Tick, _Mapping]] = ..., observe: _Optional[_Union[Observe, _Mapping]] = ..., build_filter: _Optional[_Union[BuildFilter, _Mapping]] = ..., query_filter: _Optional[_Union[QueryFilter, _Mapping]] = ..., encode: _Optional[_Union[Encode, _Mapping]] = ..., decode: _Optional[_Union[Decode, _Mapping]] = ..., repair_times: _Optional[_Union[RepairTimes, _Mapping]] = ...) -> None: ...

class Reply(_message.Message):
    __slots__ = ("id", "hello", "opened", "effects", "state", "filter", "membership", "encoded", "decoded", "repair_offsets", "unsupported", "rejected", "error")
    ID_FIELD_NUMBER: _ClassVar[int]
    HELLO_FIELD_NUMBER: _ClassVar[int]
    OPENED_FIELD_NUMBER: _ClassVar[int]
    EFFECTS_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    MEMBERSHIP_FIELD_NUMBER: _ClassVar[int]
    ENCODED_FIELD_NUMBER: _ClassVar[int]
    DECODED_FIELD_NUMBER: _ClassVar[int]
    REPAIR_OFFSETS_FIELD_NUMBER: _ClassVar[int]
    UNSUPPORTED_FIELD_NUMBER: _ClassVar[int]
    REJECTED_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    id: int
    hello: HelloReply
    opened: Opened
    effects: Effects
    state: State
    filter: Filter
    membership: Membership
    encoded: Encoded
    decoded: Decoded
    repair_offsets: RepairOffsets
    unsupported: Unsupported
    rejected: Rejected
    error: Error
    def __init__(self, id: _Optional[int] = ..., hello: _Optional[_Union[HelloReply, _Mapping]] = ..., opened: _Optional[_Union[Opened, _Mapping]] = ..., effects: _Optional[_Union[Effects, _Mapping]] = ..., state: _Optional[_Union[State, _Mapping]] = ..., filter: _Optional[_Union[Filter, _Mapping]] = ..., membership: _Optional[_Union[Membership, _Mapping]] = ..., encoded: _Optional[_Union[Encoded, _Mapping]] = ..., decoded: _Optional[_Union[Decoded, _Mapping]] = ..., repair_offsets: _Optional[_Union[RepairOffsets, _Mapping]] = ..., unsupported: _Optional[_Union[Unsupported, _Mapping]] = ..., rejected: _Optional[_Union[Rejected, _Mapping]] = ..., error: _Optional[_Union[Error, _Mapping]] = ...) -> None: ...

class Hello(_message.Message):
    __slots__ = ("protocol_version", "harness", "revision")
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    HARNESS_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    protocol_version: int
    harness: str
    revision: str
    def __init__(self, protocol_version: _Optional[int] = ..., harness: _Optional[str] = ..., revision: _Optional[str] = ...) -> None: ...

class HelloReply(_message.Message):
    __slots__ = ("protocol_version", "name", "version", "language", "homepage", "revisions", "capabilities", "profiles", "limits", "alone")
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    HOMEPAGE_FIELD_NUMBER: _ClassVar[int]
    REVISIONS_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    PROFILES_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    ALONE_FIELD_NUMBER: _ClassVar[int]
    protocol_version: int
    name: str
    version: str
    language: str
    homepage: str
    revisions: _containers.RepeatedScalarFieldContainer[str]
    capabilities: _containers.RepeatedScalarFieldContainer[Capability]
    profiles: Profiles
    limits: Limits
    alone: bool
    def __init__(self, protocol_version: _Optional[int] = ..., name: _Optional[str] = ..., version: _Optional[str] = ..., language: _Optional[str] = ..., homepage: _Optional[str] = ..., revisions: _Optional[_Iterable[str]] = ..., capabilities: _Optional[_Iterable[_Union[Capability, str]]] = ..., profiles: _Optional[_Union[Profiles, _Mapping]] = ..., limits: _Optional[_Union[Limits, _Mapping]] = ..., alone: bool = ...) -> None: ...

class Profiles(_message.Message):
    __slots__ = ("bloom", "hash", "id_order", "dialect")
    BLOOM_FIELD_NUMBER: _ClassVar[int]
    HASH_FIELD_NUMBER: _ClassVar[int]
    ID_ORDER_FIELD_NUMBER: _ClassVar[int]
    DIALECT_FIELD_NUMBER: _ClassVar[int]
    bloom: str
    hash: str
    id_order: str
    dialect: str
    def __init__(self, bloom: _Optional[str] = ..., hash: _Optional[str] = ..., id_order: _Optional[str] = ..., dialect: _Optional[str] = ...) -> None: ...

class Limits(_message.Message):
    __slots__ = ("content_bytes", "lamport_ahead_ms", "log_entries", "repair_clock_ms", "waiting_messages", "cascade_messages", "late_places", "outstanding_messages", "history_entries", "message_id_bytes", "hint_bytes", "repair_request_entries", "repair_answers", "repair_requests", "channels", "participants")
    CONTENT_BYTES_FIELD_NUMBER: _ClassVar[int]
    LAMPORT_AHEAD_MS_FIELD_NUMBER: _ClassVar[int]
    LOG_ENTRIES_FIELD_NUMBER: _ClassVar[int]
    REPAIR_CLOCK_MS_FIELD_NUMBER: _ClassVar[int]
    WAITING_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    CASCADE_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    LATE_PLACES_FIELD_NUMBER: _ClassVar[int]
    OUTSTANDING_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    HISTORY_ENTRIES_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_ID_BYTES_FIELD_NUMBER: _ClassVar[int]
    HINT_BYTES_FIELD_NUMBER: _ClassVar[int]
    REPAIR_REQUEST_ENTRIES_FIELD_NUMBER: _ClassVar[int]
    REPAIR_ANSWERS_FIELD_NUMBER: _ClassVar[int]
    REPAIR_REQUESTS_FIELD_NUMBER: _ClassVar[int]
    CHANNELS_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANTS_FIELD_NUMBER: _ClassVar[int]
    content_bytes: int
    lamport_ahead_ms: int
    log_entries: int
    repair_clock_ms: int
    waiting_messages: int
    cascade_messages: int
    late_places: int
    outstanding_messages: int
    history_entries: int
    message_id_bytes: int
    hint_bytes: int
    repair_request_entries: int
    repair_answers: int
    repair_requests: int
    channels: int
    participants: int
    def __init__(self, content_bytes: _Optional[int] = ..., lamport_ahead_ms: _Optional[int] = ..., log_entries: _Optional[int] = ..., repair_clock_ms: _Optional[int] = ..., waiting_messages: _Optional[int] = ..., cascade_messages: _Optional[int] = ..., late_places: _Optional[int] = ..., outstanding_messages: _Optional[int] = ..., history_entries: _Optional[int] = ..., message_id_bytes: _Optional[int] = ..., hint_bytes: _Optional[int] = ..., repair_request_entries: _Optional[int] = ..., repair_answers: _Optional[int] = ..., repair_requests: _Optional[int] = ..., channels: _Optional[int] = ..., participants: _Optional[int] = ...) -> None: ...

class Configuration(_message.Message):
    __slots__ = ("causal_history_size", "bloom_capacity", "bloom_error_rate", "resend_unacknowledged_ms", "resend_possibly_acknowledged_ms", "sync_interval_ms", "lost_timeout_ms", "incoming_sweep_ms", "possible_ack_threshold", "sds_r", "t_min_ms", "t_max_ms", "num_response_groups", "num_participants", "max_repair_requests")
    CAUSAL_HISTORY_SIZE_FIELD_NUMBER: _ClassVar[int]
    BLOOM_CAPACITY_FIELD_NUMBER: _ClassVar[int]
    BLOOM_ERROR_RATE_FIELD_NUMBER: _ClassVar[int]
    RESEND_UNACKNOWLEDGED_MS_FIELD_NUMBER: _ClassVar[int]
    RESEND_POSSIBLY_ACKNOWLEDGED_MS_FIELD_NUMBER: _ClassVar[int]
    SYNC_INTERVAL_MS_FIELD_NUMBER: _ClassVar[int]
    LOST_TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    INCOMING_SWEEP_MS_FIELD_NUMBER: _ClassVar[int]
    POSSIBLE_ACK_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    SDS_R_FIELD_NUMBER: _ClassVar[int]
    T_MIN_MS_FIELD_NUMBER: _ClassVar[int]
    T_MAX_MS_FIELD_NUMBER: _ClassVar[int]
    NUM_RESPONSE_GROUPS_FIELD_NUMBER: _ClassVar[int]
    NUM_PARTICIPANTS_FIELD_NUMBER: _ClassVar[int]
    MAX_REPAIR_REQUESTS_FIELD_NUMBER: _ClassVar[int]
    causal_history_size: int
    bloom_capacity: int
    bloom_error_rate: float
    resend_unacknowledged_ms: int
    resend_possibly_acknowledged_ms: int
    sync_interval_ms: int
    lost_timeout_ms: int
    incoming_sweep_ms: int
    possible_ack_threshold: int
    sds_r: bool
    t_min_ms: int
    t_max_ms: int
    num_response_groups: int
    num_participants: int
    max_repair_requests: int
    def __init__(self, causal_history_size: _Optional[int] = ..., bloom_capacity: _Optional[int] = ..., bloom_error_rate: _Optional[float] = ..., resend_unacknowledged_ms: _Optional[int] = ..., resend_possibly_acknowledged_ms: _Optional[int] = ..., sync_interval_ms: _Optional[int] = ..., lost_timeout_ms: _Optional[int] = ..., incoming_sweep_ms: _Optional[int] = ..., possible_ack_threshold: _Optional[int] = ..., sds_r: bool = ..., t_min_ms: _Optional[int] = ..., t_max_ms: _Optional[int] = ..., num_response_groups: _Optional[int] = ..., num_participants: _Optional[int] = ..., max_repair_requests: _Optional[int] = ...) -> None: ...

class Open(_message.Message):
    __slots__ = ("now_ms", "participant_id", "channels", "configuration")
    NOW_MS_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    CHANNELS_FIELD_NUMBER: _ClassVar[int]
    CONFIGURATION_FIELD_NUMBER: _ClassVar[int]
    now_ms: int
    participant_id: str
    channels: _containers.RepeatedScalarFieldContainer[str]
    configuration: Configuration
    def __init__(self, now_ms: _Optional[int] = ..., participant_id: _Optional[str] = ..., channels: _Optional[_Iterable[str]] = ..., configuration: _Optional[_Union[Configuration, _Mapping]] = ...) -> None: ...

class Opened(_message.Message):
    __slots__ = ("handle", "configuration")
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    CONFIGURATION_FIELD_NUMBER: _ClassVar[int]
    handle: int
    configuration: Configuration
    def __init__(self, handle: _Optional[int] = ..., configuration: _Optional[_Union[Configuration, _Mapping]] = ...) -> None: ...

class Close(_message.Message):
    __slots__ = ("now_ms", "handle")
    NOW_MS_FIELD_NUMBER: _ClassVar[int]
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    now_ms: int
    handle: int
    def __init__(self, now_ms: _Optional[int] = ..., handle: _Optional[int] = ...) -> None: ...

class Send(_message.Message):
    __slots__ = ("now_ms", "handle", "channel_id", "content", "message_id", "retrieval_hint")
    NOW_MS_FIELD_NUMBER: _ClassVar[int]
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    RETRIEVAL_HINT_FIELD_NUMBER: _ClassVar[int]
    now_ms: int
    handle: int
    channel_id: str
    content: bytes
    message_id: str
    retrieval_hint: bytes
    def __init__(self, now_ms: _Optional[int] = ..., handle: _Optional[int] = ..., channel_id: _Optional[str] = ..., content: _Optional[bytes] = ..., message_id: _Optional[str] = ..., retrieval_hint: _Optional[bytes] = ...) -> None: ...

class SendEphemeral(_message.Message):
    __slots__ = ("now_ms", "handle", "channel_id", "content", "message_id")
    NOW_MS_FIELD_NUMBER: _ClassVar[int]
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    now_ms: int
    handle: int
    channel_id: str
    content: bytes
    message_id: str
    def __init__(self, now_ms: _Optional[int] = ..., handle: _Optional[int] = ..., channel_id: _Optional[str] = ..., content: _Optional[bytes] = ..., message_id: _Optional[str] = ...) -> None: ...

class SendSync(_message.Message):
    __slots__ = ("now_ms", "handle", "channel_id")
    NOW_MS_FIELD_NUMBER: _ClassVar[int]
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_ID_FIELD_NUMBER: _ClassVar[int]
    now_ms: int
    handle: int
    channel_id: str
    def __init__(self, now_ms: _Optional[int] = ..., handle: _Optional[int] = ..., channel_id: _Optional[str] = ...) -> None: ...

class Receive(_message.Message):
    __slots__ = ("now_ms", "handle", "wire", "retrieval_hint")
    NOW_MS_FIELD_NUMBER: _ClassVar[int]
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    WIRE_FIELD_NUMBER: _ClassVar[int]
    RETRIEVAL_HINT_FIELD_NUMBER: _ClassVar[int]
    now_ms: int
    handle: int
    wire: bytes
    retrieval_hint: bytes
    def __init__(self, now_ms: _Optional[int] = ..., handle: _Optional[int] = ..., wire: _Optional[bytes] = ..., retrieval_hint: _Optional[bytes] = ...) -> None: ...

class Tick(_message.Message):
    __slots__ = ("now_ms", "handle")
    NOW_MS_FIELD_NUMBER: _ClassVar[int]
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    now_ms: int
    handle: int
    def __init__(self, now_ms: _Optional[int] = ..., handle: _Optional[int] = ...) -> None: ...

class Effects(_message.Message):
    __slots__ = ("broadcasts", "events", "message_id")
    BROADCASTS_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    broadcasts: _containers.RepeatedScalarFieldContainer[bytes]
    events: _containers.RepeatedCompositeFieldContainer[Event]
    message_id: str
    def __init__(self, broadcasts: _Optional[_Iterable[bytes]] = ..., events: _Optional[_Iterable[_Union[Event, _Mapping]]] = ..., message_id: _Optional[str] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ("channel_id", "delivered", "acknowledged", "possibly_acknowledged", "missing", "lost")
    CHANNEL_ID_FIELD_NUMBER: _ClassVar[int]
    DELIVERED_FIELD_NUMBER: _ClassVar[int]
    ACKNOWLEDGED_FIELD_NUMBER: _ClassVar[int]
    POSSIBLY_ACKNOWLEDGED_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    LOST_FIELD_NUMBER: _ClassVar[int]
    channel_id: str
    delivered: Delivered
    acknowledged: Acknowledged
    possibly_acknowledged: PossiblyAcknowledged
    missing: Missing
    lost: Lost
    def __init__(self, channel_id: _Optional[str] = ..., delivered: _Optional[_Union[Delivered, _Mapping]] = ..., acknowledged: _Optional[_Union[Acknowledged, _Mapping]] = ..., possibly_acknowledged: _Optional[_Union[PossiblyAcknowledged, _Mapping]] = ..., missing: _Optional[_Union[Missing, _Mapping]] = ..., lost: _Optional[_Union[Lost, _Mapping]] = ...) -> None: ...

class Delivered(_message.Message):
    __slots__ = ("message_id", "content")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    content: bytes
    def __init__(self, message_id: _Optional[str] = ..., content: _Optional[bytes] = ...) -> None: ...

class Acknowledged(_message.Message):
    __slots__ = ("message_id",)
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    def __init__(self, message_id: _Optional[str] = ...) -> None: ...

class PossiblyAcknowledged(_message.Message):
    __slots__ = ("message_id",)
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    def __init__(self, message_id: _Optional[str] = ...) -> None: ...

class MissingEntry(_message.Message):
    __slots__ = ("message_id", "retrieval_hint")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    RETRIEVAL_HINT_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    retrieval_hint: bytes
    def __init__(self, message_id: _Optional[str] = ..., retrieval_hint: _Optional[bytes] = ...) -> None: ...

class Missing(_message.Message):
    __slots__ = ("entries",)
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[MissingEntry]
    def __init__(self, entries: _Optional[_Iterable[_Union[MissingEntry, _Mapping]]] = ...) -> None: ...

class Lost(_message.Message):
    __slots__ = ("message_ids",)
    MESSAGE_IDS_FIELD_NUMBER: _ClassVar[int]
    message_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, message_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class Observe(_message.Message):
    __slots__ = ("now_ms", "handle", "channel_id", "filter_ids")
    NOW_MS_FIELD_NUMBER: _ClassVar[int]
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_ID_FIELD_NUMBER: _ClassVar[int]
    FILTER_IDS_FIELD_NUMBER: _ClassVar[int]
    now_ms: int
    handle: int
    channel_id: str
    filter_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, now_ms: _Optional[int] = ..., handle: _Optional[int] = ..., channel_id: _Optional[str] = ..., filter_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class State(_message.Message):
    __slots__ = ("lamport_timestamp", "log", "outgoing", "incoming", "filter_hits", "outgoing_repairs", "incoming_repairs")
    LAMPORT_TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    LOG_FIELD_NUMBER: _ClassVar[int]
    OUTGOING_FIELD_NUMBER: _ClassVar[int]
    INCOMING_FIELD_NUMBER: _ClassVar[int]
    FILTER_HITS_FIELD_NUMBER: _ClassVar[int]
    OUTGOING_REPAIRS_FIELD_NUMBER: _ClassVar[int]
    INCOMING_REPAIRS_FIELD_NUMBER: _ClassVar[int]
    lamport_timestamp: int
    log: Log
    outgoing: OutgoingBuffer
    incoming: IncomingBuffer
    filter_hits: _containers.RepeatedScalarFieldContainer[bool]
    outgoing_repairs: RepairBuffer
    incoming_repairs: RepairBuffer
    def __init__(self, lamport_timestamp: _Optional[int] = ..., log: _Optional[_Union[Log, _Mapping]] = ..., outgoing: _Optional[_Union[OutgoingBuffer, _Mapping]] = ..., incoming: _Optional[_Union[IncomingBuffer, _Mapping]] = ..., filter_hits: _Optional[_Iterable[bool]] = ..., outgoing_repairs: _Optional[_Union[RepairBuffer, _Mapping]] = ..., incoming_repairs: _Optional[_Union[RepairBuffer, _Mapping]] = ...) -> None: ...

class Log(_message.Message):
    __slots__ = ("entries",)
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[LogEntry]
    def __init__(self, entries: _Optional[_Iterable[_Union[LogEntry, _Mapping]]] = ...) -> None: ...

class LogEntry(_message.Message):
    __slots__ = ("message_id", "lamport_timestamp")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    LAMPORT_TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    lamport_timestamp: int
    def __init__(self, message_id: _Optional[str] = ..., lamport_timestamp: _Optional[int] = ...) -> None: ...

class OutgoingBuffer(_message.Message):
    __slots__ = ("entries",)
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[OutgoingEntry]
    def __init__(self, entries: _Optional[_Iterable[_Union[OutgoingEntry, _Mapping]]] = ...) -> None: ...

class OutgoingEntry(_message.Message):
    __slots__ = ("message_id", "state")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    state: AckState
    def __init__(self, message_id: _Optional[str] = ..., state: _Optional[_Union[AckState, str]] = ...) -> None: ...

class IncomingBuffer(_message.Message):
    __slots__ = ("message_ids",)
    MESSAGE_IDS_FIELD_NUMBER: _ClassVar[int]
    message_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, message_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class RepairBuffer(_message.Message):
    __slots__ = ("entries",)
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[RepairEntry]
    def __init__(self, entries: _Optional[_Iterable[_Union[RepairEntry, _Mapping]]] = ...) -> None: ...

class RepairEntry(_message.Message):
    __slots__ = ("message_id", "due_ms")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    DUE_MS_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    due_ms: int
    def __init__(self, message_id: _Optional[str] = ..., due_ms: _Optional[int] = ...) -> None: ...

class BuildFilter(_message.Message):
    __slots__ = ("message_ids", "bloom_capacity", "bloom_error_rate")
    MESSAGE_IDS_FIELD_NUMBER: _ClassVar[int]
    BLOOM_CAPACITY_FIELD_NUMBER: _ClassVar[int]
    BLOOM_ERROR_RATE_FIELD_NUMBER: _ClassVar[int]
    message_ids: _containers.RepeatedScalarFieldContainer[str]
    bloom_capacity: int
    bloom_error_rate: float
    def __init__(self, message_ids: _Optional[_Iterable[str]] = ..., bloom_capacity: _Optional[int] = ..., bloom_error_rate: _Optional[float] = ...) -> None: ...

class Filter(_message.Message):
    __slots__ = ("bloom_filter",)
    BLOOM_FILTER_FIELD_NUMBER: _ClassVar[int]
    bloom_filter: bytes
    def __init__(self, bloom_filter: _Optional[bytes] = ...) -> None: ...

class QueryFilter(_message.Message):
    __slots__ = ("bloom_filter", "message_ids", "bloom_capacity", "bloom_error_rate")
    BLOOM_FILTER_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_IDS_FIELD_NUMBER: _ClassVar[int]
    BLOOM_CAPACITY_FIELD_NUMBER: _ClassVar[int]
    BLOOM_ERROR_RATE_FIELD_NUMBER: _ClassVar[int]
    bloom_filter: bytes
    message_ids: _containers.RepeatedScalarFieldContainer[str]
    bloom_capacity: int
    bloom_error_rate: float
    def __init__(self, bloom_filter: _Optional[bytes] = ..., message_ids: _Optional[_Iterable[str]] = ..., bloom_capacity: _Optional[int] = ..., bloom_error_rate: _Optional[float] = ...) -> None: ...

class Membership(_message.Message):
    __slots__ = ("hits",)
    HITS_FIELD_NUMBER: _ClassVar[int]
    hits: _containers.RepeatedScalarFieldContainer[bool]
    def __init__(self, hits: _Optional[_Iterable[bool]] = ...) -> None: ...

class Message(_message.Message):
    __slots__ = ("sender_id", "message_id", "channel_id", "lamport_timestamp", "causal_history", "bloom_filter", "repair_request", "content")
    SENDER_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_ID_FIELD_NUMBER: _ClassVar[int]
    LAMPORT_TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    CAUSAL_HISTORY_FIELD_NUMBER: _ClassVar[int]
    BLOOM_FILTER_FIELD_NUMBER: _ClassVar[int]
    REPAIR_REQUEST_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    sender_id: str
    message_id: str
    channel_id: str
    lamport_timestamp: int
    causal_history: _containers.RepeatedCompositeFieldContainer[HistoryEntry]
    bloom_filter: bytes
    repair_request: _containers.RepeatedCompositeFieldContainer[HistoryEntry]
    content: bytes
    def __init__(self, sender_id: _Optional[str] = ..., message_id: _Optional[str] = ..., channel_id: _Optional[str] = ..., lamport_timestamp: _Optional[int] = ..., causal_history: _Optional[_Iterable[_Union[HistoryEntry, _Mapping]]] = ..., bloom_filter: _Optional[bytes] = ..., repair_request: _Optional[_Iterable[_Union[HistoryEntry, _Mapping]]] = ..., content: _Optional[bytes] = ...) -> None: ...

class HistoryEntry(_message.Message):
    __slots__ = ("message_id", "retrieval_hint", "sender_id")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    RETRIEVAL_HINT_FIELD_NUMBER: _ClassVar[int]
    SENDER_ID_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    retrieval_hint: bytes
    sender_id: str
    def __init__(self, message_id: _Optional[str] = ..., retrieval_hint: _Optional[bytes] = ..., sender_id: _Optional[str] = ...) -> None: ...

class Encode(_message.Message):
    __slots__ = ("message",)
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    message: Message
    def __init__(self, message: _Optional[_Union[Message, _Mapping]] = ...) -> None: ...

class Encoded(_message.Message):
    __slots__ = ("wire",)
    WIRE_FIELD_NUMBER: _ClassVar[int]
    wire: bytes
    def __init__(self, wire: _Optional[bytes] = ...) -> None: ...

class Decode(_message.Message):
    __slots__ = ("wire",)
    WIRE_FIELD_NUMBER: _ClassVar[int]
    wire: bytes
    def __init__(self, wire: _Optional[bytes] = ...) -> None: ...

class Decoded(_message.Message):
    __slots__ = ("message", "kind")
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    message: Message
    kind: MessageKind
    def __init__(self, message: _Optional[_Union[Message, _Mapping]] = ..., kind: _Optional[_Union[MessageKind, str]] = ...) -> None: ...

class RepairTimes(_message.Message):
    __slots__ = ("now_ms", "participant_id", "message_id", "sender_id", "t_min_ms", "t_max_ms", "num_response_groups")
    NOW_MS_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    SENDER_ID_FIELD_NUMBER: _ClassVar[int]
    T_MIN_MS_FIELD_NUMBER: _ClassVar[int]
    T_MAX_MS_FIELD_NUMBER: _ClassVar[int]
    NUM_RESPONSE_GROUPS_FIELD_NUMBER: _ClassVar[int]
    now_ms: int
    participant_id: str
    message_id: str
    sender_id: str
    t_min_ms: int
    t_max_ms: int
    num_response_groups: int
    def __init__(self, now_ms: _Optional[int] = ..., participant_id: _Optional[str] = ..., message_id: _Optional[str] = ..., sender_id: _Optional[str] = ..., t_min_ms: _Optional[int] = ..., t_max_ms: _Optional[int] = ..., num_response_groups: _Optional[int] = ...) -> None: ...

class RepairOffsets(_message.Message):
    __slots__ = ("t_req_ms", "t_resp_ms", "in_response_group")
    T_REQ_MS_FIELD_NUMBER: _ClassVar[int]
    T_RESP_MS_FIELD_NUMBER: _ClassVar[int]
    IN_RESPONSE_GROUP_FIELD_NUMBER: _ClassVar[int]
    t_req_ms: int
    t_resp_ms: int
    in_response_group: bool
    def __init__(self, t_req_ms: _Optional[int] = ..., t_resp_ms: _Optional[int] = ..., in_response_group: bool = ...) -> None: ...

class Unsupported(_message.Message):
    __slots__ = ("what",)
    WHAT_FIELD_NUMBER: _ClassVar[int]
    what: str
    def __init__(self, what: _Optional[str] = ...) -> None: ...

class Rejected(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class Error(_message.Message):
    __slots__ = ("message",)
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    message: str
    def __init__(self, message: _Optional[str] = ...) -> None: ...
