"""Groups of commands, each of which is imported when it is invoked: what there is can be told without importing any."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from sds_harness.docstrings import docstring

from ..judging.garbage import garbage_waits


class Later(click.Command):
    """Stands for the command ``{name}_command`` of the module ``name`` of a package until it is invoked.

    Where the name has a hyphen, that of the module has an underscore.
    """

    def __init__(self, package: str, name: str, said: str) -> None:
        """``said`` is the first sentence of its help."""
        super().__init__(name, help=said)
        self._place = package, name

    @property
    def command(self) -> click.Command:
        """The command itself."""
        package, name = self._place
        module = name.replace("-", "_")
        # What is imported stays: to look for garbage among it takes a tenth of the time.
        try:
            with garbage_waits():
                found: click.Command = getattr(import_module(f"{package}.{module}"), f"{module}_command")
        except SystemExit as end:  # raised by some other module of the name of one that is needed
            raise ImportError(f"an imported module ended the program: {end}") from end
        _explain(found)
        return found

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        return self.command.make_context(info_name, args, parent, **extra)


class Commands(click.Group):
    """The commands of a package, in the order in which they are given."""

    def __init__(self, name: str | None, *, package: str, said: Mapping[str, str], **more: Any) -> None:
        """``said`` are the commands, with the first sentence of the help of each."""
        super().__init__(name, [Later(package, *command) for command in said.items()], **more)
        _explain(self)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


def _explain(command: click.Command) -> None:
    """Give a command, and those in it, the help that click did not find where Python drops docstrings."""
    if command.help is None and command.callback is not None:
        command.help = docstring(command.callback) or None
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        _explain(inner)
