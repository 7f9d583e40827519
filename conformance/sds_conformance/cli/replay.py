"""``sds-conformance replay``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.text import Text

from sds_harness.schedules import GroupTrace

from ..drawing.proof import story
from ..exploration.assessment import Assessment, assess
from ..exploration.campaign import CampaignOrder
from ..exploration.cast_under_test import CastKind
from ..exploration.casts import NotPlayedError
from ..exploration.counterexample import Counterexample, save
from ..exploration.text import plain_story, proof_of, show_head, story_of, svg_of
from ..judging.exits import Exit
from ..judging.formats import format_count
from ..judging.verdict import RANK, Verdict
from ..presentation.story import lines_labelled, print_labelled, print_stderr, show_errors
from ..protocols import withdrawn
from ..reports.report import unmet
from ..reports.scenario_files import show_scenario_files
from ..scenario_files.expectations import check
from ..scenario_files.reader import ScenarioFileError, load_one
from .files import usage_errors, write_errors
from .implementation_options import DrivenImplementation, add_driving_options, driven_or_ended, refuse_apart
from .name_types import NameChoice
from .options import STRICT, console, optional_revision
from .output_filter import print_json
from .paths import INPUT_FILE, OUTPUT_FOLDER
from .progress import progress_bar
from .schedule_options import revision_of
from .transcript_option import add_transcript_option, record

_EPILOG = """
\b
Examples:
  sds-conformance replay counterexamples/SDS-RECV-06.json -- node adapter.mjs
  sds-conformance replay counterexamples/SDS-RECV-06.json
  sds-conformance replay --out pictures my-schedule.json -- ./my-adapter
