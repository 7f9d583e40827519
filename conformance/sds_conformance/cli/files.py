"""Files that commands read and write. An unreadable or unwritable file is a usage error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console

from sds_harness.files import write_named

from ..reports.report import ReportError


def require_folders(*files: Path | None) -> None:
    """Check, before a long run, that the folder of each file exists. Raises UsageError."""
    for file in files:
        if file is not None and not file.absolute().parent.is_dir():
            message = f"there is no folder {file.parent}. Make it, or name another FILE"
            raise click.UsageError(f"cannot write {file}: {message}")


def refuse_link(file: Path) -> None:
    """Refuse a symbolic link at a path that the user did not type. Raises UsageError."""
    if file.is_symlink():
        raise click.UsageError(
            f"{file} is a symbolic link, and you did not name this file: remove the link, or name another file"
        )


def write_file(file: Path, text: str) -> None:
    """Write to a file that the user named. Raises UsageError."""
    with write_errors(f"cannot write {file}", "Name another FILE."):
        write_named(file, text)


@contextmanager
def write_errors(problem: str, advice: str) -> Iterator[None]:
    """Convert an OSError to a UsageError: ``problem``, its reason, and ``advice``."""
    try:
        yield
    except OSError as error:
        raise click.UsageError(f"{problem}: {error.strerror}. {advice}") from None


@contextmanager
def usage_errors(*errors: type[Exception]) -> Iterator[None]:
    """Convert a ReportError and the given ``errors`` to a UsageError, because the user named the unreadable file."""
    known: tuple[type[Exception], ...] = (ReportError, *errors)
    try:
        yield
    except known as error:
        raise click.UsageError(str(error)) from None


def print_unwritable_folder(err: Console, folder: Path, error: OSError) -> None:
    """Print that a folder cannot be written, with advice."""
    err.print(f"Nothing can be written to {folder}: {error.strerror}. Name another DIR with --out.", style="red")
