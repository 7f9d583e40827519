"""Reads and writes all files of the suite.

Files may come from untrusted sources, so reading is bounded in time and memory.

Two functions write files. ``write_named`` takes a path that the user named: it follows links, and writes to
descriptors, FIFOs and character devices (``nodes.py``). ``write_whole`` takes a file name of the suite's choice in a
folder that the user named. An attacker may have put a link there, so a link is replaced and never followed. Anything
else that is not a regular file is rejected.

Both write a new regular file in the same folder, copy the owner, the mode and the extended attributes of the old one,
and rename it. A reader sees the old file or the new one, and a full disk leaves the old one unchanged. A file that
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
from .nodes import check_descriptor, follow, refused_type_error, write_all, write_descriptor, write_node

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable that names the file to which all steps of a GitHub job append."""
_IN_PLACE = (errno.EBUSY, errno.EACCES, errno.EPERM, errno.EROFS)
"""Errors of creating or renaming a file after which the old file may still be writable."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_LOG = logging.getLogger(__name__)
_warned: set[Path] = set()
"""Files for which a warning was logged. Some files are written many times; one warning is enough."""


class FileError(ValueError):
    """A file cannot be read. The message continues a sentence that begins with the file name."""


@contextmanager
def open_regular_file(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file for reading. Raises FileError, also for errors while it is read."""
    # Without O_NONBLOCK, open() waits forever on a FIFO that has no writer.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags)
    except (OSError, ValueError) as error:  # ValueError: the path contains a NUL
        raise _unreadable_error(error) from None
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(mode):
            raise FileError("is not a regular file")
        with os.fdopen(handle, "rb", closefd=False) as file:
            yield file
    except OSError as error:
        raise _unreadable_error(error) from None
    finally:
        os.close(handle)


def _unreadable_error(error: OSError | ValueError) -> FileError:
    # A ValueError has no strerror, and its text depends on the version of Python.
    why = getattr(error, "strerror", None) or "a file cannot have that name"
    return FileError(f"cannot be read: {printable(why)}")


def read_bytes(path: Path, largest: int) -> bytes:
    """The content of a regular file of at most ``largest`` bytes. Raises FileError."""
    with open_regular_file(path) as file:
        # Do not trust the size in the file status: a file can grow while it is read.
        content = file.read(largest + 1)
    if len(content) > largest:
        size = f"{largest >> 20} MiB" if largest >= 1 << 20 else f"{largest >> 10} KiB"
        raise FileError(f"has more than {size}")
    return content


def read_text(path: Path, largest: int) -> str:
    """The content of a UTF-8 file of at most ``largest`` bytes, with all line ends as line feeds. Raises FileError."""
    try:
        text = read_bytes(path, largest).decode("utf-8")
    except UnicodeDecodeError:
        raise FileError("is not UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def parse_json(content: str | bytes) -> Any:
    """Parse JSON. Raises FileError for invalid JSON, duplicate keys and too deep nesting.

    Numbers must be finite: Python would write others as NaN or Infinity, which is not JSON.
    """
    try:
        text = content.decode("utf-8") if isinstance(content, bytes) else content
        return json.loads(text, object_pairs_hook=_reject_duplicate_keys, parse_constant=_finite, parse_float=_finite)
    except RecursionError:
        raise FileError("is not JSON that can be read: it is nested too deep") from None
    except ValueError as error:
        raise FileError(f"is not JSON, or was cut off: {printable(str(error), 120)}") from None


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"{number[:20]} is not a number of JSON, or does not fit in 64 bits")
    return value


def _reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("an object has a duplicate key")
    return out


def packaged_schema(package: str, name: str) -> dict[str, Any]:
    """A JSON Schema that is stored in a package."""
    schema: dict[str, Any] = json.loads(files(package).joinpath(name).read_text("utf-8"))
    return schema


def find_schema_error(validator: Any, data: Any, longest: int = 200, part: Mapping[str, Any] | None = None) -> str:
    """The place and the reason where ``data`` violates a JSON Schema; "" if ``data`` is valid. The reason is cut at
    ``longest`` characters.

    ``part`` is a subschema of the validator's schema; if given, ``data`` is checked against this subschema only.
    """
    if _surely_fits(validator.schema, data, part):
        return ""
    from jsonschema.exceptions import best_match  # imported late because it is slow; most commands do not need it

    wrong = best_match(validator.iter_errors(data) if part is None else validator.descend(data, part))
    if wrong is None:
        return ""
    place = "/".join(map(str, wrong.absolute_path)) or "the top"
    return f"at {printable(place, 80)}, {printable(wrong.message, longest)}"


_QUICK_VALIDATORS: dict[int, tuple[Any, Any]] = {}
"""Quick validators by the ID of the schema object. The schema is stored as well, so that its ID is not reused."""


def _surely_fits(schema: Any, data: Any, part: Mapping[str, Any] | None) -> bool:
    """Does a fast validator accept the data?

    If not, the slow validator must check the data again: only the slow validator describes errors.
    """
    from jsonschema_rs import validator_for

    wanted = schema if part is None else part
    kept, quick = _QUICK_VALIDATORS.get(id(wanted), (None, None))
    if kept is not wanted:
        if len(_QUICK_VALIDATORS) > 50:
            _QUICK_VALIDATORS.clear()
        quick = validator_for(schema if part is None else {**part, "$defs": schema.get("$defs", {})})
        _QUICK_VALIDATORS[id(wanted)] = wanted, quick
    try:
        return bool(quick.is_valid(data))
    except ValueError:  # the fast validator rejects lone surrogates and deep nesting
        return False


