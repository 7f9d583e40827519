"""Writes to output paths that are not regular files: descriptors, FIFOs and character devices.

``follow`` resolves a path that the user named, link by link. It stops at a descriptor of this process (``/dev/stdout``,
``/dev/fd/N``, ``/proc/self/fd/N``), which is then duplicated and written to. Opening it again by its path would lose
its offset, and renaming over it would replace ``/dev/stdout`` for every program of the machine.

A write to a FIFO or a device never blocks forever: a FIFO needs a reader within ``READER_S``, and both must accept
some bytes every ``PROGRESS_S``. A failed write raises an OSError whose ``strerror`` is a phrase for the user.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import sys
import time
from contextlib import suppress
from pathlib import Path

READER_S = 5.0
"""Seconds to wait for a reader of a FIFO."""
PROGRESS_S = 30.0
"""Seconds without progress after which a write to a FIFO or a device fails."""
_RETRY_S = 0.01
_PIECE = 1 << 16
_MOST_LINKS = 40
_STREAMS = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
_DESCRIPTOR = re.compile(r"/(?:dev|proc/(?P<process>self|thread-self|\d+)(?:/task/\d+)?)/fd/(?P<number>\d{1,9})")
_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFLNK: "a symbolic link",
}


def follow(path: Path) -> Path | int:
    """The number of the descriptor that a path leads to, or else the path with all links resolved. The path need not
    exist.

    Raises OSError for a loop of links and for a descriptor of another process.
    """
    for _ in range(_MOST_LINKS):
        number = _descriptor(path)
        if number is None:
            # The folder may be reached by links, too: /dev/fd is a link to /proc/self/fd.
            path = Path(os.path.realpath(path.parent), path.name)
            number = _descriptor(path)
        if number is not None:
            return number
        try:
            path = path.parent / os.readlink(path)
        except OSError:
            return path
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _descriptor(path: Path) -> int | None:
    """The number of the descriptor that a path names. Raises OSError if it is one of another process."""
    text = f"/{str(path).lstrip('/')}" if path.is_absolute() else ""
    found = _DESCRIPTOR.fullmatch(text)
    if found is None:
        return _STREAMS.get(text)
    process = found["process"] or "self"
    if process.isdecimal() and process not in _own_numbers():
        raise OSError(errno.EPERM, f"the path is a descriptor of another process, {process}")
    return int(found["number"])


def _own_numbers() -> set[str]:
    """The PIDs of this process: the one of its own PID namespace, and the one that the mounted /proc shows."""
    out = {str(os.getpid())}
    with suppress(OSError):
        out.add(os.readlink("/proc/self"))
    return out


def refused_type_error(mode: int) -> OSError:
    """The error for a file type that the suite does not write to; ``mode`` is its ``st_mode``."""
    if stat.S_ISDIR(mode):
        return IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    return OSError(errno.EINVAL, f"it is {_KINDS.get(stat.S_IFMT(mode), 'of an unknown kind')}, not a regular file")


def check_descriptor(number: int) -> None:
    """Raises OSError for a descriptor that cannot be written to."""
    streams = (sys.__stdin__, sys.__stdout__, sys.__stderr__)
    if number < len(streams) and streams[number] is None:
        # The descriptor was closed when this program started. By now, a file of the suite may have the same number.
        raise OSError(errno.EBADF, f"descriptor {number} is not open")
    try:
        flags = fcntl.fcntl(number, fcntl.F_GETFL)
    except OSError:
        raise OSError(errno.EBADF, f"descriptor {number} is not open") from None
    if flags & os.O_ACCMODE == os.O_RDONLY:
        raise OSError(errno.EBADF, f"descriptor {number} is open for reading only")


def write_descriptor(number: int, data: bytes) -> None:
    """Write to a descriptor of this process. Raises OSError."""
    check_descriptor(number)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()  # lines that were printed before must come before ``data``
    handle = os.dup(number)
    try:
        # Other programs may share the descriptor, so its flags stay unchanged. The write may block, as any write to
        # stdout.
        write_all(handle, data)
    finally:
        os.close(handle)


def write_node(path: Path, mode: int, data: bytes) -> None:
    """Write to the FIFO or the character device at a path that is not a link. Raises OSError."""
    handle = _open_fifo(path) if stat.S_ISFIFO(mode) else _open(path)
    try:
        if stat.S_IFMT(os.fstat(handle).st_mode) != stat.S_IFMT(mode):
            raise OSError(errno.EAGAIN, "the path was replaced in the meantime")
        write_all(handle, data, PROGRESS_S)
    finally:
        os.close(handle)


def _open(path: Path) -> int:
    # No O_CREAT and no O_TRUNC; O_NOCTTY, so that a terminal does not become the controlling one.
    return os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC)


def _open_fifo(path: Path) -> int:
    """Open a FIFO for writing. Raises OSError if no reader opens it in time."""
    deadline = time.monotonic() + READER_S
    while True:
        try:
            return _open(path)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
        if time.monotonic() > deadline:
            raise OSError(errno.ENXIO, f"no reader opened the FIFO within {READER_S:g} s")
        time.sleep(_RETRY_S)


def write_all(handle: int, data: bytes, patience_s: float | None = None) -> None:
    """Write all of ``data`` to a descriptor. Raises OSError, also if nothing is accepted for ``patience_s`` seconds."""
    left, progress = memoryview(data), time.monotonic()
    while left:
        try:
            left, progress = left[os.write(handle, left[:_PIECE]) :], time.monotonic()
        except BlockingIOError:
            if patience_s is not None and time.monotonic() - progress > patience_s:
                raise OSError(errno.ETIMEDOUT, f"the reader read nothing for {patience_s:g} s") from None
            time.sleep(_RETRY_S)
        except BrokenPipeError:
            raise OSError(errno.EPIPE, "the reader closed the FIFO before all data were written") from None
