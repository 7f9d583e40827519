"""What commands share that try every mutant and every legal variant: options, processes, and tables in a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.progress import track

from .options import FILE, animated, together

R = TypeVar("R")

ONLY = click.option(
    "--only", multiple=True, metavar="GLOB", help="Only mutants and variants of these names; may be repeated."
)


tabled = together(
    click.option("--markdown", "write", type=FILE, metavar="FILE", help="Write the tables, too."),
    click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables."),
    click.option(
        "--jobs", type=click.IntRange(min=1), default=os.cpu_count() or 1, show_default="cores", help="Processes."
    ),
)
"""The options ``jobs``, ``as_json`` and ``write``, the file for the tables."""


def matching(names: Iterable[str], only: tuple[str, ...]) -> list[str]:
    """The names that match one of the globs, all if there are none."""
    return [name for name in names if not only or any(fnmatchcase(name, glob) for glob in only)]


@contextmanager
def processes(
    jobs: int, begin: Callable[..., None] | None = None, given: tuple[Any, ...] = ()
) -> Iterator[ProcessPoolExecutor]:
    """So many processes; an interrupt waits for what is running and for nothing else. Each may ``begin`` with what is
    ``given`` to all."""
    pool = ProcessPoolExecutor(jobs, initializer=begin, initargs=given)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def tracked(err: Console, what: str, results: Iterator[R], total: int) -> Iterable[R]:
    """``results`` as they come, with a progress bar on a terminal."""
    return track(results, what, total=total, console=err, transient=True, disable=not animated(err))


def markdown_rows(title: str, columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """A table under a heading."""

    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"

    return [f"## {title}", "", line(columns), line("---" for _ in columns), *(line(row) for row in rows), ""]


def refuse_nowhere(write: Path | None) -> None:
    """Find out before a long run, not after it, that a file has no folder. Raises UsageError."""
    if write and not write.absolute().parent.is_dir():
        raise click.UsageError(
            f"cannot write {write}: there is no folder {write.parent}. Make it, or name another FILE"
        )


def write_tables(write: Path | None, markdown: Callable[[], str]) -> None:
    """Write the tables to the file that was asked for. Raises UsageError."""
    if write:
        try:
            write.write_text(markdown(), "utf-8")
        except OSError as error:
            raise click.UsageError(f"cannot write {write}: {error.strerror}. Name another FILE") from None
