"""``--baseline``: a command does not fail for failures that a file lists, but fails for errors in this file."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from sds_harness.declaration import printable
from sds_harness.faults import FaultKind

from ..exploration.assessment import ENDLESS, STORM
from ..judging.exits import Exit
from ..judging.formats import format_count
from ..judging.verdict import full_code
from ..presentation.story import print_hanging, show_command
from ..protocols import protocols, repertoires
from ..reports.baseline import (
    BREAKDOWN,
    Baseline,
    BaselineEntry,
    BaselineError,
    FlakyOutcome,
    JudgedResult,
    Match,
    load,
    match,
)
from ..scenario_files.reader import SUFFIXES
from .files import usage_errors
from .options import program
from .paths import INPUT_FILE

BASELINE = click.option(
    "--baseline",
    "baseline_file",
    type=INPUT_FILE,
    metavar="FILE",
    help="Fail only for failures that FILE does not list, or if FILE is out of date; `baseline write` creates it.",
)
MOST_SHOWN = 12
"""Maximum number of items that are printed of each kind: failures, errors in the file, flaky entries."""


def load_baseline(path: Path | None, revision: str) -> Baseline | None:
    """Read the baseline, before anything is played. Raises UsageError."""
    if path is None:
        return None
    with usage_errors(BaselineError):
        baseline = load(path)
    if mismatch := baseline.mismatch(revision):
        raise click.UsageError(f"{mismatch}: name the file of that revision, or another --revision")
    return baseline


def match_baseline(baseline: Baseline, judged: JudgedResult) -> Match:
    """Compare a baseline with the results of a command, and return the matches and the differences."""
    codes: dict[str, Collection[str]] = {BREAKDOWN: [kind.value for kind in FaultKind], STORM: [ENDLESS]}
    codes |= {row.id: row.codes for p in protocols() for row in p.rules.catalogue.requirements.values()}
    codes |= {one.id: one.codes for repertoire in repertoires() for one in repertoire.properties.values()}
    scenarios = {name for p in protocols() for name in p.rules.register.scenarios}
    # The baseline may list scenario files that are not played in this command.
    listed = {name for entry in baseline.entries for name in entry.scenarios if name.lower().endswith(SUFFIXES)}
    return match(baseline, judged, codes, scenarios | listed)


def gate(found: Match | None, code: int) -> int:
    """Return the exit code of a command with a baseline. ``code`` is its exit code without the baseline."""
    if found is None or code not in (Exit.CONFORMANT, Exit.NON_CONFORMANT):
        return code
    if found.new or found.complaints:
        return Exit.NON_CONFORMANT
    return Exit.OURS if found.judged.errors else Exit.CONFORMANT


def baseline_json(found: Match) -> dict[str, Any]:
    """Return the baseline and its match as JSON, for a report."""
    explained = found.codes_by_known_cause
    return {
        "file": found.baseline.printable_path,
        "known": [_entry_json(entry) for entry in dict.fromkeys(entry for _, entry in found.known)],
        "flaky": [{**_entry_json(entry), "outcome": outcome.value} for entry, outcome in found.flaky],
        "new": [
            {
                "requirement": printable(failure.what),
                "code": printable(failure.full_code, 200),
                "scenarios": [printable(scenario) for scenario in failure.scenarios],
                "under": printable(explained.get(failure.full_code, "")),
            }
            for failure in found.new
        ],
        "complaints": [
            {
                "line": complaint.line,
                "requirement": printable(complaint.what),
                "what": printable(complaint.says, 600),
                "change": printable(complaint.change),
            }
            for complaint in found.complaints
        ],
    }


def _entry_json(entry: BaselineEntry) -> dict[str, Any]:
    return {
        "requirement": printable(entry.what),
        "codes": [printable(full_code(entry.what, code), 200) for code in entry.codes],
        "scenario": ", ".join(map(printable, entry.scenarios)),
        "reason": printable(entry.reason, 400),
        "link": printable(entry.link, 400),
        "line": entry.first,
        "flaky": entry.flaky,
    }


def show_gate(console: Console, found: Match, name: str, *, report: Path | None = None) -> None:
    """Print new failures, errors in the file, and flaky entries.

    The first line says why the command failed: a new failure, a new failure under a known root cause, or an error in
    the file.
    """
    shown, explained = found.baseline.printable_path, found.codes_by_known_cause
    new = [code for code in dict.fromkeys(failure.full_code for failure in found.new) if code not in explained]
    if new:
        head = f"New in {name}: {format_count(len(new), 'failure')} that {shown} does not list: {_first(new)}"
        print_hanging(console, Text(""), Text(f"{head}.", "bold red"))
    for code, cause in list(explained.items())[:MOST_SHOWN]:
        text = f"{printable(code)} is new under the known root cause {printable(cause)}; {shown} does not list it."
        print_hanging(console, Text(""), Text(text, "bold red"))
    if len(explained) > MOST_SHOWN:
        more = format_count(len(explained) - MOST_SHOWN, "more failure")
        console.print(Text(f"{more} under known root causes, which {shown} does not list.", "bold red"))
    if found.complaints and not found.new:
        wrong = format_count(len(found.complaints), "entry", "entries")
        head = f"The baseline {shown} is out of date ({name} has no new failure): {wrong} must be changed."
        print_hanging(console, Text(""), Text(head, "bold red"))
    show_complaints(console, found)
    if found.complaints or explained:
        source = str(report) if report is not None else "REPORT"
        again = shlex.join([program(), "baseline", "update", shown, source])
        show_command(console, "Or" if found.complaints else "Add", again)
    if any(complaint.says == "passes" for complaint in found.complaints):
        console.print(Text("If a failure does not occur every time, add flaky: true to its entry instead.", "dim"))
    if found.new or found.complaints:
        console.print()
    _show_flaky(console, found)
    if found.unseen:
        listed = format_count(found.unseen, "listed failure")
        console.print(Text(f"The run was too small to judge {listed} that did not occur.\n", "dim"))


def show_complaints(console: Console, found: Match) -> None:
    """Print the errors in the file, each with its line and the change that corrects it."""
    shown = found.baseline.printable_path
    for complaint in found.complaints[:MOST_SHOWN]:
        before = Text(f"  {shown}:{complaint.line}  ", "dim")
        line = Text.assemble((f"{printable(complaint.what)} ", "bold"), f"{printable(complaint.says, 400)}: ")
        print_hanging(console, before, Text.assemble(line, (complaint.change, "blue")))
    if len(found.complaints) > MOST_SHOWN:
        console.print(Text(f"  and {format_count(len(found.complaints) - MOST_SHOWN, 'more error')}", "dim"))


def _show_flaky(console: Console, found: Match) -> None:
    """Print the flaky entries with their outcomes, failures first."""
    rows = sorted(found.flaky, key=lambda row: row[1] is not FlakyOutcome.FAILED)
    for entry, outcome in rows[:MOST_SHOWN]:
        before = Text(f"  {found.baseline.printable_path}:{entry.first}  ", "dim")
        line = Text.assemble((f"{printable(entry.what)} ", "bold"), (outcome.phrase, "yellow"))
        print_hanging(console, before, Text.assemble(line, f": {printable(entry.reason, 400)}"))
    if len(rows) > MOST_SHOWN:
        console.print(
            Text(f"  and {format_count(len(rows) - MOST_SHOWN, 'more flaky entry', 'more flaky entries')}", "dim")
        )
    if rows:
        console.print()


def _first(items: list[str]) -> str:
    """Join the first items, and add the number of the remaining ones."""
    more = f" and {len(items) - MOST_SHOWN} more" if len(items) > MOST_SHOWN else ""
    return ", ".join(map(printable, items[:MOST_SHOWN])) + more


def known_line(found: Match) -> Text:
    """Return how many of the failures are known, in one sentence."""
    number = len(found.requirements)
    all_of = "All failures are" if not found.new else f"{number} of the failures {'is' if number == 1 else 'are'}"
    flaky = sum(outcome is FlakyOutcome.FAILED for _, outcome in found.flaky)
    marked = f", {flaky} of them flaky" if flaky else ""
    return Text(f"{all_of} known{marked}: {found.baseline.printable_path}.")
