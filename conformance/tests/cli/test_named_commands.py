"""Every message, help text and page that names a command line of the suite names one that can be typed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
import pytest

from named_commands import NamedCommand, of_source, of_text, typing_error
from run_helpers import REPOSITORY
from sds_conformance.cli import main
from sds_conformance.cli.command_groups import LazyCommand

SOURCES = (
    "conformance/sds_conformance",
    "harness/sds_harness",
    "reference/sds_testee",
    "reference/sds_reference",
    "reference/clearskies_reference",
    "docs/site_pages",
)
PAGES = (
    "*.md",
    "*.yml",
    "Dockerfile",
    "tox.ini",
    ".github/**/*.yml",
    "action/*",
    "changelog.d/*.md",
    "docs/*.md",
    "conformance/*.md",
    "harness/**/*.md",
    "harness/adapters/*/*.mjs",
    "proto/**/*.proto",
    "reference/*.md",
    "vectors/*.md",
)
OF_OTHER_PROGRAMS = {"--add-modules", "--collect-only", "--install", "--list-modules", "--write"}


def _wrong(found: Iterable[NamedCommand]) -> list[str]:
    """The command lines that cannot be typed, with their places and the reasons."""
    out = []
    for one in found:
        if why := typing_error(one.line, typed=one.typed):
            hint = "\n  Add the expression to STANDING_FOR, if it is not known there." if "<" in one.line else ""
            out.append(f"{one.where}: {one.line}\n  {why}{hint}")
    return out


def _modules(folder: str) -> list[Path]:
    return sorted((REPOSITORY / folder).rglob("*.py"))


@pytest.mark.parametrize("folder", SOURCES)
def test_the_source_names_commands_that_can_be_typed(folder: str) -> None:
    found = [one for file in _modules(folder) for one in of_source(file, str(file.relative_to(REPOSITORY)))]
    assert found
    assert not (wrong := _wrong(found)), "\n".join(wrong)


@pytest.mark.parametrize("pattern", PAGES)
def test_a_page_names_commands_that_can_be_typed(pattern: str) -> None:
    pages = [page for page in sorted(REPOSITORY.glob(pattern)) if page.is_file() and "node_modules" not in page.parts]
    assert pages or pattern.startswith("changelog.d")
    found = [
        one
        for page in pages
        if page.name != "CHANGELOG.md"  # it names options of earlier versions
        for one in of_text(page.read_text("utf-8"), str(page.relative_to(REPOSITORY)))
    ]
    assert not (wrong := _wrong(found)), "\n".join(wrong)


def test_the_last_lines_of_commands_name_commands_that_can_be_typed() -> None:
    text = (Path(__file__).parent / "__snapshots__" / "test_last_screens.ambr").read_text("utf-8")
    found = list(of_text(text, "test_last_screens.ambr"))
    assert len(found) > 5
    assert not (wrong := _wrong(found)), "\n".join(wrong)


def _options(command: click.Command) -> Iterator[str]:
    command = command.command if isinstance(command, LazyCommand) else command
    for parameter in command.params:
        yield from (*parameter.opts, *parameter.secondary_opts)
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        yield from _options(inner)


def test_messages_name_options_that_exist() -> None:
    """An option may also be named without its command, as in "leave --profile out"."""
    known = {*_options(main), "--help", *OF_OTHER_PROGRAMS}
    wrong = [
        f"{file.relative_to(REPOSITORY)}:{node.lineno} {name}"
        for folder in SOURCES[:2]
        for file in _modules(folder)
        if file.name != "option_names.py"
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for name in re.findall(r"(?<![\w-])--[a-z][a-z-]*", node.value)
        if name not in known and not name.startswith("--sds-")
    ]
    assert wrong == []


def test_a_wrong_command_is_found_in_each_form_of_a_message(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        '''"""Prints what `sds-conformance run --no-1` prints."""
raise Error(f"{name} is gone: type `{program()} fuzz --no-2`")
command = shlex.join([program(), "corpus", "show", "--no-3", folder, str(index)])
again = driven.format_command("limits", "--no-4", *options)
help = "As `list --no-5` and `report --html FILE` show."
EPILOG = """
Examples:
  sds-conformance smoke --no-6 -- ./my-adapter
"""
line = f"type `sds-conformance list {unknown}` again"
''',
        "utf-8",
    )
    wrong = "\n".join(_wrong(of_source(module, "module.py")))
    assert re.findall(r"No such option '(--no-\d)'", wrong) == [f"--no-{n}" for n in range(1, 7)]
    assert "'<unknown>' is not one of" in wrong
