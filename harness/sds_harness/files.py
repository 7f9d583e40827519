"""Files that can be anybody's, read so that none of them keeps us waiting or takes the memory; and files of ours,
written so that nothing else is hit."""

from __future__ import annotations

import errno
import json
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import Any, BinaryIO

from .declaration import printable


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
    """What JSON says, if it says nothing twice and is not nested without end. Raises FileError."""
    try:
        return json.loads(content.decode("utf-8") if isinstance(content, bytes) else content, object_pairs_hook=_once)
    except RecursionError:
        raise FileError("is no JSON that can be read: it is nested too deep") from None
    except ValueError as error:
        raise FileError(f"is no JSON, or was cut off: {printable(str(error), 120)}") from None


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


def write_whole(path: Path, text: str) -> Path:
    """Write a file that appears whole or not at all. Raises OSError."""
    temporary, handle = _fresh(path.parent)
    try:
        # A surrogate can reach us in an ID; it must not cost the report.
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    return path


def try_to_write(folder: Path) -> None:
    """Raises OSError where no file can be made in a folder."""
    probe, handle = _fresh(folder)
    os.close(handle)
    probe.unlink()


def _fresh(folder: Path) -> tuple[Path, int]:
    """A new file, open: nobody could know its name, and what is there all the same, be it a link, is not opened."""
    path = folder / f".sds-{secrets.token_hex(16)}.tmp"
    return path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
