"""Reads messages with a protobuf implementation that the model does not run on: protobuf in plain Python, or protoc.

    PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python python other_protobuf.py python v2026_01 < LINES
    python other_protobuf.py protoc forum_2024 < LINES

Each line of stdin is a message in hex, in the layout that is named. For each, stdout has a line of JSON: its fields as
in vectors, or null for bytes that are refused.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from google.protobuf import text_format
from google.protobuf.internal import api_implementation
from google.protobuf.message import DecodeError

from sds_proto.wire.forum_2024 import message_pb2 as forum_pb
from sds_proto.wire.v2026_01 import message_pb2 as pb

PROTO = Path(__file__).parents[2] / "proto" / "sds" / "wire"
LAYOUTS: dict[str, Any] = {"v2026_01": pb.Message, "forum_2024": forum_pb.Message}


def in_plain_python(layout: str, wire: bytes) -> Any:
    try:
        return LAYOUTS[layout].FromString(wire)
    except (DecodeError, UnicodeDecodeError):
        return None


def by_protoc(layout: str, wire: bytes) -> Any:
    """By the C++ library inside of protoc. Its output is text, and is read back as such."""
    from grpc_tools import protoc  # type: ignore[import-untyped]

    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as printed:
        given.write(wire)
        given.seek(0)
        child = os.fork()  # protoc reads and writes the standard files of its process
        if child == 0:
            os.dup2(given.fileno(), 0)
            os.dup2(printed.fileno(), 1)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            decode = f"--decode=sds.wire.{layout}.Message"
            os._exit(protoc.main(["protoc", f"--proto_path={PROTO / layout}", decode, "message.proto"]))
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            return None
        printed.seek(0)
        return text_format.Parse(printed.read(), LAYOUTS[layout](), allow_unknown_field=True)


def optional(message: Any, *names: str) -> Iterator[tuple[str, str]]:
    for name in names:
        if message.HasField(name):
            value = getattr(message, name)
            yield name, value.hex() if isinstance(value, bytes) else str(value)


def entry(of: pb.HistoryEntry) -> dict[str, str]:
    return {"message_id": of.message_id, **dict(optional(of, "retrieval_hint", "sender_id"))}


def fields(message: Any) -> dict[str, Any]:
    if isinstance(message, forum_pb.Message):
        return fields_of_proposal(message)
    return {
        "sender_id": message.sender_id,
        "message_id": message.message_id,
        "channel_id": message.channel_id,
        "causal_history": list(map(entry, message.causal_history)),
        "repair_request": list(map(entry, message.repair_request)),
        **dict(optional(message, "lamport_timestamp", "bloom_filter", "content")),
    }


def fields_of_proposal(message: forum_pb.Message) -> dict[str, Any]:
    """Content has no presence there, and entries are IDs."""
    return {
        "sender_id": message.sender_id,
        "message_id": message.message_id,
        "channel_id": message.channel_id,
        "causal_history": [{"message_id": message_id} for message_id in message.causal_history],
        "repair_request": [],
        **dict(optional(message, "lamport_timestamp", "bloom_filter")),
        **({"content": message.content.encode().hex()} if message.content else {}),
    }


READERS: dict[str, Callable[[str, bytes], Any]] = {"python": in_plain_python, "protoc": by_protoc}


def main(name: str, layout: str) -> None:
    if name == "python" and api_implementation.Type() != "python":
        raise SystemExit("protobuf does not run in plain Python here: set PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION")
    for line in sys.stdin:
        message = READERS[name](layout, bytes.fromhex(line))
        print(json.dumps(None if message is None else fields(message)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
