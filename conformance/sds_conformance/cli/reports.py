"""Options that write reports in the forms that others read, for `run` at once and for `report` later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from sds_harness.declaration import printable
from sds_harness.files import write_named

from ..judging.exits import Exit
from ..reports.reading import Report
from .door import order
from .files import refuse_nowhere
from .paths import OUTPUT_FILE


@dataclass(frozen=True)
class Form:
    """A form of report: the option, and the function of that name in the module of that name."""

    name: str
    help: str

    def made(self, report: Report) -> str:
        """The text of the file."""
        maker: Callable[[Report], str] = getattr(import_module(f"...reports.{self.name}", __name__), self.name)
        return maker(report)


FORMS = (
    Form("html", "Write a self-contained HTML page with every finding to FILE."),
    Form("junit", "Write JUnit XML to FILE, for the test report of a CI."),
    Form("markdown", "Write a Markdown summary to FILE, for the page of a CI job."),
    Form("badge", "Write an SVG badge to FILE."),
    Form("sarif", "Write SARIF to FILE, for code scanning."),
)


@dataclass(frozen=True)
class Wanted:
    """What is to be written."""

    files: dict[Form, Path] = field(default_factory=dict)
    annotations: bool = False

    def __bool__(self) -> bool:
        return bool(self.files) or self.annotations

    def check(self) -> None:
        """Find out before a long run, not after it, that a file has no folder. Raises UsageError."""
        refuse_nowhere(*self.files.values())

    def write(self, err: Console, report: Report) -> Exit | None:
        """Write it; where something cannot be written, a line says so, and that is how the command ends."""
        ends: Exit | None = None
        for form, path in [*self.files.items(), *([(Form("annotations", ""), None)] if self.annotations else [])]:
            try:
                text = form.made(report)
            except Exception as error:  # a fault of ours must not pass for a verdict
                told = f"Our fault: {form.name}: {type(error).__name__}: {error}"
                err.print(printable(told, 400), style="bold white on red", soft_wrap=True)
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


def reporting(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options, and hand them over as ``wanted``."""

    @wraps(function)
    def collected(annotations: bool, **rest: Any) -> None:
        files = {form: path for form in FORMS if (path := rest.pop(form.name)) is not None}
        function(wanted=Wanted(files, annotations), **rest)

    told = "Print errors and warnings as annotations of GitHub Actions."
    decorated = click.option("--annotations", is_flag=True, help=told)(collected)
    for form in reversed(FORMS):
        decorated = click.option(f"--{form.name}", form.name, type=OUTPUT_FILE, metavar="FILE", help=form.help)(
            decorated
        )
    return decorated
