"""Finds the reports that are to be compared: those that are named, and those in folders of reports."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..files import JSON_LINES, read_report
from ..limits import with_limits
from ..report import ReportError
from .columns import Column

MAX_REPORTS = 1000
"""In one comparison. Three years of nightly runs."""
_SUFFIXES = (".jsonl", ".json")


def is_folder_of_reports(path: Path) -> bool:
    """Does it hold reports, and is none itself?"""
    return path.is_dir() and not (path / JSON_LINES).is_file()


def gather(paths: Iterable[Path]) -> list[Column]:
    """The reports, those of a folder by their dates. Raises ReportError, with the path and what to do."""
    out: list[Column] = []
    for path in paths:
        if is_folder_of_reports(path):
            out += sorted(map(_column, _within(path)), key=lambda column: column.started)
        else:
            out.append(_column(path))
        if len(out) > MAX_REPORTS:
            raise ReportError(f"there are more than {MAX_REPORTS} reports: name fewer")
    return out


def _column(path: Path) -> Column:
    # What is not compared is let go of: a year of reports fits, a year of findings would not.
    return Column.of(with_limits(read_report(path)))


def _within(folder: Path) -> list[Path]:
    """The reports in a folder: folders with one each, or files; of the same report as .jsonl and .json the first."""
    try:
        inside = sorted(folder.iterdir())
    except OSError as error:
        raise ReportError(f"{folder} cannot be read: {error.strerror}") from None
    found = [path for path in inside if (path / JSON_LINES).is_file()]
    files = {path.stem: path for suffix in reversed(_SUFFIXES) for path in inside if path.suffix == suffix}
    found += [path for path in files.values() if path.is_file()]
    if not found:
        raise ReportError(
            f"{folder} is no report, and there is none in it: `sds-conformance run --report DIR` writes one"
        )
    if len(found) > MAX_REPORTS:
        raise ReportError(f"{folder} has {len(found)} reports, more than {MAX_REPORTS}: name some of them")
    return found
