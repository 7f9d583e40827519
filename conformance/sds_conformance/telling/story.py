"""The outcome of a run as a person reads it on a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from sds_harness.declaration import Declaration, printable
from sds_harness.environment import PLAIN
from sds_harness.faults import FaultKind
from sds_harness.trace import Trace

from ..judging.again import Again
from ..judging.causes import Cause, told_as_another
from ..judging.certification import ENOUGH, Certification
from ..judging.exits import Exit
from ..judging.planning import Plan
from ..judging.quoting import counted
from ..judging.runner import BrokenRun
from ..judging.verdict import Finding, RequirementVerdict, Verdict
from ..protocols import protocol_of, protocols
from .evidence import Evidence
from .report import Invocation, play_command, replay_command, worst
from .said import quoted

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
    if (clock := declared.outside_clock) is not None:
        labelled(console, "Clock", Text(f"{clock.told}.", "yellow" if clock.why_not else ""))
    labelled(console, "Declares", Text(declared_line(declared, words.limits), "dim"))
    if dialect:
        note = f"{dialect}: judged after translation, except the requirements on the wire layout itself"
        labelled(console, "Dialect", Text(note))
    console.print()


def show_doubts(console: Console, revision: str, heard: Iterable[Any]) -> None:
    """What most of the rest may come from, and the question to ask about it; ``heard`` is what `Rules.heed` remembers
    of each run."""
    doubts = protocol_of(revision).words.doubts(heard)
    for number, sentence in enumerate(doubts):
        labelled(console, "" if number else "Beware", Text(sentence, "bold" if number == len(doubts) - 1 else "yellow"))
    if doubts:
        console.print()


def show_causes(
    console: Console, outcome: Certification, how: Invocation, known: Mapping[str, str] = MappingProxyType({})
) -> None:
    """What is wrong, the most severe first, in a few lines each: the rule, what follows from it, and how to see it.

    ``known`` are the requirements of which it is known that they fail, with the reason: they come last.
    """
    if not outcome.causes:
        return
    failing = [cause for cause in outcome.causes if cause.verdict.verdict is Verdict.FAIL]
    shown = failing or outcome.causes
    what = counted(len(shown), "fault" if failing else "warning")
    found = sum(cause.verdict.tally.total for cause in shown)
    head = f"{what}, by {found:,} violations" if found > len(shown) else what
    console.print(Text.assemble((head, "bold"), ". Each is told below, as a story.\n" if len(shown) > 1 else ".\n"))
    for cause in sorted(shown, key=lambda cause: cause.requirements <= known.keys()):
        _show_cause(console, cause, how, known)
    if failing and len(failing) < len(outcome.causes):
        warned = [cause.verdict.requirement.id for cause in outcome.causes if cause not in failing]
        labelled(console, "Warnings", Text(", ".join(warned), "yellow"))
        console.print()


def _show_cause(console: Console, cause: Cause, how: Invocation, known: Mapping[str, str]) -> None:
    verdict = cause.verdict
    requirement, tally = verdict.requirement, verdict.tally
    where = f"{tally.total:,} {'time' if tally.total == 1 else 'times'} in {counted(len(tally.scenarios), 'scenario')}"
    console.print(headline(verdict.verdict, requirement.id, Text(where, "dim")))
    labelled(console, "Rule", Text(requirement.statement))
    show_flaky(console, verdict.again)
    if reason := known.get(requirement.id):
        labelled(console, "Known", Text(printable(reason, 300), "dim"))
    if cause.under:
        labelled(console, "With it", Text(", ".join(under.requirement.id for under, _ in cause.under)))
    labelled(console, "Again", Text(replay_command(requirement.id, worst(verdict), how), "blue"), whole=True)
    console.print()


def show_findings(
    console: Console, outcome: Certification, how: Invocation, known: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Every requirement that failed or warns, as a story each, then the breakdowns; what is ``known`` has its own."""
    if any(verdict.findings for verdict in outcome.verdicts if verdict.verdict in (Verdict.FAIL, Verdict.WARN)):
        note = f"T is the start of virtual time. {protocol_of(outcome.plan.revision).words.casting}".rstrip()
        labelled(console, "Stories", Text(note, "dim"))
        console.print()
    for verdict in outcome.verdicts:
        if verdict.verdict is Verdict.ERROR:
            _show_verdict(console, verdict, outcome, how)
    for cause in outcome.causes:
        if cause.verdict.requirement.id not in known:
            _show_verdict(console, cause.verdict, outcome, how)
        for verdict, why in cause.under:
            if verdict.requirement.id not in known:
                _show_verdict(console, verdict, outcome, how, f"{cause.verdict.requirement.id}. {why}")
    alike: dict[tuple[FaultKind, str, str], list[BrokenRun]] = {}
    for broken in outcome.breakdowns:
        alike.setdefault((broken.breakdown.kind, broken.breakdown.detail, broken.command), []).append(broken)
    for first, *others in alike.values():
        warned = first.breakdown.kind is FaultKind.DEAF and outcome.tolerates(first)
        show_breakdown(console, first, [broken.where for broken in others], outcome.traces, how, warned=warned)
    show_errors(console, outcome.way_errors)


