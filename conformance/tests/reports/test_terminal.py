"""A report on a terminal: the story of a root cause is headed by its code, and names the other codes."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from made_reports import faulty
from sds_conformance.reports.report import Report
from sds_conformance.reports.terminal import show_report


def printed(report: Report, stories: int | None = None) -> str:
    out = StringIO()
    show_report(Console(file=out, width=80), report, "sds-conformance", stories)
    return out.getvalue()


def test_other_codes_of_a_requirement_are_named_and_one_code_is_not_named_twice() -> None:
    report = faulty()
    row = report.causes[0].row
    (kind, *_) = row["kinds"]
    row["kinds"] = [kind, kind | {"severity": "warn"}]
    assert "  Also   " not in printed(report, 1)
    other = f"{row['id']}/in-another-way"
    row["kinds"].append({"code": other, "severity": "fail", "scenarios": {"ties": 2, "own-filter-comes-back": 1}})
    assert f"  Also      {other}: 3 violations" in printed(report, 1)
