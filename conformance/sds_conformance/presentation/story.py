"""Terminal output that several commands share: the implementation, findings, breakdowns, tables, labelled lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from sds_harness.declaration import Declaration, printable
from sds_harness.environment import PLAIN
from sds_harness.trace import Trace

from ..judging.finding_replays import FindingReplays
from ..judging.formats import format_count
from ..judging.runner import BrokenRun
from ..judging.verdict import Finding, Verdict
from ..protocols import protocol_of, protocols
from ..protocols.words import named
from .evidence import story_of
from .last_screen import STYLES, labelled_command
from .stderr_quotes import quote_stderr

_LABEL = 10
_LONGEST = 600

CARRIERS = {
    "json": "JSON lines over stdin and stdout",
    "binary": "length-prefixed protobuf over stdin and stdout",
    "grpc": "gRPC",
}
"""Description of each transport, by its name in a report."""


def show_implementation(
    console: Console,
    declared: Declaration,
    dialect: str,
    revision: str,
    profile: str,
    carrier: str = "",
    clock: str = "",
) -> None:
    """Print the implementation, the revision, and the declaration. ``clock`` describes the clock in use if it differs
    from the declared clock.
    """
    protocol = protocol_of(revision)
    show_name(console, declared, carrier)
    print_labelled(console, "Against", Text(f"{revision}: {protocol.describe_profile(revision, profile)}"))
    if revision not in declared.revisions:
        others = ", ".join(declared.revisions) or "none"
        print_labelled(console, "", Text(f"The implementation declares other revisions: {others}.", "yellow"))
    for label, note in protocol.notes(declared, revision, profile):
        print_labelled(console, label, Text(note))
    if (outside := declared.outside_clock) is not None:
        print_labelled(console, "Clock", Text(f"{outside.described}.", "yellow" if outside.why_not else ""))
    elif clock:
        print_labelled(console, "Clock", Text(f"{clock}."))
    print_labelled(console, "Declares", Text(format_declaration(declared), "dim"))
    if dialect:
        note = f"{dialect}: judged after translation, except the requirements on the wire layout itself"
        print_labelled(console, "Dialect", Text(note))


def show_name(console: Console, declared: Declaration, carrier: str = "") -> None:
    """Print name, version, language and transport of the implementation."""
    name = f"{declared.name} {declared.version}".strip()
    language = f" ({declared.language})" if declared.language else ""
    over = f", {CARRIERS[carrier]}" if carrier else ""
    print_labelled(console, "Testing", Text.assemble((f"{name}{language}", "bold"), over))


def show_doubts(console: Console, doubts: Sequence[str]) -> None:
    """Print likely reasons for most of the findings. The last of the ``doubts``, a question or advice, is in bold."""
    for number, sentence in enumerate(doubts):
        print_labelled(
            console, "" if number else "Warning", Text(sentence, "bold" if number == len(doubts) - 1 else "yellow")
        )
    if doubts:
        console.print()


def show_flaky(console: Console, again: FindingReplays | None, more: str = "") -> None:
    """Print how many replays showed a finding, if the finding is flaky, and ``more`` after this sentence."""
    if again is not None and again.flaky:
        print_labelled(console, "Flaky", Text(again.sentence + more, "yellow"))


def show_finding(
    console: Console, finding: Finding, revision: str, trace: Trace[Any] | None, *, brief: bool = False
) -> None:
    """Print the scenario (unless ``brief``), the steps (if there is a ``trace``), what was expected and what
    was seen.
    """
    story = story_of(protocol_of(revision), finding, trace)
    if story.summary and not brief:
        print_labelled(console, "Scenario", Text(f"{finding.scenario}: {story.summary}"))
    for line in story.lines(console.width - _LABEL - 2):
        style = "dim" if line.gap else "bold" if line.label == "Seen" else ""
        print_labelled(console, line.label, Text(line.text, style), Text(line.head, "bold" if line.blamed else "dim"))
    print_stderr(console, finding.stderr_lines)
    show_softened(console, finding)


def print_stderr(console: Console, lines: Sequence[str]) -> None:
    """Print what the implementation wrote to stderr at the violating step."""
    lines_labelled(console, "stderr", quote_stderr(lines, console.width - _LABEL - 2), "dim")


def show_softened(console: Console, finding: Finding) -> None:
    """Print the position that reduces a finding to a warning, if there is such a position."""
    if finding.position:
        known = {name: position for p in protocols() for name, position in p.rules.catalogue.positions.items()}
        position = known.get(finding.position)
        text = f": {position.position}" if position is not None else ""
        print_labelled(console, "", Text(f"a warning, not a failure, by position {finding.position}{text}", "dim"))


def show_breakdown(
    console: Console,
    broken: BrokenRun,
    also_in: Sequence[str] = (),
    trace: Trace[Any] | None = None,
    again: str = "",
    *,
    warned: bool = False,
) -> None:
    """Print a breakdown, the last step of its ``trace``, what the implementation wrote to stderr, and a hint.

    ``again`` is the command that replays the breakdown. ``warned`` is True if the breakdown is only a warning.
    """
    breakdown = broken.breakdown
    kind = breakdown.kind.value
    head = Text(kind.upper(), "bold red")
    if warned:
        head = Text.assemble(("WARN", STYLES[Verdict.WARN]), (f" {kind}", "bold"))
    console.print(Text.assemble(head, f"  in {broken.where}"))
    at = f" (step {broken.step}, {broken.command})" if broken.step else ""
    print_labelled(console, "What", Text(f"The implementation or its adapter: {breakdown.detail}{at}."))
    show_flaky(console, broken.replays)
    environment = PLAIN
    if trace is not None:
        environment = protocol_of(trace.revision.name).rules.environments[trace.environment]
    if environment is not PLAIN:
        variables = ", ".join(f"{name}={value}" for name, value in environment.variables.items())
        text = f"{environment.name}: {environment.summary}" + (f" ({variables})" if variables else "")
        print_labelled(console, "Played in", Text(text))
    if trace is not None and trace.steps:
        narrator, step = protocol_of(trace.revision.name).narrator(trace), trace.steps[-1]
        print_labelled(console, "Done", Text(narrator.done(step)), Text(f"{step.index:>3} ", "dim"))
    show_stderr(console, breakdown.stderr)
    print_labelled(console, "Hint", Text(breakdown.advice))
    if again:
        show_command(console, "Again", again)
    if also_in:
        others = format_count(len(also_in), "other breakdown")
        print_labelled(console, "", Text(f"and {others} of this kind, in {', '.join(also_in)}", "dim"))
    console.print()


def headline(severity: Verdict, what: str, more: str | Text, width: int = 5) -> Text:
    """Return a headline: the verdict, padded to ``width`` columns, the name ``what`` in bold, and the text ``more``."""
    return Text.assemble((f"{severity.value.upper():{width}}", STYLES[severity]), (f" {what}", "bold"), "  ", more)


def plain_table(*left: str | Column, right: Iterable[str] = ()) -> Table:
    """Return a table without lines: text columns first, then number columns. Only text is wrapped."""
    words = (column if isinstance(column, Column) else Column(column, overflow="fold") for column in left)
    numbers = (Column(title, justify="right", no_wrap=True) for title in right)
    return Table(*words, *numbers, box=None, pad_edge=False)


def unwrapped_column(title: str) -> Column:
    """Return a column for names and IDs, which are not wrapped."""
    return Column(title, no_wrap=True)


def print_labelled(
    console: Console, label: str, text: str | Text, head: Text | None = None, *, whole: bool = False
) -> None:
    """Print a text with a label, and ``head`` before its first line; further lines are indented below the text.

    With ``whole`` the text is not wrapped, so that it can be copied.
    """
    before = Text.assemble((f"  {label:<{_LABEL}}", "dim"), head or "")
    if whole:
        console.print(Text.assemble(before, text), soft_wrap=True)
    else:
        print_hanging(console, before, Text(text) if isinstance(text, str) else text)


def show_under(
    console: Console, under: Mapping[str, str], details: Callable[[str], Iterable[Text]] = lambda what: ()
) -> None:
    """Print the failures that follow from a root cause, with the reasons; ``under`` is `Root.under`.

    Failures with the same reason are printed together. ``details`` returns more lines about a requirement or property.
    A line with ``no_wrap`` is not wrapped, and a line with the overflow "ellipsis" is cut to the width.
    """
    by_reason: dict[str, list[str]] = {}
    for what, why in under.items():
        by_reason.setdefault(why, []).append(what)
    for why, those in by_reason.items():
        names = Text(", ").join(Text(printable(what, 150), "bold") for what in those)
        print_labelled(console, "Effects", Text.assemble(names, f": {printable(why, _LONGEST)}" if why else ""))
        for what in those:
            for line in details(what):
                text = Text.assemble(f"{printable(what, 150)} " if len(those) > 1 else "", line)
                if line.overflow == "ellipsis":
                    text.truncate(max(20, console.width - _LABEL - 2), overflow="ellipsis")
                print_labelled(console, "", text, whole=bool(line.no_wrap))


def show_command(console: Console, label: str, command: str) -> None:
    """Print a command to type, with a label."""
    for line in labelled_command(console, label, command):
        console.print(line, soft_wrap=True)


def lines_labelled(console: Console, label: str, lines: Iterable[str], style: str = "") -> None:
    """Print lines with a label before the first line."""
    for number, line in enumerate(lines):
        print_labelled(console, "" if number else label, Text(line, style))


def show_stderr(console: Console, lines: Iterable[str]) -> None:
    """Print lines that an implementation wrote to stderr, each marked with a bar."""
    for number, line in enumerate(lines):
        print_labelled(console, "" if number else "stderr", Text(printable(line, 1000), "dim"), Text("| ", "dim"))


def show_errors(console: Console, errors: Mapping[str, str]) -> None:
    """Print each error of the suite, after the name of the run in which it occurred."""
    for where, what in errors.items():
        console.print(f"Fault of the suite: {where}: {what}", style="bold white on red", soft_wrap=True)


def print_hanging(console: Console, before: Text, text: Text) -> None:
    """Print a text with a prefix; further lines are indented below the text."""
    for line in text.wrap(console, max(20, console.width - before.cell_len), overflow="fold"):
        line.rstrip()
        console.print(Text.assemble(before, line), soft_wrap=True)
        before = Text(" " * before.cell_len)


def format_declaration(declared: Declaration) -> str:
    """Return the declared capabilities and limits, as text."""
    honoured = {name: declared.limit(name) for name in declared.limits}
    limits = [f"{named(name)} up to {value}" for name, value in honoured.items() if value is not None]
    return ", ".join(declared.capability_names + limits) or "nothing"
