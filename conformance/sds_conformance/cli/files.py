"""Files that commands are told to read and to write: what is wrong with one is wrong use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from sds_harness.files import write_whole

from ..reports.reading import ReportError


def refuse_nowhere(*files: Path | None) -> None:
    """Find out before a long run, not after it, that a file has no folder. Raises UsageError."""
    for file in files:
        if file is not None and not file.absolute().parent.is_dir():
            told = f"there is no folder {file.parent}. Make it, or name another FILE"
            raise click.UsageError(f"cannot write {file}: {told}")


def write_file(file: Path, text: str) -> None:
    """Write a file that appears whole or not at all. Raises UsageError."""
    try:
        write_whole(file, text)
    except OSError as error:
        raise unwritten(file, error) from None


def unwritten(file: Path, error: OSError) -> click.UsageError:
    """What is said where a file cannot be written."""
    return click.UsageError(f"cannot write {file}: {error.strerror}. Name another FILE")


@contextmanager
def refused(*errors: type[Exception]) -> Iterator[None]:
    """What cannot be read was named by the user: a ReportError, or one of ``errors``, becomes a UsageError."""
    known: tuple[type[Exception], ...] = (ReportError, *errors)
    try:
        yield
    except known as error:
        raise click.UsageError(str(error)) from None
