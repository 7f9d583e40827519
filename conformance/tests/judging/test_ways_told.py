"""What is told of ways: how often, and where best; a fault of ours costs nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from rich.console import Console

from played import certified, reference, stage
from sds_conformance.judging.looking import Looker
from sds_conformance.judging.registry import Choice
from sds_conformance.judging.ways import Ways
from sds_conformance.protocols.sds.register import REGISTER
from sds_conformance.protocols.sds.rules import RULES
from sds_conformance.reports.document import document
from sds_conformance.reports.report import Report
from sds_conformance.reports.terminal import show_report
from sds_conformance.telling.invocation import Invocation
from sds_harness.sds.trace import Trace

WAYS = {"forth": "goes forth", "back": "goes back"}


def at_each_send(view: Any) -> Iterator[tuple[Any, str]]:
    """Forth at the first message, back at all others."""
    for number, sent in enumerate(view.sent):
        yield sent.step, "back" if number else "forth"


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
    """With one choice of its own, and none else."""
    monkeypatch.setattr(REGISTER, "choices", {"AMB-29": [Choice("AMB-29", WAYS, at_each_send)]})
    return Ways(RULES)


def _see(ways: Ways, trace: Trace) -> None:
    ways.take(ways.look(trace, RULES.views(trace)))


def test_the_simplest_environment_and_then_the_fewest_steps_show_it_best(ways: Ways) -> None:
    assert ways.told() == {"AMB-29": []}
    _see(ways, _played(1, "elsewhere", "unsteady-clock"))
    _see(ways, _played(3, "here"))
    _see(ways, _played(2, "there"))
    back, forth = ways.told()["AMB-29"]
    assert (forth.way, forth.words, forth.count, forth.run, forth.step) == ("forth", "goes forth", 3, "here", 3)
    assert (back.way, back.count, back.run) == ("back", 3, "here")


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (lambda view: iter([1 / 0]), "ZeroDivisionError: division by zero"),
        (lambda view: iter([(view.trace.steps[0], "sideways")]), "'sideways' is none of its ways"),
    ],
)
def test_a_fault_of_ours_is_told_and_costs_nothing_else(
    broken: Any, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    choices = {"AMB-29": [Choice("AMB-29", WAYS, broken)], "AMB-19": REGISTER.choices["AMB-19"]}
    monkeypatch.setattr(REGISTER, "choices", choices)
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
    show_report(out, Report.of(outcome, Invocation(("x",))), "sds-conformance")
    assert "Our fault: AMB-29" in out.export_text()


def test_a_trace_that_cannot_be_read_shows_nothing() -> None:
    trace = _played(1, "here")
    trace.parties["alice"].channels = None  # type: ignore[assignment]
    shown = Looker(RULES, (), ways=True).look(trace)
    assert "TypeError" in shown.unread
    assert shown.gone is None
