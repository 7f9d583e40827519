"""``sds-conformance vectors run``."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sds_harness import signals
from sds_harness.declaration import printable
from sds_harness.suggestions import did_you_mean

from ...exploration.text import severity_number
from ...judging.exits import Exit
from ...judging.formats import format_count
from ...judging.runner import PATIENCE
from ...judging.severity import BREAKDOWN_SEVERITY
from ...judging.verdict import Verdict
from ...presentation.last_screen import CauseLine, LastScreen, show_last_screen, sort_causes
from ...presentation.story import plain_table, print_labelled, show_doubts, show_name, show_under
from ...protocols import all_vectors, protocol_of
from ...reports.baseline import Match, read_result
from ...vectors.folder import VectorManifest, VectorsError, default_folder, load_manifest, load_of
from ...vectors.running.causes import WrongAnswers, causes_of
from ...vectors.running.examination import SCHEMA_ID, AnsweredVector, Examination, VectorExaminer, select_files
from ...vectors.running.subject import Status
from ..baseline_option import BASELINE, baseline_json, gate, known_line, load_baseline, match_baseline, show_gate
from ..implementation_options import DrivenImplementation, add_driving_options, driven_or_ended
from ..name_types import NameChoice
from ..options import STORY_OPTIONS, console, program
from ..output_filter import print_json
from ..paths import INPUT_FOLDER
from ..progress import progress_bar
from ..transcript_option import add_transcript_option, record_wrong

_EPILOG = """
\b
Examples:
  sds-conformance vectors run
  sds-conformance vectors run -- ./my-adapter
  sds-conformance vectors run --group 'bloom-*' -- ./my-adapter
  sds-conformance vectors run --revision forum-2024 -- ./my-adapter
  sds-conformance vectors run --json -- ./my-adapter > vectors.json

\b
Exit codes:
  0  all answers legal                 3    implementation not tested
  1  a wrong answer or a breakdown     4    no vector answered
  2  usage error                       130  interrupted
