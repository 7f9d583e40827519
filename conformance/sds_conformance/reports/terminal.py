"""A report on a terminal: the tested implementation, a table, the story of each root cause, and the last screen.

`run` prints the report of the run, `report DIR` prints a stored report. The output is the same.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from sds_harness.declaration import VIRTUAL_CLOCK, Declaration, printable
from sds_harness.faults import Breakdown, FaultKind

from ..judging.exits import Exit
from ..judging.formats import format_count
from ..judging.registry import scenario_of
from ..judging.runner import ALL_RUNS, BrokenRun
from ..judging.severity import BREAKDOWN_SEVERITY
from ..judging.verdict import Verdict
from ..presentation.dialogue import show_hex
from ..presentation.evidence import find_quoted_ids
from ..presentation.last_screen import STYLES, CauseLine, LastScreen, show_last_screen, sort_causes
from ..presentation.story import (
    headline,
    plain_table,
    print_hanging,
    print_labelled,
    show_breakdown,
    show_command,
    show_doubts,
    show_errors,
    show_finding,
    show_flaky,
    show_implementation,
    show_under,
)
from .overall_result import Tone, applicable_requirements, compute_overall_result, unsupported_part
from .report import Report, RootCause, Row, again_of, code_of, finding_of, run_of, worst
from .scenario_files import cause_lines, show_scenario_files

_TONES = {Tone.GOOD: "bold green", Tone.PARTIAL: "bold yellow", Tone.BAD: "bold red", Tone.NONE: "bold yellow"}
_COLUMNS = (Verdict.PASS, Verdict.FAIL, Verdict.WARN, Verdict.INCONCLUSIVE, Verdict.SKIPPED, Verdict.ERROR)
_SHORT = {Verdict.INCONCLUSIVE: "inconcl."}
_LONGEST = 600
MOST_REASONS = 3
"""Maximum number of reasons on the last screen for requirements that were not exercised."""


def show_tested(console: Console, report: Report) -> None:
    """Print the implementation, the revision and the transport."""
    data = report.data
    show_implementation(
        console,
        report.declaration,
        data["profiles"].get("dialect", ""),
        data["revision"],
        data["profile"],
        data["framing"],
        data["implementation"]["clock"],
    )
    played = (
        f"{format_count(data['summary']['scenarios'], 'scenario')}, in {format_count(data['summary']['runs'], 'run')}"
    )
    print_labelled(console, "Plays", Text(played))
    console.print()


def show_report(console: Console, report: Report, program: str, stories: int | None = None) -> None:
    """Print the table, the ``stories`` most severe root causes in full, notes, and the last screen.

    By default, if there are several root causes, only failures are printed with their steps, not warnings.
    ``program`` is the name under which the suite was called.
    """
    data = report.data
    show_doubts(console, data["doubts"])
    _show_table(console, report)
    _show_stories(console, report, stories)
    show_scenario_files(console, report.scenario_files)
    _show_notes(console, report)
    for sentence in data["unplayed"]:
        console.print(Text(f"{printable(sentence, _LONGEST)}\n", "yellow"))
    show_last_screen(console, last_screen(report, program))


def last_screen(report: Report, program: str) -> LastScreen:
    """Return the summary that is printed last: overall result, root causes, counts, and the next command to type."""
    whole = compute_overall_result(report)
    lines = _cause_lines(report)
    command, why = _next(report, program)
    verdict = Text(f"{report.name} {printable(whole.sentence, _LONGEST)}", _TONES[whole.tone])
    return LastScreen(verdict, lines, [*_facts(report)], command, why)


def _cause_lines(report: Report) -> list[CauseLine]:
    hard = report.hard_breakdowns
    lines = [
        CauseLine(
            Verdict.FAIL if broken in hard else Verdict.WARN,
            BREAKDOWN_SEVERITY,
            broken["kind"],
            f"in {broken['where']}: {broken['detail']}",
        )
        for broken, _ in report.breakdowns
    ]
    for cause in report.causes:
        rule = f"{'known: ' if cause.known else ''}{cause.rule}"
        lines.append(CauseLine(cause.verdict, cause.data["severity"], cause.row["id"], rule))
    return sort_causes([*lines, *cause_lines(report.scenario_files)])


def _facts(report: Report) -> list[tuple[str, Text]]:
    data, summary = report.data, report.data["summary"]
    out = []
    if wrong := report.complaints:
        out.append(("Baseline", Text(f"change {format_count(len(wrong), 'entry', 'entries')}, see above", "bold red")))
    elif data["baseline"] is not None:
        failing = list(report.requirements("fail"))
        known = sum(bool(report.known_failures(row["id"])) for row in failing)
        how_many = (
            "All failures are" if known == len(failing) else f"{known} of {format_count(len(failing), 'failure')}"
        )
        out.append(("Baseline", Text(f"{how_many} known: {printable(data['baseline']['file'], 200)}", no_wrap=True)))
    rows = applicable_requirements(report)
    applicable = {row["id"] for row in rows}
    judged = sum(row["exercised"] > 0 for row in rows)
    part = unsupported_part(report)
    without = f", without {report.protocol.parts.get(part, part)}" if part else ""
    out.append(("Exercised", Text(f"{judged} of {format_count(len(rows), 'requirement')}{without}")))
    unjudged = report.group_unjudged("inconclusive", "skipped", "error").items()
    reasons = {why: here for why, ids in unjudged if (here := [name for name in ids if name in applicable])}
    most = MOST_REASONS if compute_overall_result(report).tone is not Tone.BAD else 0  # Leave room for root causes.
    for (verdict, reason), ids in sorted(reasons.items(), key=lambda one: -len(one[1]))[:most]:
        more = f" and {len(ids) - 1} more" if len(ids) > 1 else ""
        line = Text(f"not {ids[0]}{more}: {verdict}, {printable(reason, 200)}", "yellow")
        line.truncate(66, overflow="ellipsis")
        out.append(("", line))
    if len(reasons) > most > 0:
        out.append(
            ("", Text(f"and for {format_count(len(reasons) - MOST_REASONS, 'other reason')}, see above", "yellow"))
        )
    numbers = (f"{format_count(summary[f'{what}s'], what)}" for what in ("scenario", "run", "step"))
    took = f" in {report.seconds:.1f} s" if report.seconds else ""
    out.append(("Played", Text(f"{', '.join(numbers)}{took}")))
    if report.written is not None:
        out.append(("Report", Text(printable(str(report.written), _LONGEST), no_wrap=True)))
    return out


def _next(report: Report, program: str) -> tuple[str, str]:
    """Return the next command and its purpose."""
    data = report.data
    written = str(report.written.parent) if report.written is not None else ""

    def drive(*words: str) -> str:
        options = [option for option in data["options"] if option != "--strict" or words[0] != "smoke"]
        if "--dialect" in words and "--dialect" in options:
            del options[(at := options.index("--dialect")) : at + 2]
        if data["baseline"] is not None and words[0] in ("run", "fuzz"):
            options += ["--baseline", data["baseline"]["file"]]
        command = data["implementation"]["command"]
        return shlex.join([program, *words, *options, *(["--", *command] if command else [])])

    if report.complaints:
        update = [program, "baseline", "update", data["baseline"]["file"], written or "REPORT"]
        return shlex.join(update), "corrects the baseline"
    if dialect := _dialect_in(report):
        return drive("run", "--dialect", dialect), "translates this message layout and judges all requirements"
    if broken := [one for one in report.hard_breakdowns if one["where"] != ALL_RUNS]:
        if again := broken[0]["again"]:
            return again, "plays that run again"
        return drive("smoke"), "tries the adapter"
    failing = [cause for cause in report.causes if cause.verdict is Verdict.FAIL]
    if new := [cause for cause in failing if not cause.known]:
        return new[0].data["again"], "shows the first root cause, message by message"
    if report.unmet:
        return report.unmet[0].file["again"], "plays the scenario file again"
    if data["summary"]["exit_code"] in (Exit.NOTHING_EXERCISED, Exit.NOT_DRIVEN) or report.hard_breakdowns:
        return drive("smoke", "--validate"), "tries the adapter, and checks the form of its messages"
    if data["narrowed"] or not data["summary"]["complete"]:
        return drive("run"), "judges every requirement"
    if written and not failing:
        return shlex.join([program, "certificate", "write", written]), "writes a certificate"
    return drive("fuzz"), "plays generated schedules"


def _dialect_in(report: Report) -> str:
    """Return the dialect that the doubts (likely reasons of the findings) suggest; "" if they suggest none."""
    if report.data["profiles"].get("dialect"):
        return ""
    known, question = report.protocol.rules.dialects, " ".join(report.data["doubts"])
    return next((name for name in known if f"--dialect {name}" in question), "")


def show_conversation(console: Console, report: Report, requirement: str) -> None:
    """Print the messages of the run with the worst finding of a requirement, or else of the shortest run."""
    row = next(row for row in report.requirements() if row["id"] == requirement)
    found = [finding_of(requirement, finding) for finding in row["findings"]]
    finding = min(found, key=lambda one: one.severity is Verdict.PASS, default=None)
    declared = [run for run in row["runs"] if requirement in _written_for(report, scenario_of(run))]
    traces = [trace for run in declared or row["runs"] if (trace := report.trace(run)) is not None]
    shortest = min(traces, key=lambda trace: len(trace.steps), default=None)
    trace = report.trace(finding.run) if finding is not None else shortest
    trace = trace or next(iter(report.traces.values()), None)
    if trace is None:
        return
    console.print(
        Text.assemble(("Conversation", "bold"), f" of {trace.schedule}, T = {_start_text(trace.declaration)}")
    )
    narrator = report.protocol.narrator(trace)
    for step in trace.steps:
        mark = ("> ", "bold red") if finding is not None and step.index == finding.step else ("  ", "")
        touched = narrator.touches(step)
        named = (
            find_quoted_ids(f"{finding.expected} {finding.seen}", touched) if finding is not None else frozenset[str]()
        )
        print_hanging(console, Text.assemble(mark, (f"{step.index:>3} ", "dim")), Text(narrator.done(step, named)))
        for effect in narrator.came_out(step, named or touched):
            console.print(Padding(Text(effect, "cyan"), (0, 0, 0, 10)))
        for raw in narrator.on_the_wire(step):
            show_hex(console, raw)
    if trace.stopped:
        console.print(Text(f"      stopped: {trace.stopped}", "yellow"))
    console.print()


def _written_for(report: Report, scenario: str) -> Sequence[str]:
    """Return the requirements that a scenario is for; empty if this version of the suite does not have the scenario."""
    known = report.protocol.rules.register.scenarios.get(scenario)
    files = (file for file in report.scenario_files if file["scenario"] == scenario)
    return known.exercises if known is not None else [row["id"] for file in files for row in file["requirements"]]


def _show_table(console: Console, report: Report) -> None:
    """Print the number of requirements by section of the specification and verdict."""
    table = plain_table("Section", right=[_SHORT.get(verdict, verdict.value) for verdict in _COLUMNS])
    rows = list(report.requirements())
    sections = [
        (title, those)
        for section, title in report.data["sections"].items()
        if (those := [row for row in rows if row["section"] == section])
    ]
    good = {Verdict.PASS.value, Verdict.SKIPPED.value}
    others = [those for _, those in sections if all(row["verdict"] in good for row in those)]
    joins = 1 < len(others) < len(sections)  # Sections whose verdicts are all pass or skipped share a row.
    for title, those in sections:
        if not joins or those not in others:
            table.add_row(printable(title, 80), *_cells(those))
    if joins:
        table.add_row(f"{len(others)} other sections", *_cells([row for those in others for row in those]))
    table.add_section()
    table.add_row("All", *_cells(rows), style="bold")
    console.print(table)
    console.print()


def _cells(rows: Sequence[Row]) -> list[Text]:
    counts = [(verdict, sum(row["verdict"] == verdict.value for row in rows)) for verdict in _COLUMNS]
    return [Text(str(count) if count else "·", STYLES[verdict] if count else "dim") for verdict, count in counts]


def _start_text(declared: Declaration) -> str:
    """Describe the time T, from which the times of stories are counted."""
    return "the start of virtual time" if declared.can_by_name(VIRTUAL_CLOCK) else "the start of the conversation"


def _show_stories(console: Console, report: Report, stories: int | None) -> None:
    """Print one story for each root cause, the most severe first, then the breakdowns."""
    found = report.causes
    whole = stories is not None or len(found) == 1
    if found and stories != 0:
        casting = report.protocol.casting
        warns = any(cause.verdict is Verdict.WARN for cause in found) and not whole
        briefly = " The steps of warnings are left out; --stories all prints them." if warns else ""
        start = _start_text(report.declaration)
        print_labelled(console, "Stories", Text(f"T is {start}. {casting}".rstrip() + briefly, "dim"))
        console.print()
    for row in report.requirements(Verdict.ERROR.value):
        console.print(headline(Verdict.ERROR, row["id"], f"{row['level']}, section {row['anchor']!r}"))
        print_labelled(console, "Rule", Text(printable(row["statement"], _LONGEST)))
        print_labelled(console, "Fault of the suite", Text(printable(row["reason"], _LONGEST)))
        console.print()
    rows = {row["id"]: row for row in report.requirements()}
    shown = found if stories is None else found[:stories]
    for cause in shown:
        if cause.verdict is Verdict.WARN and not whole:
            _show_warning(console, report, cause)
        else:
            _show_cause(console, report, cause, rows, whole=whole)
    if shown and not whole and shown[-1].verdict is Verdict.WARN:
        console.print()
    if len(shown) < len(found):
        rest = format_count(len(found) - len(shown), "more root cause")
        console.print(Text(f"{rest}: --stories prints more.\n", "dim"))
    for first, others in report.breakdowns:
        warned = first not in report.hard_breakdowns
        trace = report.trace(first["where"])
        show_breakdown(console, _broken_run(first), others, trace, first["again"], warned=warned)
    errors = {way["position"]: way["error"] for way in report.data["ways"] if way["error"]}
    show_errors(console, errors)


def _show_head(console: Console, cause: RootCause, *, whole: bool) -> None:
    """Print the headline, the severity, the number of violations and the rule. Without ``whole``, severity and number
    are part of the headline.
    """
    row, data = cause.row, cause.data
    start = headline(cause.verdict, printable(code_of(row), 150), "")
    about = f"{row['level']}, section {row['anchor']!r}"
    if not whole:
        about = f"{row['level']}, severity {data['severity']}, {format_count(data['violations'], 'violation')}"
    more = Text(printable(about, _LONGEST))
    if start.cell_len + more.cell_len <= console.width:
        console.print(Text.assemble(start, more))
    else:
        start.rstrip()
        console.print(start)
        print_labelled(console, "", more)
    if whole:
        print_labelled(console, "Severity", Text(f"{data['severity']}, {cause.times}"))
        if title := data.get("title"):
            print_labelled(console, "Cause", Text(printable(title, _LONGEST), "bold"))
    print_labelled(console, "Rule", Text(printable(row["statement"], _LONGEST)))
    show_flaky(console, again_of(row))


def _show_known(console: Console, report: Report, row: Row) -> bool:
    """Print the reasons that a baseline gives. Return False if the baseline does not list the failure."""
    known = report.known_failures(row["id"])
    for entry in known:
        reason = " ".join(filter(None, (entry["reason"], entry["link"] and f"({entry['link']})")))
        print_labelled(console, "Known", Text(printable(reason, _LONGEST), "dim"))
    return bool(known)


def _show_cause(console: Console, report: Report, cause: RootCause, rows: Mapping[str, Row], *, whole: bool) -> None:
    """Print the rule, the story of one finding, the failures that the root cause explains, and the command that replays
    the finding.

    With ``whole``, also print the scenario, other runs with findings, and what was expected of the explained
    requirements.
    """
    _show_head(console, cause, whole=whole)
    if not _show_known(console, report, cause.row):
        _show_worst(console, report, cause.row, whole=whole)
    under = {one["requirement"]: one["why"] for one in cause.data["under"] if one["requirement"] in rows}
    show_under(console, under, lambda what: _details(report, rows[what], whole=whole))
    show_command(console, "Again", cause.data["again"])
    console.print()


def _show_warning(console: Console, report: Report, cause: RootCause) -> None:
    """Print a warning without its steps."""
    _show_head(console, cause, whole=False)
    finding = worst(cause.row)
    if not _show_known(console, report, cause.row) and finding is not None:
        story = report.story(cause.row["id"], finding)
        print_labelled(console, "Expected", Text(story.expected))
        print_labelled(console, "Seen", Text(story.seen, "bold"))
        if position := story.finding.position:
            print_labelled(console, "", Text(f"a warning, not a failure, by position {position}", "dim"))
    show_under(console, {one["requirement"]: one["why"] for one in cause.data["under"]})
    show_command(console, "Again", cause.data["again"])


def _show_worst(console: Console, report: Report, row: Row, *, whole: bool) -> None:
    """Print the story of the worst finding; ``whole`` as in `_show_cause`."""
    finding = worst(row)
    if finding is None:
        return
    found = finding_of(row["id"], finding)
    show_finding(console, found, report.data["revision"], report.trace(found.run), brief=not whole)
    where = sorted({run_of(other) for other in row["findings"]} - {found.run})
    if whole and where:
        print_labelled(console, "Also in", Text(printable(", ".join(where), _LONGEST), "dim"))
    for kind in row["kinds"]:
        if kind["code"] != finding["code"]:
            times = format_count(sum(kind["scenarios"].values()), "violation")
            print_labelled(console, "Also", Text.assemble((printable(kind["code"], 150), "bold"), f": {times}"))


def _details(report: Report, row: Row, *, whole: bool) -> Iterator[Text]:
    """Yield lines about a requirement that a root cause explains.

    They say whether the result is flaky, and then why the failure is known, or what its worst finding saw. With
    ``whole``, they also say what was expected.
    """
    if (again := again_of(row)) is not None and again.flaky:
        yield Text(again.sentence, "yellow")
    known, finding = report.known_failures(row["id"]), worst(row)
    if known:
        yield Text(printable(f"known: {known[0]['reason']}", _LONGEST), "dim")
    elif finding is not None:
        story = report.story(row["id"], finding)
        if whole:
            yield Text(f"expected: {story.expected}")
            yield Text(f"seen: {story.seen}")
        else:
            yield Text(f"seen: {story.seen}", overflow="ellipsis")


def _broken_run(row: Row) -> BrokenRun:
    breakdown = Breakdown(FaultKind(row["kind"]), row["detail"], tuple(row["stderr"]), row["advice"])
    return BrokenRun(row["where"], row["step"], row["command"], breakdown, again_of(row))


def _show_notes(console: Console, report: Report) -> None:
    """Print the notes (deviations from a MAY), and the requirements that could not be judged."""
    notes, left_out = report.data["notes"], report.data["summary"]["left_out"]
    for note in notes:
        seen = f"expected {note['expected']}; seen: {note['seen']}" if note["expected"] else note["seen"]
        print_labelled(console, "Note", Text.assemble((f"{note['requirement']} ", "bold"), printable(seen, _LONGEST)))
    unjudged = False
    for kind in (Verdict.INCONCLUSIVE, Verdict.SKIPPED):
        for (_, reason), ids in report.group_unjudged(kind.value).items():
            unjudged = True
            shown_ids = ", ".join(ids[:6]) + (f" and {len(ids) - 6} more" if len(ids) > 6 else "")
            label = {Verdict.INCONCLUSIVE: "Inconcl."}.get(kind, kind.value.capitalize())
            print_labelled(console, label, Text.assemble((shown_ids, STYLES[kind]), f": {printable(reason, _LONGEST)}"))
    for environment, reason in left_out.items():
        text = f": {printable(reason, _LONGEST)}"
        print_labelled(console, "Left out", Text.assemble((f"environment {environment}", "cyan"), text))
    if notes or left_out or unjudged:
        console.print()
