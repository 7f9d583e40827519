"""Output that commands share: the played schedules, progress, and reasons to stop."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from sds_harness.faults import TesteeError
from sds_harness.schedules import GroupTrace

from ..drawing.proof import story
from ..exploration.casts import RevisionMismatchError
from ..exploration.counterexample import Counterexample
from ..exploration.text import proof_of, story_of
from ..judging.exits import Exit
from ..judging.rules import UnknownDialectError
from ..judging.runner import BrokenRun
from ..presentation.story import lines_labelled, print_labelled, print_stderr, show_breakdown
from ..scenario_files.reader import LoadedScenario, ScenarioFileError, load_one
from .driving import DrivenImplementation
from .files import usage_errors
from .output_filter import shown_json


def print_json(data: object, encode: Callable[[Any], object] | None = None) -> None:
    """Print the result as JSON on stdout. ``encode`` converts values that JSON cannot represent."""
    click.echo(shown_json(data, getattr(sys.stdout, "encoding", None) or "utf-8", default=encode))


@contextmanager
def driven_or_ended(err: Console, driven: DrivenImplementation) -> Iterator[None]:
    """If the implementation does not complete the handshake, or declares an unknown dialect, print why and end the
    command with exit code 3.

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
    except UnknownDialectError as error:
        err.print(str(error), style="bold red", soft_wrap=True)
        sys.exit(Exit.NOT_DRIVEN)
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
    with usage_errors(ScenarioFileError):
        return load_one(file)


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
