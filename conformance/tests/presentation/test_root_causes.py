"""Root causes on a terminal: what is printed under one, and the lines of `limits`."""

from __future__ import annotations

from io import StringIO
from typing import Any

from rich.console import Console
from rich.text import Text

from sds_conformance.exploration.limits.text import cause_lines
from sds_conformance.judging.severity import BREAKDOWN_SEVERITY
from sds_conformance.judging.verdict import Verdict
from sds_conformance.presentation.story import show_under
from sds_conformance.protocols.sds.catalogue import CURRENT


def under(details: dict[str, list[Text]], **reasons: str) -> list[str]:
    """The lines on a terminal of 80 columns; `_` in names stands for a dash."""
    console = Console(file=StringIO(), width=80, record=True)
    show_under(console, {name.replace("_", "-"): why for name, why in reasons.items()}, lambda what: details[what])
    return console.export_text().splitlines()


def test_what_fails_for_one_reason_is_printed_together() -> None:
    seen = {name: [Text(f"seen: {number}")] for number, name in enumerate(["A-01", "A-02", "A-03"])}
    assert under(seen, A_01="One reason.", A_02="Another one.", A_03="One reason.") == [
        "  With it   A-01, A-03: One reason.",
        "            A-01 seen: 0",
        "            A-03 seen: 2",
        "  With it   A-02: Another one.",
        "            seen: 1",
    ]
    assert under({"A-01": []}, A_01="") == ["  With it   A-01"]


def row(dimension: str, requirement: str | None, verdict: str = "finding") -> dict[str, Any]:
    return {
        "dimension": dimension,
        "title": dimension.capitalize(),
        "verdict": verdict,
        "requirement": requirement,
        "code": requirement and f"{requirement}/never-delivered",
        "held": 9,
        "first_not": 10,
        "how": "violated",
        "declared": None,
        "why": "",
    }


def test_limits_name_a_root_cause_once() -> None:
    rows = [
        row("history", "SDS-ACK-02", "warning"),
        row("content", "SDS-RECV-07"),
        row("waiting", "SDS-RECV-07"),
        row("clock", "SDS-MSG-14"),
        row("channels", None),
        row("log", None, "held"),
    ]
    lines = cause_lines({"rows": rows, "revision": CURRENT})
    assert [(line.verdict, line.what) for line in lines] == [
        (Verdict.FAIL, "channels"),
        (Verdict.FAIL, "SDS-RECV-07"),
        (Verdict.FAIL, "SDS-MSG-14"),
    ]
    assert lines[0].severity == BREAKDOWN_SEVERITY
    assert lines[1].rule.startswith("Content, 10 (and in 2 more dimensions): violated, SDS-RECV-07/")
    assert lines[2].rule.startswith("Clock, 10: violated")
