"""``sds-conformance baseline``: write, update and check the file of known failures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
from jsonschema import Draft202012Validator
from rich.text import Text

from sds_harness.declaration import printable
from sds_harness.files import FileError, find_schema_error, parse_json, read_bytes, read_text

from ..judging.exits import Exit
from ..judging.formats import format_count
from ..presentation.story import print_hanging
from ..reports.attachments import SHAPES
from ..reports.baseline import MAX_BYTES as FILE_BYTES
from ..reports.baseline import Baseline, BaselineError, JudgedResult, OldBaselineError, load, parse, read_result
from ..reports.baseline_text import TO_DO, convert_old_baseline, fresh, to_block_style, update_baseline
from ..reports.document import SCHEMA_ID
from ..reports.files import MAX_BYTES, read_report
from .baseline_option import match_baseline, show_complaints, show_gate
from .command_groups import HelpGroup
from .files import usage_errors, write_file
from .options import console, program
from .paths import INPUT, INPUT_FILE, KEPT_FILE

_REPORTS = """
A REPORT is a folder of `run --report`, or a file with the output of `run
--json`, `fuzz --json` or `vectors run --json`. `update` keeps your comments
and everything else that you write to FILE.
"""
_EXAMPLES = {
    "write": """
  sds-conformance baseline write known.yaml out
  sds-conformance baseline write known.yaml out --link https://example.org/1""",
    "update": """
  sds-conformance baseline update known.yaml out fuzz.json""",
    "check": """
  sds-conformance baseline check known.yaml out""",
}


def _epilog(*names: str) -> str:
    return "\b\nExamples:" + "".join(_EXAMPLES[name] for name in names) + "\n" + _REPORTS


_SOURCES = click.argument("sources", metavar="REPORT...", nargs=-1, required=True, type=INPUT)
_FILE = click.argument("file", metavar="FILE", type=KEPT_FILE)
_REASON = click.option("--reason", default="", metavar="TEXT", help="Reason of new entries.")
_LINK = click.option("--link", default="", metavar="URL", help="Link of new entries.")


@click.group("baseline", cls=HelpGroup, epilog=_epilog(*_EXAMPLES))
def baseline_command() -> None:
    """Write, update or check a file of known failures.

    With --baseline FILE, the commands `run`, `fuzz` and `vectors run` fail only for failures that FILE does not list.
    """


@baseline_command.command("write", epilog=_epilog("write"))
@_FILE
@_SOURCES
@click.option(
    "--per-scenario", is_flag=True, help="Write one entry for each scenario of a failed requirement, not one for all."
)
@_REASON
@_LINK
def write_command(file: Path, sources: tuple[Path, ...], per_scenario: bool, reason: str, link: str) -> None:
    """Write a new FILE that lists all failures of REPORTs.

    Failures that replays did not show every time are marked flaky.
    """
    several = _check_comparable([_read_result(source) for source in sources])
    if file.exists():
        raise click.UsageError(f"{file} exists already: `{program()} baseline update {file} REPORT` changes it")
    # An entry without a scenario allows failures in all scenarios. A run of some scenarios cannot justify such an
    # entry.
    per_scenario |= any(one.by == "run" and not one.whole for one in several)
    text = fresh(several, reason, link, per_scenario=per_scenario)
    with usage_errors(BaselineError):  # a report can have values that are invalid in a baseline
        entries = parse(text, file).entries
    write_file(file, text)
    marked = sum(entry.flaky for entry in entries)
    flaky = f", {marked} marked flaky" if marked else ""
    click.echo(f"{file}: {format_count(len(entries), 'entry', 'entries')}{flaky} for {several[0].implementation}.")
    _print_missing_reasons(entries, file)


@baseline_command.command("update", epilog=_epilog("update"))
@_FILE
@_SOURCES
@_REASON
@_LINK
def update_command(file: Path, sources: tuple[Path, ...], reason: str, link: str) -> None:
    """Remove fixed failures from FILE and add new ones.

    Entries that are marked flaky stay, whether they failed or not. The exit code is 1 if a flaky entry has a code or a
    scenario that does not exist: correct it by hand.
    """
    several = [_read_result(source) for source in sources]
    with usage_errors(BaselineError):
        try:
            baseline = load(file)
            before = baseline.text
        except OldBaselineError:
            before = read_text(file, FILE_BYTES)
            baseline = parse(convert_old_baseline(before, file, several), file)
        baseline = to_block_style(baseline)
    out, added, removed, wrong = console(), 0, 0, False
    for one in several:
        _require_same_revision(one, baseline)
        with usage_errors(BaselineError):
            update = update_baseline(baseline, one, match_baseline(baseline, one), reason, link)
            baseline, added, removed = parse(update.text, file), added + update.added, removed + update.removed
            left = match_baseline(baseline, one)  # Flaky entries with unknown codes or scenarios still have complaints.
        if left.complaints and not wrong:
            text = (
                f"Correct these entries of {baseline.printable_path}: `update` keeps every entry that is marked flaky."
            )
            print_hanging(out, Text(""), Text(text))
        show_complaints(out, left)
        wrong = wrong or bool(left.complaints)
    if baseline.text != before:
        write_file(file, baseline.text)
    new = format_count(added, "entry", "entries")
    click.echo(f"{file}: {new} added, {removed} removed, {len(baseline.entries)} in all.")
    _print_missing_reasons(baseline.entries, file)
    sys.exit(Exit.NON_CONFORMANT if wrong else Exit.CONFORMANT)


