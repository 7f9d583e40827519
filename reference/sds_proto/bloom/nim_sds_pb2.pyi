from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class BloomFilter(_message.Message):
    __slots__ = ("bits", "capacity", "error_rate_millionths", "hash_count", "bit_count")
    BITS_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    ERROR_RATE_MILLIONTHS_FIELD_NUMBER: _ClassVar[int]
    HASH_COUNT_FIELD_NUMBER: _ClassVar[int]
    BIT_COUNT_FIELD_NUMBER: _ClassVar[int]
    bits: bytes
    capacity: int
    error_rate_millionths: int
    hash_count: int
    bit_count: int
    def __init__(self, bits: _Optional[bytes] = ..., capacity: _Optional[int] = ..., error_rate_millionths: _Optional[int] = ..., hash_count: _Optional[int] = ..., bit_count: _Optional[int] = ...) -> None: ...
