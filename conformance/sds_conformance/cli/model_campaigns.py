"""Shared parts of commands that try every mutant and every legal variant: names, processes, and tables in a file."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import Any

import click

from sds_harness.resources import why_alone
from sds_harness.safe_path import safe_path
from sds_harness.signals import follow_parent
from sds_harness.suggestions import did_you_mean

from ..judging.exits import Exit
from ..judging.garbage import make_garbage_collection_rare
from ..judging.workers import prepare


def match_globs(names: Iterable[str], only: tuple[str, ...]) -> list[str]:
    """Return the names that match one of the globs; all names if there are no globs."""
    return [name for name in names if not only or any(fnmatchcase(name, glob) for glob in only)]


def unknown_name_error(only: tuple[str, ...], known: Iterable[str], about: str = "") -> click.UsageError:
    """Return the error that no mutant and no variant has one of these names. ``about`` is a relative clause that says
    which mutants and variants were searched, or "".
    """
    meant = did_you_mean(only[0], known) if only else ""
    return click.UsageError(
        f"there is no mutant or variant {', '.join(map(repr, only))}{about}.{meant} `sds-conformance list mutants` and "
        "`list variants` show the names"
    )


class WorkerLost(click.ClickException):
    """A worker process was killed, so there is no verdict."""

    exit_code = Exit.OURS

    def __init__(self) -> None:
        super().__init__(
            "a process of the suite ended before its work was done: was it killed, or was there too little memory? "
            "Nothing is proven. Try fewer --jobs"
        )


@contextmanager
def processes(jobs: int, begin: Callable[..., None] | None = None, given: tuple[Any, ...] = ()) -> Iterator[Executor]:
    """Provide a pool of processes that end with this process; a thread if processes cannot be started. Each process
    calls ``begin`` with the arguments in ``given``.
    """
    if why_alone():
        with ThreadPoolExecutor(1, initializer=begin, initargs=given) as thread:
            yield thread
        return
    prepare()
    others = multiprocessing.active_children()
    pool = ProcessPoolExecutor(jobs, initializer=_begin, initargs=(begin, given))
    try:
        with safe_path():
            yield pool
    except BaseException as error:
        # Do not wait for unfinished work.
        for worker in multiprocessing.active_children():
            if worker not in others:
                worker.kill()
        if isinstance(error, BrokenProcessPool):
            raise WorkerLost from None
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(begin: Callable[..., None] | None, given: tuple[Any, ...]) -> None:
    follow_parent()
    make_garbage_collection_rare()
    if begin is not None:
        begin(*given)


def markdown_rows(title: str, columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Return a Markdown table under a heading."""

    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"

    return [f"## {title}", "", line(columns), line("---" for _ in columns), *(line(row) for row in rows), ""]
