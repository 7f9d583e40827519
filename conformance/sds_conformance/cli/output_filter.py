"""The output filter, through which all output passes.

Texts from files and implementations must not move the cursor, reverse text, or contain commands for a CI. If the pipe
is closed or the disk is full, the exit code must not look like a verdict.
"""

from __future__ import annotations

import codecs
import errno
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, TextIO, cast

import click
from rich.console import Console, ConsoleDimensions, ConsoleOptions, RenderableType
from rich.segment import Segment

from sds_harness.declaration import without_controls, without_orders
from sds_harness.json_text import dumps

from ..judging.exits import Exit

_IN_ASCII = {"…": "...", "→": "->"}
_NARROWEST, _WIDEST = 20, 9_999
"""Minimum and maximum width of the output, in columns. Tables need a minimum; rich pads each row of a table to the
width, which would make a huge width slow.
"""


class OutputError(Exception):
    """Nothing more can be printed. Not a subclass of OSError: handlers of file errors would catch it."""

    def __init__(self, stream: Styled, name: str, error: OSError | ValueError) -> None:
        super().__init__(f"{name} cannot be written: {getattr(error, 'strerror', None) or error}")
        self.stream = stream
        self.exit_code = Exit.CLOSED_PIPE if getattr(error, "errno", None) == errno.EPIPE else Exit.OURS


def strip_controls(text: str) -> str:
    """Remove all control sequences from a text, except line breaks."""
    if text.isprintable():
        return text
    return "\n".join(without_controls(line, "�") for line in text.replace("\t", "    ").split("\n"))


def print_json(data: object, encode: Callable[[Any], object] | None = None) -> None:
    """Print ``data`` as JSON on stdout. Characters that are unprintable, or that the encoding lacks, are escaped.
    ``encode`` converts values that JSON cannot represent.
    """
    encoding, text = getattr(sys.stdout, "encoding", None) or "utf-8", dumps(data, indent=2, default=encode)
    if not _has(encoding, text):
        text = "".join(c if _has(encoding, c) else json.dumps(c)[1:-1] for c in text)
    click.echo(text)


def _has(encoding: str, text: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _spell(error: UnicodeError) -> tuple[str | bytes, int]:
    """Error handler of the streams: escape characters that the encoding lacks, so that different IDs stay different.

    Only the signs that the suite itself prints in tables and sentences have an ASCII replacement.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    at = error.start
    sign, around = error.object[at], error.object[max(at - 1, 0) : at] + error.object[at + 1 : at + 2]
    if sign == "·" and not around.strip():  # a dot that stands for an empty cell of a table
        return "-", at + 1
    if sign in _IN_ASCII:
        return _IN_ASCII[sign], at + 1
    return codecs.backslashreplace_errors(UnicodeEncodeError(error.encoding, error.object, at, at + 1, error.reason))


_SPELLING = "sds-conformance"
codecs.register_error(_SPELLING, _spell)


class OutputFilter(io.TextIOBase):
    """Replaces stdout or stderr, for text without styles."""

    def __init__(self, stream: TextIO, name: str) -> None:
        self.styled = Styled(stream, name)
        """The stream for text with styles. A `DoorConsole` has removed the escape sequences that texts contain."""

    def write(self, text: str) -> int:
        self.styled.write(strip_controls(text))
        return len(text)

    def order(self, text: str) -> None:
        """Write workflow commands for a CI unfiltered."""
        self.styled.write(text, order=True)

    def flush(self) -> None:
        self.styled.flush()

    def close(self) -> None:
        """Do nothing, see `Styled.close`."""

    def isatty(self) -> bool:
        return self.styled.isatty()

    def fileno(self) -> int:
        return self.styled.fileno()

    # No `buffer` attribute, because it would bypass the filter.
    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self.styled.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        return _SPELLING


_bars = 0
_ERASE_LINE = "\r\x1b[2K"


@contextmanager
def bar_on_terminal() -> Iterator[None]:
    """Context manager: within its block, the last line of the terminal is a progress bar on stderr.

    Text on stdout replaces the bar, and the next refresh draws the bar below it.
    """
    global _bars
    _bars += 1
    try:
        yield
    finally:
        _bars -= 1


class Styled(io.TextIOBase):
    """The stream for text with styles. It makes CI commands in the text ineffective, and keeps all escape sequences."""

    def __init__(self, stream: TextIO, name: str) -> None:
        self._stream, self._name = stream, name
        self._within = False
        """True if the current line is not empty."""

    def write(self, text: str, *, order: bool = False) -> int:
        if not order:
            # Check the text together with the beginning of its line, because commands for a CI count only at the start
            # of a line.
            begun = "." if self._within else ""
            text = without_orders(begun + text).removeprefix(begun)
        if text:
            if _bars and not self._within and self._name == "stdout" and self.isatty():
                text = _ERASE_LINE + text
            self._within = not text.endswith("\n")
        with self._raise_output_errors():
            return self._stream.write(text)

    def flush(self) -> None:
        with self._raise_output_errors():
            self._stream.flush()

    def close(self) -> None:
        """Do nothing: this class does not own the stream, and must not flush it when it is deleted."""

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding

    def discard_pending(self) -> None:
        """Discard pending output. Otherwise the interpreter would try to write it at exit, and fail."""
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)

    @contextmanager
    def _raise_output_errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:  # ValueError: the stream is closed
            raise OutputError(self, self._name, error) from None


class DoorConsole(Console):
    """A console that prints the styles that the suite chose, and removes escape sequences that a text contains.

    Its width is always usable, for any value of COLUMNS and any terminal. (With a width of 0, rich prints nothing.)
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
                yield Segment(strip_controls(segment.text), segment.style)

    @property
    def file(self) -> IO[str]:
        stream = super().file
        return cast(IO[str], stream.styled) if isinstance(stream, OutputFilter) else stream

    @file.setter
    def file(self, new_file: IO[str]) -> None:
        self._file = new_file


def _size(value: str) -> str:
    """Return the value of COLUMNS or LINES if it is valid. "" means that the terminal decides."""
    digits = value.lstrip("0") if value.isascii() and value.isdigit() else ""
    return digits if len(digits) <= len(str(_WIDEST)) else str(_WIDEST)


@contextmanager
def filter_output() -> Iterator[None]:
    """Filter stdout and stderr. Raises OutputError if output was lost."""
    before = sys.stdout, sys.stderr
    for stream in before:
        # A character that the terminal cannot show is printed as an escape, instead of a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_SPELLING)
    # A stream that was closed before the start is None.
    named = zip(before, ("stdout", "stderr"), strict=True)
    sys.stdout, sys.stderr = (cast(TextIO, stream and OutputFilter(stream, name)) for stream, name in named)
    try:
        try:
            yield
        finally:
            for door in (sys.stdout, sys.stderr):
                if door is not None:
                    door.flush()
    except OutputError as lost:
        lost.stream.discard_pending()
        raise
    finally:
        sys.stdout, sys.stderr = before


def order(text: str) -> None:
    """Print workflow commands for a CI, such as ``::error::``, which the filter disables in all other output."""
    if isinstance(sys.stdout, OutputFilter):
        sys.stdout.order(text)
    elif sys.stdout is not None:
        sys.stdout.write(text)
