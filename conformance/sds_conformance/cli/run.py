"""``sds-conformance run``."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from sds_harness.faults import TesteeFault
from sds_reference import ConfigurationError
from sds_reference.testee.dialect import load_dialect

from ..certification import EXIT_NOT_DRIVEN, EXIT_NOTHING_EXERCISED, PROFILES, Certification, Plan, certify, plan
from ..report import report, write_report
from ..runner import BrokenRun
from ..story import show_breakdown, show_certificate, show_conversation, show_findings, show_notes, show_summary
from .options import connector, consoles, driving, implementation, limits_of

EXIT_INTERRUPTED = 130

_EPILOG = """
\b
Examples:
  sds-conformance run
  sds-conformance run -- node my-adapter.mjs
  sds-conformance run --framing binary --report out -- ./my-adapter
  sds-conformance run --select 'SDS-MSG-*' --deselect SDS-MSG-14 -- ./my-adapter
  sds-conformance run --select SDS-RECV-06 -- ./my-adapter

Without COMMAND the bundled reference model is driven. With one ID selected,
the conversation is shown message by message.
"""


@click.command(epilog=_EPILOG)
@click.option("--select", multiple=True, metavar="GLOB", help="Judge only these requirement IDs; may be repeated.")
@click.option("--deselect", multiple=True, metavar="GLOB", help="Leave these requirement IDs out; may be repeated.")
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    default="core",
    show_default=True,
    help="Which part of SDS is judged.",
)
@click.option("--strict", is_flag=True, help="Deviations that a position tolerates as warnings fail.")
@click.option(
    "--report",
    "report_dir",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write report.json, report.jsonl and traces to DIR.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON instead of the story.")
@driving
def run(
    select: tuple[str, ...],
    deselect: tuple[str, ...],
    profile: str,
    strict: bool,
    report_dir: Path | None,
    as_json: bool,
    framing: str,
    dialect: str,
    start_timeout: float,
    timeout: float,
    memory: int,
    command: tuple[str, ...],
) -> None:
    """Drive an implementation and judge every requirement."""
    out, err = consoles()
    what = plan(select, deselect, profile)
    if not what.requirements:
        raise click.UsageError("no requirement matches: `sds-conformance requirements` lists the IDs")
    if dialect:
        try:
            load_dialect(dialect)
        except ConfigurationError as error:
            raise click.UsageError(str(error)) from None
    driven = implementation(command)
    if not command:
        err.print(f"No COMMAND given: driving the bundled reference, {shlex.join(driven)}")
    try:
        outcome = _certify(err, what, driven, framing, dialect, strict, timeout, start_timeout, memory)
    except TesteeFault as fault:
        show_breakdown(err, BrokenRun("handshake", 0, "", fault.breakdown))
        err.print(f"{shlex.join(driven)} could not be driven.", style="bold red")
        sys.exit(EXIT_NOT_DRIVEN)
    except ConfigurationError as error:
        err.print(f"The implementation declares a dialect that is not known here: {error}", style="bold red")
        sys.exit(EXIT_NOT_DRIVEN)
    data = report(outcome, driven, framing)
    if report_dir is not None:
        _write(report_dir, data, outcome, err)
    if as_json:
        click.echo(json.dumps(data, ensure_ascii=False, indent=2))
    else:
        _show(out, outcome, driven, what)
    sys.exit(EXIT_INTERRUPTED if outcome.interrupted else outcome.exit_code)


def _certify(
    err: Console,
    what: Plan,
    driven: list[str],
    framing: str,
    dialect: str,
    strict: bool,
    timeout: float,
    start_timeout: float,
    memory: int,
) -> Certification:
    limits = limits_of(timeout, start_timeout, memory)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=err,
        transient=True,
        disable=not err.is_terminal,
    )
    with bar:
        task = bar.add_task("starting", total=len(what.scenarios))

        def progress(name: str, number: int, total: int) -> None:
            bar.update(task, description=f"{name[:34]:<34}", completed=number, total=total)

        return certify(
            connector(driven, framing, limits), what, limits, dialect=dialect, strict=strict, progress=progress
        )


def _show(out: Console, outcome: Certification, driven: list[str], what: Plan) -> None:
    show_certificate(out, outcome.declaration, outcome.dialect, what.catalogue.revision)
    if len(what.requirements) == 1:
        show_conversation(out, what.requirements[0], outcome)
    show_findings(out, outcome, driven)
    show_notes(out, outcome)
    if outcome.gave_up:
        out.print("The rest was not played: the implementation broke down too often in a row.\n", style="yellow")
    show_summary(out, outcome)
    if outcome.exit_code == EXIT_NOTHING_EXERCISED:
        out.print("Look at the reasons above: capabilities are declared in the handshake.")


def _write(folder: Path, data: dict[str, object], outcome: Certification, err: Console) -> None:
    try:
        write_report(folder, data, outcome)
    except OSError as error:
        raise click.UsageError(f"cannot write the report to {folder}: {error.strerror}. Name another DIR.") from None
    err.print(f"Report: {folder / 'report.json'}")
