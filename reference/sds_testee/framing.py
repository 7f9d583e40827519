"""The two framings of the testee protocol on a byte stream. Both ends of the stream use them."""

from __future__ import annotations

from enum import Enum
from typing import TypeVar

from google.protobuf.json_format import ParseError
from google.protobuf.message import DecodeError, Message

from . import protojson

MAX_FRAME_BYTES = 64 * 1024 * 1024
ENVIRONMENT_VARIABLE = "SDS_TESTEE_FRAMING"

M = TypeVar("M", bound=Message)


class FramingError(ValueError):
    """Bytes that are not a frame of the protocol."""


class TooLongError(FramingError):
    """A frame that begins like a frame of the protocol, but is longer than MAX_FRAME_BYTES."""


_LIKELY_BYTES = 8 * MAX_FRAME_BYTES
"""Largest value of four bytes that is read as a length. Four printable characters give a larger value: they are text
that the process printed."""


class Framing(Enum):
    """How requests and replies are encoded on stdin and stdout."""

    JSON = "json"
    """One ProtoJSON object per line."""
    BINARY = "binary"
    """A 4-byte big-endian length, then protobuf."""

    def pack(self, message: Message) -> bytes:
        """The frame with ``message``, ready to be written."""
        if self is Framing.BINARY:
            body = message.SerializeToString()
            return len(body).to_bytes(4, "big") + body
        return protojson.write(message).encode() + b"\n"

    def take(self, buffer: bytearray, searched: int = 0) -> bytes | None:
        """Remove the first complete frame from ``buffer`` and return its body; None if there is none yet.

        An earlier call has found no end of a frame in the first ``searched`` bytes. Raises FramingError if more than
        MAX_FRAME_BYTES arrive without the end of a frame; TooLongError if they start like a frame of the protocol.
        """
        if self is Framing.BINARY:
            if len(buffer) < 4:
                return None
            end = 4 + int.from_bytes(buffer[:4], "big")
            if end > MAX_FRAME_BYTES:
                error = TooLongError if end <= _LIKELY_BYTES else FramingError
                raise error(f"a frame of {end - 4} bytes; the limit is {MAX_FRAME_BYTES}")
            if len(buffer) < end:
                return None
            body = bytes(memoryview(buffer)[4:end])
        else:
            end = buffer.find(b"\n", searched) + 1
            if not end:
                if len(buffer) > MAX_FRAME_BYTES:
                    error = TooLongError if buffer.lstrip()[:2] == b'{"' else FramingError
                    raise error(f"a line of more than {MAX_FRAME_BYTES} bytes")
                return None
            body = bytes(memoryview(buffer)[: end - 1])
        del buffer[:end]
        return body

    def parse(self, body: bytes, kind: type[M], *, lenient: bool = False) -> M:
        """The message in a frame's body. Raises FramingError.

        ``lenient`` ignores unknown fields: use it for requests, because the harness may be newer. In a JSON reply, an
        unknown field is a misspelt name.
        """
        try:
            if self is Framing.BINARY:
                return kind.FromString(body)
            if not body.lstrip().startswith(b"{"):
                raise FramingError("not a JSON object")
            return protojson.parse(body, kind, lenient=lenient)
        except (DecodeError, ParseError, UnicodeDecodeError, RecursionError) as error:
            raise FramingError(str(error).strip().splitlines()[0] if str(error).strip() else "not a frame") from None
