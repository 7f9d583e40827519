"""Groups of commands: format their help, and import each command only when it is invoked."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

import click

from sds_harness.docstrings import docstring

from ..judging.garbage import garbage_collection_paused
from . import configuration
from .option_names import with_new_names


class LazyCommand(click.Command):
    """Placeholder for the command ``{name}_command`` in the module ``name`` of a package until it is invoked.

    The module has an underscore for each hyphen in the name, and an underscore at the end if Python has a builtin of
    this name.
    """

    def __init__(self, package: str, name: str, summary: str) -> None:
        """``summary`` is the first sentence of the command's help."""
        super().__init__(name, help=summary)
        self._place = package, name

    @property
    def command(self) -> click.Command:
        """The command, which is imported at the first access."""
        package, name = self._place
        module = name.replace("-", "_") + ("_" if hasattr(builtins, name) else "")
        # Imported modules are never freed. Garbage collections would take a tenth of the time of the import.
        try:
            with garbage_collection_paused():
                found: click.Command = getattr(
                    import_module(f"{package}.{module}"), f"{name.replace('-', '_')}_command"
                )
        except SystemExit as end:  # raised by an unrelated module that has the name of a needed module
            raise ImportError(f"an imported module ended the program: {end}") from end
        _prepare(found)
        return found

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        command = self.command
        return command.make_context(info_name, with_new_names(command, args), parent, **extra)


_UNBROKEN_HYPHEN = "\N{NON-BREAKING HYPHEN}"
_WHOLE = 1_000
"""Maximum width of a summary in the help, in characters. Larger than any summary, so that none is shortened."""


class _Formatter(click.HelpFormatter):
    """Help formatter that breaks lines at spaces only, so that names such as `sds-conformance` are not broken."""

    def write_text(self, text: str) -> None:
        super().write_text(text.replace("-", _UNBROKEN_HYPHEN))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        super().write_dl([(term, text.replace("-", _UNBROKEN_HYPHEN)) for term, text in rows], col_max, col_spacing)

    def write(self, string: str) -> None:
        super().write(string.replace(_UNBROKEN_HYPHEN, "-"))


class _Context(click.Context):
    formatter_class = _Formatter

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        configuration.apply_defaults(self)


class HelpGroup(click.Group):
    """A group whose help shows the whole summary of each command, in the order of definition."""

    sections: Mapping[str, Iterable[str]] = {}
    """Maps the headings of the help to their commands. If it is empty, the heading of all commands is "Commands"."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands of all sections, aligned, with their complete summaries."""
        width = max(map(len, self.commands), default=0)
        for heading, names in (self.sections or {"Commands": self.commands}).items():
            with formatter.section(heading):
                formatter.write_dl(
                    [(name.ljust(width), self.commands[name].get_short_help_str(_WHOLE)) for name in names]
                )


class Commands(HelpGroup):
    """The commands of a package, which are imported when they are invoked."""

    def __init__(self, name: str | None, *, package: str, sections: Mapping[str, Mapping[str, str]], **more: Any):
        """``sections`` maps each heading of the help to its commands: the name of a command to the first sentence of
        its help.
        """
        commands = [LazyCommand(package, *command) for section in sections.values() for command in section.items()]
        super().__init__(name, commands, **more)
        self.sections = sections
        _prepare(self)


def _prepare(command: click.Command) -> None:
    """Format the help of a command and its subcommands. The help is set explicitly, because Python may drop
    docstrings.
    """
    command.context_class = _Context
    if command.help is None and command.callback is not None:
        command.help = docstring(command.callback) or None
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        _prepare(inner)
