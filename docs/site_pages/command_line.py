"""Write a page for each command of the program, from its help texts and options."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click

from sds_conformance.cli import main
from sds_conformance.cli.command_groups import LazyCommand

from .markdown import code, code_block, page, prose, table

FOLDER = "reference/command-line"
PROGRAM = "sds-conformance"


def pages() -> Iterator[tuple[str, str]]:
    """The list of commands, and a page for each command of the program with its subcommands."""
    context = click.Context(main, info_name=PROGRAM)
    lines = [*_text(main.help or ""), "Every command exits with one of the [exit codes](../exit-codes.md).", ""]
    names: list[str] = []
    for title, commands in main.sections.items():
        rows = [(f"[{name}]({name}.md)", prose(main.commands[name].help or "")) for name in commands]
        names += commands
        lines += [f"## {title}", "", *table(("command", "effect"), rows)]
    lines += ["## Options of the program", "", *_options(main, context, PROGRAM)]
    lines += ["```{toctree}", ":hidden:", "", *names, "```"]
    yield f"{FOLDER}/index", page("Command line", lines)
    for name in names:
        command = the_command(main.commands[name])
        yield f"{FOLDER}/{name}", page(name, _command(command, context, name, 1))


def the_command(command: click.Command) -> click.Command:
    """Return the command that a `LazyCommand` stands for, and any other command unchanged."""
    return command.command if isinstance(command, LazyCommand) else command


def _command(command: click.Command, parent: click.Context, name: str, level: int) -> Iterator[str]:
    context = click.Context(command, info_name=name, parent=parent)
    path = context.command_path
    if level > 1:
        yield f"{'#' * level} {name}"
        yield ""
    yield from _text(command.help or "")
    pieces = " ".join(command.collect_usage_pieces(context))
    yield from code_block(f"{path} {pieces}", "sh")
    yield from _options(command, context, path)
    yield from _epilog(command.epilog or "", level)
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            yield from _command(the_command(command.commands[each]), context, each, level + 1)


def _options(command: click.Command, context: click.Context, path: str) -> Iterator[str]:
    """The options as Sphinx objects, so that links lead to them and the search finds them."""
    yield from (f"```{{program}} {path}", "```", "")
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is None or not isinstance(parameter, click.Option):
            continue
        names, about = record
        yield f"````{{option}} {names.replace(' / ', ', ')}"
        yield prose(about)
        yield "````"
        yield ""


def _text(text: str) -> Iterator[str]:
    """Convert a help text to Markdown. Paragraphs that begin with ``\\b`` keep their line breaks."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if paragraph.startswith("\b"):
            yield from code_block(paragraph.removeprefix("\b").strip("\n"))
        else:
            yield prose(" ".join(paragraph.split()))
            yield ""


def _epilog(text: str, level: int) -> Iterator[str]:
    """Convert the end of a help text to Markdown: examples, exit codes and other lists get a heading each."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        lines = paragraph.removeprefix("\b").strip("\n").splitlines()
        if not (paragraph.startswith("\b") and lines and lines[0].endswith(":")):
            yield from _text(paragraph)
            continue
        title, rest = lines[0].rstrip(":"), inspect.cleandoc("\n".join(lines[1:]))
        yield f"{'#' * (level + 1)} {title}"
        yield ""
        rows = [re.split(r"  +", line.strip(), maxsplit=1) for line in rest.splitlines()]
        if title == "Examples" or any(len(row) != 2 for row in rows):
            yield from code_block(rest, "sh" if title == "Examples" else "text")
        else:
            yield from table(("name", "meaning"), [(code(name), prose(about)) for name, about in rows])
