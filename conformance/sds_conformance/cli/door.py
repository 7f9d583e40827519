"""The one door: all that is printed goes through it, whoever wrote it.

What stands in files, and what implementations say, must not move the cursor, turn the text around, or give orders to
the CI whose log it is in. And who reads can go away, or be a full disk: that is no verdict.
"""

from __future__ import annotations

import codecs
import errno
import io
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, TextIO, cast

from rich.console import Console, ConsoleDimensions, ConsoleOptions, RenderableType
from rich.segment import Segment

from sds_harness.declaration import without_controls, without_orders
from sds_harness.json_text import dumps

from ..judging.exits import Exit

_IN_ASCII = {"…": "...", "→": "->"}
_NARROWEST, _WIDEST = 20, 9_999
"""Columns of a terminal: tables need some, and rich pads each line of a table to the width."""


class OutputLost(Exception):
    """Nothing more can be printed. No OSError, which could be taken for one of a file."""

    def __init__(self, stream: Styled, name: str, error: OSError | ValueError) -> None:
        super().__init__(f"{name} cannot be written: {getattr(error, 'strerror', None) or error}")
        self.stream = stream
        self.exit_code = Exit.CLOSED_PIPE if getattr(error, "errno", None) == errno.EPIPE else Exit.OURS


def shown(text: str) -> str:
    """A text without what makes a terminal do something else than show it; its lines stay."""
    if text.isprintable():
        return text
    return "\n".join(without_controls(line, "�") for line in text.replace("\t", "    ").split("\n"))


def shown_json(data: object, encoding: str = "utf-8", **options: Any) -> str:
    """JSON that says the same and shows nothing else: what cannot be shown, or has no place in the encoding of the
    stream, stands as an escape."""
    text = dumps(data, indent=2, **options)
    if _has(encoding, text):
        return text
    return "".join(c if _has(encoding, c) else json.dumps(c)[1:-1] for c in text)


def _has(encoding: str, text: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _spell(error: UnicodeError) -> tuple[str | bytes, int]:
    """The error handler of our streams: a character that the encoding lacks becomes its escape, so that different IDs
    stay different. Only the signs that our tables and sentences use have a spelling in ASCII."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    at = error.start
    sign, around = error.object[at], error.object[max(at - 1, 0) : at] + error.object[at + 1 : at + 2]
    if sign == "·" and not around.strip():  # an empty cell of a table
        return "-", at + 1
    if sign in _IN_ASCII:
        return _IN_ASCII[sign], at + 1
    return codecs.backslashreplace_errors(UnicodeEncodeError(error.encoding, error.object, at, at + 1, error.reason))


_SPELLING = "sds-conformance"
codecs.register_error(_SPELLING, _spell)


class Door(io.TextIOBase):
    """stdout or stderr, for whatever is not styled."""

    def __init__(self, stream: TextIO, name: str) -> None:
        self.styled = Styled(stream, name)
        """For what is clean but for the escape sequences of our own styles."""

    def write(self, text: str) -> int:
        self.styled.write(shown(text))
        return len(text)

    def order(self, text: str) -> None:
        """Write what is meant for the CI."""
        self.styled.write(text, order=True)

    def flush(self) -> None:
        self.styled.flush()

    def close(self) -> None:
        """Nothing, as below."""

    def isatty(self) -> bool:
        return self.styled.isatty()

    def fileno(self) -> int:
        return self.styled.fileno()

    # Without `buffer`: it would be a way past the door.
    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self.styled.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        return _SPELLING


class Styled(io.TextIOBase):
    """The stream behind a door."""

    def __init__(self, stream: TextIO, name: str) -> None:
        self._stream, self._name = stream, name
        self._within = False
        """Something stands on the line already."""

    def write(self, text: str, *, order: bool = False) -> int:
        if not order:
            # What has begun a line is put before it, so that only the head of a line looks like one.
            begun = "." if self._within else ""
            text = without_orders(begun + text).removeprefix(begun)
        if text:
            self._within = not text.endswith("\n")
        with self._told():
            return self._stream.write(text)

    def flush(self) -> None:
        with self._told():
            self._stream.flush()

    def close(self) -> None:
        """Nothing: the stream is not ours to close, nor, when this is gone, to flush."""

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding

    def let_go(self) -> None:
        """What is still to be written goes nowhere: else the interpreter would try once more, and fail, at its end."""
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:  # ValueError: of a stream that is closed
            raise OutputLost(self, self._name, error) from None


class DoorConsole(Console):
    """A console whose styles pass the door, and no escape sequence of what it prints.

    It has a usable width, whatever COLUMNS and the terminal say: rich prints nothing at all on a width of 0.
    """

    def __init__(self, **options: Any) -> None:
        sizes = {name: _size(os.environ.get(name, "")) for name in ("COLUMNS", "LINES")}
        super().__init__(_environ={**os.environ, **sizes}, **options)

    @property
    def size(self) -> ConsoleDimensions:
        width, height = super().size
        return ConsoleDimensions(min(max(width, _NARROWEST), _WIDEST), height)

    @size.setter
    def size(self, new_size: tuple[int, int]) -> None:
        self._width, self._height = new_size

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(shown(segment.text), segment.style)

    @property
    def file(self) -> IO[str]:
        stream = super().file
        return cast(IO[str], stream.styled) if isinstance(stream, Door) else stream

    @file.setter
    def file(self, new_file: IO[str]) -> None:
        self._file = new_file


def _size(value: str) -> str:
    """The value of COLUMNS or LINES if it is the size of a terminal, else "": then the terminal is asked."""
    digits = value.lstrip("0") if value.isascii() and value.isdigit() else ""
    return digits if len(digits) <= len(str(_WIDEST)) else str(_WIDEST)


@contextmanager
def doors() -> Iterator[None]:
    """Put doors before stdout and stderr. Raises OutputLost where what was printed is lost."""
    before = sys.stdout, sys.stderr
    for stream in before:
        # A terminal that cannot show a character gets its escape, not a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_SPELLING)
    # A stream that was closed before we began is None.
    named = zip(before, ("stdout", "stderr"), strict=True)
    sys.stdout, sys.stderr = (cast(TextIO, stream and Door(stream, name)) for stream, name in named)
    try:
        try:
            yield
        finally:
            for door in (sys.stdout, sys.stderr):
                if door is not None:
                    door.flush()
    except OutputLost as lost:
        lost.stream.let_go()
        raise
    finally:
        sys.stdout, sys.stderr = before


def order(text: str) -> None:
    """Print what is meant for the CI."""
    if isinstance(sys.stdout, Door):
        sys.stdout.order(text)
    elif sys.stdout is not None:
        sys.stdout.write(text)
