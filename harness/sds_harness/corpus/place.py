"""The folder of a corpus: on this machine, or on a file system that Arrow can write to (``hdfs://``, ``s3://``,
``gs://``, ``file://``).

Files appear atomically: they are written under another name in the same folder and then renamed.
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
"""Prefix of the names of files that are being written. Spark and Arrow ignore names that begin with a dot."""
MAX_TEXT = 1 << 20
"""Maximum size in bytes of a small text file, such as the manifest."""


@dataclass(frozen=True)
class Place:
    """A folder or a file, on this machine or on a file system that Arrow can write to."""

    label: str
    """The name as given, without a password and without the query of a URI."""
    system: Any
    """A ``pyarrow.fs.FileSystem``. It can be pickled, although Arrow's type stubs do not say so."""
    root: str

    @classmethod
    def from_name(cls, named: str) -> Place:
        """The folder with this name: a path or a URI. Raises CorpusError for an unknown scheme."""
        if "://" not in named:
            try:
                root = str(Path(named).resolve())
                root.encode()
            except (OSError, ValueError, RuntimeError) as error:  # a loop of links, or a name that Arrow cannot encode
                raise CorpusError(f"{printable(named)} cannot be a folder: {_first_line(error)}") from None
            return cls(named, fs.LocalFileSystem(), root)
        try:
            system, root = fs.FileSystem.from_uri(named)
        except (pa.ArrowException, OSError, ValueError) as error:
            shown = _SECRETS.sub("", named)
            raise CorpusError(f"{shown}: {_first_line(error).replace(named, shown)}") from None
        return cls(_SECRETS.sub("", named), system, root.rstrip("/"))

    def __truediv__(self, name: str) -> Place:
        return Place(f"{self.label.rstrip('/')}/{name}", self.system, f"{self.root}/{name}")

    @property
    def name(self) -> str:
        return self.root.rpartition("/")[2]

    def exists(self) -> bool:
        return self._info().type is not fs.FileType.NotFound

    def is_folder(self) -> bool:
        return self._info().type is fs.FileType.Directory

    def is_link(self) -> bool:
        """Is this place a symbolic link on this machine?"""
        return isinstance(self.system, fs.LocalFileSystem) and Path(self.root).is_symlink()

    def is_odd(self) -> bool:
        """Does the path exist without being a file or a folder? Reading a pipe would block."""
        return self._info().type is fs.FileType.Unknown

    def names(self) -> list[str]:
        """The names in the folder, sorted; empty if it does not exist."""
        with _name_file_in_errors(self):
            infos = self.system.get_file_info(fs.FileSelector(self.root, allow_not_found=True))
        return sorted(info.base_name for info in infos)

    def make(self) -> None:
        """Make the folder and its parents."""
        with _name_file_in_errors(self):
            self.system.create_dir(self.root, recursive=True)

    def remove(self) -> None:
        """Remove the file, or the folder with its content."""
        with _name_file_in_errors(self):
            if self.is_folder():
                self.system.delete_dir(self.root)
            elif self.exists():
                self.system.delete_file(self.root)

    def read_text(self) -> str:
        """Read a small file in UTF-8. Raises CorpusError."""
        try:
            if isinstance(self.system, fs.LocalFileSystem):
                raw = read_bytes(Path(self.root), MAX_TEXT)
            else:
                with _name_file_in_errors(self), self.system.open_input_stream(self.root) as file:
                    raw = file.read(MAX_TEXT + 1)
                if len(raw) > MAX_TEXT:
                    raise CorpusError(f"{self.label} has more than {MAX_TEXT >> 20} MiB")
            return raw.decode("utf-8")
        except FileError as error:
            raise CorpusError(f"{self.label} {error}") from None
        except UnicodeDecodeError:
            raise CorpusError(f"{self.label} is not text in UTF-8") from None

    def write_text(self, text: str) -> None:
        """Write a small file atomically."""
        with (
            self.write_atomically() as half,
            _name_file_in_errors(self),
            self.system.open_output_stream(half.root) as file,
        ):
            file.write(text.encode())

    @contextlib.contextmanager
    def write_atomically(self) -> Iterator[Place]:
        """A temporary file in the same folder.

        It replaces this file when the block ends, and is removed when the block fails.
        """
        folder, _, name = self.root.rpartition("/")
        half = Place(self.label, self.system, f"{folder}/{TEMPORARY}{uuid.uuid4().hex}-{name}")
        try:
            yield half
            with _name_file_in_errors(self):
                if not isinstance(self.system, fs.LocalFileSystem) and self.exists():
                    self.system.delete_file(self.root)  # Hadoop does not rename onto an existing file
                self.system.move(half.root, self.root)
        except BaseException:
            with contextlib.suppress(Exception):
                self.system.delete_file(half.root)
            raise

    def _info(self) -> Any:
        with _name_file_in_errors(self):
            return self.system.get_file_info(self.root)


def remove_halves(folder: Place) -> None:
    """Remove the files in a folder that were not finished because their writer was killed."""
    for name in folder.names():
        if name.startswith(TEMPORARY):
            (folder / name).remove()


@contextlib.contextmanager
def _name_file_in_errors(place: Place) -> Iterator[None]:
    """Convert errors of Arrow to one line with the name of the file."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise CorpusError(f"{place.label}: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file or folder"
    return str(error).strip().splitlines()[0][:300] if str(error).strip() else type(error).__name__