def write_named(path: Path, content: str | bytes) -> Path:
    """Write to a path that the user named, or append if it is the step summary of GitHub. Raises OSError."""
    data, place = _bytes(content), follow(path)
    if isinstance(place, int):
        write_descriptor(place, data)
        return path
    old = _look(place)
    if old is not None and (stat.S_ISFIFO(old.st_mode) or stat.S_ISCHR(old.st_mode)):
        write_node(place, old.st_mode, data)
    elif old is not None and not stat.S_ISREG(old.st_mode):
        raise refused_type_error(old.st_mode)
    elif _is_step_summary(place):
        _append(place, data)
    else:
        _replace(place, old, data)
    return path


def write_whole(path: Path, content: str | bytes) -> Path:
    """Write a file with a name of the suite's choice in a folder that the user named. Raises OSError."""
    old = _look(path)
    if old is not None and stat.S_ISLNK(old.st_mode):
        old = None
    if old is not None and not stat.S_ISREG(old.st_mode):
        raise refused_type_error(old.st_mode)
    _replace(path, old, _bytes(content))
    return path


def write_new(path: Path, content: bytes) -> None:
    """Create a file and write ``content``. Raises OSError, also if the file exists. A failed write leaves no file
    behind.
    """
    with path.open("xb") as file:
        try:
            file.write(content)
            file.flush()
        except BaseException:
            path.unlink(missing_ok=True)
            raise


def make_folder(path: Path) -> None:
    """Make a folder with a name of the suite's choice in a folder that the user named.

    Raises OSError, also if the name is a link.
    """
    try:
        path.mkdir()
    except FileExistsError:
        check_folder(path)


def check_named(path: Path, *, regular: bool = False) -> None:
    """Raises OSError if ``write_named`` would reject the path. A missing folder is accepted: the caller may create it.

    With ``regular``, descriptors, FIFOs and devices are rejected as well, because the caller will read the file again.
    """
    place = follow(path)
    if isinstance(place, int):
        if regular:
            raise OSError(errno.EINVAL, "the path is a descriptor, not a regular file")
        check_descriptor(place)
        return
    old = _look(place)
    if old is None or stat.S_ISREG(old.st_mode):
        beside = os.access(place.parent, os.W_OK | os.X_OK) or not place.parent.exists()
        writable = beside or (old is not None and os.access(place, os.W_OK))
    elif not regular and (stat.S_ISFIFO(old.st_mode) or stat.S_ISCHR(old.st_mode)):
        writable = os.access(place, os.W_OK)
    else:
        raise refused_type_error(old.st_mode)
    if not writable:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def check_whole(path: Path) -> None:
    """Raises OSError if ``write_whole`` would reject the path."""
    old = _look(path)
    if old is not None and not (stat.S_ISREG(old.st_mode) or stat.S_ISLNK(old.st_mode)):
        raise refused_type_error(old.st_mode)


def check_folder(path: Path) -> None:
    """Raises OSError if the path is a link or a file instead of a folder."""
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
    """Raises OSError if no file can be created in the folder."""
    probe, handle = _fresh(folder, 0o600)
    os.close(handle)
    probe.unlink()


def _bytes(content: str | bytes) -> bytes:
    # IDs may contain surrogates. They must not prevent the report from being written.
    return content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")


def _look(path: Path) -> os.stat_result | None:
    """The status of a path, without following a link; None if nothing is there."""
    try:
        return path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _fresh(folder: Path, mode: int) -> tuple[Path, int]:
    """Create and open a new file under a random name. O_EXCL: an existing file or link of that name is not opened."""
    path = folder / f".sds-{secrets.token_hex(16)}.tmp"
    return path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)


def _replace(path: Path, old: os.stat_result | None, data: bytes) -> None:
    """Replace a regular file, or create a new one. Raises OSError."""
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
    """Give a file the owner, mode and extended attributes of another one.

    Raises OSError; EPERM if they cannot be set.
    """
    try:
        new = os.fstat(handle)
        if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
            os.fchown(handle, old.st_uid, old.st_gid)
        os.fchmod(handle, stat.S_IMODE(old.st_mode))
        original, present = _attributes(path), _attributes(handle)
        for name in present.keys() - original.keys():
            os.removexattr(handle, name)
        for name, value in original.items():
            if present.get(name) != value:
                os.setxattr(handle, name, value)
    except OSError as error:
        if error.errno in _FULL:
            raise
        reason = f"owner, mode or attributes cannot be kept ({error.strerror})"
        raise PermissionError(errno.EPERM, reason) from None


def _attributes(file: Path | int) -> dict[str, bytes]:
    """The extended attributes; empty if the system or the file system does not support them."""
    if not hasattr(os, "listxattr"):
        return {}
    try:
        return {name: os.getxattr(file, name) for name in os.listxattr(file)}
    except OSError as error:
        if error.errno == errno.ENOTSUP:
            return {}
        raise


def _write_in_place(path: Path, old: os.stat_result, data: bytes) -> None:
    """Overwrite a regular file. Raises OSError. If the disk has no room for all of ``data``, the file stays
    unchanged.
    """
    handle = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        found = os.fstat(handle)
        if not os.path.samestat(found, old):
            raise OSError(errno.EAGAIN, "the file was replaced in the meantime")
        _make_room(handle, found.st_size, len(data))
        write_all(handle, data)
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
    """Append to a regular file, on a new line. Raises OSError, and then the file stays unchanged."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(path, flags, 0o666)
    try:
        size = os.fstat(handle).st_size
        begun = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
        try:
            write_all(handle, b"\n" + data if begun else data)
        except BaseException:
            os.ftruncate(handle, size)
            raise
    finally:
        os.close(handle)


def _is_step_summary(place: Path) -> bool:
    named = os.environ.get(STEP_SUMMARY)
    return named is not None and named != "" and os.path.realpath(named) == str(place)
