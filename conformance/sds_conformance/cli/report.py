"""``sds-conformance report``."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.text import Text

from sds_harness.declaration import printable

from ..exploration.limits.words import summary as summary_of_limits
from ..judging.quoting import counted
from ..judging.verdict import Verdict
from ..reports.limits import with_limits
from ..reports.reading import Report, read_report
from ..telling.story import STYLES, labelled
from .files import refused
from .options import console
from .paths import INPUT
from .reports import Wanted, reporting
from .showing import print_json

_EPILOG = """
\b
Examples:
  sds-conformance report out
  sds-conformance report out --html out/index.html --junit out/junit.xml
  sds-conformance report out --markdown out/summary.md --badge out/badge.svg
"""


@click.command("report", epilog=_EPILOG)
@click.argument("folder", metavar="DIR", type=INPUT)
@reporting
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def report_command(folder: Path, wanted: Wanted, as_json: bool) -> None:
    """Show a report, or convert it to another format.

    DIR is the folder that `run --report DIR` wrote.
    """
    err = console(stderr=True)
    wanted.check()
    with refused():
        read = with_limits(read_report(folder))
    if read.cut_off:
        err.print(f"{folder} was cut off {read.cut_off}: the rest is not known.", style="bold yellow", soft_wrap=True)
    ends = wanted.write(err, read)
    if as_json:
        print_json(read.data)
    elif not wanted:
        _show(read)
    if ends is not None:
        sys.exit(ends)


def _show(read: Report) -> None:
    """The root causes, and the counts."""
    out, data = console(), read.data
    labelled(out, "Report", Text(f"{read.name}, {data['revision']}, {data['started']}", "bold"))
    for cause in data["causes"]:
        verdict = Verdict(cause["verdict"])
        where = f"{cause['violations']:,} times in {counted(len(cause['scenarios']), 'scenario')}"
        labelled(out, verdict.value.upper(), Text.assemble((cause["requirement"], STYLES[verdict]), f"  {where}"))
        if cause["under"]:
            labelled(out, "", Text(f"with it {', '.join(under['requirement'] for under in cause['under'])}", "dim"))
        labelled(out, "", Text(printable(cause["again"], 2000), "blue"), whole=True)
    summary = data["summary"]
    told = ", ".join(f"{summary[verdict.value]} {verdict.value}" for verdict in Verdict if summary[verdict.value])
    labelled(out, "Verdicts", Text(told or "none"))
    if read.limits is not None:
        labelled(out, "Limits", Text(summary_of_limits(read.limits["rows"])))