"""
_SHOWN = (Status.FAIL, Status.BROKEN, Status.ERROR, Status.WARN)
_HEADLINES = {Status.BROKEN: "BREAKDOWN at", Status.ERROR: "ERROR OF THE SUITE at"}
"""Headlines for vectors without an answer: the implementation broke down, or the suite failed."""
_STYLES = {Status.FAIL: "bold red", Status.BROKEN: "bold red", Status.ERROR: "bold red", Status.WARN: "yellow"}

VECTOR_SET = all_vectors()
LONGEST = 1000
"""Maximum number of characters of a sentence, which can quote file names chosen by others."""
_CURRENT = VECTOR_SET.revisions[0]
"""The default revision."""


@click.command("run", epilog=_EPILOG)
@click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="GLOB",
    help="Play only these groups; repeatable. `sds-conformance vectors list` shows the groups.",
)
@click.option(
    "--revision",
    type=NameChoice([_CURRENT, *sorted(set(VECTOR_SET.revisions) - {_CURRENT})]),
    default=_CURRENT,
    show_default=True,
    help="Revision of the vectors.",
)
@click.option(
    "--vectors",
    "folder",
    type=INPUT_FOLDER,
    metavar="DIR",
    help="Folder of vectors. Default: the vectors of this suite.",
)
@BASELINE
@click.option("--json", "as_json", is_flag=True, help="Print each vector and its answer as JSON.")
@STORY_OPTIONS
@add_driving_options
@add_transcript_option
def run_command(
    driven: DrivenImplementation,
    groups: tuple[str, ...],
    revision: str,
    folder: Path | None,
    baseline_file: Path | None,
    as_json: bool,
    quiet: bool,
    stories: int | None,
) -> None:
    """Play the vectors on an implementation and judge its answers.

    Vectors of pure functions use the codec operations of the testee protocol; all others use a participant. Vectors of
    capabilities that the implementation does not declare are skipped, and do not count as passed.
    """
    out, err = console(), console(stderr=True)
    baseline = load_baseline(baseline_file, revision)
    material = VECTOR_SET.material_of(revision)
    try:
        source = folder or default_folder()
        whole, manifest = load_of(VECTOR_SET, material, source), load_manifest(VECTOR_SET, source)
    except VectorsError as error:
        raise click.UsageError(printable(str(error), LONGEST)) from None
    unknown = [glob for glob in groups or ("*",) if not any(select_files(whole, revision, [glob]))]
    if unknown:
        raise click.UsageError(
            f"no group of {revision} matches {', '.join(unknown)}: `{program()} vectors list` shows the groups."
            f"{did_you_mean(unknown[0], [file['group'] for file in select_files(whole, revision)])}"
        )
    files = list(select_files(whole, revision, groups))
    protocol = protocol_of(revision)
    examiner = VectorExaminer(
        material, driven.connect, driven.limits, revision, driven.dialect, protocol.rules.extract_doubt_data
    )
    with driven_or_ended(err, driven), progress_bar(err) as bar:
        outcome = examiner.examine(files, bar)
    signals.hold_interrupts()
    for answered in outcome.answered:
        if answered.answer.status in _SHOWN:
            record_wrong(driven, answered)
    causes = causes_of(protocol.rules, outcome.answered)
    data = _report(outcome, causes, manifest)
    found = match_baseline(baseline, read_result(data)) if baseline is not None else None
    if as_json:
        print_json({**data, "baseline": baseline_json(found)} if found is not None else data)
    else:
        if found is not None and not quiet:
            show_gate(out, found, outcome.declaration.name)
        if not quiet:
            _show(out, outcome, causes, outcome.declaration.dialect(driven.dialect), driven.transport, stories)
        show_last_screen(out, _last_screen(outcome, causes, found, driven, groups, folder))
    sys.exit(gate(found, outcome.exit_code))


def _report(outcome: Examination, causes: Sequence[WrongAnswers], manifest: VectorManifest) -> dict[str, Any]:
    return {
        "schema": SCHEMA_ID,
        "implementation": {"name": outcome.declaration.name, "version": outcome.declaration.version},
        "revision": outcome.revision,
        "set": {"version": manifest.version, "manifest": manifest.digest},
        "exitCode": outcome.exit_code,
        "interrupted": outcome.interrupted,
        "counts": {status.value: outcome.count(status) for status in Status},
        "groups": {
            group: {
                **{status.value: outcome.count(status, group) for status in Status},
                "unasked": sum(group == other for other, _ in outcome.left_out),
            }
            for group in outcome.groups
        },
        "unasked": outcome.unasked_count,
        "notAsked": [test_id for _, test_id in outcome.left_out],
        "causes": [
            {
                "requirement": cause.requirement,
                "verdict": cause.verdict.value,
                "vectors": [answered.vector["id"] for answered in cause.answered],
                "under": [{"requirement": name, "why": why} for name, why in cause.under.items()],
            }
            for cause in causes
        ],
        "vectors": [_row(answered) for answered in outcome.answered],
    }


def _row(answered: AnsweredVector) -> dict[str, Any]:
    answer = answered.answer
    data = {
        "expected": answer.expected,
        "seen": answer.seen,
        "difference": answer.difference,
        "reason": answer.reason,
    }
    return {
        "id": answered.vector["id"],
        "group": answered.group,
        "result": answered.vector["result"],
        "comment": answered.vector["comment"],
        "status": answer.status.value,
        **{key: value for key, value in data.items() if value},
        **({"requirements": answered.violated} if answer.status in _SHOWN else {}),
    }


def _show(
    out: Console,
    outcome: Examination,
    causes: Sequence[WrongAnswers],
    dialect: str,
    carrier: str,
    stories: int | None,
) -> None:
    declared = outcome.declaration
    show_name(out, declared, carrier)
    print_labelled(out, "Against", f"{format_count(len(outcome.answered), 'vector')} of {outcome.revision}")
    if dialect:
        note = f"{printable(dialect)}: all bytes are translated; --dialect '' turns the translation off"
        print_labelled(out, "Dialect", note)
    out.print()
    show_doubts(out, protocol_of(outcome.revision).doubts(outcome.doubt_data))
    warned = [answered for answered in outcome.answered if answered.answer.status is Status.WARN]
    out.print(_table(outcome))
    out.print()
    wrong = [cause for cause in causes if cause.verdict is Verdict.FAIL]
    for cause in wrong[:stories]:
        _show_cause(out, cause)
    if stories and len(wrong) > stories:
        out.print(f"{format_count(len(wrong) - stories, 'more root cause')}: --stories prints more.\n", style="dim")
    for answered in outcome.answered:
        if answered.answer.status in _HEADLINES:
            _show_answer(out, answered)
    for answered in warned:
        _show_warning(out, answered, outcome.revision)
    if warned:
        out.print()
    _show_choices(out, [answered for answered in outcome.answered if answered.answer.status is Status.ACCEPTABLE])
    rows = [(f"{outcome.count(status)} {name}", meaning) for status, name, meaning in _MEANT if outcome.count(status)]
    skipped = sum((outcome.reasons(group) for group in outcome.groups), Counter[str]())
    rows += [(f"{count} skipped", reason) for reason, count in skipped.most_common()]
    if rows:
        grid = Table.grid(padding=(0, 2))
        grid.add_column(justify="right", no_wrap=True)
        grid.add_column(overflow="fold")
        for text, why in rows:
            grid.add_row(Text(text), Text(why))
        out.print(grid)
        out.print()


def _last_screen(
    outcome: Examination,
    causes: Sequence[WrongAnswers],
    found: Match | None,
    driven: DrivenImplementation,
    groups: tuple[str, ...],
    folder: Path | None,
) -> LastScreen:
    count = outcome.count
    answer_count = len(outcome.answered)
    answered = sum(count(status) for status in (Status.PASS, Status.ACCEPTABLE, Status.WARN, Status.FAIL))
    facts = [("Exercised", Text(f"{answered} of {format_count(answer_count, 'vector')} of {outcome.revision}"))]
    skipped = sum((outcome.reasons(group) for group in outcome.groups), Counter[str]())
    facts += [("", Text(f"{number} skipped: {reason}", "yellow")) for reason, number in skipped.most_common(3)]
    if found is not None and found.requirements:
        facts.append(("Baseline", known_line(found)))
    options = ["--revision", outcome.revision] if outcome.revision != _CURRENT else []
    options += ["--vectors", str(folder)] if folder is not None else []
    bad = [one for one in outcome.answered if one.answer.status in (Status.FAIL, Status.BROKEN)]
    command, why = (
        driven.format_command("run", *options[:2] if options[:1] == ["--revision"] else []),
        "plays the scenarios",
    )
    if bad:
        command = driven.format_command("vectors", "run", "--group", bad[0].group, *options)
        why = "repeats the first group with a wrong answer or a breakdown"
    elif groups:
        command, why = driven.format_command("vectors", "run", *options), "plays all groups"
    return LastScreen(_sentence(outcome, causes), _cause_lines(outcome, causes), facts, command, why)


def _cause_lines(outcome: Examination, causes: Sequence[WrongAnswers]) -> list[CauseLine]:
    """Return one line for each root cause, and one for each vector at which the implementation broke down."""
    lines = []
    broken = [WrongAnswers(a.group, [a]) for a in outcome.answered if a.answer.status is Status.BROKEN]
    for cause in (*causes, *broken):
        one = cause.answered[0]
        known = cause.requirement in protocol_of(outcome.revision).rules.catalogue.requirements
        severity = severity_number(cause.requirement) if known else BREAKDOWN_SEVERITY
        verdict = Verdict.FAIL if one.answer.status is Status.BROKEN else cause.verdict
        text = one.answer.difference or one.answer.seen or one.answer.reason or one.vector["comment"]
        lines.append(CauseLine(verdict, severity, printable(cause.requirement), f"{one.vector['id']}: {text}"))
    return sort_causes(lines)


def _show_warning(out: Console, answered: AnsweredVector, revision: str) -> None:
    """Print a warning in one line: the vector, violated requirements, and the position that softens them, if any."""
    answer = answered.answer
    why = answer.reason if answer.reason in VECTOR_SET.material_of(revision).positions else ""
    named = [*answered.violated[:2], *([why] if why else [])]
    line = Text.assemble(("WARN  ", _STYLES[Status.WARN]), f"{answered.vector['id']}  ", (", ".join(named), "dim"))
    out.print(line, soft_wrap=True)


def _show_cause(out: Console, cause: WrongAnswers) -> None:
    """Print a root cause: the first wrong answer, the names of the other vectors, and the requirements that the root
    cause explains.
    """
    first, *others = cause.answered
    head = Text.assemble(("FAIL  ", _STYLES[Status.FAIL]), (printable(cause.requirement), "bold"))
    out.print(head.append(f"  {format_count(len(cause.answered), 'vector')}", "dim"), soft_wrap=True)
    _show_answer(out, first, alike=True)
    _show_others(out, others)
    show_under(out, cause.under)
    out.print()


def _show_choices(out: Console, acceptable: Sequence[AnsweredVector]) -> None:
    """Print the acceptable answers: for each group and reason the first answer in full, and the names of the other
    vectors.
    """
    choices: dict[tuple[str, str], list[AnsweredVector]] = {}
    for answered in acceptable:
        choices.setdefault((answered.group, answered.answer.reason), []).append(answered)
    for (_, reason), (first, *others) in choices.items():
        head = Text.assemble("ACCEPTABLE  ", (printable(reason, LONGEST), "bold"))
        out.print(head.append(f"  {format_count(1 + len(others), 'vector')}", "dim"), soft_wrap=True)
        for title, text in (
            ("Vector", printable(first.vector["id"])),
            ("Comment", printable(first.vector["comment"], LONGEST)),
            ("Seen", first.answer.seen),
            ("Preferred", first.answer.expected),
        ):
            if text:
                print_labelled(out, title, text)
        _show_others(out, others)
        out.print()


def _show_others(out: Console, others: Sequence[AnsweredVector]) -> None:
    if others:
        names = ", ".join(printable(one.vector["id"]) for one in others[:MOST_NAMES])
        more = f" and {format_count(len(others) - MOST_NAMES, 'more vector')}" if len(others) > MOST_NAMES else ""
        print_labelled(out, "Also", f"{names}{more}")


MOST_NAMES = 6
"""Maximum number of other vectors with the same root cause or the same choice that are printed."""


def _show_answer(out: Console, answered: AnsweredVector, *, alike: bool = False) -> None:
    """Print the rows about one vector, such as what was expected and what was seen.

    With ``alike``, the vector is the first wrong answer of a root cause. Otherwise the vector has no answer, because of
    a breakdown or an error of the suite, and a headline is printed above the rows.
    """
    answer, vector = answered.answer, answered.vector
    if alike:
        print_labelled(out, "Vector", printable(vector["id"]))
    else:
        headline = f"{_HEADLINES[answer.status]} {printable(vector['id'])}"
        out.print(Text(headline, _STYLES[answer.status]), soft_wrap=True)
    rows = (
        ("Comment", printable(vector["comment"], LONGEST)),
        ("Differs", printable(answer.difference, LONGEST)),
        ("Expected", answer.expected),
        ("Seen", answer.seen),
        ("Why", "" if answer.reason == ", ".join(answer.requirements) else answer.reason),
        ("About", ", ".join(answered.violated)),
    )
    for title, text in rows:
        if text:
            print_labelled(out, title, text)
    if not alike:
        out.print()


_MEANT = (
    (Status.ACCEPTABLE, "acceptable", "legal, but not the recommended outcome; --json contains all answers"),
    (Status.WARN, "warned", "a violated SHOULD, or a violation that a position softens; --json contains the answers"),
)
"""Explanations of columns whose title is not clear by itself."""
_TABLE = (Status.PASS, Status.ACCEPTABLE, Status.WARN, Status.FAIL, Status.BROKEN, Status.SKIPPED, Status.ERROR)


def _table(outcome: Examination) -> Table:
    shown = [status for status in _TABLE if outcome.count(status) or status in (Status.PASS, Status.FAIL)]
    table = plain_table("Group", right=[status.value for status in shown])
    for group in outcome.groups:
        table.add_row(group, *(str(outcome.count(status, group) or "·") for status in shown))
    table.add_row("All", *(str(outcome.count(status)) for status in shown), style="bold")
    return table


def _sentence(outcome: Examination, causes: Sequence[WrongAnswers]) -> Text:
    """Return the verdict as text: one sentence, or a sentence each about wrong answers, breakdowns, vectors that were
    not played, and errors of the suite.
    """
    name = outcome.declaration.name
    wrong, broken, errors = map(outcome.count, (Status.FAIL, Status.BROKEN, Status.ERROR))
    vectors = format_count(len(outcome.answered), "vector was", "vectors were")
    unplayed = f"{format_count(outcome.unasked_count, 'vector was', 'vectors were')} not played"
    if outcome.interrupted:
        return Text(f"Interrupted: {unplayed}.", "bold yellow")
    if outcome.exit_code == Exit.CONFORMANT:
        skipped = outcome.count(Status.SKIPPED)
        text = f" {skipped} of {vectors} skipped; a skipped vector proves nothing." if skipped else ""
        return Text.assemble((f"Every answer of {name} is legal.", "bold green"), text)
    parts = []
    if wrong:
        roots = format_count(sum(cause.verdict is Verdict.FAIL for cause in causes), "root cause")
        parts.append(f"{name} gives the wrong answer to {format_count(wrong, 'vector')}: {roots}.")
    if broken:
        parts.append(f"{name} broke down at {format_count(broken, 'vector')} instead of answering.")
    if outcome.out_of_time:
        parts.append(f"The total time was used up: {unplayed}.")
    elif outcome.unasked_count:
        parts.append(f"{unplayed}: after {PATIENCE} breakdowns in a row, the rest of a group is skipped.")
    if errors:
        parts.append(f"The suite itself failed at {format_count(errors, 'vector')}: please report it.")
    if not parts:
        return Text(f"{name} has no verdict: {vectors} skipped.", "bold yellow")
    return Text(" ".join(parts), "bold red")
