"""``sds-conformance interop``."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Mapping

import click
from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from sds_harness.declaration import printable
from sds_harness.link import Limits, StdioLink
from sds_reference.testee.framing import Framing

from ..exploration.casts import Cast, Implementation
from ..exploration.interop import Interop, explore
from ..exploration.interop_story import InteropStory
from ..runner import BrokenRun
from ..story import show_breakdown
from .options import console, program, talking

_LONGEST_NAME = 16
_EXAMPLE = """'ref=python -m sds_reference' 'mine=./my-adapter'"""

_EPILOG = f"""
\b
Examples:
  sds-conformance interop {_EXAMPLE}
  sds-conformance interop --json 'a=./adapter-a' 'b=./adapter-b'
  sds-conformance interop 'js=node adapter.mjs' 'b=./b' 'c=./c'

\b
Exit codes:
  0  all is understood            3  an implementation could not be driven
  1  something is not             4  nothing got through
  2  wrong use of this command    130  interrupted
"""


# What looks like an option is mostly part of a COMMAND that was not quoted: that is said below.
@click.command(epilog=_EPILOG, context_settings={"ignore_unknown_options": True})
@click.argument("named", nargs=-1, type=click.UNPROCESSED, metavar="NAME=COMMAND NAME=COMMAND...")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
@talking
def interop(named: tuple[str, ...], as_json: bool, framing: Framing, limits: Limits) -> None:
    """See what implementations understand of each other.

    Each COMMAND starts one, and is quoted as a whole; NAME is what it is called here. Every two of them play short
    schedules, in which messages of one really go to the other, and two of a kind do, too. The matrix says what came
    of it: rows send, columns receive.
    """
    commands = _commands(named)
    out, err = console(), console(stderr=True)
    cast = Cast(_implementation(name, command, framing, limits) for name, command in commands.items())
    started = time.monotonic()
    with cast:
        outcome = _explore(err, cast)
    for name, breakdown in outcome.undriven.items():
        err.print(name, style="bold")
        show_breakdown(err, BrokenRun("handshake", 0, "", breakdown))
    if as_json:
        data = outcome.to_json()
        for row in data["implementations"]:
            row["command"] = [printable(part, 1_000) for part in commands[row["name"]]]
        click.echo(json.dumps(data, ensure_ascii=False, indent=2))
    else:
        InteropStory(out, outcome).show(time.monotonic() - started)
    sys.exit(outcome.exit_code)


def _implementation(name: str, command: tuple[str, ...], framing: Framing, limits: Limits) -> Implementation:
    def connect(variables: Mapping[str, str]) -> StdioLink:
        return StdioLink(command, framing, limits, variables)

    return Implementation(name, connect, limits)


def _commands(named: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The commands by name, as typed. Raises UsageError, which says what to type."""
    commands: dict[str, tuple[str, ...]] = {}
    for one in named:
        name, equals, command = one.partition("=")
        name = name.strip()
        shown = printable(one, 60)
        if one.startswith("-") or not equals:
            raise click.UsageError(
                f"{shown!r} is neither an option nor NAME=COMMAND. A COMMAND of several words is quoted with its NAME: "
                f"{_EXAMPLE}"
            )
        if not name or not name.isprintable() or cell_len(name) > _LONGEST_NAME:
            raise click.UsageError(f"{shown!r} needs a NAME of 1 to {_LONGEST_NAME} printable characters before '='")
        if name in commands:
            raise click.UsageError(f"the name {name!r} stands for two implementations: give each its own")
        try:
            parts = tuple(shlex.split(command))
        except ValueError as error:
            raise click.UsageError(f"the COMMAND of {name!r} cannot be split into words: {error}") from None
        if not parts:
            raise click.UsageError(f"{name!r} has no COMMAND after '='")
        commands[name] = parts
    if len(commands) < 2:
        given = next((shlex.quote(printable(one, 200)) for one in named), "'mine=./my-adapter'")
        example = f"{program()} interop {given} 'ref=python -m sds_reference'"
        raise click.UsageError(f"two implementations or more are needed. With the bundled reference: {example}")
    return commands


def _explore(err: Console, cast: Cast) -> Interop:
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=err,
        transient=True,
        # A bar needs escape codes: a terminal that is to see none sees no bar.
        disable=not err.is_terminal or err.color_system is None,
    )
    with bar:
        task = bar.add_task("starting", total=None)

        def progress(what: str, number: int, total: int) -> None:
            bar.update(task, description=f"{what[:40]:<40}", completed=number, total=total)

        return explore(cast, progress)
