"""README, guides and tutorial: links lead somewhere, and the commands in console blocks do what is shown."""

from __future__ import annotations

import re
import runpy
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from named_commands import of_text
from run_helpers import REPOSITORY
from sds_conformance.cli import main
from sds_conformance.scenario_files.expectations import KINDS
from sds_harness.clearskies.notation import NOTATION as CLEARSKIES
from sds_harness.schedules import Notation
from sds_harness.sds.notation import NOTATION as SDS
from typed_pages import Reader, blocks, broken_links

README = REPOSITORY / "README.md"
DOCS = REPOSITORY / "docs"
ADAPTERS = REPOSITORY / "harness" / "adapters"
GENERATED = DOCS / "implementations.md"
GUIDES = [README, *sorted(set(DOCS.glob("*.md")) - {GENERATED}), ADAPTERS / "README.md", ADAPTERS / "TUTORIAL.md"]
PLAYED_ELSEWHERE = {DOCS / "pytest.md", ADAPTERS / "TUTORIAL.md"}
PLAYED = [
    page for page in GUIDES if page not in PLAYED_ELSEWHERE and "console" in dict(blocks(page.read_text("utf-8")))
]
SITE = DOCS / "index.md"
"""The first page of the site, which leads to pages that are generated; the build of the site checks its links."""
PAGES = [
    *REPOSITORY.glob("*.md"),
    *(
        page
        for folder in ("docs", "proto", "reference", "harness", "conformance", "vectors")
        for page in (REPOSITORY / folder).rglob("*.md")
        if "node_modules" not in page.parts and page != SITE
    ),
]


def name(page: Path) -> str:
    return str(page.relative_to(REPOSITORY))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    assert broken_links(page, REPOSITORY) == []


def test_the_guides_name_every_command() -> None:
    named = {found.line.split()[1] for found in of_text((DOCS / "commands.md").read_text("utf-8"), "commands.md")}
    assert set(main.commands) - named == set()


def test_the_index_lists_every_page() -> None:
    text = (DOCS / "README.md").read_text("utf-8")
    assert [page.name for page in DOCS.glob("*.md") if page.name != "README.md" and f"]({page.name})" not in text] == []


def test_readme_is_short_and_has_the_two_commands() -> None:
    lines = README.read_text("utf-8").splitlines()
    assert len(lines) <= 150
    assert "python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/sds-conformance run" in lines
    assert "python3 -m venv .venv && .venv/bin/pip install tox && .venv/bin/tox -p 2" in lines


def test_readme_has_the_results_of_the_page_of_implementations() -> None:
    rows = re.findall(r"^\| \w+ \| \*\*(.+?)\*\* \|.*\| ([^|]+) \|$", GENERATED.read_text("utf-8"), re.MULTILINE)
    results = {found.replace("\\", ""): verdicts for found, verdicts in rows}
    text = README.read_text("utf-8")
    for implementation, row in (("sds_reference 0.1.0", "`sds_reference`"), ("@waku/sds 0.0.8", "`@waku/sds` 0.0.8")):
        (line,) = (line for line in text.splitlines() if line.startswith("|") and row in line)
        assert line.endswith(f": {results[implementation]} |")


def reader_in(folder: Path) -> Reader:
    for name in ("clean", "programs"):
        (folder / name).mkdir()
    return Reader(folder / "clean", folder / "programs")


@pytest.mark.exhaustive
@pytest.mark.parametrize("page", PLAYED, ids=name)
def test_commands_print_what_the_guide_shows(page: Path, tmp_path: Path) -> None:
    text = page.read_text("utf-8")
    typed = [block for kind, block in blocks(text) if kind == "console"]
    if any("node " in block for block in typed):
        if shutil.which("node") is None:
            pytest.skip("not on this machine: node")
        if not (ADAPTERS / "waku-sds" / "node_modules").is_dir():
            pytest.skip("not installed: harness/adapters/waku-sds")
    if any("sds-conformance corpus" in block for block in typed):
        pytest.importorskip("pyspark")
    if any("--clock faketime" in block for block in typed):
        pytest.importorskip("libfaketime")
    reader, folder = reader_in(tmp_path), tmp_path / "clean"
    (folder / "harness").symlink_to(REPOSITORY / "harness")
    if any("./my-adapter" in block for block in typed):
        adapter = folder / "my-adapter"
        adapter.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m sds_reference "$@"\n', "utf-8")
        adapter.chmod(0o755)
    for kind, block in blocks(text):
        if kind in ("console", "yaml"):
            reader.follows(kind, block)
    assert not reader.wrong, "the output differs:\n\n" + "\n\n".join(reader.wrong)
    assert not reader.failed, "no verdict:\n\n" + "\n\n".join(reader.failed)


# ---- The tutorial of adapters ----------------------------------------------------------------------------------------


TUTORIAL = ADAPTERS / "TUTORIAL.md"
TEXT = TUTORIAL.read_text("utf-8")
PARTS = dict(zip(("python", "javascript"), TEXT.split("\n## The same in JavaScript\n"), strict=True))
TOOLS = {"python": "python3", "javascript": "node"}


def test_a_reader_gets_through_it_and_all_is_played() -> None:
    assert len(TEXT.splitlines()) <= 300
    kinds = [kind for kind, _ in blocks(TEXT)]
    assert kinds.count("sh") == 1, "all lines to type are in console blocks, which are played, except the installation"
    assert set(kinds) == {"sh", "console", "diff"}


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", PARTS)
def test_what_is_typed_comes_out_as_it_is_shown(tmp_path: Path, part: str) -> None:
    if shutil.which(TOOLS[part]) is None:
        pytest.skip(f"not on this machine: {TOOLS[part]}")
    reader = reader_in(tmp_path)
    for kind, block in blocks(PARTS[part]):
        reader.follows(kind, block)
    assert not reader.wrong, "comes out otherwise:\n\n" + "\n\n".join(reader.wrong)


# ---- The page about scenario files -----------------------------------------------------------------------------------


SCRIPT = runpy.run_path(str(REPOSITORY / "docs" / "make_scenario_files.py"))
PAGE = Path(SCRIPT["PAGE"])


def test_the_tables_are_up_to_date() -> None:
    text = PAGE.read_text("utf-8")
    assert SCRIPT["fill_tables"](text) == text, "run `python docs/make_scenario_files.py`"


def test_every_expectation_of_a_schema_is_known_and_every_known_one_is_in_a_schema() -> None:
    def keys(notation: Notation) -> set[str]:
        return {*notation.schema["properties"]["expect"]["items"]["properties"]} - {"who"}

    assert keys(SDS) == {*KINDS}
    assert keys(CLEARSKIES) < keys(SDS)
