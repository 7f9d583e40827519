"""Former names of options. Old names still work, and a line on stderr gives the new name."""

from __future__ import annotations

from collections.abc import Sequence

import click

_RENAMED = {"--examples": "--schedules", "--save": "--out", "--time-budget": "--budget"}


def with_new_names(command: click.Command, words: Sequence[str]) -> list[str]:
    """Replace old names of this command's options in its arguments, up to ``--``. Print the new names on stderr."""
    known = {name for parameter in command.params for name in parameter.opts}
    out = list(words)
    end = out.index("--") if "--" in out else len(out)
    for place, word in enumerate(out[:end]):
        old, equals, value = word.partition("=")
        new = _RENAMED.get(old)
        if new in known and old not in known:
            click.echo(f"{old} is now called {new}: did you mean {new}?", err=True)
            out[place] = f"{new}{equals}{value}"
    return out
