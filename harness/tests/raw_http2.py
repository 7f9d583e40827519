"""A minimal HTTP/2 server that answers the first request of a conversation with any bytes, also with bytes that no gRPC
library sends.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterator

DATA, HEADERS, SETTINGS, PING = 0, 1, 4, 6
ACK = END_STREAM = 1
END_HEADERS = 4
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_STATUS_200 = b"\x88"
_HEALTH, _CONVERSATION = 1, 3
"""The first two streams that a client opens."""
_LARGEST_FRAME = 1 << 14


def header(name: bytes, value: bytes) -> bytes:
    """A header field without compression."""
    return bytes([0, len(name)]) + name + bytes([len(value)]) + value


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def message(body: bytes, *, compressed: bool = False, announced: int | None = None) -> bytes:
    """A message of gRPC, which may announce a wrong length."""
    length = len(body) if announced is None else announced
    return bytes([compressed]) + length.to_bytes(4, "big") + body


def answer(
    connection: socket.socket,
    sent: bytes,
    encoding: bytes = b"identity",
    after: Callable[[socket.socket], object] = lambda connection: None,
) -> None:
    """Serve a connection: there is no health service, and the first request is answered with the bytes ``sent``.

    Then the server reads everything and sends nothing, except what ``after`` sends.
    """
    answered = False
    with contextlib.suppress(OSError, EOFError):
        _read(connection, len(_PREFACE))
        connection.sendall(frame(SETTINGS, 0, 0))
        for kind, flags, stream, payload in _frames(connection):
            head = _STATUS_200 + header(b"content-type", b"application/grpc")
            if kind in (SETTINGS, PING) and not flags & ACK:
                connection.sendall(frame(kind, ACK, 0, payload if kind == PING else b""))
            elif kind == HEADERS and stream == _HEALTH:
                unimplemented = head + header(b"grpc-status", b"12")
                connection.sendall(frame(HEADERS, END_HEADERS | END_STREAM, stream, unimplemented))
            elif kind == DATA and stream == _CONVERSATION and not answered:
                answered = True
                connection.sendall(frame(HEADERS, END_HEADERS, stream, head + header(b"grpc-encoding", encoding)))
                for start in range(0, len(sent), _LARGEST_FRAME):
                    connection.sendall(frame(DATA, 0, stream, sent[start : start + _LARGEST_FRAME]))
                after(connection)


def flood(connection: socket.socket, forever: Callable[[], bool] = lambda: True) -> None:
    """Send PING frames without end, and read no answers."""
    with contextlib.suppress(OSError):
        while forever():
            connection.sendall(frame(PING, 0, 0, b"are you?") * 1_000)


def _frames(connection: socket.socket) -> Iterator[tuple[int, int, int, bytes]]:
    while True:
        head = _read(connection, 9)
        payload = _read(connection, int.from_bytes(head[:3], "big"))
        yield head[3], head[4], int.from_bytes(head[5:9], "big"), payload


def _read(connection: socket.socket, size: int) -> bytes:
    out = b""
    while len(out) < size:
        chunk = connection.recv(size - len(out))
        if not chunk:
            raise EOFError
        out += chunk
    return out
