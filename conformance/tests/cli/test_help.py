"""``--help`` of all commands, ``--version``, ``list`` and ``docs``."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import click
import pytest
from rich.cells import cell_len

from run_helpers import REPOSITORY
from sds_conformance.cli import main
from sds_conformance.cli.command_groups import LazyCommand
from sds_conformance.cli.docs import PAGES
from sds_conformance.cli.name_types import KINDS, names_of
from sds_conformance.presentation import project
from sds_conformance.protocols import revisions
from sds_proto.testee.v1 import testee_pb2 as pb
from suite_terminal import too_wide, typed, words


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


DESCRIBED_BY_SENTENCES = ("scenarios", "positions", "passages", "events", "dimensions")


@pytest.mark.parametrize("kind", KINDS)
def test_list_shows_the_names_of_each_revision(kind: str) -> None:
    for revision in revisions():
        names = json.loads(typed("list", kind, "--revision", revision, "--json").stdout)
        assert names == names_of(kind, revision)
        cut = [name for name, text in names.items() if kind in DESCRIBED_BY_SENTENCES and text[-1:] not in (".", "?")]
        assert cut == []
    current = next(iter(revisions()))
    text = typed("list", kind, "--revision", current).stdout
    assert too_wide(text) == []
    assert all(name in text for name in names_of(kind, current))


# ---- docs ------------------------------------------------------------------------------------------------------------


WHEEL = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]
ADAPTERS = PurePosixPath("harness/adapters")


def in_the_wheel(path: PurePosixPath) -> bool:
    """Return whether it is there under its path, in the folder of documents, or in a package."""
    if any(path.is_relative_to(source) for source in WHEEL["only-include"] if source.startswith("reference/")):
        return str(path) not in WHEEL["force-include"]  # which would take it from the package
    if WHEEL["sources"].get(str(ADAPTERS)) == f"sds_conformance/documents/{ADAPTERS}":
        kept_out = [entry.lstrip("/") for entry in WHEEL["exclude"]]
        if ADAPTERS in path.parents and not any(path.is_relative_to(entry) for entry in kept_out):
            return True
    return any(
        path.is_relative_to(source) and place == f"sds_conformance/documents/{source}"
        for source, place in WHEEL["force-include"].items()
    )


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_there_and_goes_into_the_wheel(name: str) -> None:
    page = PAGES[name]
    assert in_the_wheel(PurePosixPath(page.path))
    assert typed("docs", name).stdout == (REPOSITORY / page.path).read_text("utf-8")
    assert Path(typed("docs", name, "--path").stdout.strip()).is_file()


def test_without_a_page_all_are_listed() -> None:
    listed = typed("docs")
    assert listed.exit_code == 0
    assert [line.split()[0] for line in listed.stdout.splitlines() if line][: len(PAGES)] == list(PAGES)
    assert all(page.summary in listed.stdout for page in PAGES.values())
    assert typed("docs", "nothing-of-that-name").exit_code == 2


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("recv-06", "requirements/SDS-RECV-06.html"),
        ("AMB-24", "positions/AMB-24.html"),
        ("G-01", "properties.html"),
    ],
)
def test_the_page_of_an_id_is_opened(name: str, place: str, opened: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project, "OWNER", "Alice")
    result = typed("docs", name, "--open")
    assert result.exit_code == 0
    assert opened == [f"https://alice.github.io/sds-conformance/reference/{place}"]
    assert result.stdout == ""


def test_without_a_site_the_public_text_is_opened(opened: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project, "OWNER", project.PLACEHOLDER)
    assert typed("docs", "SDS-RECV-06", "--open").exit_code == 0
    assert re.fullmatch(r"https://\S+#receive-message", opened[0])
    refused = typed("docs", "AMB-24", "--open")
    assert refused.exit_code == 2
    assert "the documentation site has no address yet" in words(refused.stderr)
    for arguments in ([], ["tutorial"], ["SDS-RECV-06", "--path"]):
        assert typed("docs", *arguments, "--open").exit_code == 2
    assert len(opened) == 1


def test_capabilities_are_listed_with_the_name_that_an_adapter_declares() -> None:
    names = json.loads(typed("list", "capabilities", "--json").stdout)
    assert {f"CAPABILITY_{name.upper().replace('-', '_')}" for name in names} == {*names.values()}
    assert {*names.values()} == {*pb.Capability.keys()} - {"CAPABILITY_UNSPECIFIED"}
