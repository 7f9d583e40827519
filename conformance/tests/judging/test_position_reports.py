"""Ways are reported with their number and their best example, and an error of one function costs no others."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console

from run_helpers import certified, reference
from sds_conformance.judging.registry import Showing
from sds_conformance.presentation.invocation import Invocation
from sds_conformance.protocols.sds.register import REGISTER
from sds_conformance.reports.document import document
from sds_conformance.reports.report import Report
from sds_conformance.reports.terminal import show_report


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (lambda view: iter([1 / 0]), "ZeroDivisionError: division by zero"),
        (lambda view: iter([(view.trace.steps[0], "sideways")]), "'sideways' is none of its options"),
    ],
)
def test_a_fault_of_ours_is_reported_and_costs_nothing_else(
    broken: Any, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = {"AMB-29": [Showing("AMB-29", broken)], "AMB-19": REGISTER.shown["AMB-19"]}
    monkeypatch.setattr(REGISTER, "shown", shown)
    outcome = certified(reference, scenarios=["acknowledged-by-anything"])
    assert outcome.exit_code == 0
    assert list(outcome.way_errors) == ["AMB-29"]
    assert says in outcome.way_errors["AMB-29"]
    assert "acknowledged-by-anything" in outcome.way_errors["AMB-29"]
    assert [shown.way for shown in outcome.ways["AMB-19"]] == ["in"]
    rows = {row["position"]: row for row in document(outcome, Invocation(("x",)))["ways"]}
    assert says in rows["AMB-29"]["error"]
    assert (rows["AMB-29"]["ways"], rows["AMB-19"]["error"]) == ([], "")
    out = Console(record=True, width=80)
    show_report(out, Report.from_outcome(outcome, Invocation(("x",))), "sds-conformance")
    assert "Fault of the suite: AMB-29" in out.export_text()
