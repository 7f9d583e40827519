from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class Message(_message.Message):
    __slots__ = ("sender_id", "message_id", "lamport_timestamp", "causal_history", "channel_id", "bloom_filter", "content")
    SENDER_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    LAMPORT_TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    CAUSAL_HISTORY_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_ID_FIELD_NUMBER: _ClassVar[int]
    BLOOM_FILTER_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    sender_id: str
    message_id: str
    lamport_timestamp: int
    causal_history: _containers.RepeatedScalarFieldContainer[str]
    channel_id: str
    bloom_filter: bytes
    content: str
    def __init__(self, sender_id: _Optional[str] = ..., message_id: _Optional[str] = ..., lamport_timestamp: _Optional[int] = ..., causal_history: _Optional[_Iterable[str]] = ..., channel_id: _Optional[str] = ..., bloom_filter: _Optional[bytes] = ..., content: _Optional[str] = ...) -> None: ...
