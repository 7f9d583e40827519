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
    CAPABILITY_STORE: _ClassVar[Capability]
    CAPABILITY_READ_ONLY: _ClassVar[Capability]
    CAPABILITY_RENAME: _ClassVar[Capability]
    CAPABILITY_CHANGED: _ClassVar[Capability]
    CAPABILITY_CONFLICT: _ClassVar[Capability]
    CAPABILITY_RESOLUTION_MERGE: _ClassVar[Capability]
    CAPABILITY_RESOLUTION_SEPARATE: _ClassVar[Capability]
    CAPABILITY_UUID_ACCEPTED: _ClassVar[Capability]
    CAPABILITY_CLOCK_CODEC: _ClassVar[Capability]
    CAPABILITY_MESSAGE_CODEC: _ClassVar[Capability]
    CAPABILITY_SIGNATURE_CODEC: _ClassVar[Capability]
    CAPABILITY_WIDE_INTEGERS: _ClassVar[Capability]

class AccessLevel(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ACCESS_LEVEL_UNSPECIFIED: _ClassVar[AccessLevel]
    ACCESS_LEVEL_READ_WRITE: _ClassVar[AccessLevel]
    ACCESS_LEVEL_READ_ONLY: _ClassVar[AccessLevel]

class Resolution(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RESOLUTION_UNSPECIFIED: _ClassVar[Resolution]
    RESOLUTION_MERGE: _ClassVar[Resolution]
    RESOLUTION_SEPARATE: _ClassVar[Resolution]
CAPABILITY_UNSPECIFIED: Capability
CAPABILITY_VIRTUAL_CLOCK: Capability
CAPABILITY_OBSERVE: Capability
CAPABILITY_STORE: Capability
CAPABILITY_READ_ONLY: Capability
CAPABILITY_RENAME: Capability
CAPABILITY_CHANGED: Capability
CAPABILITY_CONFLICT: Capability
CAPABILITY_RESOLUTION_MERGE: Capability
CAPABILITY_RESOLUTION_SEPARATE: Capability
CAPABILITY_UUID_ACCEPTED: Capability
CAPABILITY_CLOCK_CODEC: Capability
CAPABILITY_MESSAGE_CODEC: Capability
CAPABILITY_SIGNATURE_CODEC: Capability
CAPABILITY_WIDE_INTEGERS: Capability
ACCESS_LEVEL_UNSPECIFIED: AccessLevel
ACCESS_LEVEL_READ_WRITE: AccessLevel
ACCESS_LEVEL_READ_ONLY: AccessLevel
RESOLUTION_UNSPECIFIED: Resolution
RESOLUTION_MERGE: Resolution
RESOLUTION_SEPARATE: Resolution

class Request(_message.Message):
    __slots__ = ("id", "hello", "open", "close", "connect", "disconnect", "receive", "put", "rename", "delete", "tick", "observe", "compare_clocks", "frame", "unframe", "verify")
    ID_FIELD_NUMBER: _ClassVar[int]
    HELLO_FIELD_NUMBER: _ClassVar[int]
    OPEN_FIELD_NUMBER: _ClassVar[int]
    CLOSE_FIELD_NUMBER: _ClassVar[int]
    CONNECT_FIELD_NUMBER: _ClassVar[int]
    DISCONNECT_FIELD_NUMBER: _ClassVar[int]
    RECEIVE_FIELD_NUMBER: _ClassVar[int]
    PUT_FIELD_NUMBER: _ClassVar[int]
    RENAME_FIELD_NUMBER: _ClassVar[int]
    DELETE_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    OBSERVE_FIELD_NUMBER: _ClassVar[int]
    COMPARE_CLOCKS_FIELD_NUMBER: _ClassVar[int]
    FRAME_FIELD_NUMBER: _ClassVar[int]
    UNFRAME_FIELD_NUMBER: _ClassVar[int]
    VERIFY_FIELD_NUMBER: _ClassVar[int]
    id: int
    hello: Hello
    open: Open
    close: Close
    connect: Connect
    disconnect: Disconnect
    receive: Receive
    put: Put
    rename: Rename
    delete: Delete
    tick: Tick
    observe: Observe
    compare_clocks: CompareClocks
    frame: Frame
    unframe: Unframe
    verify: Verify
    def __init__(self, id: _Optional[int] = ..., hello: _Optional[_Union[Hello, _Mapping]] = ..., open: _Optional[_Union[Open, _Mapping]] = ..., close: _Optional[_Union[Close, _Mapping]] = ..., connect: _Optional[_Union[Connect, _Mapping]] = ..., disconnect: _Optional[_Union[Disconnect, _Mapping]] = ..., receive: _Optional[_Union[Receive, _Mapping]] = ..., put: _Optional[_Union[Put, _Mapping]] = ..., rename: _Optional[_Union[Rename, _Mapping]] = ..., delete: _Optional[_Union[Delete, _Mapping]] = ..., tick: _Optional[_Union[Tick, _Mapping]] = ..., observe: _Optional[_Union[Observe, _Mapping]] = ..., compare_clocks: _Optional[_Union[CompareClocks, _Mapping]] = ..., frame: _Optional[_Union[Frame, _Mapping]] = ..., unframe: _Optional[_Union[Unframe, _Mapping]] = ..., verify: _Optional[_Union[Verify, _Mapping]] = ...) -> None: ...

class Reply(_message.Message):
    __slots__ = ("id", "hello", "opened", "effects", "state", "comparison", "framed", "unframed", "verified", "unsupported", "rejected", "error")
    ID_FIELD_NUMBER: _ClassVar[int]
    HELLO_FIELD_NUMBER: _ClassVar[int]
    OPENED_FIELD_NUMBER: _ClassVar[int]
    EFFECTS_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    COMPARISON_FIELD_NUMBER: _ClassVar[int]
    FRAMED_FIELD_NUMBER: _ClassVar[int]
    UNFRAMED_FIELD_NUMBER: _ClassVar[int]
    VERIFIED_FIELD_NUMBER: _ClassVar[int]
    UNSUPPORTED_FIELD_NUMBER: _ClassVar[int]
    REJECTED_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    id: int
    hello: HelloReply
    opened: Opened
    effects: Effects
    state: State
    comparison: Comparison
    framed: Framed
    unframed: Unframed
    verified: Verified
    unsupported: Unsupported
    rejected: Rejected
    error: Error
    def __init__(self, id: _Optional[int] = ..., hello: _Optional[_Union[HelloReply, _Mapping]] = ..., opened: _Optional[_Union[Opened, _Mapping]] = ..., effects: _Optional[_Union[Effects, _Mapping]] = ..., state: _Optional[_Union[State, _Mapping]] = ..., comparison: _Optional[_Union[Comparison, _Mapping]] = ..., framed: _Optional[_Union[Framed, _Mapping]] = ..., unframed: _Optional[_Union[Unframed, _Mapping]] = ..., verified: _Optional[_Union[Verified, _Mapping]] = ..., unsupported: _Optional[_Union[Unsupported, _Mapping]] = ..., rejected: _Optional[_Union[Rejected, _Mapping]] = ..., error: _Optional[_Union[Error, _Mapping]] = ...) -> None: ...

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
    __slots__ = ("signature",)
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    signature: str
    def __init__(self, signature: _Optional[str] = ...) -> None: ...

class Limits(_message.Message):
    __slots__ = ("body_bytes", "depth", "clock_members")
    BODY_BYTES_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    CLOCK_MEMBERS_FIELD_NUMBER: _ClassVar[int]
    body_bytes: int
    depth: int
    clock_members: int
    def __init__(self, body_bytes: _Optional[int] = ..., depth: _Optional[int] = ..., clock_members: _Optional[int] = ...) -> None: ...

class Configuration(_message.Message):
    __slots__ = ("resolution",)
    RESOLUTION_FIELD_NUMBER: _ClassVar[int]
    resolution: Resolution
    def __init__(self, resolution: _Optional[_Union[Resolution, str]] = ...) -> None: ...

class Keys(_message.Message):
    __slots__ = ("read_write_private", "read_only_private", "read_write_public", "read_only_public")
    READ_WRITE_PRIVATE_FIELD_NUMBER: _ClassVar[int]
    READ_ONLY_PRIVATE_FIELD_NUMBER: _ClassVar[int]
    READ_WRITE_PUBLIC_FIELD_NUMBER: _ClassVar[int]
    READ_ONLY_PUBLIC_FIELD_NUMBER: _ClassVar[int]
    read_write_private: str
    read_only_private: str
    read_write_public: str
    read_only_public: str
    def __init__(self, read_write_private: _Optional[str] = ..., read_only_private: _Optional[str] = ..., read_write_public: _Optional[str] = ..., read_only_public: _Optional[str] = ...) -> None: ...

class Open(_message.Message):
    __slots__ = ("now_ms", "peer_id", "access_level", "keys", "configuration", "store")
    NOW_MS_FIELD_NUMBER: _ClassVar[int]
    PEER_ID_FIELD_NUMBER: _ClassVar[int]
    ACCESS_LEVEL_FIELD_NUMBER: _ClassVar[int]
    KEYS_FIELD_NUMBER: _ClassVar[int]
    CONFIGURATION_FIELD_NUMBER: _ClassVar[int]
    STORE_FIELD_NUMBER: _ClassVar[int]
    now_ms: int
    peer_id: str
    access_level: AccessLevel
    keys: Keys
    configuration: Configuration
    store: str
    def __init__(self, now_ms: _Optional[int] = ..., peer_id: _Optional[str] = ..., access_level: _Optional[_Union[AccessLevel, str]] = ..., keys: _Optional[_Union[Keys, _Mapping]] = ..., configuration: _Optional[_Union[Configuration, _Mapping]] = ..., store: _Optional[str] = ...) -> None: ...

class Opened(_message.Message):
    __slots__ = ("handle", "configuration", "extensions")
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    CONFIGURATION_FIELD_NUMBER: _ClassVar[int]
    EXTENSIONS_FIELD_NUMBER: _ClassVar[int]
    handle: int
    configuration: Configuration
    extensions: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, handle: _Optional[int] = ..., configuration: _Optional[_Union[Configuration, _Mapping]] = ..., extensions: _Optional[_Iterable[str]] = ...) -> None: ...

class Close(_message.Message):
    __slots__ = ("now_ms", "handle")
    NOW_MS_FIELD_NUMBER: _ClassVar[int]
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    now_ms: int
    handle: int
    def __init__(self, now_ms: _Optional[int] = ..., handle: _Optional[int] = ...) -> None: ...

class Connect(_message.Message):
    __slots__ = ("now_ms", "handle", "link", "peer_id", "access_level")
    NOW_MS_FIELD_NUMBER: _ClassVar[int]
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    LINK_FIELD_NUMBER: _ClassVar[int]
    PEER_ID_FIELD_NUMBER: _ClassVar[int]
    ACCESS_LEVEL_FIELD_NUMBER: _ClassVar[int]
    now_ms: int
    handle: int
    link: int
    peer_id: str
    access_level: AccessLevel
    def __init__(self, now_ms: _Optional[int] = ..., handle: _Optional[int] = ..., link: _Optional[int] = ..., peer_id: _Optional[str] = ..., access_level: _Optional[_Union[AccessLevel, str]] = ...) -> None: ...

class Disconnect(_message.Message):
    __slots__ = ("now_ms", "handle", "link")
    NOW_MS_FIELD_NUMBER: _ClassVar[int]
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    LINK_FIELD_NUMBER: _ClassVar[int]
    now_ms: int
    handle: int
    link: int
    def __init__(self, now_ms: _Optional[int] = ..., handle: _Optional[int] = ..., link: _Optional[int] = ...) -> None: ...

class Receive(_message.Message):
    __slots__ = ("now_ms", "handle", "link", "data")
    NOW_MS_FIELD_NUMBER: _ClassVar[int]
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    LINK_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    now_ms: int
    handle: int
    link: int
    data: bytes
    def __init__(self, now_ms: _Optional[int] = ..., handle: _Optional[int] = ..., link: _Optional[int] = ..., data: _Optional[bytes] = ...) -> None: ...

class Put(_message.Message):
    __slots__ = ("now_ms", "handle", "key", "value", "uuid")
    NOW_MS_FIELD_NUMBER: _ClassVar[int]
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    UUID_FIELD_NUMBER: _ClassVar[int]
    now_ms: int
    handle: int
    key: str
    value: str
    uuid: str
    def __init__(self, now_ms: _Optional[int] = ..., handle: _Optional[int] = ..., key: _Optional[str] = ..., value: _Optional[str] = ..., uuid: _Optional[str] = ...) -> None: ...

class Rename(_message.Message):
    __slots__ = ("now_ms", "handle", "key", "new_key")
    NOW_MS_FIELD_NUMBER: _ClassVar[int]
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    NEW_KEY_FIELD_NUMBER: _ClassVar[int]
    now_ms: int
    handle: int
    key: str
    new_key: str
    def __init__(self, now_ms: _Optional[int] = ..., handle: _Optional[int] = ..., key: _Optional[str] = ..., new_key: _Optional[str] = ...) -> None: ...

class Delete(_message.Message):
    __slots__ = ("now_ms", "handle", "key")
    NOW_MS_FIELD_NUMBER: _ClassVar[int]
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    now_ms: int
    handle: int
    key: str
    def __init__(self, now_ms: _Optional[int] = ..., handle: _Optional[int] = ..., key: _Optional[str] = ...) -> None: ...

class Tick(_message.Message):
    __slots__ = ("now_ms", "handle")
    NOW_MS_FIELD_NUMBER: _ClassVar[int]
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    now_ms: int
    handle: int
    def __init__(self, now_ms: _Optional[int] = ..., handle: _Optional[int] = ...) -> None: ...

class Effects(_message.Message):
    __slots__ = ("sent", "events", "uuid")
    SENT_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    UUID_FIELD_NUMBER: _ClassVar[int]
    sent: _containers.RepeatedCompositeFieldContainer[Sent]
    events: _containers.RepeatedCompositeFieldContainer[Event]
    uuid: str
    def __init__(self, sent: _Optional[_Iterable[_Union[Sent, _Mapping]]] = ..., events: _Optional[_Iterable[_Union[Event, _Mapping]]] = ..., uuid: _Optional[str] = ...) -> None: ...

class Sent(_message.Message):
    __slots__ = ("link", "data")
    LINK_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    link: int
    data: bytes
    def __init__(self, link: _Optional[int] = ..., data: _Optional[bytes] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ("changed", "conflict", "link_closed")
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    CONFLICT_FIELD_NUMBER: _ClassVar[int]
    LINK_CLOSED_FIELD_NUMBER: _ClassVar[int]
    changed: Changed
    conflict: Conflict
    link_closed: LinkClosed
    def __init__(self, changed: _Optional[_Union[Changed, _Mapping]] = ..., conflict: _Optional[_Union[Conflict, _Mapping]] = ..., link_closed: _Optional[_Union[LinkClosed, _Mapping]] = ...) -> None: ...

class Changed(_message.Message):
    __slots__ = ("record",)
    RECORD_FIELD_NUMBER: _ClassVar[int]
    record: Record
    def __init__(self, record: _Optional[_Union[Record, _Mapping]] = ...) -> None: ...

class Conflict(_message.Message):
    __slots__ = ("uuid", "incoming_uuid")
    UUID_FIELD_NUMBER: _ClassVar[int]
    INCOMING_UUID_FIELD_NUMBER: _ClassVar[int]
    uuid: str
    incoming_uuid: str
    def __init__(self, uuid: _Optional[str] = ..., incoming_uuid: _Optional[str] = ...) -> None: ...

class LinkClosed(_message.Message):
    __slots__ = ("link", "reason")
    LINK_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    link: int
    reason: str
    def __init__(self, link: _Optional[int] = ..., reason: _Optional[str] = ...) -> None: ...

class Observe(_message.Message):
    __slots__ = ("now_ms", "handle", "uuids")
    NOW_MS_FIELD_NUMBER: _ClassVar[int]
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    UUIDS_FIELD_NUMBER: _ClassVar[int]
    now_ms: int
    handle: int
    uuids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, now_ms: _Optional[int] = ..., handle: _Optional[int] = ..., uuids: _Optional[_Iterable[str]] = ...) -> None: ...

class State(_message.Message):
    __slots__ = ("records", "revision", "known")
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    KNOWN_FIELD_NUMBER: _ClassVar[int]
    records: _containers.RepeatedCompositeFieldContainer[Record]
    revision: int
    known: Known
    def __init__(self, records: _Optional[_Iterable[_Union[Record, _Mapping]]] = ..., revision: _Optional[int] = ..., known: _Optional[_Union[Known, _Mapping]] = ...) -> None: ...

class Known(_message.Message):
    __slots__ = ("since",)
    class SinceEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    SINCE_FIELD_NUMBER: _ClassVar[int]
    since: _containers.ScalarMap[str, int]
    def __init__(self, since: _Optional[_Mapping[str, int]] = ...) -> None: ...

class Record(_message.Message):
    __slots__ = ("uuid", "key", "value", "last_updated_by", "last_updated_rev", "update_time", "vector_clock", "deleted")
    class VectorClockEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    UUID_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    LAST_UPDATED_BY_FIELD_NUMBER: _ClassVar[int]
    LAST_UPDATED_REV_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    VECTOR_CLOCK_FIELD_NUMBER: _ClassVar[int]
    DELETED_FIELD_NUMBER: _ClassVar[int]
    uuid: str
    key: str
    value: str
    last_updated_by: str
    last_updated_rev: int
    update_time: str
    vector_clock: _containers.ScalarMap[str, int]
    deleted: bool
    def __init__(self, uuid: _Optional[str] = ..., key: _Optional[str] = ..., value: _Optional[str] = ..., last_updated_by: _Optional[str] = ..., last_updated_rev: _Optional[int] = ..., update_time: _Optional[str] = ..., vector_clock: _Optional[_Mapping[str, int]] = ..., deleted: bool = ...) -> None: ...

class CompareClocks(_message.Message):
    __slots__ = ("one", "other")
    ONE_FIELD_NUMBER: _ClassVar[int]
    OTHER_FIELD_NUMBER: _ClassVar[int]
    one: bytes
    other: bytes
    def __init__(self, one: _Optional[bytes] = ..., other: _Optional[bytes] = ...) -> None: ...

class Comparison(_message.Message):
    __slots__ = ("one_before_other", "other_before_one")
    ONE_BEFORE_OTHER_FIELD_NUMBER: _ClassVar[int]
    OTHER_BEFORE_ONE_FIELD_NUMBER: _ClassVar[int]
    one_before_other: bool
    other_before_one: bool
    def __init__(self, one_before_other: bool = ..., other_before_one: bool = ...) -> None: ...

class Frame(_message.Message):
    __slots__ = ("body", "private_key")
    BODY_FIELD_NUMBER: _ClassVar[int]
    PRIVATE_KEY_FIELD_NUMBER: _ClassVar[int]
    body: bytes
    private_key: str
    def __init__(self, body: _Optional[bytes] = ..., private_key: _Optional[str] = ...) -> None: ...

class Framed(_message.Message):
    __slots__ = ("data",)
    DATA_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    def __init__(self, data: _Optional[bytes] = ...) -> None: ...

class Unframe(_message.Message):
    __slots__ = ("data",)
    DATA_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    def __init__(self, data: _Optional[bytes] = ...) -> None: ...

class Unframed(_message.Message):
    __slots__ = ("messages", "rest")
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    REST_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[Message]
    rest: int
    def __init__(self, messages: _Optional[_Iterable[_Union[Message, _Mapping]]] = ..., rest: _Optional[int] = ...) -> None: ...

class Message(_message.Message):
    __slots__ = ("body", "signature")
    BODY_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    body: bytes
    signature: bytes
    def __init__(self, body: _Optional[bytes] = ..., signature: _Optional[bytes] = ...) -> None: ...

class Verify(_message.Message):
    __slots__ = ("body", "signature", "public_key")
    BODY_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
    body: bytes
    signature: bytes
    public_key: str
    def __init__(self, body: _Optional[bytes] = ..., signature: _Optional[bytes] = ..., public_key: _Optional[str] = ...) -> None: ...

class Verified(_message.Message):
    __slots__ = ("valid",)
    VALID_FIELD_NUMBER: _ClassVar[int]
    valid: bool
    def __init__(self, valid: bool = ...) -> None: ...

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
