"""``report``: the output of `run --report` is shown again, and a truncated report is marked as such."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from run_helpers import reference_command
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
