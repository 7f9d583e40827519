"""``--help`` of all commands, and ``--version``."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from rich.cells import cell_len

from sds_conformance.cli import main
from sds_conformance.cli.command_groups import LazyCommand
from sds_conformance.cli.name_types import KINDS, names_of
from sds_conformance.protocols import revisions
from suite_terminal import too_wide, typed


def _loaded(command: click.Command) -> click.Command:
    return command.command if isinstance(command, LazyCommand) else command


def _all_commands(command: click.Command, *path: str) -> Iterator[tuple[str, ...]]:
    yield path
    command = _loaded(command)
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from _all_commands(inner, *path, name)


COMMANDS = list(_all_commands(main))


def _named(path: tuple[str, ...]) -> str:
    return " ".join(path) or "sds-conformance"


def _examples(text: str) -> list[str]:
    """The command lines of a help, with continued lines joined."""
    joined = re.sub(r" *\\\n +", " ", text)
    return [line.strip() for line in joined.splitlines() if line.startswith("    sds-conformance ")]


@pytest.mark.parametrize("columns", ["80", "200"])
def test_help_fits_80_columns_and_cuts_nothing(columns: str) -> None:
    for path in COMMANDS:
        result = typed(*path, "--help", COLUMNS=columns)
        assert result.exit_code == 0
        first, *more = result.stdout.splitlines()
        assert [line for line in (first, *more) if cell_len(line) > 80 or re.search(r"\bsds-$", line)] == []
        assert "…" not in result.stdout
        assert [line for line in more if line.endswith("...")] == []


@pytest.mark.parametrize("path", COMMANDS, ids=_named)
def test_examples_of_a_command_can_be_typed(
    path: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    examples = _examples(typed(*path, "-h").stdout)
    begin = " ".join(["sds-conformance", *path])
    assert [example for example in examples if example.startswith(begin)], f"no example of {begin}"
    for example in examples:
        command: click.Command = main
        _, *arguments = shlex.split(example.split(" > ")[0])
        while isinstance(command, click.Group):
            command = _loaded(command.commands[arguments.pop(0)])
        # click keeps the help option of the first context.
        command.make_context(example, arguments, help_option_names=["-h", "--help"])


def test_commands_are_grouped_by_what_they_are_for() -> None:
    text = typed("--help").stdout
    headings = re.findall(r"^(\S[\w ]+):$", text, re.MULTILINE)
    assert headings == ["Options", "Start", "Judge", "Explore", "Share", "Develop the suite"]
    assert sorted(name for names in main.sections.values() for name in names) == sorted(main.commands)


def test_version_has_one_fact_in_each_line() -> None:
    result = typed("--version")
    assert result.exit_code == 0
    facts = dict(line.split(": ", 1) for line in result.stdout.splitlines())
    assert {"sds-conformance", "python", "vectors", *(f"catalogue {name}" for name in revisions())} == set(facts)
    assert re.fullmatch(r"\d+\.\d+\.\d+ sha256:[0-9a-f]{64}", facts["vectors"])
    for name in revisions():
        assert re.fullmatch(r"sha256:[0-9a-f]{64}", facts[f"catalogue {name}"])


@pytest.mark.parametrize("kind", KINDS)
def test_list_shows_the_names_of_each_revision(kind: str) -> None:
    for revision in revisions():
        names = json.loads(typed("list", kind, "--revision", revision, "--json").stdout)
        assert names == names_of(kind, revision)
    text = typed("list", kind).stdout
    assert too_wide(text) == []
    assert all(name in text for name in names_of(kind))
