"""Reads and writes all files of the suite.

Files that are read can be anybody's: reading is bounded in time and memory.

Two functions write files. ``write_named`` takes a path that the user named: it follows links, and writes to
descriptors, FIFOs and character devices (``nodes.py``). ``write_whole`` takes a name of ours in a folder that the user
named. An attacker may have put a link there, so a link is replaced and never followed; any other node than a regular
file is refused.

Both write a new regular file in the same folder, copy the owner, the mode and the extended attributes of the old one,
and rename it. A reader sees the old file or the new one, and a full disk leaves the old one as it was. A file that
cannot be replaced, such as a bind mount of one file, is written in place, with a warning.
"""

from __future__ import annotations

import errno
import json
import logging
import math
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import Any, BinaryIO

from .declaration import printable
from .nodes import check_descriptor, follow, refused, write_descriptor, write_node

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""Names the file that all steps of a job of GitHub append to."""
_IN_PLACE = (errno.EBUSY, errno.EACCES, errno.EPERM, errno.EROFS)
"""Errors of making or renaming a file after which the old one may still be writable."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_LOG = logging.getLogger(__name__)
_warned: set[Path] = set()
"""Files that were warned about: some are written many times."""


class FileError(ValueError):
    """A file cannot be read: the end of a sentence that begins with its name."""


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A regular file, to be read. Raises FileError, also for what goes wrong while it is read."""
    # A pipe that nobody writes to would keep open() waiting, and a device never ends.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags)
    except (OSError, ValueError) as error:  # no path has a NUL in it
        raise _unreadable(error) from None
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(mode):
            raise FileError("is no regular file")
        with os.fdopen(handle, "rb", closefd=False) as file:
            yield file
    except OSError as error:
        raise _unreadable(error) from None
    finally:
        os.close(handle)


def _unreadable(error: OSError | ValueError) -> FileError:
    # What else a name can be wrong in, each Python says in words of its own.
    why = getattr(error, "strerror", None) or "no file can have that name"
    return FileError(f"cannot be read: {printable(why)}")


def read_bytes(path: Path, largest: int) -> bytes:
    """What is in a regular file of at most ``largest`` bytes. Raises FileError."""
    with opened(path) as file:
        # Not by the size that it claims: a file can grow while it is read.
        content = file.read(largest + 1)
    if len(content) > largest:
        size = f"{largest >> 20} MiB" if largest >= 1 << 20 else f"{largest >> 10} KiB"
        raise FileError(f"has more than {size}")
    return content


def read_text(path: Path, largest: int) -> str:
    """The same of a file in UTF-8, with its lines as anybody may have ended them. Raises FileError."""
    try:
        text = read_bytes(path, largest).decode("utf-8")
    except UnicodeDecodeError:
        raise FileError("is not UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def parse_json(content: str | bytes) -> Any:
    """What JSON says, if it says nothing twice and is not nested without end. Raises FileError.

    Numbers are finite: Python would write others as words that are no JSON.
    """
    try:
        text = content.decode("utf-8") if isinstance(content, bytes) else content
        return json.loads(text, object_pairs_hook=_once, parse_constant=_finite, parse_float=_finite)
    except RecursionError:
        raise FileError("is no JSON that can be read: it is nested too deep") from None
    except ValueError as error:
        raise FileError(f"is no JSON, or was cut off: {printable(str(error), 120)}") from None


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"{number[:20]} is no number of JSON, or has no room in 64 bits")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return out


def packaged_schema(package: str, name: str) -> dict[str, Any]:
    """A JSON Schema that stands among the modules of a package."""
    schema: dict[str, Any] = json.loads(files(package).joinpath(name).read_text("utf-8"))
    return schema


def misshapen(validator: Any, data: Any, longest: int = 200, part: Mapping[str, Any] | None = None) -> str:
    """Where data is not what a JSON Schema says, and how, in so many characters at most; "" where it is. With ``part``,
    a schema within that of the validator, the data is what that describes."""
    from jsonschema.exceptions import best_match  # only for who reads a file: it takes its time to import

    wrong = best_match(validator.iter_errors(data) if part is None else validator.descend(data, part))
    if wrong is None:
        return ""
    place = "/".join(map(str, wrong.absolute_path)) or "the top"
    return f"at {printable(place, 80)}, {printable(wrong.message, longest)}"


def write_named(path: Path, content: str | bytes) -> Path:
    """Write to a path that the user named, or append if it is that of the step summary. Raises OSError."""
    data, place = _bytes(content), follow(path)
    if isinstance(place, int):
        write_descriptor(place, data)
        return path
    old = _look(place)
    if old is not None and (stat.S_ISFIFO(old.st_mode) or stat.S_ISCHR(old.st_mode)):
        write_node(place, old.st_mode, data)
    elif old is not None and not stat.S_ISREG(old.st_mode):
        raise refused(old.st_mode)
    elif _is_step_summary(place):
        _append(place, data)
    else:
        _replace(place, old, data)
    return path


def write_whole(path: Path, content: str | bytes) -> Path:
    """Write a file of our name in a folder that the user named. Raises OSError."""
    old = _look(path)
    if old is not None and stat.S_ISLNK(old.st_mode):
        old = None
    if old is not None and not stat.S_ISREG(old.st_mode):
        raise refused(old.st_mode)
    _replace(path, old, _bytes(content))
    return path


def write_new(path: Path, content: bytes) -> None:
    """Write a file that does not exist yet. Raises OSError, also if it exists, and then leaves nothing behind."""
    with path.open("xb") as file:
        try:
            file.write(content)
            file.flush()
        except BaseException:
            path.unlink(missing_ok=True)
            raise


def make_folder(path: Path) -> None:
    """Make a folder of our name in a folder that the user named. Raises OSError, also for a link of that name."""
    try:
        path.mkdir()
    except FileExistsError:
        check_folder(path)


def check_named(path: Path, *, regular: bool = False) -> None:
    """Raises OSError if ``write_named`` would refuse the path. A missing folder is accepted: it may be made first.

    ``regular``: the file is read again later, so descriptors, FIFOs and devices are refused, too.
    """
    place = follow(path)
    if isinstance(place, int):
        if regular:
            raise OSError(errno.EINVAL, "it is a descriptor, and no regular file")
        check_descriptor(place)
        return
    old = _look(place)
    if old is None or stat.S_ISREG(old.st_mode):
        beside = os.access(place.parent, os.W_OK | os.X_OK) or not place.parent.exists()
        writable = beside or (old is not None and os.access(place, os.W_OK))
    elif not regular and (stat.S_ISFIFO(old.st_mode) or stat.S_ISCHR(old.st_mode)):
        writable = os.access(place, os.W_OK)
    else:
        raise refused(old.st_mode)
    if not writable:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def check_whole(path: Path) -> None:
    """Raises OSError if ``write_whole`` would refuse the path."""
    old = _look(path)
    if old is not None and not (stat.S_ISREG(old.st_mode) or stat.S_ISLNK(old.st_mode)):
        raise refused(old.st_mode)


def check_folder(path: Path) -> None:
    """Raises OSError if a folder of our name is a link or a file."""
    old = _look(path)
    if old is not None and not stat.S_ISDIR(old.st_mode):
        what = "a symbolic link" if stat.S_ISLNK(old.st_mode) else "no folder"
        raise NotADirectoryError(errno.ENOTDIR, f"{printable(path.name)} in it is {what}")


def is_regular(path: Path) -> bool:
    """Would ``write_named`` write a regular file? Raises OSError."""
    place = follow(path)
    old = None if isinstance(place, int) else _look(place)
    return not isinstance(place, int) and (old is None or stat.S_ISREG(old.st_mode))


def try_to_write(folder: Path) -> None:
    """Raises OSError where no file can be made in a folder."""
    probe, handle = _fresh(folder, 0o600)
    os.close(handle)
    probe.unlink()


def _bytes(content: str | bytes) -> bytes:
    # A surrogate can reach us in an ID; it must not cost the report.
    return content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")


def _look(path: Path) -> os.stat_result | None:
    """The status of a path, without following a link; None if nothing is there."""
    try:
        return path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _fresh(folder: Path, mode: int) -> tuple[Path, int]:
    """A new file, open: nobody could know its name, and what is there all the same, be it a link, is not opened."""
    path = folder / f".sds-{secrets.token_hex(16)}.tmp"
    return path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)


def _replace(path: Path, old: os.stat_result | None, data: bytes) -> None:
    """Replace a regular file, or make a new one. Raises OSError."""
    try:
        # A replacement stays private until it has the mode of the old file. A new file has mode 0666, reduced by the
        # umask or by the default ACL of the folder.
        temporary, handle = _fresh(path.parent, 0o600 if old is not None else 0o666)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                if old is not None:
                    _take_over(file.fileno(), path, old)
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
        if old is None or error.errno not in _IN_PLACE:
            raise
        _write_in_place(path, old, data)
        if path not in _warned:
            _warned.add(path)
            _LOG.warning("%s was written in place, because it cannot be replaced: %s.", path, error.strerror)


def _take_over(handle: int, path: Path, old: os.stat_result) -> None:
    """Give a file owner, mode and extended attributes of another. Raises OSError, EPERM for what it cannot have."""
    try:
        new = os.fstat(handle)
        if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
            os.fchown(handle, old.st_uid, old.st_gid)
        os.fchmod(handle, stat.S_IMODE(old.st_mode))
        wanted, there = _attributes(path), _attributes(handle)
        for name in there.keys() - wanted.keys():
            os.removexattr(handle, name)
        for name, value in wanted.items():
            if there.get(name) != value:
                os.setxattr(handle, name, value)
    except OSError as error:
        if error.errno in _FULL:
            raise
        told = f"owner, mode or attributes cannot be kept ({error.strerror})"
        raise PermissionError(errno.EPERM, told) from None


def _attributes(file: Path | int) -> dict[str, bytes]:
    """The extended attributes; none on a system or a file system that has none."""
    if not hasattr(os, "listxattr"):
        return {}
    try:
        return {name: os.getxattr(file, name) for name in os.listxattr(file)}
    except OSError as error:
        if error.errno == errno.ENOTSUP:
            return {}
        raise


def _write_in_place(path: Path, old: os.stat_result, data: bytes) -> None:
    """Overwrite a regular file. Raises OSError. If the disk has no room for all of it, the file stays as it was."""
    handle = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        found = os.fstat(handle)
        if not os.path.samestat(found, old):
            raise OSError(errno.EAGAIN, "it was replaced meanwhile")
        _make_room(handle, found.st_size, len(data))
        _write_at_once(handle, data)
        os.ftruncate(handle, len(data))
        os.fsync(handle)
    finally:
        os.close(handle)


def _make_room(handle: int, size: int, wanted: int) -> None:
    if wanted <= size or not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(handle, 0, wanted)
    except OSError as error:
        if error.errno in _FULL:
            os.ftruncate(handle, size)
            raise


def _append(path: Path, data: bytes) -> None:
    """Append to a regular file, on a new line. Raises OSError, and then the file stays as it was."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(path, flags, 0o666)
    try:
        size = os.fstat(handle).st_size
        begun = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
        try:
            _write_at_once(handle, b"\n" + data if begun else data)
        except BaseException:
            os.ftruncate(handle, size)
            raise
    finally:
        os.close(handle)


def _write_at_once(handle: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(handle, left) :]


def _is_step_summary(place: Path) -> bool:
    named = os.environ.get(STEP_SUMMARY)
    return named is not None and named != "" and os.path.realpath(named) == str(place)
