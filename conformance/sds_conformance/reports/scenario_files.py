"""The part of a report about scenario files: expectations that were not met, and requirements that were not exercised.

This module makes the sentences; each form of a report decides where it prints them. `fuzz`, `interop` and `replay` use
it for expectations only, because only `run` checks whether a scenario file exercises its requirements.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.text import Text

from sds_harness.declaration import printable

from ..judging.severity import BREAKDOWN_SEVERITY
from ..judging.verdict import Verdict
from ..presentation.last_screen import CauseLine
from ..presentation.story import headline, print_labelled, show_command
from .report import Row, unmet

SUITE = "scenario files"
"""Name of the JUnit test suite, and ID of the SARIF rule, for expectations that were not met."""
LONGEST = 600


def remarks(files: Iterable[Row]) -> Iterator[str]:
    """Yield a sentence for each requirement that its scenario file did not exercise, and for each file whose
    expectations were not checked.
    """
    for file in files:
        for row in file.get("requirements", ()):
            if not row["exercised"]:
                yield f"{file['file']} is for {row['id']} but does not exercise it: {row['why']}"
        unchecked = [row for row in file["expectations"] if row["verdict"] == "unchecked"]
        if unchecked:
            yield f"{file['file']}: its expectations were not checked: {unchecked[0]['seen']}"


def show_scenario_files(console: Console, files: Sequence[Row]) -> None:
    """Print the expectations that were not met, and the remarks."""
    for one in unmet(files):
        console.print(headline(Verdict.FAIL, "expectation", Text(printable(one.place, LONGEST))))
        if description := one.file["description"].partition("\n")[0]:
            print_labelled(console, "Summary", Text(printable(description, LONGEST)))
        print_labelled(console, "Expected", Text(printable(one.data["text"], LONGEST)))
        print_labelled(console, "Seen", Text(printable(one.data["seen"], LONGEST)))
        if one.file["again"]:
            show_command(console, "Again", one.file["again"])
        console.print()
    lines = [*remarks(files)]
    for sentence in lines:
        print_labelled(console, "Warning", Text(printable(sentence, LONGEST), "yellow"))
    if lines:
        console.print()


def cause_lines(files: Iterable[Row]) -> list[CauseLine]:
    """Return a line of the last screen for each expectation that was not met."""
    out = []
    for one in unmet(files):
        line = f", line {one.data['line']}" if one.data["line"] else ""
        text = printable(f"{one.file['scenario']}{line}: {one.data['text']}", LONGEST)
        out.append(CauseLine(Verdict.FAIL, BREAKDOWN_SEVERITY, "expectation", text))
    return out
