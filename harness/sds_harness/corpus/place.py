"""A folder that a corpus is in: on this machine, or on any file system that Arrow can write to (``hdfs://``, ``s3://``,
``gs://``, ``file://``).

A file appears whole or not at all: it is written under another name, in the same folder, and then renamed.
"""

from __future__ import annotations

import contextlib
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import fs

from ..declaration import printable
from ..files import FileError, read_bytes
from .errors import CorpusError

_SECRETS = re.compile(r"\?.*$|(?<=://)[^/@]*@", re.DOTALL)
TEMPORARY = ".tmp-"
"""How the names of files begin that are being written. Spark and Arrow leave out what begins with a dot."""
MAX_TEXT = 1 << 20
"""Bytes of a small text file, such as the manifest."""


@dataclass(frozen=True)
class Place:
    """A folder on a file system."""

    shown: str
    """As it was named, without what follows "?" in a URI, and without a password."""
    system: Any
    """A ``pyarrow.fs.FileSystem``; Arrow's type stubs do not say that it can be pickled, which it can."""
    root: str

    @classmethod
    def at(cls, named: str) -> Place:
        """The folder of that name: a path, or a URI. Raises CorpusError if nobody knows the scheme."""
        if "://" not in named:
            try:
                root = str(Path(named).resolve())
                root.encode()
            except (OSError, ValueError, RuntimeError) as error:  # a loop of links, or no name that Arrow takes
                raise CorpusError(f"{printable(named)} can be no folder: {_first_line(error)}") from None
            return cls(named, fs.LocalFileSystem(), root)
        try:
            system, root = fs.FileSystem.from_uri(named)
        except (pa.ArrowException, OSError, ValueError) as error:
            shown = _SECRETS.sub("", named)
            raise CorpusError(f"{shown}: {_first_line(error).replace(named, shown)}") from None
        return cls(_SECRETS.sub("", named), system, root.rstrip("/"))

    def __truediv__(self, name: str) -> Place:
        return Place(f"{self.shown.rstrip('/')}/{name}", self.system, f"{self.root}/{name}")

    @property
    def name(self) -> str:
        return self.root.rpartition("/")[2]

    def exists(self) -> bool:
        return self._info().type is not fs.FileType.NotFound

    def is_folder(self) -> bool:
        return self._info().type is fs.FileType.Directory

    def is_link(self) -> bool:
        """Is it a symbolic link of this machine?"""
        return isinstance(self.system, fs.LocalFileSystem) and Path(self.root).is_symlink()

    def is_odd(self) -> bool:
        """Is it there, and is neither a file nor a folder? A pipe would keep its reader waiting."""
        return self._info().type is fs.FileType.Unknown

    def names(self) -> list[str]:
        """What is in the folder, sorted; nothing if it is not there."""
        with _told(self):
            infos = self.system.get_file_info(fs.FileSelector(self.root, allow_not_found=True))
        return sorted(info.base_name for info in infos)

    def make(self) -> None:
        """Make the folder, and those above it."""
        with _told(self):
            self.system.create_dir(self.root, recursive=True)

    def remove(self) -> None:
        """Remove the file, or the folder with all that is in it."""
        with _told(self):
            if self.is_folder():
                self.system.delete_dir(self.root)
            elif self.exists():
                self.system.delete_file(self.root)

    def read_text(self) -> str:
        """A small file in UTF-8. Raises CorpusError."""
        raw = self._read(MAX_TEXT)
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            raise CorpusError(f"{self.shown} is no text in UTF-8") from None

    def _read(self, largest: int) -> bytes:
        if isinstance(self.system, fs.LocalFileSystem):
            try:
                return read_bytes(Path(self.root), largest)
            except FileError as error:
                raise CorpusError(f"{self.shown} {error}") from None
        with _told(self), self.system.open_input_stream(self.root) as file:
            raw: bytes = file.read(largest + 1)
        if len(raw) > largest:
            raise CorpusError(f"{self.shown} has more than {largest >> 20} MiB")
        return raw

    def write_text(self, text: str) -> None:
        """Write a small file; it is there whole or not at all."""
        with self.writing() as half, _told(self), self.system.open_output_stream(half.root) as file:
            file.write(text.encode())

    @contextlib.contextmanager
    def writing(self) -> Iterator[Place]:
        """A file beside this one that takes its place when the block ends, and is gone when the block fails."""
        folder, _, name = self.root.rpartition("/")
        half = Place(self.shown, self.system, f"{folder}/{TEMPORARY}{uuid.uuid4().hex}-{name}")
        try:
            yield half
            with _told(self):
                if not isinstance(self.system, fs.LocalFileSystem) and self.exists():
                    self.system.delete_file(self.root)  # Hadoop does not rename onto what is there
                self.system.move(half.root, self.root)
        except BaseException:
            with contextlib.suppress(Exception):
                self.system.delete_file(half.root)
            raise

    def _info(self) -> Any:
        with _told(self):
            return self.system.get_file_info(self.root)


def remove_halves(folder: Place) -> None:
    """Remove what was being written in a folder when its writer was killed."""
    for name in folder.names():
        if name.startswith(TEMPORARY):
            (folder / name).remove()


@contextlib.contextmanager
def _told(place: Place) -> Iterator[None]:
    """What Arrow has to say of a file, in one line with its name."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise CorpusError(f"{place.shown}: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    return str(error).strip().splitlines()[0][:300] if str(error).strip() else type(error).__name__
