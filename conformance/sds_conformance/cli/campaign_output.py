"""Output that commands share: the played schedules, progress, and reasons to stop."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress
from rich.text import Text

from sds_harness.faults import TesteeError
from sds_harness.schedules import GroupTrace

from ..drawing.proof import story
from ..exploration.casts import RevisionMismatchError
from ..exploration.counterexample import Counterexample
from ..exploration.text import proof_of, story_of
from ..judging.exits import Exit
from ..judging.runner import BrokenRun
from ..presentation.story import lines_labelled, print_labelled, print_stderr, show_breakdown
from ..scenario_files.reader import LoadedScenario, ScenarioFileError, load_one
from .options import DrivenImplementation, progress_bar
from .output_filter import shown_json


def print_json(data: object, encode: Callable[[Any], object] | None = None) -> None:
    """Print the result as JSON on stdout. ``encode`` converts values that JSON cannot represent."""
    click.echo(shown_json(data, getattr(sys.stdout, "encoding", None) or "utf-8", default=encode))


class StepsBar:
    """Progress bar that shows the name of the current step, cut to ``chars`` characters, or whole if ``chars`` is 0."""

    def __init__(self, bar: Progress, chars: int) -> None:
        self._bar, self._chars = bar, chars
        self._task = bar.add_task("starting", total=None)
        self._failed = ""

    def __call__(self, what: str, number: int, total: int) -> None:
        """Show the current activity, its number and the total."""
        text = f"{what[: self._chars or None]:<{self._chars}}{self._failed}"
        self._bar.update(self._task, description=text, completed=number, total=total)

    def set_failing(self, number: int) -> None:
        """Set the number of failing requirements. It is shown from the next step on."""
        self._failed = f" {number} failed" if number else ""


@contextmanager
def steps_bar(err: Console, chars: int = 0, width: int = 40) -> Iterator[StepsBar]:
    """Show a progress bar of at most ``width`` columns. The yielded `StepsBar` cuts the names of steps to ``chars``
    characters, unless ``chars`` is 0.
    """
    with progress_bar(err, width) as bar:
        yield StepsBar(bar, chars)


@contextmanager
def found_bar(err: Console, what: str, total: int, width: int = 40) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar over ``total`` items; ``what`` is their noun, such as "schedules". Call the yielded function
    with the number of finished items and the number of findings.
    """
    with progress_bar(err, width) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done, found: bar.update(
            task, completed=done, description=f"{what}, {found} found" if found else what
        )


@contextmanager
def shrinking_bar(err: Console, what: str, done: int, total: int, width: int = 40) -> Iterator[None]:
    """Show a progress bar with the finding (``what``) that is shrunk now, after ``done`` of ``total`` findings."""
    with progress_bar(err, width) as bar:
        bar.add_task(f"shrinking {what}", total=total, completed=done)
        yield


class Plays:
    """Prints the number of schedules and the expected duration, which is estimated from the first two seconds."""

    def __init__(self, out: Console) -> None:
        self._out = out
        self._title = ""
        self._since: tuple[int, float] | None = None
        """The number of items and the time when the first items were finished. The estimate does not use the time
        before, because processes were still starting.
        """

    def begin(self, title: str) -> None:
        """Begin to measure. ``title`` is the text to print, such as the number and the kind of the schedules."""
        self._title = title

    def __call__(self, done: int, total: int) -> None:
        """Report how many schedules are finished."""
        if not (self._title and done):
            return
        now = time.monotonic()
        before, then = self._since = self._since or (done, now)
        if done > before and now - then >= FORECAST_AFTER_S:
            self._print(f"{self._title}, for about {span(total * (now - then) / (done - before))}")

    def end(self) -> None:
        """Finish. Print the number of schedules if it was not printed yet."""
        if self._title:
            self._print(self._title)

    def _print(self, text: str) -> None:
        print_labelled(self._out, "Plays", Text(text))
        self._out.print()
        self._title = ""


FORECAST_AFTER_S = 2.0


def span(seconds: float) -> str:
    """Format a duration: "90 s", "12 min"."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


@contextmanager
def driven_or_ended(err: Console, driven: DrivenImplementation) -> Iterator[None]:
    """If the implementation does not complete the handshake, print the breakdown and end the command with exit code 3.

    Raises UsageError if the implementation declares another revision than the references that play the other
    participants.
    """
    driven.begin()
    try:
        yield
    except RevisionMismatchError as error:
        raise click.UsageError(
            f"the implementation {error}, which the references in its group speak: type --revision "
            f"{error.spoken[0]}, or declare the revisions in its handshake"
        ) from None
    except TesteeError as fault:
        show_breakdown(err, BrokenRun.at_last_step("handshake", fault.breakdown))
        text = f"{driven.command_line} could not be tested: it did not complete the handshake."
        err.print(text, style="bold red", soft_wrap=True)
        sys.exit(Exit.NOT_DRIVEN)


def print_not_played(err: Console, reason: Exception) -> int:
    """Print why a schedule was not played, and return the exit code."""
    err.print(f"Not played: {reason}.", style="bold red", soft_wrap=True)
    return Exit.NOT_DRIVEN


def scenario_in(file: Path) -> LoadedScenario:
    """Read the schedule in a file, with its expectations. Raises UsageError if there is none."""
    try:
        return load_one(file)
    except ScenarioFileError as error:
        raise click.UsageError(str(error)) from None


def print_unwritable_folder(err: Console, folder: Path, error: OSError) -> str:
    """Print that a folder cannot be written, with advice."""
    text = f"Nothing can be written to {folder}: {error.strerror}. Name another DIR with --out."
    err.print(text, style="red")
    return text


def show_played(out: Console, group_trace: GroupTrace, example: Counterexample | None) -> None:
    """Print the story of one schedule, marked with the finding of ``example`` if given, and the operations left out."""
    lines_labelled(out, "Story", story(group_trace) if example is None else story_of(example))
    for index, reason in group_trace.left_out.items():
        what = group_trace.schedule.operations[index].op if index >= 0 else "opening"
        print_labelled(out, "Left out", Text(f"{what}: {reason}", "yellow"))
    out.print()


def show_proof(out: Console, example: Counterexample) -> None:
    """Print the proof of a finding, and the lines of stderr that belong to it."""
    lines_labelled(out, "Proof", proof_of(example))
    print_stderr(out, example.finding.stderr_lines)
    out.print()


def group_trace_json(group_trace: GroupTrace, findings: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return a group trace and its findings, as JSON."""
    return {
        "steps": group_trace.steps,
        "left_out": {str(index): reason for index, reason in group_trace.left_out.items()},
        "findings": list(findings),
    }


def unshrunk_json(example: Counterexample) -> dict[str, Any]:
    """Return the finding of a schedule that was played once, with its proof, as JSON."""
    finding = example.finding
    return {
        "id": example.what,
        "severity": finding.severity.value,
        "code": finding.full_code,
        "participant": finding.participant,
        "expected": example.expected,
        "seen": example.seen,
        "proof": proof_of(example),
    }
