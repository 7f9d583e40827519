"""Options that had another name once: whoever types the old one is told the new one."""

from __future__ import annotations

import click

_RENAMED = {"--examples": "--schedules", "--save": "--out", "--time-budget": "--budget"}
"""The new names of options by the old ones."""


def with_new_name(error: click.NoSuchOption) -> click.NoSuchOption:
    """The same error; for an old name of an option of that command, its message names the new one."""
    new = _RENAMED.get(error.option_name)
    context = error.ctx
    if new and context is not None and any(new in parameter.opts for parameter in context.command.params):
        question = f"No such option {error.option_name!r}. Did you mean {new!r}?"
        return click.NoSuchOption(error.option_name, question, ctx=context)
    return error
