"""``sds-conformance report``, and the options that write a report in other forms. ``run`` has these options as well."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
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


@dataclass(frozen=True)
class Form:
    """A form of a report: its option, and the function that renders it."""

    name: str
    help: str

    def render(self, report: Report) -> str:
        """Return the content of the file."""
        maker: Callable[[Report], str] = getattr(import_module(f"...reports.{self.name}", __name__), self.name)
        return maker(report)


HTML = Form("html", "Write a self-contained HTML page with every finding to FILE.")
FORMS = (
    HTML,
    Form("junit", "Write JUnit XML to FILE, for the test report of a CI."),
    Form("markdown", "Write a Markdown summary to FILE, for the page of a CI job."),
    Form("badge", "Write an SVG badge to FILE."),
    Form("sarif", "Write SARIF to FILE, for code scanning."),
)


@dataclass(frozen=True)
class ReportForms:
    """The forms to write, with their files."""

    files: dict[Form, Path] = field(default_factory=dict)
    annotations: bool = False

    def __bool__(self) -> bool:
        return bool(self.files) or self.annotations

    @property
    def page(self) -> Path | None:
        """The file for the HTML page; None if no page is written."""
        return self.files.get(HTML)

    def with_page(self, file: Path) -> ReportForms:
        """Return a copy that also writes the HTML page, to ``file``."""
        return replace(self, files={**self.files, HTML: file})

    def check(self) -> None:
        """Check, before a long run, that the folders of the files exist. Raises UsageError."""
        require_folders(*self.files.values())

    def write(self, err: Console, report: Report) -> Exit | None:
        """Write the files and print the annotations. Print a line for each file, also if it cannot be written. Return
        the exit code for the error; None if there was no error.
        """
        ends: Exit | None = None
        for form, path in [*self.files.items(), *([(Form("annotations", ""), None)] if self.annotations else [])]:
            try:
                text = form.render(report)
            except Exception as error:  # a fault of the suite must not look like a verdict
                message = f"Fault of the suite: {form.name}: {type(error).__name__}: {error}"
                err.print(printable(message, 400), style="bold white on red", soft_wrap=True)
                ends = Exit.OURS
                continue
            if path is None:
                order(text)
                continue
            try:
                write_named(path, text)
                err.print(f"Report as {form.name}: {path}", soft_wrap=True)
            except OSError as error:
                err.print(f"{path} was not written: {error.strerror}.", style="bold red", soft_wrap=True)
                ends = ends or Exit.USAGE
        return ends


def add_report_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options about forms of reports to a command, which receives them as ``report_forms``."""

    @wraps(function)
    def wrapper(annotations: bool, **rest: Any) -> None:
        files = {form: path for form in FORMS if (path := rest.pop(form.name)) is not None}
        function(report_forms=ReportForms(files, annotations), **rest)

    help_text = "Print errors and warnings as annotations of GitHub Actions."
    decorated = click.option("--annotations", is_flag=True, help=help_text)(wrapper)
    for form in reversed(FORMS):
        decorated = click.option(f"--{form.name}", form.name, type=OUTPUT_FILE, metavar="FILE", help=form.help)(
            decorated
        )
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
    if shown:
        report_forms = report_forms if report_forms.page is not None else report_forms.with_page(_page_in(folder))
    report_forms.check()
    with usage_errors():
        report = with_limits(read_report(folder))
    if report.cut_off:
        text = f"the report in {folder} was cut off {report.cut_off}: later results are missing."
        err.print(text, style="bold yellow", soft_wrap=True)
    ends = report_forms.write(err, report)
    if shown and report_forms.page is not None and ends is None:
        show_page(err, report_forms.page)
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
