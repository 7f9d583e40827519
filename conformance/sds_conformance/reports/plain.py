"""Findings that stand in a report, told as text: what was done, what was expected, what came out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from textwrap import wrap
from typing import Any

from sds_harness.declaration import printable, without_orders
from sds_harness.environment import PLAIN

from ..judging.again import Again
from ..judging.quoting import by_the_clock
from ..protocols import protocol_of
from ..telling.evidence import Evidence, Exhibit
from ..telling.said import quoted
from .findings import finding_of
from .reading import Report

WIDTH = 110
LONGEST = 1000
"""Characters of a line before it is wrapped."""
_LABEL = 10


def started(report: Report) -> datetime | None:
    """When the run began, None for a report that does not say it."""
    try:
        return datetime.fromisoformat(report.data["started"])
    except ValueError:
        return None


def worst(row: dict[str, Any]) -> dict[str, Any] | None:
    """The finding that is told of a requirement, None if none was kept."""
    return next((finding for finding in row["findings"] if finding["severity"] == row["verdict"]), None)


def code_of(row: dict[str, Any]) -> str:
    """The code of the finding that a requirement is shown with, else its ID."""
    finding = worst(row)
    return str(finding["code"] if finding is not None else row["id"])


def flaky(row: dict[str, Any]) -> str:
    """What a requirement or a breakdown is to be called that did not come back each time, "" for any other."""
    return Again(**row["repeated"]).word if "repeated" in row else ""


def sides(finding: dict[str, Any]) -> tuple[str, str]:
    """What was expected and what was seen, with times from the start of virtual time."""
    return by_the_clock(finding["expected"]) or "nothing", by_the_clock(finding["seen"])


def _told(report: Report, requirement: str, finding: dict[str, Any]) -> tuple[Evidence, list[Exhibit]]:
    """The evidence of a finding; of one whose trace was not kept, what was expected and seen."""
    found = finding_of(requirement, finding)
    words = protocol_of(report.data["revision"]).words
    try:
        shown = Evidence(words, report.trace(found.run), found)
        return shown, shown.exhibits()
    except Exception:  # anybody can have written the trace: what cannot be told is told as if there were none
        return Evidence(words, None, found), []


def story(report: Report, requirement: str, finding: dict[str, Any]) -> str:
    """A finding as a person reads it, with nothing in it that could do anything but be shown."""
    rules = protocol_of(report.data["revision"]).rules
    scenario = rules.register.scenarios.get(finding["scenario"])
    environment = rules.environments.get(finding["environment"])
    shown, exhibits = _told(report, requirement, finding)
    about = f": {scenario.summary}" if scenario is not None else ""
    lines = list(_labelled("Scenario", f"{finding['scenario']}{about}"))
    if environment is not None and environment is not PLAIN:
        lines += _labelled("Played in", f"{environment.name}: {environment.summary}")
    label = "Done"
    for exhibit in exhibits:
        number = "…" if exhibit.step is None else str(exhibit.step.index)
        lines += _labelled(label, exhibit.text, f"{'>' if exhibit.blamed else ' '}{number:>3} ")
        label = ""
        for effect in exhibit.effects:
            lines += _labelled("", effect, "     → ")
    lines += _labelled("Expected", shown.expected)
    lines += _labelled("Seen", shown.seen)
    lines += _labelled("", shown.difference) if shown.difference else []
    label = "stderr"
    for said in quoted(finding.get("stderr", ()), WIDTH - _LABEL):
        lines += _labelled(label, said)
        label = ""
    if finding["position"]:
        lines += _labelled("", f"a warning, not a failure, by position {finding['position']}")
    return "\n".join(lines)


def breakdown(broken: dict[str, Any]) -> str:
    """A breakdown as a person reads it."""
    at = f" (step {broken['step']}, {broken['command']})" if broken["step"] else ""
    lines = list(_labelled("What", f"The implementation or its adapter: {broken['detail']}{at}."))
    lines += _labelled("Flaky", Again(**broken["repeated"]).sentence) if flaky(broken) else []
    for number, line in enumerate(broken["stderr"]):
        lines += _labelled("" if number else "stderr", line)
    return "\n".join([*lines, *_labelled("Ask", broken["advice"])])


def alike(breakdowns: Iterable[dict[str, Any]]) -> list[tuple[dict[str, Any], list[str]]]:
    """Breakdowns, each kind of them once, with the runs in which it came again."""
    found: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for broken in breakdowns:
        found.setdefault((broken["kind"], broken["detail"], broken["command"]), []).append(broken)
    return [(first, [other["where"] for other in others]) for first, *others in found.values()]


def _labelled(label: str, text: str, head: str = "") -> Iterator[str]:
    """A text with a label before its first line; lines that follow stand under the text."""
    before = f"{label:<{_LABEL}}{head}"
    for line in wrap(printable(text, LONGEST), WIDTH - len(before), break_on_hyphens=False) or [""]:
        yield without_orders(before + line)
        before = " " * len(before)
