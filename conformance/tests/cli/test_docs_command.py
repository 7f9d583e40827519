"""``docs`` prints what the wheel holds, what a message tells one to read is there, and links lead to what is there."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path, PurePosixPath

import pytest

from run_helpers import REPOSITORY
from sds_conformance.cli.documentation import PAGES
from sds_conformance.presentation import project
from suite_terminal import typed, words

WHEEL = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]
ADAPTERS = PurePosixPath("harness/adapters")
SOURCES = [
    path
    for folder in ("conformance/sds_conformance", "harness/sds_harness", "reference", "harness/adapters", "docs")
    for suffix in ("*.py", "*.md", "*.j2")
    for path in (REPOSITORY / folder).rglob(suffix)
    if "node_modules" not in path.parts
]


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
        ("CSDB-01", "requirements/CSDB-01.html"),
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
    assert len(opened) == 1
    assert re.fullmatch(r"https://\S+#receive-message", opened[0])
    refused = typed("docs", "AMB-24", "--open")
    assert refused.exit_code == 2
    assert "the documentation site has no address yet" in words(refused.stderr)


def test_open_is_for_ids_alone(opened: list[str]) -> None:
    for arguments in ([], ["tutorial"], ["SDS-RECV-06", "--path"]):
        assert typed("docs", *arguments, "--open").exit_code == 2
    assert opened == []


@pytest.mark.parametrize(
    "page",
    [
        *(PAGES[name].path for name in ("adapter", "tutorial", "protocol", "clearskies-protocol", "vectors")),
        *(f"{ADAPTERS}/{path.parent.name}/README.md" for path in (REPOSITORY / ADAPTERS).glob("*/template.json")),
    ],
)
def test_no_link_of_what_is_written_about_adapters_leaves_the_wheel(page: str) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", (REPOSITORY / page).read_text("utf-8"))
    for link in (link for link in links if "://" not in link):
        target = PurePosixPath(os.path.normpath(PurePosixPath(page).parent / link))
        assert (REPOSITORY / target).is_file(), link
        assert in_the_wheel(target), link
