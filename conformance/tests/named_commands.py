"""Command lines of the suite in source files and pages, and what is wrong with them.

``typing_error`` parses a command line as click does and invokes nothing. ``of_source`` and ``of_text`` find the
command lines of a module and of a page. A module builds some of its messages when it runs: ``STANDING_FOR`` has the
words for each expression in them.
"""

from __future__ import annotations

import ast
import re
import shlex
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest

from sds_conformance.cli import main
from sds_conformance.cli.command_groups import LazyCommand
from sds_conformance.cli.option_names import with_new_names
from typed_pages import FENCED, blocks

PROGRAM = "sds-conformance"
PLACEHOLDER = re.compile(r"[A-Z][A-Z_/]*|my-passage")
"""A word that stands for a value, in a message, a workflow or a guide: its type is not checked."""


@dataclass(frozen=True)
class NamedCommand:
    """A command line that a file names."""

    line: str
    where: str
    typed: bool
    """Is it there to be typed? Prose may leave out the arguments."""


def typing_error(line: str, *, typed: bool = True) -> str:
    """Why the suite would refuse a command line; "" if it accepts it.

    Prose (``typed`` is False) may name a command, or one of its options, and leave out the arguments.
    """
    try:
        _, *arguments = shlex.split(line, comments=True)
    except ValueError as error:
        return f"no command line: {error}"
    ends = [place for place, word in enumerate(arguments) if word in ("|", "||", "&&", ">", ">>", "2>", ";", "<", "&")]
    arguments = arguments[: ends[0]] if ends else arguments
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(click.Parameter, "process_value", _processed)
        for kind in (click.Path, *_subclasses(click.Path)):  # no file has to be there
            patched.setattr(kind, "convert", lambda kind, value, param, ctx: value)
        try:
            return _error_of(arguments, typed)
        except click.exceptions.Exit:  # of --help and --version
            return ""
        except click.UsageError as error:
            return error.format_message()


