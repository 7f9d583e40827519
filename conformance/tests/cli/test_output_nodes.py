"""Reports that are written to every kind of node, by the commands themselves."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from output_nodes import FILES, NODES, OTHER, full
from sds_harness import nodes
from short_reports import kept, made
from suite_terminal import MUTANT, typed, words

BEGINS = {"html": "<!DOCTYPE html>", "junit": "<?xml", "markdown": "## ", "badge": "<svg", "sarif": "{"}


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return kept(tmp_path / "report", made(RECV_06="fail"))


@pytest.mark.parametrize("form", BEGINS)
@pytest.mark.parametrize("kind", FILES)
def test_a_report_replaces_the_content_of_a_file_and_not_the_file_of_somebody_else(
    form: str, kind: str, report: Path, tmp_path: Path
) -> None:
    path = tmp_path / "out"
    NODES[kind](path)
    before = path.stat() if path.exists() else None
    assert typed("report", report, f"--{form}", path).exit_code == 0
    assert path.read_text("utf-8").startswith(BEGINS[form])
    assert path.is_symlink() == kind.startswith("link")
    assert before is None or (path.stat().st_uid, path.stat().st_mode) == (before.st_uid, before.st_mode)
    assert kind != "of-another" or path.stat().st_uid == OTHER
    assert kind != "hard-link" or (tmp_path / "out-other").read_text() == "old"


def test_a_fifo_that_nobody_reads_is_reported_and_the_other_reports_are_written(
    report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nodes, "READER_S", 0.1)
    os.mkfifo(tmp_path / "fifo")
    result = typed("report", report, "--html", tmp_path / "fifo", "--markdown", tmp_path / "page.md")
    assert result.exit_code == 2
    assert "fifo was not written: it is a FIFO that no reader opened within 0.1 s." in words(result.stderr)
    assert (tmp_path / "page.md").exists()


def test_a_device_stays_and_a_full_one_is_reported(report: Path, tmp_path: Path) -> None:
    NODES["device"](tmp_path / "null")
    full(tmp_path / "full")
    assert typed("report", report, "--html", tmp_path / "null").exit_code == 0
    result = typed("report", report, "--html", tmp_path / "full")
    assert result.exit_code == 2
    assert "full was not written: No space left on device." in words(result.stderr)
    assert all(stat.S_ISCHR((tmp_path / name).lstat().st_mode) for name in ("null", "full"))


def test_a_reader_of_stdout_that_goes_away_is_reported_and_kills_nobody(report: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    # /dev/stdout leads there; but a fault of the suite could replace that, and not a descriptor.
    command = [sys.executable, "-m", "sds_conformance", "report", str(report), "--html", "/dev/fd/1"]
    ended = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    os.close(writer)
    assert ended.returncode == 2
    assert "/dev/fd/1 was not written: its reader closed it before the end." in words(ended.stderr)
    assert "Traceback" not in ended.stderr


def test_the_step_summary_is_appended_to(report: Path, tmp_path: Path) -> None:
    summary = tmp_path / "summary"
    summary.write_text("of another step\n")
    for _ in range(2):
        result = typed("report", report, "--markdown", summary, GITHUB_STEP_SUMMARY=str(summary))
        assert result.exit_code == 0
    text = summary.read_text("utf-8")
    assert text.startswith("of another step\n## ")
    assert text.count("\n## ") == 2


def test_a_certificate_through_a_fifo_has_no_signature_beside_it(report: Path, tmp_path: Path) -> None:
    NODES["device"](tmp_path / "null")
    (tmp_path / "null.sig").write_text("not ours")
    (tmp_path / "key").touch()
    assert typed("certificate", "write", report, "--out", tmp_path / "null").exit_code == 0
    result = typed("certificate", "write", report, "--out", tmp_path / "null", "--sign-key", tmp_path / "key")
    assert result.exit_code == 2
    assert "a signature is written next to a regular file" in words(result.stderr)
    assert (tmp_path / "null.sig").read_text() == "not ours"


# ---- Names of ours -----------------------------------------------------------------------------------------------

RUN = ("run", "--scenario", "clock-*", "--environment", "plain", "--jobs", "1")


def test_no_link_under_a_name_of_ours_is_followed(tmp_path: Path) -> None:
    """An attacker who may write to the folder knows all names in it from another run."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    assert typed(*RUN, "--report", tmp_path / "known", "--", *MUTANT).exit_code == 1
    names = [path.relative_to(tmp_path / "known") for path in (tmp_path / "known").rglob("*") if path.is_file()]
    assert {"report.json", "report.jsonl", "traces"} == {name.parts[0] for name in names}
    out = tmp_path / "out"
    (out / "traces").mkdir(parents=True)
    for name in (*names, Path("limits.json")):
        (out / name).symlink_to(victim)
    assert typed(*RUN, "--report", out, "--", *MUTANT).exit_code == 1
    assert victim.read_text() == "mine"
    assert all((out / name).is_file() and not (out / name).is_symlink() for name in names)


@pytest.mark.parametrize("kind", ["folder", "link to a folder", "fifo", "socket"])
@pytest.mark.parametrize("name", ["report.json", "report.jsonl", "limits.json", "traces"])
def test_a_folder_in_which_no_report_can_stand_is_refused_before_anything_is_played(
    name: str, kind: str, tmp_path: Path
) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    out.mkdir()
    elsewhere.mkdir()
    if kind == "link to a folder":
        (out / name).symlink_to(elsewhere)
    else:
        NODES[kind](out / name)
    result = typed(*RUN, "--report", out, "--", "no-such-adapter")
    # A folder of traces may be there, and a link that is replaced leads nowhere any more.
    fine = (kind == "folder") == (name == "traces") and kind in ("folder", "link to a folder")
    assert result.exit_code == (3 if fine else 2)
    assert fine or "cannot write a report to" in words(result.stderr)
    assert not list(elsewhere.iterdir())
    shutil.rmtree(out)