def _show_verdict(
    console: Console, verdict: RequirementVerdict, outcome: Certification, how: Invocation, under: str = ""
) -> None:
    requirement = verdict.requirement
    console.print(headline(verdict.verdict, requirement.id, f"{requirement.level}, section {requirement.anchor!r}"))
    labelled(console, "Rule", Text(requirement.statement))
    if under:
        labelled(console, "Under", Text(under))
    show_flaky(console, verdict.again)
    if verdict.verdict is Verdict.ERROR:
        labelled(console, "Our fault", Text(verdict.reason))
    finding = worst(verdict)
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


def show_flaky(console: Console, again: Again | None, more: str = "") -> None:
    """How often something came back that was played again, if that was not each time."""
    if again is not None and again.flaky:
        labelled(console, "Flaky", Text(again.sentence + more, "yellow"))


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
    show_said(console, finding.said)
    show_softened(console, finding)


def show_said(console: Console, said: Sequence[str]) -> None:
    """What the implementation wrote to stderr at the step that is blamed."""
    lines_labelled(console, "stderr", quoted(said, console.width - _LABEL - 2), "dim")


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
    *,
    warned: bool = False,
) -> None:
    """What broke, whose fault it is, and the question to ask next; ``warned`` if it is only a warning."""
    breakdown = broken.breakdown
    label = ("WARN", STYLES[Verdict.WARN]) if warned else ("BROKE", "bold red")
    console.print(Text.assemble(label, (f" {breakdown.kind.value}", "bold"), f"  in {broken.where}"))
    at = f" (step {broken.step}, {broken.command})" if broken.step else ""
    labelled(console, "What", Text(f"The implementation or its adapter: {breakdown.detail}{at}."))
    show_flaky(console, broken.again)
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
    show_stderr(console, breakdown.stderr)
    labelled(console, "Ask", Text(breakdown.advice))
    if how is not None and trace is not None:
        labelled(console, "Again", Text(play_command(broken.where, environment.name, how), "blue"), whole=True)
    if also_in:
        labelled(console, "", Text(f"and {len(also_in)} more like it, in {', '.join(also_in)}", "dim"))
    console.print()


def show_notes(console: Console, outcome: Certification) -> None:
    """What is told and not judged, and what could not be judged."""
    passed = [verdict for verdict in outcome.verdicts if verdict.verdict is Verdict.PASS]
    noted = [finding for verdict in passed for finding in verdict.findings[:1] if finding.severity is Verdict.PASS]
    notes = [note for note in noted if not told_as_another(outcome.plan.rules, note, outcome.verdicts)]
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
    table = plain_table("Section", right=heads)
    for section, title in titles.items():
        rows = [v for v in outcome.verdicts if v.requirement.section == section]
        if rows:
            counts = [sum(1 for v in rows if v.verdict is verdict) for verdict in columns]
            table.add_row(title, *_cells(counts, columns))
    table.add_section()
    table.add_row("All", *_cells([outcome.count(verdict) for verdict in columns], columns), style="bold")
    console.print(table)
    console.print()
    console.print(verdict_line(outcome))
    judged = (Verdict.PASS, Verdict.WARN, Verdict.FAIL)
    exercised, there_are = sum(v.verdict in judged for v in outcome.verdicts), len(outcome.verdicts)
    if 0 < exercised < ENOUGH * there_are:
        share = f"Exercised: {exercised} of {counted(there_are, 'requirement')}, {exercised * 100 // there_are} %."
        console.print(f"{share} The lines Inconcl. and Skipped above say why.", style="yellow")


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
        case Exit.OURS:
            return Text(f"A fault of ours: no verdict on {name} as a whole ({played}).", "bold white on red")
        case _:
            failed, errors = outcome.count(Verdict.FAIL), outcome.count(Verdict.ERROR)
            flaky = sum(verdict.again is not None and verdict.again.flaky for verdict in outcome.verdicts)
            reasons = [f"{failed} failed" + (f" ({flaky} flaky)" if flaky else "")] if failed else []
            deaf = any(b.breakdown.kind is FaultKind.DEAF and not outcome.tolerates(b) for b in outcome.breakdowns)
            broken = sum(broken.breakdown.kind is not FaultKind.DEAF for broken in outcome.breakdowns)
            reasons += ["nothing shows that it takes any message that it receives (BROKE deaf above)"] if deaf else []
            reasons += [counted(broken, "breakdown")] if broken else []
            reasons += [f"{errors} by a fault of ours"] if errors else []
            return Text(f"{name} does not conform: {', '.join(reasons)} ({played}).", "bold red")


def headline(severity: Verdict, what: str, more: str | Text, width: int = 5) -> Text:
    """The first line about a requirement, or about another thing that fails."""
    return Text.assemble((f"{severity.value.upper():{width}}", STYLES[severity]), (f" {what}", "bold"), "  ", more)


def plain_table(*left: str | Column, right: Iterable[str] = ()) -> Table:
    """A table without lines: columns of words, and after them columns of numbers. Where it is narrow the words are
    broken, and the numbers are not."""
    words = (column if isinstance(column, Column) else Column(column, overflow="fold") for column in left)
    numbers = (Column(title, justify="right", no_wrap=True) for title in right)
    return Table(*words, *numbers, box=None, pad_edge=False)


def unbroken(title: str) -> Column:
    """A column of names and IDs, which are told whole."""
    return Column(title, no_wrap=True)


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


def show_stderr(console: Console, lines: Iterable[str]) -> None:
    """What an implementation wrote there, each line marked as not ours."""
    for number, line in enumerate(lines):
        labelled(console, "" if number else "stderr", Text(printable(line, 1000), "dim"), Text("| ", "dim"))


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
