"""Parameter types for paths: inputs and outputs.

Every option and argument that takes a path has one of these types, as ``conformance/tests/cli/test_paths.py`` checks.
Outputs are checked while the command line is parsed, before anything is played.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource


class InputPath(click.Path):
    """A file or a folder that a command reads. If it is unreadable, the command reports this."""


class OutputFile(click.Path):
    """A file that a command writes: a regular file, a FIFO, a character device, or a descriptor such as /dev/stdout.

    With ``regular``, only a regular file is allowed, because it is read again later.
    """

    def __init__(self, what: str = "", *, regular: bool = False) -> None:
        """``what`` describes the content in messages, such as "a transcript to "."""
        super().__init__(path_type=Path)
        self._what, self._regular = what, regular

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        from sds_harness.files import (
            check_named,
        )  # not at the top: the module needs modules that Windows lacks, and the program must be able to say so first

        path = Path(value)
        _refuse_unnamed_link(self, path, param, ctx)
        try:
            check_named(path, regular=self._regular)
        except (OSError, ValueError) as error:  # no path may contain a NUL
            why = getattr(error, "strerror", None) or "a file cannot have that name"
            self.fail(f"cannot write {self._what}{path}: {why}. Name another FILE.", param, ctx)
        return path


class OutputFolder(click.Path):
    """A folder to which a command writes files. It need not exist yet."""

    def __init__(self, *, exists: bool = False) -> None:
        super().__init__(path_type=Path, exists=exists, file_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        super().convert(value, param, ctx)
        path = Path(value)
        _refuse_unnamed_link(self, path, param, ctx)
        _refuse_unusable_folder(self, path, param, ctx)
        return path


class OutputPlace(click.Path):
    """A folder to which a command writes files, as a path or a URI such as hdfs://host/mine."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if "://" not in value:
            _refuse_unusable_folder(self, Path(value), param, ctx)
        return str(value)


INPUT = InputPath(path_type=Path)
INPUT_FILE = InputPath(path_type=Path, dir_okay=False)
INPUT_FOLDER = InputPath(path_type=Path, file_okay=False, exists=True)
INPUT_PLACE = InputPath()
"""A folder that a command reads, as a path or a URI."""
OUTPUT_FILE = OutputFile()
KEPT_FILE = OutputFile(regular=True)
"""A file that a command writes and reads again."""
OUTPUT_FOLDER = OutputFolder()
OUTPUT_PLACE = OutputPlace()


def _refuse_unnamed_link(
    kind: click.Path, path: Path, param: click.Parameter | None, ctx: click.Context | None
) -> None:
    """Refuse a symbolic link that the user did not name: an attacker may have put a link at the default path."""
    named = ctx is None or param is None or ctx.get_parameter_source(param.name or "") is not ParameterSource.DEFAULT
    if not named and os.path.islink(path):
        text = (
            f"{path} is a symbolic link, and you did not name it: type this path to follow the link, or another path."
        )
        kind.fail(text, param, ctx)


def _refuse_unusable_folder(
    kind: click.Path, path: Path, param: click.Parameter | None, ctx: click.Context | None
) -> None:
    try:
        found = path.stat()
    except (OSError, ValueError):
        if os.path.islink(path):  # `islink` returns False for a name that is too long.
            kind.fail(f"{path} is a symbolic link whose target does not exist. Name another DIR.", param, ctx)
        return
    if not stat.S_ISDIR(found.st_mode):
        kind.fail(f"{path} is not a folder. Name another DIR.", param, ctx)
