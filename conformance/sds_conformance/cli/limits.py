"""``sds-conformance limits``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from sds_harness import signals
from sds_harness.declaration import Declaration, printable
from sds_harness.files import check_whole, try_to_write, write_whole
from sds_harness.json_text import dumps

from ..exploration.limits.measurement import MeasurementOrder, as_json, measure, perform_handshake
from ..exploration.limits.row import LimitRow
from ..exploration.limits.text import cause_lines, last_line, show_limits, worst_of
from ..judging.exits import Exit
from ..judging.formats import format_count
from ..presentation.last_screen import LastScreen, show_last_screen
from ..presentation.story import print_labelled, show_implementation
from ..protocols import Protocol, protocol_of, protocols
from ..protocols.dimensions import Dimension
from ..reports.files import read_report
from ..reports.limits import NAME
from ..reports.report import Report
from ..scenario_files.reader import LoadedScenario, ScenarioFileError
from ..scenario_files.size import dimension_of
from .files import usage_errors, write_errors
from .implementation_options import DrivenImplementation, add_driving_options, driven_or_ended
from .name_types import Name, names_of, unknown_name_message
from .options import CURRENT, STORY_OPTIONS, console, judging, program
from .output_filter import print_json
from .paths import OUTPUT_FOLDER
from .progress import progress_bar, span
from .schedule_options import Duration, with_scenario_files
from .transcript_option import add_transcript_option, record

_EPILOG = """
\b
Examples:
  sds-conformance limits -- node my-adapter.mjs
  sds-conformance limits --budget 20m -- ./my-adapter
  sds-conformance limits --only log --only waiting -- ./my-adapter
  sds-conformance limits --only waiting --at 1001 -- ./my-adapter
  sds-conformance limits --report out -- ./my-adapter
  sds-conformance limits --scenario-file my-scenario.yaml -- ./my-adapter

The sizes are 3, 4, 8, 16 and so on until a size fails; a search then finds the
smallest size that fails. The exit code is 1 if a limit is smaller than the
limit that the implementation declares, or than the size that `run` demands.

A scenario file names the number to raise: `parameter: operations[0].times`.
The number in the file is the demanded limit.

