"""The testee protocol of Echo: the usual handshake, and one command."""

from __future__ import annotations

from typing import Any

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

_TYPES: dict[Any, Any] = {int: FieldDescriptorProto.TYPE_INT64, str: FieldDescriptorProto.TYPE_STRING}
_ONEOFS = {"Request": "command", "Reply": "answer"}
_MESSAGES: dict[str, dict[str, Any]] = {
    "Hello": {"protocol_version": int, "harness": str, "revision": str},
    "HelloReply": {"protocol_version": int, "name": str, "version": str, "language": str, "homepage": str}
    | {"revisions": str, "capabilities": int},
    "Say": {"text": str},
    "Refusal": {"what": str, "reason": str, "message": str},
    "Request": {"id": int, "hello": "Hello", "say": "Say"},
    "Reply": {"id": int, "hello": "HelloReply", "said": "Say"}
    | dict.fromkeys(("unsupported", "rejected", "error"), "Refusal"),
}

_file = FileDescriptorProto(name="echo.proto", package="echo", syntax="proto3")
for _name, _fields in _MESSAGES.items():
    _message = _file.message_type.add(name=_name)
    for _place, (_field, _kind) in enumerate(_fields.items(), 1):
        _several = _field in ("revisions", "capabilities")
        _made = _message.field.add(name=_field, number=_place, label=3 if _several else 1, type=_TYPES.get(_kind, 11))
        if _kind not in _TYPES:
            _made.type_name, _made.oneof_index = f".echo.{_kind}", 0
    if _name in _ONEOFS:
        _message.oneof_decl.add(name=_ONEOFS[_name])

_pool = DescriptorPool()
_pool.Add(_file)
Request: Any = GetMessageClass(_pool.FindMessageTypeByName("echo.Request"))
Reply: Any = GetMessageClass(_pool.FindMessageTypeByName("echo.Reply"))
