"""The outcome of a run as a person reads it on a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from sds_harness.declaration import Declaration
from sds_harness.environment import PLAIN
from sds_harness.faults import FaultKind
from sds_harness.trace import Trace

from ..judging.certification import Certification, Plan
from ..judging.exits import Exit
from ..judging.quoting import counted
from ..judging.registry import scenario_of
from ..judging.runner import BrokenRun
from ..judging.verdict import Finding, RequirementVerdict, Verdict
from ..protocols import protocol_of, protocols
from .evidence import Evidence
from .report import Invocation, play_command, replay_command

STYLES = {
    Verdict.PASS: "green",
    Verdict.FAIL: "bold red",
    Verdict.WARN: "yellow",
    Verdict.INCONCLUSIVE: "magenta",
    Verdict.SKIPPED: "cyan",
    Verdict.ERROR: "bold white on red",
}
_LABEL = 10


def show_certificate(console: Console, declared: Declaration, dialect: str, what: Plan) -> None:
    """Who is tested, against what, and what it declares."""
    revision, words = what.revision, protocol_of(what.revision).words
    name = f"{declared.name} {declared.version}".strip()
    language = f" ({declared.language})" if declared.language else ""
    labelled(console, "Testing", Text(f"{name}{language}", "bold"))
    labelled(console, "Against", Text(f"{revision}: {words.against(revision, what.profile)}"))
    if revision not in declared.revisions:
        others = ", ".join(declared.revisions) or "none"
        labelled(console, "", Text(f"The implementation declares other revisions: {others}.", "yellow"))
    for label, note in words.notes(declared, revision, what.profile):
        labelled(console, label, Text(note))
    labelled(console, "Declares", Text(declared_line(declared, words.limits), "dim"))
    if dialect:
        note = f"{dialect}: judged after translation, except the requirements on the wire layout itself"
        labelled(console, "Dialect", Text(note))
    console.print()


def show_doubts(console: Console, revision: str, traces: Iterable[Trace[Any]]) -> None:
    """What most of the rest may come from, and the question to ask about it."""
    doubts = protocol_of(revision).words.doubts(traces)
    for number, sentence in enumerate(doubts):
        labelled(console, "" if number else "Beware", Text(sentence, "bold" if number == len(doubts) - 1 else "yellow"))
    if doubts:
        console.print()


def show_findings(console: Console, outcome: Certification, how: Invocation) -> None:
    """Every requirement that failed or warns, as a story each, then the breakdowns."""
    if any(verdict.findings for verdict in outcome.verdicts if verdict.verdict in (Verdict.FAIL, Verdict.WARN)):
        note = f"T is the start of virtual time. {protocol_of(outcome.plan.revision).words.casting}".rstrip()
        labelled(console, "Stories", Text(note, "dim"))
        console.print()
    for wanted in (Verdict.ERROR, Verdict.FAIL, Verdict.WARN):
        for verdict in outcome.verdicts:
            if verdict.verdict is wanted:
                _show_verdict(console, verdict, outcome, how)
    alike: dict[tuple[FaultKind, str, str], list[BrokenRun]] = {}
    for broken in outcome.breakdowns:
        alike.setdefault((broken.breakdown.kind, broken.breakdown.detail, broken.command), []).append(broken)
    for first, *others in alike.values():
        show_breakdown(console, first, [broken.where for broken in others], outcome.traces, how)


def _show_verdict(console: Console, verdict: RequirementVerdict, outcome: Certification, how: Invocation) -> None:
    requirement = verdict.requirement
    console.print(headline(verdict.verdict, requirement.id, f"{requirement.level}, section {requirement.anchor!r}"))
    labelled(console, "Rule", Text(requirement.statement))
    if verdict.verdict is Verdict.ERROR:
        labelled(console, "Our fault", Text(verdict.reason))
    finding = next((f for f in verdict.findings if f.severity is verdict.verdict), None)
    if finding is not None:
        show_finding(console, finding, outcome)
        others = sum(1 for f in verdict.findings if f is not finding) + verdict.findings_dropped
        if others:
            where = sorted({f.run for f in verdict.findings if f is not finding} - {finding.run})
            also = f", also in {', '.join(where)}" if where else ""
            labelled(console, "", Text(f"and {others} more like it{also}", "dim"))
    again = replay_command(requirement.id, finding, how)
    labelled(console, "Again", Text(again, "blue"), whole=True)
    console.print()


def show_finding(console: Console, finding: Finding, outcome: Certification) -> None:
    """What was done, what was expected, what came out."""
    scenario = outcome.plan.rules.register.scenarios.get(finding.scenario)
    if scenario is not None:
        labelled(console, "Scenario", Text(f"{finding.scenario}: {scenario.summary}"))
    environment = outcome.plan.rules.environments.get(finding.environment)
    if environment is not None and environment is not PLAIN:
        labelled(console, "Played in", Text(f"{environment.name}: {environment.summary}"))
    trace = outcome.traces.get(finding.run)
    evidence = Evidence(protocol_of(outcome.plan.revision).words, trace, finding)
    label = "Done"
    for exhibit in evidence.exhibits():
        number = "…" if exhibit.step is None else str(exhibit.step.index)
        head = Text(f"{number:>3} ", "bold" if exhibit.blamed else "dim")
        labelled(console, label, Text(exhibit.text, "dim" if exhibit.step is None else ""), head)
        label = ""
        for line in exhibit.effects:
            labelled(console, "", Text(line), Text("    → ", "dim"))
    labelled(console, "Expected", Text(evidence.expected))
    labelled(console, "Seen", Text(evidence.seen, "bold"))
    if evidence.difference:
        labelled(console, "", Text(evidence.difference))
    show_softened(console, finding)


def show_softened(console: Console, finding: Finding) -> None:
    """The position that softens a finding, if one does."""
    if finding.position:
        known = {name: position for p in protocols() for name, position in p.rules.catalogue.positions.items()}
        position = known.get(finding.position)
        told = f": {position.position}" if position is not None else ""
        labelled(console, "", Text(f"a warning, not a failure, by position {finding.position}{told}", "dim"))


def show_breakdown(
    console: Console,
    broken: BrokenRun,
    also_in: Sequence[str] = (),
    traces: Mapping[str, Trace[Any]] | None = None,
    how: Invocation | None = None,
) -> None:
    """What broke, whose fault it is, and the question to ask next."""
    breakdown = broken.breakdown
    console.print(Text.assemble(("BROKE", "bold red"), (f" {breakdown.kind.value}", "bold"), f"  in {broken.where}"))
    at = f" (step {broken.step}, {broken.command})" if broken.step else ""
    labelled(console, "What", Text(f"The implementation or its adapter: {breakdown.detail}{at}."))
    trace, environment = (traces or {}).get(broken.where), PLAIN
    if trace is not None:
        environment = protocol_of(trace.revision.name).rules.environments[trace.environment]
    if environment is not PLAIN:
        variables = ", ".join(f"{name}={value}" for name, value in environment.variables.items())
        told = f"{environment.name}: {environment.summary}" + (f" ({variables})" if variables else "")
        labelled(console, "Played in", Text(told))
    if trace is not None and trace.steps:
        narrator, step = protocol_of(trace.revision.name).words.narrator(trace), trace.steps[-1]
        labelled(console, "Done", Text(narrator.done(step)), Text(f"{step.index:>3} ", "dim"))
    lines_labelled(console, "stderr", breakdown.stderr, "dim")
    labelled(console, "Ask", Text(breakdown.advice))
    if how is not None and trace is not None:
        labelled(console, "Again", Text(play_command(broken.where, environment.name, how), "blue"), whole=True)
    if also_in:
        labelled(console, "", Text(f"and {len(also_in)} more like it, in {', '.join(also_in)}", "dim"))
    console.print()


def show_notes(console: Console, outcome: Certification) -> None:
    """What is told and not judged, and what could not be judged."""
    passed = [verdict for verdict in outcome.verdicts if verdict.verdict is Verdict.PASS]
    notes = [finding for verdict in passed for finding in verdict.findings[:1] if finding.severity is Verdict.PASS]
    for note in notes:
        seen = f"expected {note.expected}; seen: {note.seen}" if note.expected else note.seen
        labelled(console, "Note", Text.assemble((f"{note.requirement} ", "bold"), seen))
    for kind in (Verdict.INCONCLUSIVE, Verdict.SKIPPED):
        reasons: dict[str, list[str]] = {}
        for verdict in outcome.verdicts:
            if verdict.verdict is kind:
                reasons.setdefault(verdict.reason, []).append(verdict.requirement.id)
        for reason, ids in reasons.items():
            shown = ", ".join(ids[:6]) + (f" and {len(ids) - 6} more" if len(ids) > 6 else "")
            label = {Verdict.INCONCLUSIVE: "Inconcl."}.get(kind, kind.value.capitalize())
            labelled(console, label, Text.assemble((shown, STYLES[kind]), f": {reason}"))
    for environment, reason in outcome.left_out.items():
        labelled(console, "Left out", Text.assemble((f"environment {environment}", "cyan"), f": {reason}"))
    if notes or outcome.left_out or outcome.count(Verdict.INCONCLUSIVE) or outcome.count(Verdict.SKIPPED):
        console.print()


def show_summary(console: Console, outcome: Certification) -> None:
    """The table by section, and the last line."""
    titles = {section.id: section.title for section in outcome.plan.catalogue.sections}
    columns = (Verdict.PASS, Verdict.FAIL, Verdict.WARN, Verdict.INCONCLUSIVE, Verdict.SKIPPED, Verdict.ERROR)
    heads = [{Verdict.INCONCLUSIVE: "inconcl."}.get(verdict, verdict.value) for verdict in columns]
    table = plain_table(Column("Section", no_wrap=True), right=heads)
    for section, title in titles.items():
        rows = [v for v in outcome.verdicts if v.requirement.section == section]
        if rows:
            counts = [sum(1 for v in rows if v.verdict is verdict) for verdict in columns]
            table.add_row(title[:32], *_cells(counts, columns))
    table.add_section()
    table.add_row("All", *_cells([outcome.count(verdict) for verdict in columns], columns), style="bold")
    console.print(table)
    console.print()
    console.print(verdict_line(outcome))


def _cells(counts: list[int], columns: Sequence[Verdict]) -> list[Text]:
    return [
        Text(str(n) if n else "·", STYLES[verdict] if n else "dim") for n, verdict in zip(counts, columns, strict=True)
    ]


def verdict_line(outcome: Certification) -> Text:
    """One sentence that says it all."""
    name = outcome.declaration.name
    counts = ((outcome.scenarios, "scenario"), (outcome.runs, "run"), (outcome.steps, "step"))
    played = f"{', '.join(counted(*count) for count in counts)}, {outcome.seconds:.1f} s"
    if outcome.interrupted:
        return Text(f"Interrupted after {played}: no verdict on {name} as a whole.", "yellow")
    match outcome.exit_code:
        case Exit.CONFORMANT:
            warnings = outcome.count(Verdict.WARN)
            but = f", with {counted(warnings, 'warning')}" if warnings else ""
            words, rules = protocol_of(outcome.plan.revision).words, outcome.plan.rules
            forgone = words.forgone(outcome.declaration, outcome.plan.revision)
            asked = [v for v in outcome.verdicts if rules.part_of(v.requirement) != forgone or v.exercised]
            judged = sum(v.exercised > 0 for v in asked)
            of = f", {judged} of {counted(len(asked), 'requirement')}" if judged < len(asked) else ""
            within = outcome.plan.profile in (rules.full, forgone)
            of += f", without {words.parts[forgone]}" if forgone and within else ""
            return Text(f"{name} conforms to what was tested{of}{but} ({played}).", "bold green")
        case Exit.NOTHING_EXERCISED:
            return Text(f"Nothing was exercised: no verdict on {name} ({played}).", "magenta")
        case Exit.NOT_DRIVEN:
            return Text(f"{name} could not be driven: nothing was exercised ({played}).", "bold red")
        case _:
            failed, errors = outcome.count(Verdict.FAIL), outcome.count(Verdict.ERROR)
            reasons = [f"{failed} failed"] if failed else []
            reasons += [counted(len(outcome.breakdowns), "breakdown")] if outcome.breakdowns else []
            reasons += [f"{errors} by a fault of ours"] if errors else []
            return Text(f"{name} does not conform: {', '.join(reasons)} ({played}).", "bold red")


def show_conversation(console: Console, requirement_id: str, outcome: Certification) -> None:
    """The wire conversation of the scenario that says most about one requirement, decoded."""
    verdict = next(v for v in outcome.verdicts if v.requirement.id == requirement_id)
    finding = next(iter(sorted(verdict.findings, key=lambda f: f.severity is Verdict.PASS)), None)
    sightings = outcome.sightings.get(requirement_id, {})
    scenarios = outcome.plan.rules.register.scenarios
    declared = {name for name in sightings if requirement_id in scenarios[scenario_of(name)].exercises}
    shown = [outcome.traces[name] for name in declared or sightings if name in outcome.traces]
    name = finding.run if finding else min(shown, key=lambda t: len(t.steps)).schedule if shown else ""
    trace = outcome.traces.get(name) or next(iter(outcome.traces.values()), None)
    if trace is None:
        return
    console.print(Text.assemble(("Conversation", "bold"), f" of {trace.schedule}, T = the start of virtual time"))
    narrator = protocol_of(outcome.plan.revision).words.narrator(trace)
    for step in trace.steps:
        mark = ("> ", "bold red") if finding is not None and step.index == finding.step else ("  ", "")
        head = Text.assemble(mark, (f"{step.index:>3} ", "dim"))
        hanging(console, head, Text(narrator.done(step)))
        for effect in narrator.came_out(step, narrator.touches(step)):
            console.print(Padding(Text(effect, "cyan"), (0, 0, 0, 10)))
        for raw in narrator.on_the_wire(step):
            show_hex(console, raw)
    if trace.stopped:
        console.print(Text(f"      stopped: {trace.stopped}", "yellow"))
    console.print()


def show_hex(console: Console, raw: bytes) -> None:
    """The beginning of bytes on the wire."""
    shown = raw[:48].hex(" ", -4)
    more = f" … {len(raw)} bytes" if len(raw) > 48 else ""
    console.print(Padding(Text(shown + more, "dim"), (0, 0, 0, 10)))


def headline(severity: Verdict, what: str, more: str | Text, width: int = 5) -> Text:
    """The first line about a requirement, or about another thing that fails."""
    return Text.assemble((f"{severity.value.upper():{width}}", STYLES[severity]), (f" {what}", "bold"), "  ", more)


def plain_table(*left: str | Column, right: Iterable[str] = ()) -> Table:
    """A table without lines: columns of words, and after them columns of numbers."""
    words = (column if isinstance(column, Column) else Column(column, overflow="fold") for column in left)
    return Table(*words, *(Column(title, justify="right") for title in right), box=None, pad_edge=False)


def labelled(console: Console, label: str, text: Text, head: Text | None = None, *, whole: bool = False) -> None:
    """A text with a label before it, and ``head`` before its first line; lines that follow stand under the text.

    ``whole`` lets it run over the edge, so that it can be copied.
    """
    before = Text.assemble((f"  {label:<{_LABEL}}", "dim"), head or "")
    if whole:
        console.print(Text.assemble(before, text), soft_wrap=True)
    else:
        hanging(console, before, text)


def lines_labelled(console: Console, label: str, lines: Iterable[str], style: str = "") -> None:
    """Lines with a label before the first."""
    for number, line in enumerate(lines):
        labelled(console, "" if number else label, Text(line, style))


def show_errors(console: Console, errors: Mapping[str, str]) -> None:
    """Faults of ours: where, and what."""
    for where, what in errors.items():
        console.print(f"Our fault: {where}: {what}", style="bold white on red", soft_wrap=True)


def hanging(console: Console, before: Text, text: Text) -> None:
    """A text with ``before`` before its first line; lines that follow stand under the text."""
    for line in text.wrap(console, max(20, console.width - before.cell_len), overflow="fold"):
        line.rstrip()
        console.print(Text.assemble(before, line), soft_wrap=True)
        before = Text(" " * before.cell_len)


def declared_line(declared: Declaration, bounded: Mapping[str, str]) -> str:
    """The declared capabilities and limits, in words: ``bounded`` says what each limit is about."""
    limits = [f"{what} up to {value}" for name, what in bounded.items() if (value := declared.limit(name)) is not None]
    return ", ".join(declared.capability_names + limits) or "nothing"
