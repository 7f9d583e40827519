"""A report on a terminal: what was tested, a table, the story of each root cause, and the last screen.

`run` prints the report that it just made, `report DIR` one that it reads. Both print the same.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from sds_harness.declaration import printable
from sds_harness.faults import Breakdown, FaultKind

from ..judging.again import Again
from ..judging.exits import Exit
from ..judging.quoting import counted
from ..judging.runner import ALL_RUNS, BrokenRun
from ..judging.severity import BREAKDOWN_SEVERITY
from ..judging.verdict import Verdict
from ..protocols import protocol_of
from ..telling.last_screen import STYLES, CauseLine, LastScreen, ordered, show_last_screen
from ..telling.story import (
    headline,
    labelled,
    plain_table,
    show_breakdown,
    show_command,
    show_doubts,
    show_errors,
    show_finding,
    show_flaky,
    show_implementation,
)
from .findings import finding_of, run_of
from .plain import alike, code_of, worst
from .reading import Report
from .standing import Tone, asked, causes, complaints, forgone, hard_breakdowns, is_known, known_failures, standing

_TONES = {Tone.GOOD: "bold green", Tone.PARTIAL: "bold yellow", Tone.BAD: "bold red", Tone.NONE: "bold yellow"}
_COLUMNS = (Verdict.PASS, Verdict.FAIL, Verdict.WARN, Verdict.INCONCLUSIVE, Verdict.SKIPPED, Verdict.ERROR)
_SHORT = {Verdict.INCONCLUSIVE: "inconcl."}
_LONGEST = 600
MOST_REASONS = 3
"""Reasons on the last screen why requirements were not exercised."""


def show_tested(console: Console, report: Report) -> None:
    """Print what was tested, against what, and how requests were carried."""
    data = report.data
    show_implementation(
        console,
        report.declaration,
        data["profiles"].get("dialect", ""),
        data["revision"],
        data["profile"],
        data["framing"],
        data["implementation"]["clock"],
        f"{counted(data['summary']['scenarios'], 'scenario')}, in {counted(data['summary']['runs'], 'run')}",
    )


def show_report(console: Console, report: Report, program: str, stories: int | None = None) -> None:
    """Print the table, the stories of so many root causes (all by default), notes, and the last screen.

    ``program`` is the suite as it is typed.
    """
    data = report.data
    show_doubts(console, data["doubts"])
    _show_table(console, report)
    _show_stories(console, report, stories)
    _show_notes(console, report)
    for sentence in data["unplayed"]:
        console.print(Text(f"{printable(sentence, _LONGEST)}\n", "yellow"))
    show_last_screen(console, last_screen(report, program))


def last_screen(report: Report, program: str) -> LastScreen:
    """The last screen of a report."""
    whole = standing(report)
    lines = _cause_lines(report)
    command, why = _next(report, program)
    verdict = Text(f"{report.name} {printable(whole.sentence, _LONGEST)}", _TONES[whole.tone])
    return LastScreen(verdict, lines, [*_facts(report)], command, why)


def _cause_lines(report: Report) -> list[CauseLine]:
    soft = [broken for broken in report.data["breakdowns"] if broken not in hard_breakdowns(report)]
    lines = [
        CauseLine(
            Verdict.WARN if broken in soft else Verdict.FAIL,
            BREAKDOWN_SEVERITY,
            broken["kind"],
            f"in {broken['where']}: {broken['detail']}",
        )
        for broken, _ in alike(report.data["breakdowns"])
    ]
    lines += [
        CauseLine(Verdict(cause["verdict"]), cause["severity"], row["id"], _rule_or_known(report, cause, row))
        for cause, row in causes(report)
    ]
    return ordered(lines)


def _rule_or_known(report: Report, cause: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    return f"known: {row['statement']}" if is_known(report, dict(cause)) else str(row["statement"])


def _facts(report: Report) -> list[tuple[str, Text]]:
    data, summary = report.data, report.data["summary"]
    out = []
    if wrong := complaints(report):
        out.append(("Baseline", Text(f"{counted(len(wrong), 'entry', 'entries')} to change, see above", "bold red")))
    elif data["baseline"] is not None:
        failing = list(report.requirements("fail"))
        known = sum(bool(known_failures(report, row["id"])) for row in failing)
        how_many = "All failures are" if known == len(failing) else f"{known} of {counted(len(failing), 'failure')}"
        out.append(("Baseline", Text(f"{how_many} known: {printable(data['baseline']['file'], 200)}", no_wrap=True)))
    rows = list(asked(report))
    judged = sum(row["exercised"] > 0 for row in rows)
    part = forgone(report)
    without = f", without {protocol_of(data['revision']).words.parts.get(part, part)}" if part else ""
    out.append(("Exercised", Text(f"{judged} of {counted(len(rows), 'requirement')}{without}")))
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in report.requirements("inconclusive", "skipped", "error"):
        reasons.setdefault((row["verdict"], row["reason"]), []).append(row["id"])
    most = MOST_REASONS if standing(report).tone is not Tone.BAD else 0  # the room is for the root causes
    for (verdict, reason), ids in sorted(reasons.items(), key=lambda one: -len(one[1]))[:most]:
        more = f" and {len(ids) - 1} more" if len(ids) > 1 else ""
        said = Text(f"not {ids[0]}{more}: {verdict}, {printable(reason, 200)}", "yellow")
        said.truncate(66, overflow="ellipsis")
        out.append(("", said))
    if len(reasons) > most > 0:
        out.append(("", Text(f"and for {counted(len(reasons) - MOST_REASONS, 'other reason')}, see above", "yellow")))
    numbers = (f"{counted(summary[f'{what}s'], what)}" for what in ("scenario", "run", "step"))
    took = f" in {report.seconds:.1f} s" if report.seconds else ""
    out.append(("Played", Text(f"{', '.join(numbers)}{took}")))
    if report.written is not None:
        out.append(("Report", Text(printable(str(report.written), _LONGEST), no_wrap=True)))
    return out


def _next(report: Report, program: str) -> tuple[str, str]:
    """The command to type next, and what it does."""
    data = report.data
    written = str(report.written.parent) if report.written is not None else ""

    def drive(*words: str) -> str:
        options = [option for option in data["options"] if option != "--strict" or words[0] != "smoke"]
        if "--dialect" in words and "--dialect" in options:
            del options[(at := options.index("--dialect")) : at + 2]
        command = data["implementation"]["command"]
        return shlex.join([program, *words, *options, *(["--", *command] if command else [])])

    if complaints(report):
        update = [program, "baseline", "update", data["baseline"]["file"], written or "REPORT"]
        return shlex.join(update), "corrects the baseline"
    if dialect := _dialect_in(report):
        return drive("run", "--dialect", dialect), "translates its layout of messages, and judges all"
    if broken := [one for one, _ in alike(hard_breakdowns(report)) if one["where"] != ALL_RUNS]:
        if again := broken[0]["again"]:
            return again, "plays the run again in which that happened"
        return drive("smoke"), "tries the adapter"
    found = [cause for cause, _ in causes(report)]
    if new := [cause for cause in found if cause["verdict"] == "fail" and not is_known(report, cause)]:
        return new[0]["again"], "shows the first root cause, message by message"
    if data["summary"]["exit_code"] in (Exit.NOTHING_EXERCISED, Exit.NOT_DRIVEN) or hard_breakdowns(report):
        return drive("smoke", "--validate"), "tries the adapter, and checks the form of its messages"
    if data["narrowed"] or not data["summary"]["complete"]:
        return drive("run"), "judges every requirement"
    if written and not any(cause["verdict"] == "fail" for cause in found):
        return shlex.join([program, "certificate", "write", written]), "writes a certificate"
    return drive("fuzz"), "plays generated schedules"


def _dialect_in(report: Report) -> str:
    """The dialect that the doubts name, "" if none."""
    if report.data["profiles"].get("dialect"):
        return ""
    known, question = protocol_of(report.data["revision"]).rules.dialects, " ".join(report.data["doubts"])
    return next((name for name in known if f"--dialect {name}" in question), "")


def _show_table(console: Console, report: Report) -> None:
    """The requirements by section of the text."""
    table = plain_table("Section", right=[_SHORT.get(verdict, verdict.value) for verdict in _COLUMNS])
    rows = list(report.requirements())
    for section, title in report.data["sections"].items():
        those = [row for row in rows if row["section"] == section]
        if those:
            table.add_row(printable(title, 80), *_cells(those))
    table.add_section()
    table.add_row("All", *_cells(rows), style="bold")
    console.print(table)
    console.print()


def _cells(rows: Sequence[Mapping[str, Any]]) -> list[Text]:
    counts = [(verdict, sum(row["verdict"] == verdict.value for row in rows)) for verdict in _COLUMNS]
    return [Text(str(count) if count else "·", STYLES[verdict] if count else "dim") for verdict, count in counts]


def _show_stories(console: Console, report: Report, stories: int | None) -> None:
    """One story for each root cause, the most severe first, then the breakdowns."""
    found = causes(report)
    if found and stories != 0:
        casting = protocol_of(report.data["revision"]).words.casting
        labelled(console, "Stories", Text(f"T is the start of virtual time. {casting}".rstrip(), "dim"))
        console.print()
    for row in report.requirements(Verdict.ERROR.value):
        console.print(headline(Verdict.ERROR, row["id"], f"{row['level']}, section {row['anchor']!r}"))
        labelled(console, "Rule", Text(printable(row["statement"], _LONGEST)))
        labelled(console, "Our fault", Text(printable(row["reason"], _LONGEST)))
        console.print()
    rows = {row["id"]: row for row in report.requirements()}
    shown = found if stories is None else found[:stories]
    for cause, row in shown:
        _show_cause(console, report, cause, row, rows)
    if len(shown) < len(found):
        rest = counted(len(found) - len(shown), "more root cause")
        console.print(Text(f"{rest}: --stories prints more.\n", "dim"))
    for first, others in alike(report.data["breakdowns"]):
        warned = first not in hard_breakdowns(report)
        trace = report.trace(first["where"])
        show_breakdown(console, _broken_run(first), others, trace, first["again"], warned=warned)
    errors = {way["position"]: way["error"] for way in report.data["ways"] if way["error"]}
    show_errors(console, errors)


def _show_cause(
    console: Console,
    report: Report,
    cause: dict[str, Any],
    row: dict[str, Any],
    rows: Mapping[str, dict[str, Any]],
) -> None:
    """The rule, the story of one finding, what fails because of it, and the command to see it again."""
    verdict = Verdict(cause["verdict"])
    where = f"{counted(cause['violations'], 'violation')} in {counted(len(cause['scenarios']), 'scenario')}"
    about = printable(f"{row['level']}, section {row['anchor']!r}", _LONGEST)
    console.print(headline(verdict, printable(code_of(row), 150), Text(about)))
    labelled(console, "Severity", Text(f"{cause['severity']}, {where}"))
    labelled(console, "Rule", Text(printable(row["statement"], _LONGEST)))
    show_flaky(console, _again(row))
    known = known_failures(report, row["id"])
    for entry in known:
        reason = " ".join(filter(None, (entry["reason"], entry["link"] and f"({entry['link']})")))
        labelled(console, "Known", Text(printable(reason, _LONGEST), "dim"))
    if not known:
        _show_worst(console, report, row)
    for under in cause["under"]:
        _show_under(console, report, under, rows.get(under["requirement"]))
    show_command(console, "Again", cause["again"])
    console.print()


def _show_worst(console: Console, report: Report, row: dict[str, Any]) -> None:
    finding = worst(row)
    if finding is None:
        return
    found = finding_of(row["id"], finding)
    show_finding(console, found, report.data["revision"], report.trace(found.run))
    others = [other for other in row["findings"] if other is not finding]
    if more := len(others) + row["findings_not_shown"]:
        where = sorted({run_of(other) for other in others} - {found.run})
        also = f", also in {', '.join(where)}" if where else ""
        like = " like it" if len(row["kinds"]) == 1 else ""
        labelled(console, "", Text(printable(f"and {more} more{like}{also}", _LONGEST), "dim"))
    for kind in row["kinds"]:
        if kind["code"] != finding["code"]:
            times = counted(sum(kind["scenarios"].values()), "violation")
            labelled(console, "Also", Text.assemble((printable(kind["code"], 150), "bold"), f": {times}"))


def _show_under(console: Console, report: Report, under: Mapping[str, str], row: dict[str, Any] | None) -> None:
    """A requirement that fails because of a root cause."""
    labelled(
        console, "With it", Text.assemble((under["requirement"], "bold"), f": {printable(under['why'], _LONGEST)}")
    )
    if row is None:
        return
    show_flaky(console, _again(row))
    known = known_failures(report, row["id"])
    finding = worst(row)
    if known:
        labelled(console, "", Text(printable(f"known: {known[0]['reason']}", _LONGEST), "dim"))
    elif finding is not None:
        found = finding_of(row["id"], finding)
        labelled(console, "", Text(f"expected: {found.expected or '-'}"))
        labelled(console, "", Text(f"seen: {found.seen}"))


def _again(row: Mapping[str, Any]) -> Again | None:
    return Again(**row["repeated"]) if "repeated" in row else None


def _broken_run(row: Mapping[str, Any]) -> BrokenRun:
    breakdown = Breakdown(FaultKind(row["kind"]), row["detail"], tuple(row["stderr"]), row["advice"])
    return BrokenRun(row["where"], row["step"], row["command"], breakdown, _again(row))


def _show_notes(console: Console, report: Report) -> None:
    """What is noted and not judged, and what could not be judged."""
    notes, left_out = report.data["notes"], report.data["summary"]["left_out"]
    for note in notes:
        seen = f"expected {note['expected']}; seen: {note['seen']}" if note["expected"] else note["seen"]
        labelled(console, "Note", Text.assemble((f"{note['requirement']} ", "bold"), printable(seen, _LONGEST)))
    unjudged = False
    for kind in (Verdict.INCONCLUSIVE, Verdict.SKIPPED):
        reasons: dict[str, list[str]] = {}
        for row in report.requirements(kind.value):
            reasons.setdefault(row["reason"], []).append(row["id"])
        for reason, ids in reasons.items():
            unjudged = True
            shown = ", ".join(ids[:6]) + (f" and {len(ids) - 6} more" if len(ids) > 6 else "")
            label = {Verdict.INCONCLUSIVE: "Inconcl."}.get(kind, kind.value.capitalize())
            labelled(console, label, Text.assemble((shown, STYLES[kind]), f": {printable(reason, _LONGEST)}"))
    for environment, reason in left_out.items():
        told = f": {printable(reason, _LONGEST)}"
        labelled(console, "Left out", Text.assemble((f"environment {environment}", "cyan"), told))
    if notes or left_out or unjudged:
        console.print()
