"""A toy SDS with little more than the mandatory parts of the specification. Replace it with your implementation.

A participant sends, receives, delivers in causal order and keeps a log. It never sends anything again, acknowledges
nothing, sends neither sync nor ephemeral messages, and repairs nothing. It needs only Python 3.9 or newer.
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

HISTORY = 2  # Message IDs in a causal history.
CAPACITY, BITS, HASHES = 100, 1024, 7  # Size of the bloom filter: about one false positive in a hundred.
LARGEST = 2**64 - 1  # The largest Lamport timestamp.
VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5  # Wire types of protobuf.


class InvalidInputError(Exception):
    """The error for bytes that are not a message, and for empty content to send."""


@dataclass
class Message:
    """A message of a channel; without a Lamport timestamp it is ephemeral, without content a sync message."""

    sender_id: str = ""
    message_id: str = ""
    channel_id: str = ""
    lamport: int | None = None
    history: list[str] = field(default_factory=list)
    bloom: bytes = b""
    content: bytes = b""


# ---- The wire: protobuf by hand ----------------------------------------------------------------------------------


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def sized(number: int, value: bytes) -> bytes:
    """A field with a length prefix."""
    return varint(number << 3 | LENGTH) + varint(len(value)) + value


def encode(message: Message) -> bytes:
    assert message.lamport is not None  # The toy sends content messages only.
    out = [sized(n, t.encode()) for n, t in enumerate((message.sender_id, message.message_id, message.channel_id), 1)]
    out.append(varint(10 << 3 | VARINT) + varint(message.lamport))
    out += [sized(11, sized(1, message_id.encode())) for message_id in message.history]
    return b"".join([*out, sized(12, message.bloom), sized(20, message.content)])


def read_varint(wire: bytes, at: int) -> tuple[int, int]:
    """The number that begins at the index ``at``, and the index after it."""
    value = 0
    for index, byte in enumerate(wire[at : at + 10]):
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return value & LARGEST, at + index + 1
    raise InvalidInputError("a varint does not end")


def fields(wire: bytes) -> Iterator[tuple[int, int, int, bytes]]:
    """The number, the wire type and the value of each field; a value is a number or bytes."""
    at = 0
    while at < len(wire):
        tag, at = read_varint(wire, at)
        kind, number, value = tag & 7, 0, b""
        if kind in (VARINT, LENGTH):
            number, at = read_varint(wire, at)
        if kind != VARINT:
            size = {FIXED64: 8, LENGTH: number, FIXED32: 4}.get(kind)
            if size is None or at + size > len(wire):
                raise InvalidInputError("a field is cut off, or of an unknown type")
            value, at = wire[at : at + size], at + size
        if not tag >> 3:
            raise InvalidInputError("a field has no number")
        yield tag >> 3, kind, number, value


def decode(wire: bytes) -> Message:
    """The message in these bytes. It skips unknown fields, those of SDS-R included. Raises InvalidInputError."""
    message, names = Message(), {1: "sender_id", 2: "message_id", 3: "channel_id"}
    try:
        for tag, kind, number, value in fields(wire):
            if kind == VARINT and tag == 10:
                message.lamport = number
            elif kind == LENGTH and tag in names:
                setattr(message, names[tag], value.decode("utf-8"))
            elif kind == LENGTH and tag == 11:
                ids = [inner.decode("utf-8") for t, k, _, inner in fields(value) if (t, k) == (1, LENGTH)]
                message.history.append(ids[-1] if ids else "")
            elif kind == LENGTH and tag == 20:
                message.content = value
    except UnicodeDecodeError:
        raise InvalidInputError("text that is not UTF-8") from None
    return message


# ---- The protocol ------------------------------------------------------------------------------------------------


def fnv(data: bytes) -> int:
    """FNV-1a with 64 bits, which is good enough for a toy."""
    out = 0xCBF29CE484222325
    for byte in data:
        out = (out ^ byte) * 0x100000001B3 & LARGEST
    return out


class Channel:
    """The state of one participant in one channel."""

    def __init__(self, participant_id: str, channel_id: str, now_ms: int) -> None:
        self.participant_id, self.channel_id = participant_id, channel_id
        self.clock = now_ms  # The Lamport timestamp.
        self.log: list[tuple[int, bytes]] = []  # (timestamp, bytes of the ID), sorted.
        self.logged: set[str] = set()
        self.waiting: dict[str, Message] = {}  # Received messages with dependencies that are not in the log.
        self.received: deque[str] = deque(maxlen=CAPACITY)  # The IDs in the filter: only the newest.

    def send(self, content: bytes, now_ms: int) -> tuple[str, bytes]:
        """The ID and the bytes of a new message. Raises InvalidInputError."""
        lamport = max(now_ms, self.clock + 1)
        if not content or lamport > LARGEST:
            raise InvalidInputError(
                "the content is empty" if not content else "the Lamport timestamp has reached its maximum"
            )
        # The timestamp distinguishes messages of one sender in one channel; the hash distinguishes senders and
        # channels.
        who = sized(1, self.participant_id.encode()) + sized(3, self.channel_id.encode()) + sized(20, content)
        history = [message_id.decode() for _, message_id in self.log[-HISTORY:]]
        message = Message(self.participant_id, f"{lamport:x}-{fnv(who):016x}", self.channel_id, lamport, history)
        message.bloom, message.content = self.bloom(), content
        self.keep(message)
        return message.message_id, encode(message)

    def receive(self, message: Message) -> list[Message]:
        """Returns the messages that are delivered now, in order. Raises InvalidInputError."""
        if message.sender_id == self.participant_id:
            return []
        if message.lamport is None:
            return [message] if message.content else []
        if not message.content:
            return []  # A sync message: its fields serve only acknowledgements and repairs.
        if not message.message_id:
            raise InvalidInputError("a message without an ID")
        if message.message_id in self.logged or message.message_id in self.waiting:
            return []
        self.received.append(message.message_id)
        self.waiting[message.message_id] = message
        delivered = []
        while (ready := self.next_ready()) is not None:
            del self.waiting[ready.message_id]
            self.keep(ready)
            delivered.append(ready)
        return delivered

    def next_ready(self) -> Message | None:
        return next((m for m in self.waiting.values() if self.logged.issuperset(m.history)), None)

    def keep(self, message: Message) -> None:
        assert message.lamport is not None
        self.clock = max(self.clock, message.lamport)
        insort(self.log, (message.lamport, message.message_id.encode()))
        self.logged.add(message.message_id)

    def bloom(self) -> bytes:
        """A filter over the newest IDs that were received."""
        bits = bytearray(BITS // 8)
        for message_id in self.received:
            first, step = divmod(fnv(message_id.encode()), 2**32)
            for n in range(HASHES):
                place = (first + n * step) % BITS
                bits[place // 8] |= 1 << place % 8
        return bytes(bits)


class Participant:
    """A participant, who joins the given channels when it is created. Times are epoch milliseconds."""

    def __init__(self, participant_id: str, channels: Iterable[str], now_ms: int) -> None:
        self.channels = {channel_id: Channel(participant_id, channel_id, now_ms) for channel_id in channels}

    def send(self, channel_id: str, content: bytes, now_ms: int) -> tuple[str, bytes]:
        """The ID and the bytes of a new message. Raises InvalidInputError."""
        if channel_id not in self.channels:
            raise InvalidInputError("not a member of this channel")
        return self.channels[channel_id].send(content, now_ms)

    def receive(self, wire: bytes) -> list[Message]:
        """Returns the messages that are delivered now.

        Messages of other channels are ignored. Raises InvalidInputError.
        """
        message = decode(wire)
        channel = self.channels.get(message.channel_id)
        return channel.receive(message) if channel else []