"""


@click.command("replay", epilog=_EPILOG)
@click.argument("file", type=INPUT_FILE)
@click.option(
    "--cast",
    "casting",
    type=NameChoice([casting.value for casting in CastKind]),
    help="How processes play the participants, see `fuzz --help`. Default: the cast in FILE, else together.",
)
@optional_revision("Revision to judge. Default: the revision in FILE, else the current revision.")
@STRICT
@click.option(
    "--out",
    "folder",
    type=OUTPUT_FOLDER,
    metavar="DIR",
    help="Write the schedule, its trace, a diagram and a story for each finding to DIR.",
)
@click.option("--json", "json_wanted", is_flag=True, help="Print the result as JSON.")
@add_driving_options
@add_transcript_option
def replay_command(
    driven: DrivenImplementation,
    file: Path,
    casting: str | None,
    revision: str | None,
    strict: bool,
    folder: Path | None,
    json_wanted: bool,
) -> None:
    """Play a schedule again, for example a counterexample.

    FILE is a schedule that `fuzz`, `exhaust`, `interop` or `corpus` wrote, or a scenario file. The expectations of a
    scenario file are checked, too. Without COMMAND the bundled reference model plays the schedule, which shows whether
    the schedule or the implementation is at fault.
    """
    out, err = console(), console(stderr=True)
    with usage_errors(ScenarioFileError):
        loaded = load_one(file)
    schedule = loaded.schedule
    notes = dict(schedule.notes)
    cast = casting or notes.get("cast", "")
    refuse_apart(driven.endpoint, cast)
    order = CampaignOrder(
        driven.connect,
        driven.limits,
        driven.dialect,
        revision_of(notes.get("revision", ""), revision, str(file)),
        casting=CastKind(cast) if cast in {c.value for c in CastKind} else CastKind.TOGETHER,
        strict=strict,
    )
    cast_under_test = order.cast_under_test()
    try:
        with driven_or_ended(err, driven), progress_bar(err) as bar:
            declared = cast_under_test.start()
            bar("playing", 0, 2)
            group_trace = cast_under_test.play(schedule)
            bar("judging", 1, 2)
            again = cast_under_test.play if group_trace.breakdown is None else None
            assessment = assess(group_trace, order.scope, cast_under_test.participants_under_test(schedule), again)
            result = check(group_trace, order.scope.repertoire.reading)
    except NotPlayedError as reason:
        sys.exit(print_not_played(err, reason))
    finally:
        cast_under_test.kill()
    record(driven, assessment.findings)
    noted = notes.get("shows", "")
    findings = sorted(assessment.findings, key=lambda f: (f.requirement != noted, -RANK[f.severity], f.requirement))
    first = {finding.requirement: finding for finding in reversed(findings)}
    examples = [Counterexample.from_unshrunk(f, group_trace) for f in findings if first[f.requirement] is f]
    row = loaded.row({schedule.name: result})
    if folder is not None:
        with write_errors(f"cannot write to {folder}", "Name another DIR."):
            for example in examples:
                save(example, folder, svg_of(example), plain_story(example))
    if json_wanted:
        data = {"schedule": schedule.name, "implementation": {"name": declared.name, "version": declared.version}}
        data |= group_trace_json(group_trace, map(unshrunk_json, examples))
        data |= {"exercised": sorted(assessment.exercised), "errors": assessment.errors}
        print_json(data | {"expectations": row["expectations"]})
    else:
        name = f"{schedule.name or 'a schedule'} on {declared.name} {declared.version}".strip()
        print_labelled(out, "Playing", Text(name, "bold"))
        _show(out, group_trace, examples, assessment, noted, row)
    if result.unmet or any(finding.severity is Verdict.FAIL for finding in findings):
        sys.exit(Exit.NON_CONFORMANT)
    if assessment.errors:
        sys.exit(Exit.OURS)
    sys.exit(Exit.CONFORMANT if assessment.exercised else Exit.NOTHING_EXERCISED)


def _show(
    out: Console,
    group_trace: GroupTrace,
    examples: list[Counterexample],
    assessment: Assessment,
    noted: str,
    row: dict[str, Any],
) -> None:
    """Print the schedule, the findings, the unmet expectations of ``row``, and whether the finding ``noted`` in the
    file was reproduced.
    """
    show_replayed(out, group_trace, examples, lambda example: show_head(out, example.finding), row, assessment.errors)
    if gone := withdrawn(noted):
        out.print(Text(f"{gone}."))
    elif noted and noted not in {example.what for example in examples}:
        why = ""
        if not assessment.exercised[noted]:
            broke = group_trace.breakdown is not None
            why = ": the implementation broke down first" if broke else ": nothing exercised it"
        out.print(Text(f"{noted} is not violated in this run{why}.", "green"))
    elif noted:
        out.print(Text(f"{noted} is violated in this run as well.", "bold red"))
    if not (examples or any(unmet([row]))):
        judged = format_count(len(assessment.exercised), "requirement or property", "requirements and properties")
        met = sum(expectation["verdict"] == "met" for expectation in row["expectations"])
        of_file = f", and {format_count(met, 'expectation')} met" if met else ""
        out.print(Text(f"Nothing was found: judged {judged}{of_file}.", "bold green"))


E = TypeVar("E", bound=Counterexample)


def show_replayed(
    out: Console,
    group_trace: GroupTrace,
    examples: Sequence[E],
    show_violation: Callable[[E], None],
    row: dict[str, Any],
    *errors: Mapping[str, str],
) -> None:
    """Print the story of one schedule, the operations left out, the findings with their proofs, the unmet expectations
    of ``row``, and the errors of the suite. ``show_violation`` prints the head of a finding.
    """
    lines_labelled(out, "Story", story_of(examples[0]) if examples else story(group_trace))
    for index, reason in group_trace.left_out.items():
        what = group_trace.schedule.operations[index].op if index >= 0 else "opening"
        print_labelled(out, "Left out", Text(f"{what}: {reason}", "yellow"))
    out.print()
    for example in examples:
        show_violation(example)
        lines_labelled(out, "Proof", proof_of(example))
        print_stderr(out, example.finding.stderr_lines)
        out.print()
    show_scenario_files(out, [row])
    for some in errors:
        show_errors(out, some)


def print_not_played(err: Console, reason: Exception) -> int:
    """Print why a schedule was not played, and return the exit code."""
    err.print(f"Not played: {reason}.", style="bold red", soft_wrap=True)
    return Exit.NOT_DRIVEN


def group_trace_json(group_trace: GroupTrace, findings: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return a group trace and its findings, as JSON."""
    return {
        "steps": group_trace.steps,
        "left_out": {str(index): reason for index, reason in group_trace.left_out.items()},
        "findings": list(findings),
    }


def unshrunk_json(example: Counterexample) -> dict[str, Any]:
    """Return the finding of a schedule that was played once, with its proof, as JSON."""
    finding = example.finding
    return {
        "id": example.what,
        "severity": finding.severity.value,
        "code": finding.full_code,
        "participant": finding.participant,
        "expected": example.expected,
        "seen": example.seen,
        "proof": proof_of(example),
    }
