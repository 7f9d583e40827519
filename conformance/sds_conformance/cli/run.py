"""``sds-conformance run``."""

from __future__ import annotations

import sys
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from sds_harness import signals
from sds_harness.declaration import printable
from sds_harness.environment import PLAIN
from sds_harness.faults import TesteeError
from sds_harness.files import check_whole, try_to_write
from sds_harness.suggestions import did_you_mean

from ..judging.certification import Certification, certify, not_driven
from ..judging.exits import Exit
from ..judging.flakiness import replay_failures
from ..judging.formats import format_count
from ..judging.plan import plan
from ..judging.registry import scenario_of
from ..judging.rules import Rules, UnknownDialectError
from ..judging.run_player import Keep
from ..presentation.invocation import Invocation
from ..presentation.last_screen import show_last_screen
from ..presentation.story import print_labelled, show_breakdown, show_implementation
from ..protocols import property_of, revisions, rules_of, withdrawn
from ..reports.baseline import read_result
from ..reports.files import JSON, check_report, read_report, write_report
from ..reports.limits import NAME as LIMITS
from ..reports.report import Report
from ..reports.terminal import last_screen, show_conversation, show_report
from ..scenario_files.reader import LoadedScenario
from .baseline_option import BASELINE, baseline_json, gate, load_baseline, match_baseline, show_gate
from .files import require_folders, usage_errors, write_errors
from .implementation_options import DrivenImplementation, add_driving_options
from .name_types import Pattern, elsewhere, unknown_name_message
from .options import CURRENT, JOBS, STORY_OPTIONS, console, full_id, judging, program
from .output_filter import print_json
from .paths import INPUT, OUTPUT_FOLDER
from .progress import Plays, progress_bar
from .report import ReportForms, add_report_options
from .schedule_options import with_scenario_files
from .transcript_option import add_transcript_option, record, record_judged

_EPILOG = """
\b
Examples:
  sds-conformance run
  sds-conformance run -- node my-adapter.mjs
  sds-conformance run --framing binary --report out -- ./my-adapter
  sds-conformance run --select 'SDS-MSG-*' --deselect SDS-MSG-14 -- ./adapter
  sds-conformance run --environment plain -- ./my-adapter
  sds-conformance run --grpc 127.0.0.1:50051
  sds-conformance run --grpc auto -- ./my-server {address}
  sds-conformance run --select SDS-RECV-06 -- ./my-adapter
  sds-conformance run --transcript talk.jsonl -- ./my-adapter
  sds-conformance run --profile core -- ./my-adapter
  sds-conformance run --revision forum-2024 -- ./my-adapter
  sds-conformance run --clock faketime -- ./my-adapter
  sds-conformance run --scenario-file my-scenario.yaml -- ./my-adapter
"""


