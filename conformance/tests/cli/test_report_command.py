"""``report``: the output of `run --report` is shown again, and a truncated report is marked as such."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sds_conformance.cli import main

SHORT = ("--environment", "plain", "--scenario", "ties", "--scenario", "a-d*")


def typed(*words: str) -> Result:
    return CliRunner().invoke(main, words, env={"COLUMNS": "80"}, catch_exceptions=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    command = [sys.executable, "-m", "sds_reference", "--mutant", "ties-by-arrival"]
    assert typed("run", *SHORT, "--report", str(folder), "--", *command).exit_code == 1
    return folder


def test_it_tells_the_root_causes_with_the_commands_that_show_them(folder: Path) -> None:
    printed = typed("report", str(folder))
    assert printed.exit_code == 0
    data = json.loads((folder / "report.json").read_text("utf-8"))
    assert data["causes"]
    for cause in data["causes"]:
        assert cause["again"] in printed.stdout
        assert all(under["requirement"] in printed.stdout for under in cause["under"])
    assert f"{data['summary']['fail']} requirements failed" in " ".join(printed.stdout.split())
    assert json.loads(typed("report", str(folder), "--json").stdout) == data


def test_one_that_was_cut_off_says_so(folder: Path, tmp_path: Path) -> None:
    lines = (folder / "report.jsonl").read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "report.jsonl").write_text("".join(lines[:-1]), "utf-8")
    printed = typed("report", str(tmp_path))
    assert printed.exit_code == 0
    assert f"was cut off after line {len(lines) - 1}" in " ".join(printed.stderr.split())


def test_what_is_no_report_or_has_no_place_is_refused(folder: Path, tmp_path: Path) -> None:
    assert typed("report", str(tmp_path)).exit_code == 2
    ended = typed("report", str(folder), "--html", str(tmp_path / "no" / "page.html"))
    assert ended.exit_code == 2
    assert "there is no folder" in ended.output
