"""``report`` shows a stored report, cut off or whole; ``history`` writes linked pages about a folder of reports."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from page_kinds import releases
from pages import ParsedPage
from run_helpers import reference_command
from sds_conformance.reports.files import write_report
from suite_terminal import typed, words

SHORT = ("--environment", "plain", "--scenario", "ties", "--scenario", "a-d*")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    command = reference_command("--mutant", "ties-by-arrival")
    assert typed("run", *SHORT, "--report", folder, "--", *command).exit_code == 1
    return folder


def test_it_tells_the_root_causes_with_the_commands_that_show_them(folder: Path) -> None:
    printed = typed("report", folder)
    assert printed.exit_code == 0
    data = json.loads((folder / "report.json").read_text("utf-8"))
    assert data["causes"]
    for cause in data["causes"]:
        assert cause["again"] in printed.stdout
        assert all(under["requirement"] in printed.stdout for under in cause["under"])
    assert f"{data['summary']['fail']} requirements failed" in words(printed.stdout)
    assert json.loads(typed("report", folder, "--json").stdout) == data


def test_one_that_was_cut_off_says_so(folder: Path, tmp_path: Path) -> None:
    lines = (folder / "report.jsonl").read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "report.jsonl").write_text("".join(lines[:-1]), "utf-8")
    printed = typed("report", tmp_path)
    assert printed.exit_code == 0
    assert f"was cut off after line {len(lines) - 1}" in words(printed.stderr)


def test_what_is_no_report_or_has_no_place_is_refused(folder: Path, tmp_path: Path) -> None:
    assert typed("report", tmp_path).exit_code == 2
    ended = typed("report", folder, "--html", tmp_path / "no" / "page.html")
    assert ended.exit_code == 2
    assert "there is no folder" in ended.output


# ---- history ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nightly")
    for number, report in enumerate(releases()):
        write_report(folder / f"run {number}", report)
    return folder


@pytest.fixture
def nightly(reports: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(reports, tmp_path / "nightly"))


def test_the_index_links_to_each_run_and_names_what_changed(nightly: Path) -> None:
    assert typed("history", str(nightly)).exit_code == 0
    pages = nightly / "pages"
    index = ParsedPage((pages / "index.html").read_text("utf-8"))
    links = [link.attrs["href"] for link in index.of("a")]
    runs = list(dict.fromkeys(link for link in links if "#" not in link))
    assert runs == ["runs/run-2.html", "runs/run-1.html", "runs/run-0.html"]
    changes = [cell.words for cell in index.of("td", "changes")]
    assert changes[0] == "1 worse: SDS-MSG-05 (pass → fail) 1 better: SDS-MSG-03 (fail → pass)"
    assert changes[-1] == "the first run"
    for link in links:
        place, _, name = link.partition("#")
        page = ParsedPage((pages / place).read_text("utf-8"))
        assert not name or name in [element.attrs.get("id") for element in page.elements]
        assert "../index.html" in [one.attrs["href"] for one in page.of("a")]


def test_another_folder_is_written_and_links_are_not_followed(nightly: Path, tmp_path: Path) -> None:
    assert typed("history", str(nightly), "--out", str(tmp_path / "site")).exit_code == 0
    assert not (nightly / "pages").exists()
    index, victim = tmp_path / "site" / "index.html", tmp_path / "victim"
    index.unlink()
    index.symlink_to(victim)
    refused = typed("history", str(nightly), "--out", str(tmp_path / "site"))
    assert refused.exit_code == 2
    assert "is a symbolic link" in words(refused.stderr)
    assert not victim.exists()


def test_the_page_of_a_report_is_opened(nightly: Path, opened: list[str]) -> None:
    folder = nightly / "run 0"
    assert typed("report", str(folder), "--open").exit_code == 0
    assert opened == [(folder / "report.html").as_uri()]
    assert "<h1>" in (folder / "report.html").read_text("utf-8")
    named = nightly / "named.html"
    assert typed("report", str(folder), "--html", str(named), "--open").exit_code == 0
    assert opened[1:] == [named.as_uri()]
    assert typed("history", str(nightly), "--open").exit_code == 0
    assert opened[2:] == [(nightly / "pages" / "index.html").as_uri()]


def test_without_a_display_the_file_is_named(nightly: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    shown = typed("report", str(nightly / "run 0"), "--open")
    assert shown.exit_code == 0
    assert f"Open this file in one: {nightly / 'run 0' / 'report.html'}" in words(shown.stderr)
    assert opened == []
