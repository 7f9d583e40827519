"""The text of an item that does not pass: a story instead of a traceback."""

from __future__ import annotations

from io import StringIO
from typing import Any, cast

import pytest
from rich.console import Console

from sds_harness.declaration import clean_text, printable
from sds_harness.trace import Trace

from ..judging.certification import Certification
from ..judging.formats import make_times_relative
from ..judging.runner import BrokenRun
from ..judging.verdict import RequirementVerdict, Verdict
from ..presentation.story import headline, print_labelled, show_breakdown, show_command, show_finding

COLUMNS = 80
LONGEST = 600
"""Maximum number of characters of a reason, which may quote the implementation."""


class SdsWarning(pytest.PytestWarning):
    """An implementation violates a SHOULD, or a MUST that a position softens."""


class StoryError(Exception):
    """Ends an item, and prints a story instead of a traceback."""

    def __init__(self, story: str, brief: str) -> None:
        super().__init__(story)
        self.brief = brief
        """One sentence for the summary at the end of the pytest session."""


def story_of(verdict: RequirementVerdict, outcome: Certification, again: str) -> str:
    """Return the story of a violated requirement: rule, steps, expected and seen values, and the command to replay."""
    console, requirement, finding = _make_console(), verdict.requirement, verdict.worst
    what = finding.full_code if finding is not None else requirement.id
    console.print(headline(verdict.verdict, what, f"{requirement.level}, section {requirement.anchor!r}"))
    print_labelled(console, "Rule", requirement.statement)
    if verdict.verdict is Verdict.ERROR:
        print_labelled(console, "Fault of the suite", printable(verdict.reason, LONGEST))
    elif finding is not None:
        show_finding(console, finding, outcome.plan.revision, outcome.traces.get(finding.run))
        others = len(verdict.findings) - 1 + verdict.findings_dropped
        if others:
            print_labelled(console, "", f"and {others} more of this kind")
    show_command(console, "Again", again)
    return _console_text(console)


def brief_of(verdict: RequirementVerdict) -> str:
    """Return the worst finding in one sentence."""
    finding = verdict.worst
    if finding is None:
        return printable(verdict.reason, LONGEST)
    expected, seen = make_times_relative(finding.expected), make_times_relative(finding.seen)
    return f"expected {expected or 'nothing'}; seen: {seen}"


def describe_breakdown(broken: BrokenRun, trace: Trace[Any] | None = None, again: str = "") -> StoryError:
    """Return the story of a breakdown: its cause, what to look at next, and the command to replay (``again``)."""
    console, breakdown = _make_console(), broken.breakdown
    show_breakdown(console, broken, (), trace, again)
    story = _console_text(console)
    return StoryError(story, f"{breakdown.kind.value}: {breakdown.detail}")


def _make_console() -> Console:
    return Console(
        file=StringIO(), width=COLUMNS, color_system=None, highlight=False, emoji=False, markup=False, _environ={}
    )


def _console_text(console: Console) -> str:
    """Return the story as printable text: pytest prints it without the output filter of the command line."""
    text = clean_text(cast(StringIO, console.file).getvalue())
    return "\n".join(line.rstrip() for line in text.split("\n")).rstrip()
