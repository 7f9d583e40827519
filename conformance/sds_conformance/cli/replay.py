"""``sds-conformance replay``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from sds_harness.faults import TesteeFault
from sds_harness.schedules import Performance, Schedule, ScheduleFileError

from ..drawing.proof import story
from ..exploration.campaign import Order
from ..exploration.casting import Casting, Company
from ..exploration.casts import NotPlayed
from ..exploration.counterexample import Counterexample, load, save
from ..exploration.judging import Assessment, assess
from ..exploration.telling import plain_story, proof_of, show_head, svg_of
from ..judging.certification import EXIT_CONFORMANT, EXIT_NON_CONFORMANT, EXIT_NOT_DRIVEN, EXIT_NOTHING_EXERCISED
from ..judging.runner import BrokenRun
from ..judging.verdict import RANK, Finding, Verdict
from ..protocols import repertoire_of
from ..telling.story import labelled, listing, show_breakdown
from .options import CURRENT, Driven, console, driving

_SCHEDULED = repertoire_of(CURRENT).revisions
_EPILOG = """
\b
Examples:
  sds-conformance replay counterexamples/SDS-RECV-06.json -- node adapter.mjs
  sds-conformance replay counterexamples/SDS-RECV-06.json
  sds-conformance replay --save pictures my-schedule.json -- ./my-adapter

Without COMMAND the bundled reference model plays it: does that do better?
"""


@click.command(epilog=_EPILOG)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--cast",
    "casting",
    type=click.Choice([casting.value for casting in Casting]),
    help="Who plays the participants; as noted in FILE, else together.",
)
@click.option(
    "--revision",
    type=click.Choice(_SCHEDULED),
    help="Which revision of the text is judged; as noted in FILE, else the current one.",
)
@click.option("--strict", is_flag=True, help="Deviations that a position tolerates as warnings fail.")
@click.option(
    "--save",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write schedule, trace, picture and story to DIR.",
)
@click.option("--json", "json_wanted", is_flag=True, help="Print the outcome as JSON instead of the story.")
@driving
def replay(
    driven: Driven,
    file: Path,
    casting: str | None,
    revision: str | None,
    strict: bool,
    folder: Path | None,
    json_wanted: bool,
) -> None:
    """Play the schedule in FILE again, on the implementation that it was found with or on any other."""
    out, err = console(), console(stderr=True)
    try:
        schedule = load(file)
    except ScheduleFileError as error:
        raise click.UsageError(f"{file} is no schedule that can be played: {error}") from None
    notes = dict(schedule.notes)
    cast = casting or notes.get("cast", "")
    known = notes.get("revision", CURRENT)
    order = Order(
        driven.connect,
        driven.limits,
        driven.dialect,
        revision or (known if known in _SCHEDULED else CURRENT),
        casting=Casting(cast) if cast in {c.value for c in Casting} else Casting.TOGETHER,
        strict=strict,
    )
    company = order.company()
    try:
        company.start()
        performance = company.play(schedule)
        again = company.play if performance.breakdown is None else None
        assessment = assess(performance, order.scope, company.judged(schedule), again)
    except TesteeFault as fault:
        show_breakdown(err, BrokenRun("handshake", 0, "", fault.breakdown))
        err.print(f"{driven.shown} could not be driven.", style="bold red", soft_wrap=True)
        sys.exit(EXIT_NOT_DRIVEN)
    except NotPlayed as reason:
        err.print(f"Not played: {reason}.", style="bold red", soft_wrap=True)
        sys.exit(EXIT_NOT_DRIVEN)
    finally:
        company.kill()
    noted = notes.get("shows", "")
    findings = sorted(assessment.findings, key=lambda f: (f.requirement != noted, -RANK[f.severity], f.requirement))
    worst = {finding.requirement: finding for finding in reversed(findings)}
    examples = [
        _example(finding, schedule, performance) for finding in findings if worst[finding.requirement] is finding
    ]
    if folder is not None and examples:
        try:
            for example in examples:
                save(example, folder, svg_of(example), plain_story(example))
        except OSError as error:
            raise click.UsageError(f"cannot write to {folder}: {error.strerror}. Name another DIR.") from None
    if json_wanted:
        click.echo(
            json.dumps(_json(schedule, performance, examples, assessment, company), ensure_ascii=False, indent=2)
        )
    else:
        _show(out, schedule, performance, examples, assessment, company, noted)
    bad = assessment.errors or any(finding.severity is Verdict.FAIL for finding in findings)
    if not assessment.exercised and not bad:
        sys.exit(EXIT_NOTHING_EXERCISED)
    sys.exit(EXIT_NON_CONFORMANT if bad else EXIT_CONFORMANT)


def _example(finding: Finding, schedule: Schedule, performance: Performance) -> Counterexample:
    return Counterexample(finding.requirement, finding, schedule, performance, schedule, 0)


def _show(
    out: Console,
    schedule: Schedule,
    performance: Performance,
    examples: list[Counterexample],
    assessment: Assessment,
    company: Company,
    noted: str,
) -> None:
    declared = company.declaration
    labelled(
        out, "Playing", Text(f"{schedule.name or 'a schedule'} on {declared.name} {declared.version}".strip(), "bold")
    )
    blamed = examples[0].act if examples else None
    listing(out, "Story", story(performance, blamed))
    for index, reason in performance.left_out.items():
        what = schedule.operations[index].op if index >= 0 else "opening"
        labelled(out, "Left out", Text(f"{what}: {reason}", "yellow"))
    out.print()
    for example in examples:
        show_head(out, example.finding)
        listing(out, "Proof", proof_of(example))
        out.print()
    for where, what in assessment.errors.items():
        out.print(f"Our fault: {where}: {what}", style="bold white on red", soft_wrap=True)
    if noted and noted not in {example.what for example in examples}:
        exercised = assessment.exercised[noted]
        why = (
            ""
            if exercised
            else ": the situation did not arise"
            if performance.breakdown is None
            else ": it broke first"
        )
        out.print(Text(f"{noted} is not violated here{why}.", "green"))
    elif noted:
        out.print(Text(f"{noted} is violated here, too.", "bold red"))
    if not examples:
        out.print(
            Text(
                f"Nothing was found: {len(assessment.exercised)} requirements and properties were judged.", "bold green"
            )
        )


def _json(
    schedule: Schedule,
    performance: Performance,
    examples: list[Counterexample],
    assessment: Assessment,
    company: Company,
) -> dict[str, Any]:
    declared = company.declaration
    return {
        "schedule": schedule.name,
        "implementation": {"name": declared.name, "version": declared.version},
        "steps": performance.steps,
        "left_out": {str(index): reason for index, reason in performance.left_out.items()},
        "findings": [
            {
                "id": example.what,
                "severity": example.finding.severity.value,
                "check": example.finding.check,
                "participant": example.finding.participant,
                "expected": example.finding.expected,
                "seen": example.finding.seen,
                "proof": proof_of(example),
            }
            for example in examples
        ],
        "exercised": sorted(assessment.exercised),
        "errors": assessment.errors,
    }
