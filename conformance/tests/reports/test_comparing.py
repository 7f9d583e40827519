"""Reports side by side: who differs, what changed, and what cannot be said. Nothing is claimed that no report says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from run_helpers import AMENDED
from sds_conformance.protocols.sds.rules import RULES
from sds_conformance.reports.comparing.columns import UNKNOWN, UNSTATED, ReportColumn
from sds_conformance.reports.comparing.comparison import Comparison, ResultChange, compare, result_change
from sds_conformance.reports.comparing.history import histories
from sds_conformance.reports.files import read_report
from sds_conformance.reports.report import Report
from short_reports import kept, made

JUDGED = ("fail", "warn", "pass")
NOT_JUDGED = ("inconclusive", "skipped", "error")


def column(data: dict[str, Any] | None = None, **verdicts: Any) -> ReportColumn:
    return ReportColumn.from_report(Report(data if data is not None else made(**verdicts)))


def compared(*several: dict[str, Any], only: tuple[str, ...] = ()) -> Comparison:
    return compare([column(data) for data in several], only)


@pytest.mark.parametrize("old", JUDGED + NOT_JUDGED)
@pytest.mark.parametrize("new", JUDGED + NOT_JUDGED)
def test_what_became_of_a_requirement(old: str, new: str) -> None:
    change = result_change(column(RECV_06=old), column(RECV_06=new), "SDS-RECV-06")
    if old == new:
        assert change is None
    elif old in JUDGED and new in JUDGED:
        assert change is (ResultChange.BETTER if JUDGED.index(new) > JUDGED.index(old) else ResultChange.WORSE)
    elif old in JUDGED:
        assert change is ResultChange.NO_LONGER
    else:
        assert change is (ResultChange.NOW if new in JUDGED else ResultChange.STILL_NOT)


def test_what_a_revision_does_not_state_is_not_worse() -> None:
    stated = next(r.id for r in RULES.catalogue.requirements.values() if r.revisions == ("sds-2026-01",))
    older = made(RECV_01="pass")
    older["revision"] = AMENDED
    verdicts: dict[str, Any] = {"RECV_01": "pass", stated.removeprefix("SDS-").replace("-", "_"): "pass"}
    comparison = compared(made(**verdicts), older)
    row = next(row for row in comparison.rows if row.requirement.id == stated)
    assert row.cells == ("pass", UNSTATED)
    assert not row.differs
    assert comparison.pair(0, 1).changes == []
    assert "different revisions: A sds-2026-01; B sds-2025-10-amended" in comparison.cautions[0]
    assert [c.title for c in comparison.columns] == ["mine 1, sds-2026-01", "mine 1, sds-2025-10-amended"]


def test_a_report_that_was_cut_off_claims_nothing_of_what_is_missing(tmp_path: Path) -> None:
    folder = kept(tmp_path / "cut", made(version="2", RECV_01="pass", RECV_02="fail"))
    lines = (folder / "report.jsonl").read_text("utf-8").splitlines(keepends=True)
    (folder / "report.jsonl").write_text("".join(lines[:-2]), "utf-8")
    comparison = compare([column(RECV_01="fail", RECV_02="pass"), ReportColumn.from_report(read_report(folder))])
    assert [row.cells[1] for row in comparison.rows] == ["pass", UNKNOWN]
    assert [some.change for some in comparison.pair(0, 1).changes] == [ResultChange.BETTER]
    assert any(said.startswith("Reports that were cut off: B.") for said in comparison.cautions)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"profile": "core"}, "different profiles: A full; B core"),
        ({"narrowed": ["requirements"]}, "Not all requirements were selected in B"),
        ({"suite": {"name": "sds-conformance", "version": "9"}}, "different versions of the suite: A 0.1.0; B 9"),
        ({"summary": {**made()["summary"], "environments": ["crowd"]}}, "environments: A plain; B crowd"),
        ({"summary": {**made()["summary"], "complete": False}}, "Reports of runs that ended early: B"),
    ],
)
def test_what_is_not_alike_is_said(change: dict[str, Any], said: str) -> None:
    (caution,) = compared(made(), made() | change).cautions
    assert said in caution
    assert compared(made(), made()).cautions == []


def test_a_gap_in_the_history_hides_no_change_and_makes_none() -> None:
    days = [made(day=1, RECV_01="pass"), made(day=2, RECV_02="pass"), made(day=3, RECV_01="fail"), made(day=4)]
    (series,) = histories([column(data) for data in days])
    (turn,) = series.turns
    assert (turn.before.started.day, turn.after.started.day, turn.change) == (1, 3, ResultChange.WORSE)
    assert turn.doubt == ""
