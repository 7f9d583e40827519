"""The history of a folder of reports as linked pages: an index, and a page for each run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ..files import read_report
from ..html import html
from ..limits import with_limits
from .columns import ReportColumn, reports_within
from .history import histories
from .page import history_page

INDEX = "index.html"
RUNS = "runs"
"""Name of the subfolder with the page of each run."""


def history_site(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the relative path and the text of each page, the index last. Raises ReportError.

    Only one report is in memory at a time.
    """
    columns: list[ReportColumn] = []
    taken: set[str] = set()
    for path in reports_within(folder):
        report = with_limits(read_report(path))
        place = f"{RUNS}/{_name(path, taken)}.html"
        columns.append(replace(ReportColumn.from_report(report), page=place))
        yield place, html(report, back=f"../{INDEX}")
    yield INDEX, history_page(histories(columns), "")


def _name(path: Path, taken: set[str]) -> str:
    """Return a file name for a report that is unique, even on file systems that ignore case."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", path.name if path.is_dir() else path.stem).strip(".-")[:100] or "run"
    name, number = stem, 1
    while name.lower() in taken:
        number += 1
        name = f"{stem}-{number}"
    taken.add(name.lower())
    return name