@click.command("run", epilog=_EPILOG)
@click.option(
    "--select",
    multiple=True,
    type=Pattern("requirements"),
    metavar="GLOB",
    help="Judge only these requirement IDs, and play only their scenarios; repeatable. --scenario '*' plays all "
    "scenarios.",
)
@click.option(
    "--deselect",
    multiple=True,
    type=Pattern("requirements"),
    metavar="GLOB",
    help="Do not judge these requirement IDs; repeatable.",
)
@click.option(
    "--scenario",
    "scenarios",
    multiple=True,
    type=Pattern("scenarios"),
    metavar="GLOB",
    help="Play only these scenarios; repeatable. `sds-conformance list scenarios` shows the names.",
)
@click.option(
    "--environment",
    "environments",
    multiple=True,
    type=Pattern("environments"),
    metavar="GLOB",
    help="Play only in these environments; repeatable. `sds-conformance list environments` shows the names.",
)
@with_scenario_files(
    "Play this scenario file, or all scenario files of this folder, "
    "and no scenario of the suite unless --scenario selects it; "
    "repeatable. `sds-conformance docs scenario-files` describes the format."
)
@judging
@click.option(
    "--report",
    "report_dir",
    type=OUTPUT_FOLDER,
    metavar="DIR",
    help="Write report.json, report.jsonl and the traces to DIR.",
)
@add_report_options
@BASELINE
@click.option("--fail-fast", is_flag=True, help="Stop at the first failure that no baseline lists.")
@click.option(
    "--since",
    "last",
    type=INPUT,
    metavar="REPORT",
    help="Play first the scenarios that failed in an earlier report.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@STORY_OPTIONS
@JOBS
@add_driving_options
@add_transcript_option
def run_command(
    driven: DrivenImplementation,
    select: tuple[str, ...],
    deselect: tuple[str, ...],
    scenarios: tuple[str, ...],
    environments: tuple[str, ...],
    files: tuple[LoadedScenario, ...],
    profile: str,
    revision: str,
    strict: bool,
    report_dir: Path | None,
    report_forms: ReportForms,
    baseline_file: Path | None,
    fail_fast: bool,
    last: Path | None,
    as_json: bool,
    quiet: bool,
    stories: int | None,
    jobs: int,
) -> None:
    """Test an implementation against every requirement.

    COMMAND starts the implementation. Without COMMAND, and without a running server at --grpc ADDRESS, the bundled
    reference model is tested. If exactly one requirement is selected, the conversation is shown message by message.
    """
    out, err = console(), console(stderr=True)
    select, deselect = tuple(map(full_id, select)), tuple(map(full_id, deselect))
    rules = rules_of(revision)
    if misfit := rules.find_misfit(revision, profile, driven.dialect or ""):
        raise click.UsageError(misfit)
    entered = environments or (("*",) if scenarios or not files else (PLAIN.name,))
    own = [loaded.scenario(revision, everywhere=bool(environments)) for loaded in files]
    what = plan(rules, select, deselect, profile, revision, scenarios=scenarios, environments=entered, files=own)
    for glob in (*select, *deselect):
        if not plan(rules, [glob], profile=profile, revision=revision).requirements:
            raise click.UsageError(_no_match_message(rules, glob, profile, revision))
    if not what.requirements:
        raise click.UsageError("the options exclude every requirement: `sds-conformance requirements` lists the IDs")
    if len(what.scenarios) == len(own) and (scenarios or not own):
        raise click.UsageError(unknown_name_message("scenarios", ", ".join(scenarios), revision))
    if not what.environments:
        raise click.UsageError(unknown_name_message("environments", ", ".join(environments), revision))
    baseline = load_baseline(baseline_file, revision)
    listed = frozenset(entry.what for entry in baseline.entries) if baseline is not None else frozenset()
    with usage_errors():
        before = read_report(last) if last is not None else None
    there_are = len(what.scenarios)
    if select and not (scenarios or files):
        # A failure of the earlier report does not count as fixed if its scenario was not played again.
        failed = before.failed_runs(what.requirements) if before is not None else ()
        what = what.keep_own_scenarios({scenario_of(run) for run in failed})
    if report_dir is not None:
        _prepare(report_dir)
    require_folders(*report_forms.files.values())
    driven.begin()

    plays = Plays(out)

    def show_head(outcome: Certification, runs: int) -> None:
        if as_json or quiet:
            return
        show_implementation(out, outcome.declaration, outcome.dialect, revision, profile, driven.transport)
        plays.begin(f"{format_count(len(what.scenarios), 'scenario')}, in {format_count(runs, 'run')}")

    try:
        with progress_bar(err, chars=30, width=16, plays=plays) as bar:
            outcome = certify(
                driven.connect,
                what,
                driven.limits,
                dialect=driven.dialect,
                strict=strict,
                running=driven.is_running_server,
                progress=bar,
                failing=bar.set_failing,
                first=before.failed_runs() if before is not None else (),
                enough=(lambda what: what not in listed) if fail_fast else None,
                # With one requirement, always show the conversation, even without a finding.
                keep=Keep(plain=len(what.requirements) == 1),
                jobs=jobs,
                rules_of=rules_of,
                begun=show_head,
            )
            plays.end()
            again = lambda what, *of: bar(f"again: {what}", *of)  # noqa: E731
            replay_failures(outcome, driven.connect, driven.limits, dialect=driven.dialect, progress=again)
    except TesteeError as fault:
        name = printable(Path(driven.words[0]).name) or "?"
        outcome = not_driven(what, name, fault, driven.dialect, strict)
    except UnknownDialectError as error:
        err.print(str(error), style="bold red", soft_wrap=True)
        sys.exit(Exit.NOT_DRIVEN)
    signals.hold_interrupts()
    record(driven, (finding for verdict in outcome.verdicts for finding in verdict.findings))
    record_judged(driven, outcome)
    repeated = [*driven.options, *(["--strict"] if strict else [])]
    repeated += ["--revision", revision] if revision != CURRENT else []
    played_files = {scenario.name: scenario.file.path for scenario in own if scenario.file is not None}
    how = Invocation(driven.command, driven.transport, tuple(repeated), program(), played_files)
    there_were = there_are - len(what.scenarios) if select else 0
    report = Report.from_outcome(outcome, how, there_were)
    found = match_baseline(baseline, read_result(report.data)) if baseline is not None else None
    if found is not None:
        report = report.with_values(baseline=baseline_json(found))
    written = report_dir is None or _write(err, report_dir, report)
    report = replace(report, written=report_dir / JSON if report_dir is not None and written else None)
    ends = report_forms.write(err, report)
    if not outcome.is_driven:
        show_breakdown(err, outcome.breakdowns[0])
    if as_json:
        print_json(report.data)
    elif quiet or not outcome.is_driven:
        show_last_screen(out if outcome.is_driven else err, last_screen(report, program()))
    else:
        if found is not None:
            show_gate(out, found, outcome.declaration.name, report=report_dir)
        if before is not None:
            _show_since(out, before, report)
        if len(what.requirements) == 1:
            show_conversation(out, report, what.requirements[0])
        show_report(out, report, program(), stories)
    code = gate(found, outcome.exit_code)
    if outcome.unmet_expectations and code == Exit.CONFORMANT:
        code = Exit.NON_CONFORMANT  # a baseline cannot cover unmet expectations
    sys.exit((ends or code) if written else Exit.USAGE)


def _show_since(out: Console, before: Report, report: Report) -> None:
    """Print which requirements are fixed since the earlier report, and which ones fail now and did not fail then."""
    then = {row["id"]: row["verdict"] for row in before.requirements()}
    now = {row["id"]: row["verdict"] for row in report.requirements()}
    changes = {
        "Fixed": [what for what, verdict in now.items() if verdict == "pass" and then.get(what) in ("fail", "warn")],
        "New": [what for what, verdict in now.items() if verdict == "fail" and then.get(what, "fail") != "fail"],
    }
    for label, ids in changes.items():
        if ids:
            print_labelled(out, label, Text(", ".join(ids), "green" if label == "Fixed" else "bold red"))
    if not any(changes.values()):
        print_labelled(out, "Since", f"no failure of the report of {before.data['started'][:10]} is fixed")


def _write(err: Console, folder: Path, report: Report) -> bool:
    try:
        write_report(folder, report)
        (folder / LIMITS).unlink(missing_ok=True)  # Any limits are those of the previous report in this folder.
    except OSError as error:
        err.print(f"The report was not written to {folder}: {error.strerror}.", style="bold red", soft_wrap=True)
        return False
    err.print(f"Report: {folder / JSON}", soft_wrap=True)
    return True


def _no_match_message(rules: Rules, glob: str, profile: str, revision: str) -> str:
    name, slash, code = glob.partition("/")
    if slash:
        return f"{name}/{code.lower()} is a code of a finding, and `run` selects whole requirements: type {name}"
    requirement = rules.catalogue.requirements.get(glob)
    if property_of(glob) is not None:
        return f"{glob} is a property of the group, which needs generated schedules: `sds-conformance fuzz` judges it"
    if gone := withdrawn(glob):
        return gone
    if requirement is None:
        if any(fnmatchcase(known.id, glob) for known in rules.judged_requirements(revision, rules.full)):
            return f"{glob!r} matches no requirement of the profile {profile}: leave --profile out"
        meant = did_you_mean(glob, rules.catalogue.requirements) or elsewhere(
            glob, {other: _stated_requirements(other) for other in revisions()}
        )
        return f"no requirement matches {glob!r}: `sds-conformance requirements` lists the IDs.{meant}"
    if requirement.id not in rules.register.checks:
        return f"{glob} has no check: `sds-conformance requirements {glob}` gives the reason"
    if not requirement.is_stated_in(revision):
        return f"{revision} does not state {glob}: add --revision {requirement.revisions[0]}"
    return f"{glob} is not in the profile {profile}: leave --profile out"


def _stated_requirements(revision: str) -> list[str]:
    """Return the IDs of the requirements that a revision states."""
    requirements = rules_of(revision).catalogue.requirements.values()
    return [one.id for one in requirements if one.is_stated_in(revision)]


def _prepare(folder: Path) -> None:
    """Check, before a long run, that the report can be written."""
    with write_errors(f"cannot write a report to {folder}", "Name another DIR."):
        folder.mkdir(parents=True, exist_ok=True)
        check_report(folder)
        check_whole(folder / LIMITS)
        try_to_write(folder)