@baseline_command.command("check", epilog=_epilog("check"))
@click.argument("file", metavar="FILE", type=INPUT_FILE)
@_SOURCES
def check_command(file: Path, sources: tuple[Path, ...]) -> None:
    """Compare FILE with REPORTs, without playing anything."""
    out = console()
    with usage_errors(BaselineError):
        baseline = load(file)
    wrong, ours = False, False
    for source in sources:
        one = _require_same_revision(_read_result(source), baseline)
        found = match_baseline(baseline, one)
        show_gate(out, found, printable(one.implementation), report=source)
        wrong, ours = wrong or bool(found.new or found.complaints), ours or bool(one.errors)
    if ours:
        click.echo("A report has faults of the suite, which may hide failures.", err=True)
    elif not wrong:
        click.echo(f"{file}: {format_count(len(baseline.entries), 'entry', 'entries')}, which match the reports.")
    _print_missing_reasons(baseline.entries, file)
    sys.exit(Exit.NON_CONFORMANT if wrong else Exit.OURS if ours else Exit.CONFORMANT)


def _print_missing_reasons(entries: Any, file: Path) -> None:
    lines = [str(entry.first) for entry in entries if entry.reason == TO_DO]
    if lines:
        text = ", ".join(lines[:10]) + (f" and {format_count(len(lines) - 10, 'more line')}" if len(lines) > 10 else "")
        places = f"{'line' if len(lines) == 1 else 'lines'} {text}"
        click.echo(f"Add reasons and links to the entries without them in {file}: {places}.")


def _data(source: Path) -> dict[str, Any]:
    """Read the JSON output of a command, or the report in a folder. Raises UsageError."""
    path_text = printable(str(source))
    if source.is_dir() or source.suffix == ".jsonl":
        return _report(source)
    if not source.is_file():
        raise click.UsageError(
            f"{path_text} does not exist, or is not a regular file: `{program()} run --report DIR` writes a report"
        )
    try:
        data = parse_json(read_bytes(source, MAX_BYTES))
    except FileError as error:
        raise click.UsageError(f"{path_text} {error}") from None
    return _report(source) if isinstance(data, dict) and data.get("schema") == SCHEMA_ID else data


def _report(source: Path) -> dict[str, Any]:
    with usage_errors():
        report = read_report(source)
    if report.cut_off:
        raise click.UsageError(f"{source} was cut off {report.cut_off}, and may lack failures: repeat its run")
    return report.data


def _read_result(source: Path) -> JudgedResult:
    data, shown = _data(source), printable(str(source))
    schema = data.get("schema") if isinstance(data, dict) else None
    if isinstance(schema, str) and schema in SHAPES:
        command, shape = SHAPES[schema]
        if wrong := find_schema_error(Draft202012Validator(shape), data, 120):
            raise click.UsageError(f"{shown} is not the output of `{program()} {command} --json`: {wrong}")
    try:
        return read_result(data)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise click.UsageError(f"{shown} is neither a report nor the output of a run with --json") from None


def _check_comparable(several: list[JudgedResult]) -> list[JudgedResult]:
    """Raise UsageError unless all reports are about one implementation and revision, and from different commands."""
    for name, values in (
        ("implementations", {one.implementation for one in several}),
        ("revisions", {one.revision for one in several}),
    ):
        if len(values) > 1:
            values_text = " and ".join(sorted(map(printable, values)))
            raise click.UsageError(f"the reports are of different {name}, {values_text}: write a file for each")
    if len({one.by for one in several}) < len(several):
        raise click.UsageError(
            "two reports are from the same command: give at most one report of each of `run`, `fuzz` and `vectors run`"
        )
    return several


def _require_same_revision(one: JudgedResult, baseline: Baseline) -> JudgedResult:
    if one.revision != baseline.revision:
        theirs = printable(one.revision, 40)
        raise click.UsageError(
            f"{baseline.printable_path} is for {printable(baseline.revision, 40)}, the report for {theirs}: "
            "name a report of the revision of the baseline"
        )
    return one
