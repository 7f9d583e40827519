"""Renders a comparison or a history as a self-contained HTML page, and a folder of reports as linked pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ...judging.verdict import Verdict
from ...presentation.markup import read_markup, template
from ..files import read_report
from ..html import html
from ..limits import with_limits
from .columns import ABSENT, ReportColumn, reports_within
from .comparison import Comparison, mark
from .history import Series, histories
from .limits import MARKS as LIMIT_MARKS

_FOLDER = __package__.rpartition(".")[0]
"""The package that has the templates."""
_VERDICTS = [verdict.value for verdict in Verdict]
INDEX = "index.html"
RUNS = "runs"
"""Name of the subfolder with the page of each run."""


def comparison_page(comparison: Comparison) -> str:
    """Render a comparison: the changes, all rows with a filter (rows with differences first), and the ways."""
    return template(_FOLDER, "compare.html.j2").render(
        comparison=comparison,
        rows=comparison.differences + comparison.agreements,
        script=read_markup(_FOLDER, "compare.js") if comparison.rows else "",
        choices=sorted((c for c in comparison.choices if c.is_shown), key=lambda choice: not choice.differs),
        absent=ABSENT,
        limit_marks=LIMIT_MARKS,
        mark=mark,
        verdicts=_VERDICTS,
    )


def history_page(histories: Sequence[Series], since: str) -> str:
    """Render the changes of verdicts and violations, the newest first; ``since`` as in `history_markdown`."""
    return template(_FOLDER, "history.html.j2").render(histories=histories, since=since, verdicts=_VERDICTS)


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
