"""``sds-conformance explain``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NoReturn

import click
from rich.console import Console
from rich.text import Text

from sds_harness.declaration import printable
from sds_harness.files import FileError
from sds_harness.suggestions import did_you_mean
from sds_harness.transcript.reader import NotATranscriptError, parts, remarks

from ..judging.exits import Exit
from ..judging.formats import format_count
from ..presentation.dialogue import Dialogue, DialogueSelection
from .name_types import Pattern, names_of
from .options import console, full_id
from .paths import INPUT_FILE

_EPILOG = """
\b
Examples:
  sds-conformance explain talk.jsonl
  sds-conformance explain --requirement SDS-RECV-06 talk.jsonl
  sds-conformance explain --participant alice --channel c1 talk.jsonl

FILE is written by the option --transcript of run, smoke, fuzz, replay, limits,
exhaust, interop and vectors run. The exit code is 1 if lines are unreadable;
all other lines are shown.
"""
_COMPLAINTS = 5
_NAMES = 20


@click.command("explain", epilog=_EPILOG)
@click.argument("file", type=INPUT_FILE)
@click.option("--participant", default="", metavar="NAME", help="Show only the steps of this participant.")
@click.option("--channel", default="", metavar="NAME", help="Show only the steps in this channel.")
@click.option(
    "--requirement",
    default="",
    type=Pattern("requirements"),
    metavar="GLOB",
    help="Show only the steps behind findings of this requirement; if it has none, show some runs that judged it.",
)
def explain_command(file: Path, participant: str, channel: str, requirement: str) -> None:
    """Show a transcript as a readable dialogue.

    Messages are decoded. Times count from T, the start of virtual time. The steps behind findings are marked.
    """
    out, err = console(), console(stderr=True)
    # ``full_id`` adds the prefix of requirements. Names of breakdowns have no prefix, so the typed word is a pattern as
    # well.
    globs = (requirement.upper(), full_id(requirement)) if requirement else ()
    complaints: list[str] = []
    try:
        selection = DialogueSelection.from_remarks(remarks(file), participant, channel, globs)
        for requirement_id, verdict in selection.verdicts:
            out.print(Text.assemble((requirement_id, "bold"), f"  {verdict}"))
        if selection.verdicts:
            out.print()
        dialogue = Dialogue(out, selection)
        for part in parts(file, lambda line, what: complaints.append(f"line {line}: {what}")):
            dialogue.show(part)
    except NotATranscriptError as error:
        raise click.UsageError(
            f"{file} is not a transcript: {error}. `sds-conformance run --transcript FILE -- COMMAND` writes one."
        ) from None
    except FileError as error:
        raise click.UsageError(f"{file} {error}") from None
    for complaint in complaints[:_COMPLAINTS]:
        err.print(f"Not read: {printable(complaint)}", style="yellow", soft_wrap=True)
    if len(complaints) > _COMPLAINTS:
        err.print(f"Not read: {format_count(len(complaints) - _COMPLAINTS, 'other line')}", style="yellow")
    if not dialogue.shown:
        _report_no_match(err, dialogue, selection)
    if dialogue.shown < dialogue.parts:
        out.print(Text(f"{dialogue.shown} of {format_count(dialogue.parts, 'part')} of the transcript shown.", "dim"))
    sys.exit(Exit.NON_CONFORMANT if complaints else Exit.CONFORMANT)


def _report_no_match(err: Console, dialogue: Dialogue, selection: DialogueSelection) -> NoReturn:
    """End the command. Print why nothing matches, and the possible choices."""
    if not dialogue.parts:
        err.print("The transcript contains no messages.", style="yellow")
    elif selection.findings and not (selection.participant or selection.channel):
        err.print(
            "The transcript lacks the steps behind the findings, or the lines of these steps could not be read.",
            style="yellow",
        )
    elif selection.globs and not (selection.findings or selection.runs):
        err.print(
            f"Nothing was found against {printable(selection.globs[-1])}, and no run in the transcript judged it."
            f"{did_you_mean(selection.globs[-1], names_of('requirements'))}"
        )
    else:
        requested = (
            (selection.participant, "participant", dialogue.participants),
            (selection.channel, "channel", dialogue.channels),
        )
        for name, what, known in (one for one in requested if one[0]):
            names = ", ".join(printable(one, 40) for one in [*known][:_NAMES])
            only = f", only {names}" if names else ""
            err.print(f"The transcript has no {what} {printable(name, 40)!r}{only}.")
    sys.exit(Exit.NOTHING_EXERCISED)
