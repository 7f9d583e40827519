"""Detects that a user typed the command of an implementation without the `--` before it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import click

from .options import program


def with_dashes(error: click.UsageError, words: Sequence[str]) -> str:
    """Return the command line that the user probably meant, if the cause of the error is that an option of the
    implementation's command was parsed as an option of the suite. Otherwise return "". ``words`` are all words after
    the name of the program.
    """
    context = error.ctx
    if not isinstance(error, click.NoSuchOption | click.BadOptionUsage) or context is None or "--" in words:
        return ""
    if not any(isinstance(one, click.Argument) and one.name == "command" for one in context.command.params):
        return ""
    commands = len(context.command_path.split()) - 1
    named, given = words[:commands], words[commands:]
    for end in range(1, len(given) + 1):
        try:
            options, _, _ = context.command.make_parser(context).parse_args(list(given[:end]))
        except click.UsageError:
            continue  # an option whose value is the next word, or an unknown option
        found = options.get("command")  # click represents a missing value by an object whose truth value is True
        if isinstance(found, tuple | list) and found:
            return shlex.join([program(), *named, *given[: end - 1], "--", *given[end - 1 :]])
    return ""
