"""``sds-conformance report``."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.text import Text

from ..exploration.limits.words import summary as summary_of_limits
from ..reports.limits import with_limits
from ..reports.reading import read_report
from ..reports.terminal import last_screen, show_report, show_tested
from ..telling.last_screen import show_last_screen
from ..telling.story import labelled
from .files import refused
from .options import TOLD, console, program
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
@TOLD
def report_command(folder: Path, wanted: Wanted, as_json: bool, quiet: bool, stories: int | None) -> None:
    """Show a report, or convert it to another format.

    DIR is the folder that `run --report DIR` wrote. It shows what `run` showed: for each root cause the rule, what was
    expected and what was seen.
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
    elif quiet:
        show_last_screen(console(), last_screen(read, program()))
    elif not wanted:
        out = console()
        show_tested(out, read)
        show_report(out, read, program(), stories)
        if read.limits is not None:
            labelled(out, "Limits", Text(summary_of_limits(read.limits["rows"])))
    if ends is not None:
        sys.exit(ends)
