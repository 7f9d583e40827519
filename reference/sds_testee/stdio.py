"""Serves the testee protocol on stdin and stdout until stdin ends."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from .framing import Framing, FramingError

_CHUNK = 1 << 16


def serve(
    handle: Callable[[Any], Any],
    request: type[Any],
    reply: type[Any],
    framing: Framing,
    stdin: int = 0,
    stdout: int = 1,
) -> None:
    """Answer every frame of the file descriptor ``stdin`` on ``stdout``.

    ``request`` and ``reply`` are the messages of the testee protocol, as protoc generates them.
    """
    buffer = bytearray()
    searched = 0
    while chunk := os.read(stdin, _CHUNK):
        buffer += chunk
        while (body := framing.take(buffer, searched)) is not None:
            searched = 0
            try:
                answer = handle(framing.parse(body, request, lenient=True))
            except FramingError as error:
                answer = reply()
                answer.error.message = f"not a request: {error}"
            _write(stdout, framing.pack(answer))
        searched = len(buffer)


def _write(stdout: int, frame: bytes) -> None:
    view = memoryview(frame)
    while view:
        view = view[os.write(stdout, view) :]
