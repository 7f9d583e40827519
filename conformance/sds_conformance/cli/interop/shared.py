"""Output of ``sds-conformance interop`` that a campaign of a group and the replay of one schedule share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import click
from rich.console import Console
from rich.text import Text

from sds_harness.faults import Breakdown

from ...exploration.casts import RevisionMismatchError
from ...exploration.text import rule_of
from ...judging.runner import BrokenRun
from ...judging.verdict import Finding
from ...presentation.last_screen import STYLES
from ...presentation.story import print_labelled, show_breakdown

BAR_WIDTH = 20


def show_undriven(err: Console, undriven: Mapping[str, Breakdown]) -> None:
    """Print the implementations that did not complete the handshake, with the reasons."""
    for name, breakdown in undriven.items():
        err.print(name, style="bold")
        show_breakdown(err, BrokenRun.at_last_step("handshake", breakdown))


@contextmanager
def reject_mixed_revisions() -> Iterator[None]:
    """End the command if an implementation implements another revision than the group. Raises UsageError."""
    try:
        yield
    except RevisionMismatchError as error:
        raise click.UsageError(
            f"{error}: omit this implementation, or type a --revision that all implementations support"
        ) from None


def show_violation(out: Console, finding: Finding, name: str) -> None:
    """Print the implementation and the requirement that it violated."""
    where, rule = rule_of(finding.requirement)
    severity = finding.severity
    before = Text.assemble((f"{severity.value.upper():5}", STYLES[severity]), " ")
    parts = [Text(f"{name or 'the group'}: {finding.full_code}  ", "bold"), *map(Text, re.findall(r"\S+ ?", where))]
    lines_of(out, before, parts)
    print_labelled(out, "Rule", Text(rule))


def lines_of(out: Console, before: Text, parts: list[Text]) -> None:
    """Join parts into lines of limited width, without breaking a part."""
    line, indent = before.copy(), before.cell_len
    for part in parts:
        if line.cell_len > indent and line.cell_len + len(part.plain.rstrip()) > out.width:
            line.rstrip()
            out.print(line, soft_wrap=True)
            line = Text(" " * indent)
        line.append_text(part)
    out.print(line, soft_wrap=True)
