"""Completion in bash, zsh and fish.

The shell sets ``_SDS_CONFORMANCE_COMPLETE`` and starts the program: once to get a script, then for each word that the
user completes. Click makes the scripts and finds the words. The output of Click is written without the removal of
control characters (``output_filter``), because a shell reads the output.
"""

from __future__ import annotations

from contextlib import suppress

import click
from click.shell_completion import get_completion_class

from ..judging.exits import Exit
from .output_filter import order

VARIABLE = "_SDS_CONFORMANCE_COMPLETE"
_PROGRAM = "sds-conformance"
SHELLS = ("bash", "zsh", "fish")


def complete(command: click.Command, wanted: str) -> Exit:
    """Print the script or the completions that a shell requests, such as ``bash_source``.

    A completion never fails: a message or a traceback would appear in the line that the user is typing.
    """
    shell, _, what = wanted.partition("_")
    found = get_completion_class(shell)
    if found is None or what not in ("source", "complete"):
        shells = ", ".join(f"{name}_source" for name in SHELLS)
        click.echo(f"{VARIABLE}={wanted} is unknown. Use one of {shells}.", err=True)
        return Exit.USAGE
    # Use the name of the program even if it was started as a module, because a shell completes commands by their names.
    completion = found(command, {}, _PROGRAM, VARIABLE)
    if what == "source":
        order(completion.source())
        return Exit.CONFORMANT
    found_words = ""
    with suppress(Exception):
        found_words = completion.complete()
    order(found_words + "\n")
    return Exit.CONFORMANT
