"""Ways are reported with their number and their best example, and an error of one function costs no others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from rich.console import Console

from run_helpers import certified, reference, stage
from sds_conformance.judging.positions import WayReader, Ways
from sds_conformance.judging.registry import Showing
from sds_conformance.presentation.invocation import Invocation
from sds_conformance.protocols.sds.register import REGISTER
from sds_conformance.protocols.sds.rules import RULES
from sds_conformance.reports.document import document
from sds_conformance.reports.report import Report
from sds_conformance.reports.terminal import show_report
from sds_harness.sds.trace import Trace


def at_each_send(view: Any) -> Iterator[tuple[Any, str]]:
    """Descending at the first message, ascending at all others."""
    for number, sent in enumerate(view.sent):
        yield sent.step, "ascending" if number else "descending"


def _played(sends: int, name: str, environment: str = "plain") -> Trace:
    on = stage(name=name)
    alice, bob = on.open(), on.peer("bob")
    alice.receive(bob.content(on.now_ms))
    for _ in range(sends):
        alice.send()
    on.trace.environment = environment
    return on.trace


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> Ways:
    """None yet; one function alone shows any."""
    monkeypatch.setattr(REGISTER, "shown", {"AMB-29": [Showing("AMB-29", at_each_send)]})
    return Ways()


def _see(ways: Ways, trace: Trace) -> None:
    ways.merge(WayReader(RULES).read(trace, RULES.views(trace)))


def test_the_simplest_environment_and_then_the_fewest_steps_show_it_best(ways: Ways) -> None:
    assert ways.group_by_position(RULES) == {"AMB-29": []}
    _see(ways, _played(1, "elsewhere", "unsteady-clock"))
    _see(ways, _played(3, "here"))
    _see(ways, _played(2, "there"))
    ascending, descending = ways.group_by_position(RULES)["AMB-29"]
    assert (descending.way, descending.words, descending.count) == ("descending", "newest first", 3)
    assert (descending.run, descending.step) == ("here", 3)
    assert (ascending.way, ascending.count, ascending.run) == ("ascending", 3, "here")


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