--report adds the limits to a report of `run --report DIR`, so that `report`,
`certificate write` and `compare` show them.
"""


@click.command("limits", epilog=_EPILOG)
@click.option(
    "--budget",
    type=Duration(),
    default="2m",
    show_default=True,
    metavar="TIME",
    help="Time for all dimensions together: 90s, 10m, 2h.",
)
@click.option(
    "--only",
    multiple=True,
    type=Name("dimensions"),
    metavar="DIMENSION",
    help="Measure only this dimension; repeatable. `sds-conformance list dimensions` shows the names.",
)
@with_scenario_files(
    "Raise the parameter of this scenario file, or of each file in this folder; repeatable. "
    "Dimensions of the suite are measured only if --only names them."
)
@click.option(
    "--at", type=click.IntRange(1), metavar="N", help="Play only a small size (3 or 1) and this size of each dimension."
)
@click.option(
    "--report",
    "report_dir",
    type=OUTPUT_FOLDER,
    metavar="DIR",
    help=f"Add the limits, as {NAME}, to the report in DIR.",
)
@judging
@click.option("--json", "as_json_wanted", is_flag=True, help="Print the result as JSON.")
@STORY_OPTIONS
@add_driving_options
@add_transcript_option
def limits_command(
    driven: DrivenImplementation,
    budget: float,
    only: tuple[str, ...],
    files: tuple[LoadedScenario, ...],
    at: int | None,
    report_dir: Path | None,
    profile: str,
    revision: str,
    strict: bool,
    as_json_wanted: bool,
    quiet: bool,
    stories: int | None,
) -> None:
    """Find the sizes at which an implementation fails.

    Each dimension is a number that can grow, for example the number of messages, participants or channels, or the
    number of bytes of a content.
    """
    out, err = console(), console(stderr=True)
    protocol = protocol_of(revision)
    if misfit := protocol.rules.find_misfit(revision, profile, driven.dialect or ""):
        raise click.UsageError(misfit)
    if files and report_dir is not None:
        raise click.UsageError("a report has only limits of the suite's dimensions: omit --report or --scenario-file")
    dimensions = _dimensions_of_files(files, revision)
    if only or not files:
        dimensions += _dimensions(protocol, revision, profile, only)
    _reject_unplayable_size(dimensions, at)
    about = _load_report(report_dir, revision, at) if report_dir is not None else None
    order = MeasurementOrder(
        driven.connect,
        driven.limits,
        protocol.rules,
        revision,
        profile,
        driven.dialect,
        strict,
        dimensions,
        budget,
        at,
    )
    with driven_or_ended(err, driven):
        measured = perform_handshake(order)
    if about is not None:
        _refuse_another(about, measured.declaration)
    shows = not (as_json_wanted or quiet)
    if shows:
        show_implementation(out, measured.declaration, measured.dialect, revision, profile, driven.transport)
        print_labelled(out, "Measures", f"{format_count(len(dimensions), 'dimension')}, for at most {span(budget)}")
        for loaded in files:
            print_labelled(out, "Raises", f"{loaded.schedule.parameter} in {loaded.printable_path}")
        out.print()
    with progress_bar(err, chars=32, width=20) as bar:
        measure(order, measured, bar)
    signals.hold_interrupts()
    record(
        driven, (row.first_failing.finding for row in measured.rows if row.first_failing and row.first_failing.finding)
    )
    replays = [_replay_command(driven, order, row) for row in measured.rows]
    data = as_json(order, measured, replays)
    written = report_dir is None or _write(err, report_dir, data)
    if as_json_wanted:
        print_json(data)
    else:
        if shows:
            show_limits(out, data, stories)
        show_last_screen(out, _last_screen(data, driven, revision, report_dir))
    sys.exit(measured.exit_code if written else Exit.USAGE)


def _last_screen(
    data: dict[str, Any], driven: DrivenImplementation, revision: str, report_dir: Path | None
) -> LastScreen:
    spoken_of = ["--revision", revision] if revision != CURRENT else []
    facts = [
        ("Played", Text(format_count(len(data["rows"]), "dimension") + "; sizes above the listed ones were not played"))
    ]
    if report_dir is not None:
        facts.append(("Report", Text(str(report_dir / NAME), no_wrap=True)))
    worst = worst_of(data)
    if worst is not None and worst["replay"]:
        command, why = worst["replay"], "plays that size again"
    elif report_dir is not None:
        command, why = shlex.join([program(), "certificate", "write", str(report_dir)]), "writes a certificate"
    else:
        command, why = driven.format_command("run", "--report", "report", *spoken_of), "judges every requirement"
    return LastScreen(last_line(data), cause_lines(data), facts, command, why)


def _dimensions_of_files(files: tuple[LoadedScenario, ...], revision: str) -> list[Dimension]:
    """Return the dimensions that scenario files define. Raises UsageError for a file without ``parameter``, the number
    to raise.
    """
    with usage_errors(ScenarioFileError):
        return [dimension_of(loaded, revision) for loaded in files]


def _dimensions(protocol: Protocol, revision: str, profile: str, only: tuple[str, ...]) -> list[Dimension]:
    """Return the dimensions to measure. Raises UsageError if there is none."""
    if not protocol.dimensions:
        known = [name for one in protocols() if one.dimensions for name in one.rules.revisions]
        raise click.UsageError(
            f"{revision} has no limits that can be measured; these revisions have limits: {', '.join(known)}"
        )
    found = {name: one.of_text(protocol.rules, revision, profile) for name, one in protocol.dimensions.items()}
    dimensions = [one for name, one in found.items() if one is not None and (not only or name in only)]
    if only and not dimensions and not names_of("dimensions", revision).keys() & set(only):
        raise click.UsageError(unknown_name_message("dimensions", only[0], revision))
    if not dimensions:
        raise click.UsageError(
            f"no selected dimension belongs to the profile {profile} of {revision}: leave --only out"
        )
    return dimensions


def _reject_unplayable_size(dimensions: Sequence[Dimension], at: int | None) -> None:
    """Raise UsageError for a size that cannot be played."""
    for dimension in dimensions:
        if at is not None and at > dimension.most:
            raise click.UsageError(f"--at {at}: the maximum size of {dimension.name} is {dimension.most}")


def _load_report(folder: Path, revision: str, at: int | None) -> Report:
    """Read the report to which limits will be added.

    The report is checked before the long measurement. Raises UsageError.
    """
    if at is not None:
        raise click.UsageError("with --at, no limit is measured that --report could add: omit --at or --report")
    with usage_errors():
        report = read_report(folder)
    if report.data["revision"] != revision:
        raise click.UsageError(
            f"the report in {folder} is about {report.data['revision']}: add --revision {report.data['revision']}"
        )
    with write_errors(f"cannot write to {folder}", "Name another DIR"):
        check_whole(folder / NAME)
        try_to_write(folder)
    return report


def _refuse_another(report: Report, declared: Declaration) -> None:
    """Raise UsageError if the report is about another implementation."""
    about = report.data["implementation"]
    limits = {name: limit for name, limit in declared.limits.items() if limit is not None}
    if (declared.name, declared.version, limits) != (about["name"], about["version"], about["limits"]):
        name_and_version = printable(f"{declared.name} {declared.version}".strip()) or "?"
        other = f"about {report.name}" if name_and_version != report.name else "about one that declares other limits"
        raise click.UsageError(
            f"this is {name_and_version}, and the report in {report.folder} is {other}: type "
            f"`{program()} run --report {report.folder} -- COMMAND` for this implementation first, "
            "or name the DIR of its report"
        )


def _write(err: Console, folder: Path, data: dict[str, Any]) -> bool:
    try:
        path = write_whole(folder / NAME, dumps(data, indent=2) + "\n")
    except OSError as error:
        err.print(f"The limits were not written to {folder}: {error.strerror}.", style="bold red", soft_wrap=True)
        return False
    err.print(f"Limits: {path}", soft_wrap=True)
    return True


def _replay_command(driven: DrivenImplementation, order: MeasurementOrder, row: LimitRow) -> str:
    """Return the command that plays the smallest failing size; "" if no size failed, or if no smaller size passed."""
    if row.first_failing is None or row.held is None:
        return ""
    file = row.dimension.file
    words = ["limits", *(["--scenario-file", file] if file else ["--only", row.dimension.name])]
    words += ["--at", str(row.first_failing.size)]
    words += ["--revision", order.revision] if order.revision != CURRENT else []
    words += ["--profile", order.profile] if order.profile != order.rules.full else []
    return driven.format_command(*words, *(["--strict"] if order.strict else []))
