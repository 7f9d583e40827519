"""Formats findings and breakdowns as plain printable text, for Markdown and JUnit."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from sds_harness.declaration import printable, without_orders

from ..presentation.stderr_quotes import quote_stderr
from .report import Report, Row, again_of, flaky

WIDTH = 110
LONGEST = 1000
"""Maximum number of characters of a line before it is wrapped."""
_LABEL = 10


def story(report: Report, requirement: str, row: Row) -> str:
    """Format a finding: the steps, what was expected and what was seen."""
    found = report.story(requirement, row)
    finding = found.finding
    scenario = f"{finding.scenario}: {found.summary}" if found.summary else finding.scenario
    lines = list(_label_lines("Scenario", scenario))
    for line in found.lines():
        mark = (">" if line.blamed else " ") if line.head else ""
        lines += _label_lines(line.label, line.text, mark + line.head)
    for number, stderr_line in enumerate(quote_stderr(finding.stderr_lines, WIDTH - _LABEL)):
        lines += _label_lines("" if number else "stderr", stderr_line)
    if finding.position:
        lines += _label_lines("", f"a warning, not a failure, by position {finding.position}")
    return "\n".join(lines)


def format_breakdown(broken: Row) -> str:
    """Format a breakdown: what happened, the last lines of stderr, and a hint."""
    at = f" (step {broken['step']}, {broken['command']})" if broken["step"] else ""
    lines = list(_label_lines("What", f"The implementation or its adapter: {broken['detail']}{at}."))
    if flaky(broken) and (again := again_of(broken)) is not None:
        lines += _label_lines("Flaky", again.sentence)
    for number, line in enumerate(broken["stderr"]):
        lines += _label_lines("" if number else "stderr", line)
    return "\n".join([*lines, *_label_lines("Hint", broken["advice"])])


def _label_lines(label: str, text: str, head: str = "") -> Iterator[str]:
    """Format a text with a label; further lines are indented below the text."""
    before = f"{label:<{_LABEL}}{head}"
    for line in wrap(printable(text, LONGEST), WIDTH - len(before), break_on_hyphens=False) or [""]:
        yield without_orders(before + line)
        before = " " * len(before)
