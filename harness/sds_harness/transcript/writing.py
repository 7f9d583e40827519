"""Writes a transcript: whole lines, each as soon as there is something to say, of any number of processes."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..files import check_named, write_named
from ..json_text import dumps, escaped

VERSION = 1
MAX_LINE = 4 << 20
"""Bytes of the longest line."""
_NUMBER = re.compile(rb'\{"n":(\d{1,18}),')


class Transcript:
    """A file that takes lines.

    Who is handed one in another process writes to the same file; a lock on it keeps lines whole and their numbers in
    order. Once a line could not be written, none is any more: ``failure`` says why.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.failure = ""
        self._file = -1
        self._end = -1
        """Where the file ended after the last line of ours, and the number of that."""
        self._number = 0

    @classmethod
    def begin(cls, path: Path, **about: Any) -> Transcript:
        """A new one, in place of a file that is there. Raises OSError."""
        check_named(path, regular=True)
        write_named(path, _line(1, {"transcript": VERSION, **about}))
        out = cls(path)
        out._open()
        return out

    def add(self, row: Mapping[str, Any], raw: str = "") -> int:
        """Write a line and return its number; 0 if it cannot be written. ``raw`` is JSON that becomes its ``json``."""
        if self.failure:
            return 0
        try:
            self._open()
            return self._append(row, raw)
        except OSError as error:
            self.failure = error.strerror or str(error)
            return 0

    def __reduce__(self) -> tuple[type[Transcript], tuple[Path]]:
        return Transcript, (self.path,)

    def _open(self) -> None:
        if self._file < 0:
            self._file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)

    def _append(self, row: Mapping[str, Any], raw: str = "") -> int:
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            size = os.fstat(self._file).st_size
            torn = False
            if size != self._end:
                self._number, torn = self._last(size)
            number = self._number + 1
            data = (b"\n" if torn else b"") + _line(number, row, raw)
            view = memoryview(data)
            while view:
                view = view[os.write(self._file, view) :]
            self._end, self._number = size + len(data), number
            return number
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def _last(self, size: int) -> tuple[int, bool]:
        """The number of the last line, and whether that was torn: somebody was killed while he wrote it."""
        rest = b""
        # Mostly the last line is a short one.
        for length in (1 << 12, 2 * MAX_LINE):
            start = max(0, size - length)
            *lines, rest = os.pread(self._file, size - start, start).split(b"\n")
            for back, line in enumerate(reversed(lines[bool(start) :])):
                if found := _NUMBER.match(line):
                    return int(found.group(1)) + back + bool(rest), bool(rest)
        return 0, bool(rest)


def _line(number: int, row: Mapping[str, Any], raw: str = "") -> bytes:
    # A conversation is called by the line with which it begins.
    numbered = {"conversation": number, **row} if "begins" in row else row
    line = _dumps({"n": number, "at": datetime.now(UTC).isoformat(), **numbered})
    if raw:
        line = f'{line[:-1]},"json":{escaped(raw)}}}'
    return line.encode("utf-8", "backslashreplace") + b"\n"


def _dumps(row: Mapping[str, Any]) -> str:
    return dumps(row, separators=(",", ":"))