def _subclasses(kind: type[Any]) -> Iterator[type[Any]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


_process_value = click.Parameter.process_value


def _processed(parameter: click.Parameter, context: click.Context, value: Any) -> Any:
    """Neither convert a placeholder nor call the callback of its option; show neither help nor versions, and read no
    configuration file."""
    if not {"--help", "--version", "--config"}.isdisjoint(parameter.opts):
        return value
    words = value if isinstance(value, list | tuple) else [value]
    if any(isinstance(word, str) and PLACEHOLDER.fullmatch(word) for word in words):
        return value
    return _process_value(parameter, context, value)


def _error_of(arguments: list[str], typed: bool) -> str:
    command: click.Command = main
    context = main.make_context(PROGRAM, [], resilient_parsing=True)
    while isinstance(command, click.Group) and arguments and not arguments[0].startswith("-"):
        name = arguments.pop(0)
        if PLACEHOLDER.fullmatch(name):
            return ""
        if name not in command.commands:
            return f"there is no command {name!r}"
        found = command.commands[name]
        command = found.command if isinstance(found, LazyCommand) else found
        context = click.Context(command, context, name)
    if not arguments and not typed:
        return ""
    if isinstance(command, click.Group) and not arguments:
        return f"{context.command_path} needs the name of a command"
    if with_new_names(command, arguments) != arguments:
        return f"it has an old name of an option: {shlex.join(arguments)}"
    if not typed and arguments[-1].startswith("--") and _takes_value(command, arguments[-1]):
        arguments.append("VALUE")
    try:
        # click keeps the help option of the first context.
        command.make_context(context.info_name, list(arguments), context.parent, help_option_names=["-h", "--help"])
    except click.MissingParameter:
        values = command.make_parser(context).parse_args(list(arguments))[0]
        given = [values.get(one.name or "") for one in command.params if isinstance(one, click.Argument)]
        if typed or any(isinstance(value, str | tuple) and value for value in given):
            raise
    return ""


def _takes_value(command: click.Command, name: str) -> bool:
    options = [one for one in command.params if isinstance(one, click.Option) and name in one.opts]
    return bool(options) and not options[0].is_flag and not options[0].count


# ---- Pages -----------------------------------------------------------------------------------------------------------


_CODE = re.compile(r"`([^`\n]+(?:\n[^`\n]+)?)`")


def of_text(text: str, where: str) -> Iterator[NamedCommand]:
    """The command lines of a message, a help text or a page: code between backticks, and lines that begin with the name
    of the program, after a blank, a prompt or a label."""
    for kind, block in blocks(text):
        if kind != "yaml":
            yield from _of_lines(textwrap.indent(block, " "), where)
    rest = FENCED.sub("", text)
    for code in _CODE.findall(rest):
        yield from _of_code(" ".join(code.split()), where)
    yield from _of_lines(_CODE.sub("", rest), where)


def _of_lines(text: str, where: str) -> Iterator[NamedCommand]:
    text = re.sub(r"\$\{\{.*?\}\}", "VALUE", text)  # an expression of a workflow
    for line in re.sub(r" *\\\n *", " ", text).splitlines():
        if found := re.match(rf"(?:\$ |\s*(?:- )?run: |\s+(?:(?:Again|Next|Play it) +)?)({PROGRAM} .+)", line):
            yield NamedCommand(found[1], where, typed=True)


def _of_code(code: str, where: str) -> Iterator[NamedCommand]:
    first, *rest = code.split() or [""]
    if first == PROGRAM:
        yield NamedCommand(code, where, typed=False)
    elif first in main.commands and (not rest or re.match(r"-|[a-z]", rest[0])):
        yield NamedCommand(f"{PROGRAM} {code}", where, typed=False)


# ---- Source files ----------------------------------------------------------------------------------------------------

STANDING_FOR = {
    "program()": PROGRAM,
    "self.program": PROGRAM,
    "program": PROGRAM,
    # Names of commands, and whole command lines.
    "command": "fuzz",
    "what[0]": "exhaust",
    "words": "run",
    "named": "run",
    "line": "lint",
    # Options.
    "option": " --revision forum-2024",
    "which": " --revision forum-2024",
    "grpc": "--grpc ADDRESS ",
    "after": "-- COMMAND",
    "map(str, reports)": "REPORT",
    "options[:2] if options[:1] == ['--revision'] else []": "--revision forum-2024",
    "asked": "--revision forum-2024",
    "pairs": "one=./one other=./other",
    "given": "one=./one",
    # Values.
    "kind": "scenarios",
    "glob": "'SDS-*'",
    "revision": "forum-2024",
    "group": "lamport",
    "bad[0].group": "lamport",
    "scenario.name": "ties",
    "r['id']": "ties",
    "r.id": "SDS-RECV-06",
    "f'{name}={reference}'": "ref=./reference",
    "place.label": "DIR",
    "str(index)": "3",
    "str(tally.found_at[roots[0].id])": "3",
    "str(found[0].samples[0])": "3",
}
"""By expression in a command line of the source: the words that stand for it."""
_FILES = re.compile(r"file|folder|\w*\bpath|out|str\((file|out|plan|report_dir|files\['schedule'\])\)")
"""Expressions for the names of files and folders."""


def of_source(file: Path, where: str) -> Iterator[NamedCommand]:
    """The command lines in the messages, help texts and docstrings of a module, and those that it joins of words."""
    text = file.read_text("utf-8")
    if PROGRAM not in text and "program" not in text and ".format_command(" not in text and "`" not in text:
        return
    for node, inside in _nodes(ast.parse(text), inside=False):
        place = f"{where}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and not inside):
            template = _filled(node)
            if template.count("`") % 2 == 0:
                yield from of_text(template.replace("``", "`"), place)
        elif (words := _words_of(node)) is not None:
            yield NamedCommand(" ".join([PROGRAM, *filter(None, map(_word, words))]), place, typed=True)


def _nodes(node: ast.AST, *, inside: bool) -> Iterator[tuple[ast.AST, bool]]:
    """All nodes, and whether they are inside an f-string."""
    yield node, inside
    for child in ast.iter_child_nodes(node):
        yield from _nodes(child, inside=inside or isinstance(node, ast.JoinedStr))


def _filled(node: ast.AST) -> str:
    """The text of a string, with values for expressions in it."""
    if isinstance(node, ast.JoinedStr):
        parts = [_value(part.value) if isinstance(part, ast.FormattedValue) else _filled(part) for part in node.values]
        return "".join(parts)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _value(node: ast.AST) -> str:
    """The words that stand for an expression; in a command line, an unknown one is refused as ``<expression>``."""
    expression = ast.unparse(node)
    found = STANDING_FOR.get(expression)
    if found is None:
        return "FILE" if _FILES.fullmatch(expression) else f"<{expression}>"
    return found


def _words_of(node: ast.AST) -> list[ast.expr] | None:
    """The words after the name of the program, if a command line of the suite is put together here: ``[program(),
    ...]`` or ``driven.format_command(...)``."""
    if isinstance(node, ast.List) and node.elts and STANDING_FOR.get(ast.unparse(node.elts[0])) == PROGRAM:
        return node.elts[1:]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format_command":
        return node.args
    return None


def _word(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return shlex.quote(str(node.value))
    if isinstance(node, ast.Starred):
        return STANDING_FOR.get(ast.unparse(node.value), "")
    return _value(node)
