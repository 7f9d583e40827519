"""``sds-conformance report``, and the options that write a report in other forms. ``run`` has these options as well."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from sds_harness.declaration import printable
from sds_harness.files import write_named

from ..exploration.limits.words import summary as summary_of_limits
from ..judging.exits import Exit
from ..presentation.last_screen import show_last_screen
from ..presentation.story import print_labelled
from ..reports.files import read_report
from ..reports.limits import with_limits
from ..reports.report import Report
from ..reports.terminal import last_screen, show_report, show_tested
from .browser import show_page
from .files import refuse_link, require_folders, usage_errors
from .options import STORY_OPTIONS, console, program
from .output_filter import order, print_json
from .paths import INPUT, OUTPUT_FILE

FORMS = {
    "html": "Write a self-contained HTML page with every finding to FILE.",
    "junit": "Write JUnit XML to FILE, for the test report of a CI.",
    "markdown": "Write a Markdown summary to FILE, for the page of a CI job.",
    "badge": "Write an SVG badge to FILE.",
    "sarif": "Write SARIF to FILE, for code scanning.",
}
"""The forms of a report that are files, each with the help of its option."""


def render(form: str, report: Report) -> str:
    """Return a report in a form, which the function of the same name in the module of this name makes."""
    maker: Callable[[Report], str] = getattr(import_module(f"...reports.{form}", __name__), form)
    return maker(report)


@dataclass(frozen=True)
class ReportForms:
    """The forms to write, with their files."""

    files: dict[str, Path]
    annotations: bool

    def __bool__(self) -> bool:
        return bool(self.files) or self.annotations

    def write(self, err: Console, report: Report) -> Exit | None:
        """Write the files and print the annotations. Print a line for each file, also if it cannot be written. Return
        the exit code for the error; None if there was no error.
        """
        ends: Exit | None = None
        for form, path in [*self.files.items(), *([("annotations", None)] if self.annotations else [])]:
            try:
                text = render(form, report)
            except Exception as error:  # a fault of the suite must not look like a verdict
                message = f"Fault of the suite: {form}: {type(error).__name__}: {error}"
                err.print(printable(message, 400), style="bold white on red", soft_wrap=True)
                ends = Exit.OURS
                continue
            if path is None:
                order(text)
                continue
            try:
                write_named(path, text)
                err.print(f"Report as {form}: {path}", soft_wrap=True)
            except OSError as error:
                err.print(f"{path} was not written: {error.strerror}.", style="bold red", soft_wrap=True)
                ends = ends or Exit.USAGE
        return ends


def add_report_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options about forms of reports to a command, which receives them as ``report_forms``."""

    @wraps(function)
    def wrapper(annotations: bool, **rest: Any) -> None:
        files = {form: path for form in FORMS if (path := rest.pop(form)) is not None}
        function(report_forms=ReportForms(files, annotations), **rest)

    help_text = "Print errors and warnings as annotations of GitHub Actions."
    decorated = click.option("--annotations", is_flag=True, help=help_text)(wrapper)
    for form, what in reversed(FORMS.items()):
        decorated = click.option(f"--{form}", form, type=OUTPUT_FILE, metavar="FILE", help=what)(decorated)
    return decorated


_EPILOG = """
\b
Examples:
  sds-conformance report out
  sds-conformance report out --open
  sds-conformance report out --html out/index.html --junit out/junit.xml
  sds-conformance report out --markdown out/summary.md --badge out/badge.svg
"""


@click.command("report", epilog=_EPILOG)
@click.argument("folder", metavar="DIR", type=INPUT)
@add_report_options
@click.option(
    "--open",
    "shown",
    is_flag=True,
    help="Show the HTML page in the browser: --html FILE, or else DIR/report.html.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@STORY_OPTIONS
def report_command(
    folder: Path, report_forms: ReportForms, shown: bool, as_json: bool, quiet: bool, stories: int | None
) -> None:
    """Show a report, or convert it to another format.

    DIR is the folder that `run --report DIR` wrote. The command prints what `run` printed: for each root cause the
    rule, what was expected and what was seen.
    """
    err = console(stderr=True)
    if shown and "html" not in report_forms.files:
        report_forms.files["html"] = _page_in(folder)
    require_folders(*report_forms.files.values())
    with usage_errors():
        report = with_limits(read_report(folder))
    if report.cut_off:
        text = f"the report in {folder} was cut off {report.cut_off}: later results are missing."
        err.print(text, style="bold yellow", soft_wrap=True)
    ends = report_forms.write(err, report)
    if shown and ends is None:
        show_page(err, report_forms.files["html"])
    if as_json:
        print_json(report.data)
    elif quiet:
        show_last_screen(console(), last_screen(report, program()))
    elif not report_forms:
        out = console()
        show_tested(out, report)
        show_report(out, report, program(), stories)
        if report.limits is not None:
            print_labelled(out, "Limits", summary_of_limits(report.limits["rows"]))
    if ends is not None:
        sys.exit(ends)


def _page_in(folder: Path) -> Path:
    """Return the path of a report's page: in the folder of the report, or next to its file. Raises UsageError if the
    page is a symbolic link.
    """
    file = folder / "report.html" if folder.is_dir() else folder.with_suffix(".html")
    refuse_link(file)
    return file
