"""Serves the testee protocol on stdin and stdout until stdin ends."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from .framing import Framing, FramingError

_CHUNK = 1 << 16


def serve(handle: Callable[[Any], Any], request: type[Any], reply: type[Any], framing: Framing) -> None:
    """Answer every frame of stdin on stdout.

    ``request`` and ``reply`` are the messages of the testee protocol, as protoc generates them.
    """
    buffer = bytearray()
    searched = 0
    while chunk := os.read(0, _CHUNK):
        buffer += chunk
        while (body := framing.take(buffer, searched)) is not None:
            searched = 0
            try:
                answer = handle(framing.parse(body, request, lenient=True))
            except FramingError as error:
                answer = reply()
                answer.error.message = f"not a request: {error}"
            view = memoryview(framing.pack(answer))
            while view:
                view = view[os.write(1, view) :]
        searched = len(buffer)
