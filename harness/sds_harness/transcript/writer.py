"""Writes a transcript. Each line is written whole and at once; several processes can write to one file."""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..declaration import printable
from ..files import check_named, write_named
from ..json_text import dumps, escape_json
from ..nodes import write_all

VERSION = 1
MAX_LINE = 4 << 20
"""Maximum length of a line in bytes."""
LOCK_S = 5.0
"""Seconds to wait for the lock of the file. The suite holds it for less than a millisecond per line."""
_LOCKED = f"another process held the lock of the file for {LOCK_S:g} s"
_LOOK_EVERY_S = 0.001
_NUMBER = re.compile(rb'\{"n":(\d{1,18}),')


class Transcript:
    """A transcript file.

    If the object is copied to another process, both write to the same file. A lock on the file keeps lines whole and
    their numbers in order.
    After one failed write, no more lines are written, and ``failure`` has the reason. A worker process also prints the
    reason on stderr at once.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.failure = ""
        self._file = -1
        self._copied = False
        self._end = -1
        """The size of the file in bytes after the last line that this process wrote; -1 before the first line."""
        self._number = 0
        """The number of the last line that this process wrote."""

    @classmethod
    def begin(cls, path: Path, **about: Any) -> Transcript:
        """Begin a new transcript, and replace an existing file. Raises OSError.

        If another process holds the lock of the file, the file stays unchanged and ``failure`` is set.
        """
        check_named(path, regular=True)
        out = cls(path)
        try:
            out._wait_for_writers()
            write_named(path, _line(1, {"transcript": VERSION, **about}))
            out._open()
        except TimeoutError as error:
            out.failure = str(error)
        return out

    @property
    def has_vanished(self) -> bool:
        """Was the file deleted, renamed or replaced, so that its path no longer leads to the transcript?"""
        try:
            return self._file >= 0 and not os.path.samestat(os.fstat(self._file), os.stat(self.path))
        except OSError:
            return True

    def add(self, row: Mapping[str, Any], raw: str = "") -> int:
        """Write a line and return its number; 0 if it cannot be written. ``raw`` is JSON that is stored as ``json``."""
        if self.failure:
            return 0
        try:
            self._open()
            with self._lock():
                return self._append(row, raw)
        except OSError as error:
            self.failure = error.strerror or str(error)
            if self._copied:
                text = (
                    f"The transcript {printable(str(self.path))} lacks "
                    f"the messages of a worker process: {self.failure}.\n"
                )
                with suppress(OSError):
                    os.write(2, text.encode())
            return 0

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return _copy, (self.path,)

    def _wait_for_writers(self) -> None:
        """Wait until no process holds the lock of an existing file. Raises OSError, including TimeoutError."""
        with suppress(FileNotFoundError):
            self._open()
            try:
                with self._lock():
                    pass
            finally:
                os.close(self._file)
                self._file = -1

    def _open(self) -> None:
        if self._file < 0:
            self._file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Hold the lock of the file within the block. Raises TimeoutError."""
        until = time.monotonic() + LOCK_S
        while True:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= until:
                    raise TimeoutError(_LOCKED) from None
                time.sleep(_LOOK_EVERY_S)
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def _append(self, row: Mapping[str, Any], raw: str = "") -> int:
        """Write a line while the lock is held, and return its number."""
        size = os.fstat(self._file).st_size
        torn = False
        if size != self._end:
            self._number, torn = self._last(size)
        number = self._number + 1
        data = (b"\n" if torn else b"") + _line(number, row, raw)
        write_all(self._file, data)
        self._end, self._number = size + len(data), number
        return number

    def _last(self, size: int) -> tuple[int, bool]:
        """The number of the last line, and whether it is incomplete because its writer was killed."""
        rest = b""
        # Read only the last 4 KiB first, because the last line is usually short.
        for length in (1 << 12, 2 * MAX_LINE):
            start = max(0, size - length)
            *lines, rest = os.pread(self._file, size - start, start).split(b"\n")
            for back, line in enumerate(reversed(lines[bool(start) :])):
                if found := _NUMBER.match(line):
                    return int(found.group(1)) + back + bool(rest), bool(rest)
        return 0, bool(rest)


def _copy(path: Path) -> Transcript:
    out = Transcript(path)
    out._copied = True
    return out


def _line(number: int, row: Mapping[str, Any], raw: str = "") -> bytes:
    # A conversation is identified by the number of its first line.
    numbered = {"conversation": number, **row} if "begins" in row else row
    line = dumps({"n": number, "at": datetime.now(UTC).isoformat(), **numbered}, separators=(",", ":"))
    if raw:
        line = f'{line[:-1]},"json":{escape_json(raw)}}}'
    return line.encode("utf-8", "backslashreplace") + b"\n"
