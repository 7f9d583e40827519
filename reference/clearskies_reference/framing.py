"""Messages on a stream, as the core protocol frames them.

An unsigned message is ``m`` LENGTH body. A signed message is ``s`` LENGTH ``:`` LENGTH body newline signature newline.
Lengths are ASCII digits, the body is a JSON object, and the signature is in base64. If a message has an attachment, it
starts with ``!`` instead of ``m``, or with ``$`` instead of ``s``. The attachment follows the message in pieces of the
form LENGTH newline bytes; the last piece has the length 0. Database messages have no attachments, so
attachments are discarded.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Iterator
from dataclasses import dataclass

from .errors import BrokenFramingError, MalformedMessageError
from .json_text import MAX_BODY_BYTES

MAX_SIGNATURE_BYTES = 8_192
"""Maximum number of bytes of a signature in base64; a signature of 2048 bits has 344."""

_DIGITS = len(str(MAX_BODY_BYTES))
_LONGEST_HEAD = 1 + _DIGITS + 1 + _DIGITS
_HEAD = re.compile(rb"(?:[m!]([0-9]+)|[s$]([0-9]+):([0-9]+))(?=[^0-9:])")
_HEAD_BEGUN = re.compile(rb"[m!][0-9]*|[s$][0-9]*(?::[0-9]*)?")
_PIECE = re.compile(rb"([0-9]+)\n")


@dataclass(frozen=True, slots=True)
class Message:
    """A whole message: the bytes of its ``body`` as they were sent, and the text of its ``signature`` if it has one."""

    body: bytes
    signature: bytes | None = None
    """Base64, unchanged: a peer that relays the message relays the same signature."""

    def signature_bytes(self) -> bytes:
        """The bytes of the signature. Raises MalformedMessageError if there is none or if it is not base64."""
        try:
            return b64decode(self.signature or b"-", validate=True)
        except Error:
            raise MalformedMessageError("the signature is not in base64") from None

    def to_wire(self) -> bytes:
        """The bytes of the message on a link. Raises MalformedMessageError if the body is too large or no object."""
        if not self.body.startswith(b"{"):
            raise MalformedMessageError("the body is not a JSON object")
        if len(self.body) > MAX_BODY_BYTES:
            raise MalformedMessageError(f"the body has {len(self.body)} bytes; the limit is {MAX_BODY_BYTES}")
        if self.signature is None:
            return b"m%d%s" % (len(self.body), self.body)
        return b"s%d:%d%s\n%s\n" % (len(self.body), len(self.signature), self.body, self.signature)


def make_signed_message(body: bytes, signature: bytes) -> Message:
    """Make a message from a body and a signature of raw bytes, which is written in base64."""
    return Message(body, b64encode(signature))


class Parser:
    """Split a stream into messages, at a cost of O(1) per byte. Incomplete messages are kept until the rest arrives."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._needed = 1
        """Number of bytes that the buffer must contain before parsing can continue."""
        self._before_attachment: Message | None = None
        """A message that is complete except for its attachment."""
        self._skipped = 0
        """Number of bytes of the message and its attachment that have left the buffer."""
        self._to_skip = 0
        """Number of bytes of the current piece of the attachment that have not left the buffer yet."""

    @property
    def incomplete_bytes(self) -> int:
        """Number of received bytes that belong to an incomplete message."""
        return self._skipped + len(self._buffer)

    def feed(self, data: bytes) -> Iterator[Message]:
        """The messages that ``data`` completes. Raises BrokenFramingError, after which the stream cannot be read."""
        self._buffer += data
        start = 0
        try:
            while len(self._buffer) - start >= self._needed:
                end, message = self._step(start)
                if end == start:
                    break
                start, self._needed = end, 1
                if message is not None:
                    self._skipped = 0
                    yield message
        finally:
            del self._buffer[:start]

    def _step(self, start: int) -> tuple[int, Message | None]:
        """The end of the next complete part (``start`` if none is complete), and the message that ends there."""
        if self._before_attachment is not None:
            return self._attachment(start, self._before_attachment)
        head = bytes(self._buffer[start : start + _LONGEST_HEAD + 1])
        found = _HEAD.match(head)
        if found is None:
            if len(head) > _LONGEST_HEAD or not _HEAD_BEGUN.fullmatch(head):
                raise BrokenFramingError(f"{head[:24]!r} does not begin a message")
            self._needed = len(head) + 1
            return start, None
        length = _length(found[1] or found[2], MAX_BODY_BYTES)
        signature = _length(found[3], MAX_SIGNATURE_BYTES) if found[3] else None
        if head[found.end() : found.end() + 1] != b"{" or not length:
            raise BrokenFramingError("the body is not a JSON object")
        body_end = found.end() + length
        end = body_end + (0 if signature is None else signature + 2)
        if len(self._buffer) - start < end:
            self._needed = end
            return start, None
        whole = bytes(memoryview(self._buffer)[start : start + end])
        if signature is not None and not (whole[body_end] == whole[end - 1] == 0x0A):
            raise BrokenFramingError("a signature must be between two newlines")
        message = Message(whole[found.end() : body_end], None if signature is None else whole[body_end + 1 : end - 1])
        if head[:1] in b"!$":
            self._before_attachment = message
            self._skipped += end
            return start + end, None
        return start + end, message

    def _attachment(self, start: int, message: Message) -> tuple[int, Message | None]:
        if self._to_skip:
            available = min(self._to_skip, len(self._buffer) - start)
            self._to_skip -= available
            self._skipped += available
            return start + available, None
        head = bytes(self._buffer[start : start + _DIGITS + 1])
        found = _PIECE.match(head)
        if found is None:
            if len(head) > _DIGITS or not (head + b"0").isdigit():
                raise BrokenFramingError(f"{head!r} does not begin a piece of an attachment")
            self._needed = len(head) + 1
            return start, None
        self._to_skip = _length(found[1], MAX_BODY_BYTES)
        self._skipped += found.end()
        if self._to_skip:
            return start + found.end(), None
        self._before_attachment = None
        return start + found.end(), message


def _length(digits: bytes, limit: int) -> int:
    length = int(digits)
    if length > limit:
        raise BrokenFramingError(f"a length is {length} bytes; the limit is {limit}")
    return length
