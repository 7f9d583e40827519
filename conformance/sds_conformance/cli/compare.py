"""``sds-conformance compare``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from sds_harness.suggestions import did_you_mean

from ..judging.exits import Exit
from ..reports.comparing import history, markdown, page
from ..reports.comparing.columns import gather, is_folder_of_reports
from ..reports.comparing.comparison import compare, matches_globs
from ..reports.comparing.history import histories
from ..reports.comparing.terminal import show_comparison, show_histories, worse_line
from .files import require_folders, usage_errors, write_file
from .name_types import Pattern
from .options import console, full_id, program
from .output_filter import print_json
from .paths import INPUT, OUTPUT_FILE

_EPILOG = """
\b
Examples:
  sds-conformance compare old new
  sds-conformance compare --fail-on-worse old new
  sds-conformance compare --html compared.html --ways mine theirs reference
  sds-conformance compare --only 'SDS-RECV-*' old new
  sds-conformance compare --since 2026-01-01 nightly

\b
Exit codes:
  0  compared
  1  with --fail-on-worse: a verdict or a limit got worse
  2  usage error, or a report is unreadable
"""


@click.command("compare", epilog=_EPILOG)
@click.argument("reports", nargs=-1, required=True, type=INPUT, metavar="REPORT...")
@click.option("--all", "every", is_flag=True, help="Also list the requirements with equal verdicts.")
@click.option(
    "--only",
    multiple=True,
    type=Pattern("requirements"),
    metavar="GLOB",
    help="Compare only these requirements or positions; repeatable.",
)
@click.option(
    "--ways", is_flag=True, help="Also show how each implementation behaves where the specification leaves a choice."
)
@click.option(
    "--since",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]),
    metavar="DATE",
    help="Show only the changes since DATE (UTC) in a folder of dated reports.",
)
@click.option(
    "--fail-on-worse",
    is_flag=True,
    help="Exit with 1 if a verdict got worse or a limit smaller from the first to the last report. A requirement that "
    "is no longer judged does not count as worse.",
)
@click.option("--html", type=OUTPUT_FILE, metavar="FILE", help="Also write the comparison to FILE, as HTML.")
@click.option(
    "--markdown", "text", type=OUTPUT_FILE, metavar="FILE", help="Also write the comparison to FILE, as Markdown."
)
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def compare_command(
    reports: tuple[Path, ...],
    every: bool,
    only: tuple[str, ...],
    ways: bool,
    since: datetime | None,
    fail_on_worse: bool,
    html: Path | None,
    text: Path | None,
    as_json: bool,
) -> None:
    """Compare the reports of several releases or implementations.

    A REPORT is a folder of `run --report`, or its report.json or report.jsonl. Name the releases of one implementation
    in their order: each is compared with the next.

    A folder of reports counts as all reports in it, by date. One such folder alone shows the history of each
    implementation: when each verdict changed. Limits of `limits --report` are compared as well.
    """
    require_folders(html, text)
    globs = [full_id(glob) for glob in only]
    with usage_errors():
        columns = gather(reports)
    if not any(matches_globs(id_, globs) for column in columns for id_ in (*column.requirements, *column.topics)):
        what = f"nothing matches {' '.join(only)}" if only else "the reports contain no requirement"
        known = {id_ for column in columns for id_ in (*column.requirements, *column.topics)}
        meant = did_you_mean(globs[0], sorted(known)) if globs else ""
        raise click.UsageError(f"{what}: `sds-conformance requirements` lists the IDs.{meant}")
    dated = histories(columns, globs, since.replace(tzinfo=UTC) if since is not None else None)
    worse: list[Text | None] = []
    data: Any
    if len(reports) == 1 and is_folder_of_reports(reports[0]) and len(dated) < len(columns):
        after = f"{since:%Y-%m-%d}" if since is not None else ""
        show = partial(show_histories, console(), dated, after)
        as_page = partial(page.history_page, dated, after)
        as_markdown = partial(markdown.history_markdown, dated, after)
        data = history.to_json(dated)
        if fail_on_worse:
            ends = [(series.columns[0], series.columns[-1]) for series in dated if len(series.columns) > 1]
            worse = [worse_line(compare(pair, globs)) for pair in ends]
    elif len(columns) < 2:
        raise click.UsageError(f"{reports[0]} is only one report: name a second report")
    elif since is not None:
        raise click.UsageError(
            "--since needs a folder of dated reports of one implementation: name that folder and no other report"
        )
    else:
        compared = compare(columns, globs)
        show = partial(show_comparison, console(), compared, every=every, ways=ways, command=_with_ways(reports, only))
        as_page = partial(page.comparison_page, compared)
        as_markdown = partial(markdown.comparison_markdown, compared, every=every, ways=ways)
        data = compared.to_json()
        worse = [worse_line(compared)] if fail_on_worse else []
    _write(html, as_page)
    _write(text, as_markdown)
    lines = [line for line in worse if line is not None]
    out = console(stderr=as_json)
    for line in lines:
        out.print(line, soft_wrap=True)
    if lines:
        out.print()
    if as_json:
        print_json(data)
    else:
        show()
    sys.exit(Exit.NON_CONFORMANT if lines else Exit.CONFORMANT)


def _with_ways(reports: Sequence[Path], only: Sequence[str]) -> str:
    """Return the command that compares the same reports with --ways."""
    options = [word for glob in only for word in ("--only", glob)]
    return shlex.join([program(), "compare", "--ways", *options, *map(str, reports)])


def _write(file: Path | None, content: Callable[[], str]) -> None:
    if file is not None:
        write_file(file, content())
        console(stderr=True).print(f"Written: {file}", soft_wrap=True)
