"""Serves the testee protocol on stdin and stdout until stdin ends."""

from __future__ import annotations

import os
from collections.abc import Callable

from sds_proto.testee.v1.testee_pb2 import Reply, Request

from .framing import Framing, FramingError

_CHUNK = 1 << 16


def serve(handle: Callable[[Request], Reply], framing: Framing, stdin: int = 0, stdout: int = 1) -> None:
    """Answer every frame of the file descriptor ``stdin`` on ``stdout``."""
    buffer = bytearray()
    searched = 0
    while chunk := os.read(stdin, _CHUNK):
        buffer += chunk
        while (body := framing.take(buffer, searched)) is not None:
            searched = 0
            try:
                reply = handle(framing.parse(body, Request))
            except FramingError as error:
                reply = Reply()
                reply.error.message = f"not a request: {error}"
            _write(stdout, framing.pack(reply))
        searched = len(buffer)


def _write(stdout: int, frame: bytes) -> None:
    view = memoryview(frame)
    while view:
        view = view[os.write(stdout, view) :]
