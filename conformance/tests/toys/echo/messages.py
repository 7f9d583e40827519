"""The testee protocol of Echo: the usual handshake, and one command."""

from __future__ import annotations

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

_TEXT, _NUMBER, _MESSAGE = FieldDescriptorProto.TYPE_STRING, FieldDescriptorProto.TYPE_INT64, 11
_ONEOFS = {"Request": "command", "Reply": "answer"}
_MESSAGES = {
    "Hello": {"protocol_version": _NUMBER, "harness": _TEXT, "revision": _TEXT},
    "HelloReply": {"protocol_version": _NUMBER, "name": _TEXT, "version": _TEXT, "language": _TEXT, "homepage": _TEXT}
    | {"revisions": _TEXT, "capabilities": _NUMBER},
    "Say": {"text": _TEXT},
    "Refusal": {"what": _TEXT, "reason": _TEXT, "message": _TEXT},
    "Request": {"id": _NUMBER, "hello": "Hello", "say": "Say"},
    "Reply": {"id": _NUMBER, "hello": "HelloReply", "said": "Say"}
    | dict.fromkeys(("unsupported", "rejected", "error"), "Refusal"),
}

_file = FileDescriptorProto(name="echo.proto", package="echo", syntax="proto3")
for _name, _fields in _MESSAGES.items():
    _message = _file.message_type.add(name=_name)
    for _number, (_field, _kind) in enumerate(_fields.items(), 1):
        _several = _field in ("revisions", "capabilities")
        _made = _message.field.add(name=_field, number=_number, label=3 if _several else 1)
        if isinstance(_kind, str):
            if not _message.oneof_decl:
                _message.oneof_decl.add(name=_ONEOFS[_name])
            _made.type, _made.type_name, _made.oneof_index = _MESSAGE, f".echo.{_kind}", 0
        else:
            _made.type = _kind

_pool = DescriptorPool()
_pool.Add(_file)
Request, Reply = (GetMessageClass(_pool.FindMessageTypeByName(f"echo.{name}")) for name in _ONEOFS)
