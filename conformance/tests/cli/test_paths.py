"""Every path that is typed: each is an input or an output; outputs are checked before anything is played."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import click
import pytest

from output_nodes import FILES, NODES, OTHER, REFUSED, STREAMS, full
from run_helpers import odd_adapter
from sds_conformance.cli import main
from sds_conformance.cli.command_groups import LazyCommand
from sds_conformance.cli.paths import InputPath, OutputFile, OutputFolder, OutputPlace
from sds_harness import nodes
from short_reports import kept, made
from suite_terminal import MUTANT, typed, words


def parameters(command: click.Command = main, *names: str) -> Iterator[tuple[str, click.Parameter]]:
    """All parameters of all commands, by the command and the longest name that is typed."""
    if isinstance(command, LazyCommand):
        command = command.command
    if isinstance(command, click.Group):
        for name, each in command.commands.items():
            yield from parameters(each, *names, name)
    for parameter in command.params:
        yield " ".join((*names, max(parameter.opts, key=len))), parameter


ALL = dict(parameters())
OUTPUTS = {name: p for name, p in ALL.items() if isinstance(p.type, OutputFile | OutputFolder | OutputPlace)}
FORMS = ("html", "junit", "markdown", "badge", "sarif")
KEPT = {
    *(f"{name} --transcript" for name in ("fuzz", "exhaust", "interop", "limits", "replay", "run", "smoke")),
    *("vectors run --transcript", "exhaust --resume", "baseline write file", "baseline update file"),
}
"""Files that are written and read again, or written by several processes."""
STREAMED = {
    *(f"{name} --{form}" for name in ("run", "report") for form in FORMS),
    *("compare --html", "compare --markdown", "selftest --markdown"),
    "scenarios show --svg",
    *("certificate write --out", "certificate write --html", "certificate show --html"),
}
"""Other files."""
EXISTING = {f"vectors {name} --out" for name in ("add", "replace", "format", "release")}
"""Folders that must be there."""
FOLDERS = {
    *(f"{name} --out" for name in ("fuzz", "exhaust", "interop", "replay", "corpus show")),
    *("run --report", "limits --report", "new-adapter folder", "corpus record --out", "corpus diff --out"),
    *("vectors generate --out", "vectors export folder", "history --out"),
    *EXISTING,
}


def test_all_outputs_of_all_commands_are_known() -> None:
    """An output that is declared as an input would not be checked."""
    assert OUTPUTS.keys() == KEPT | STREAMED | FOLDERS


def test_every_path_is_declared_as_an_input_or_an_output() -> None:
    known = (InputPath, OutputFile, OutputFolder, OutputPlace)
    assert len(ALL) > 100
    for name, parameter in ALL.items():
        assert not isinstance(parameter.type, click.File), name
        words_of = {parameter.name, *(parameter.metavar or "").strip("[].").split("...")}
        a_path = isinstance(parameter.type, click.Path) or words_of & {"FILE", "DIR", "REPORT", "KEY", "folder", "file"}
        assert not a_path or isinstance(parameter.type, known), name


def converted(parameter: click.Parameter, path: Path) -> Any:
    return parameter.type.convert(str(path), parameter, None)


@pytest.mark.parametrize("kind", [*FILES, *STREAMS, *REFUSED])
def test_each_output_takes_the_nodes_that_it_can_be_written_to(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "out"
    NODES[kind](path)
    before = path.lstat() if os.path.lexists(path) else None
    for name, parameter in OUTPUTS.items():
        if name in FOLDERS:
            taken = kind in ("new", "folder") and not (kind == "new" and name in EXISTING)
        else:
            taken = kind in FILES or (kind in STREAMS and name in STREAMED)
        if taken:
            assert str(converted(parameter, path)) == str(path), name
        else:
            with pytest.raises(click.BadParameter, match=r"Name another (FILE|DIR)\.|is a file|does not exist"):
                converted(parameter, path)
    assert before is None or path.lstat().st_ino == before.st_ino


def test_a_link_under_a_name_that_nobody_typed_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "counterexamples").symlink_to("elsewhere")
    (tmp_path / "certificate.json").symlink_to("elsewhere/victim")
    for arguments in (["fuzz", "--", "no-such-adapter"], ["certificate", "write", "elsewhere"]):
        result = typed(*arguments)
        assert result.exit_code == 2
        assert "is a symbolic link, and you did not name it" in words(result.stderr)
    result = typed("fuzz", "--out", "counterexamples", "--", "no-such-adapter")
    assert result.exit_code == 3


# ---- Nodes -----------------------------------------------------------------------------------------------------------


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
    assert "fifo was not written: no reader opened the FIFO within 0.1 s." in words(result.stderr)
    assert (tmp_path / "page.md").exists()


def test_a_device_stays_and_a_full_one_is_reported(report: Path, tmp_path: Path) -> None:
    NODES["device"](tmp_path / "null")
    full(tmp_path / "full")
    assert typed("report", report, "--html", tmp_path / "null").exit_code == 0
    result = typed("report", report, "--html", tmp_path / "full")
    assert result.exit_code == 2
    assert "full was not written: No space left on device." in words(result.stderr)
    assert all(stat.S_ISCHR((tmp_path / name).lstat().st_mode) for name in ("null", "full"))


def test_the_step_summary_is_appended_to(report: Path, tmp_path: Path) -> None:
    summary = tmp_path / "summary"
    summary.write_text("of another step\n")
    for _ in range(2):
        result = typed("report", report, "--markdown", summary, GITHUB_STEP_SUMMARY=str(summary))
        assert result.exit_code == 0
    text = summary.read_text("utf-8")
    assert text.startswith("of another step\n## ")
    assert text.count("\n## ") == 2


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


# ---- Inputs ----------------------------------------------------------------------------------------------------------


DEEP = "[" * 100_000
PATIENCE_S = 60


@pytest.fixture(autouse=True)
def never_waiting() -> Iterator[None]:
    """A command that waits for a pipe can be interrupted."""

    def late(number: int, frame: FrameType | None) -> NoReturn:
        raise AssertionError(f"still reading after {PATIENCE_S} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(PATIENCE_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def test_no_file_that_an_implementation_names_is_opened(tmp_path: Path) -> None:
    """It would be a dialect, if only the user had named it."""
    file = tmp_path / "x.json"
    file.write_text(json.dumps({"dialect": "x", "message": {"content": 900}}), "utf-8")
    for command in (["run"], ["smoke"], ["vectors", "run"], ["fuzz", "--schedules", "1"]):
        result = typed(*command, "--", *odd_adapter("declares-a-dialect", str(file)))
        assert result.exit_code == 3, command
        output = words(result.stdout + result.stderr)
        assert "declares a dialect that is not known here" in output, command
        assert "Known are nim-sds; describe this dialect in a file, and give the file to --dialect" in output, command


READING = {
    "--dialect": ["run", "--dialect", "odd.json"],
    "--since": ["run", "--since", "odd.json"],
    "--baseline": ["run", "--baseline", "odd.json"],
    "report": ["report", "odd.json"],
    "report DIR": ["report", "folder"],
    "compare": ["compare", "odd.json", "odd.json"],
    "compare DIR": ["compare", "folder"],
    "baseline": ["baseline", "check", "odd.json", "odd.json"],
    "baseline REPORT": ["baseline", "write", "new.yaml", "odd.json"],
    "certificate": ["certificate", "show", "odd.json"],
    "certificate REPORT": ["certificate", "write", "odd.json"],
    "replay": ["replay", "odd.json"],
    "interop": ["interop", "--replay", "odd.json"],
    "explain": ["explain", "odd.json"],
    "vectors": ["vectors", "run", "--vectors", "folder"],
    "vectors lint": ["vectors", "lint", "folder"],
    "--grpc-ca": ["run", "--grpc", "127.0.0.1:1", "--grpc-ca", "odd.json"],
    "--grpc-token-file": ["run", "--grpc", "127.0.0.1:1", "--grpc-token-file", "odd.json"],
}
"""What reads a file that the user names, as typed; ``folder`` has such files under the names that are looked for."""
NAMES = ("report.jsonl", "report.json", "manifest.json", "sds/wire.json")


@pytest.mark.parametrize("arguments", READING.values(), ids=READING.keys())
@pytest.mark.parametrize("kind", ["pipe", "endless", "deep"])
def test_a_file_that_is_none_or_has_no_end_is_refused(
    arguments: list[str], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder", "sds").mkdir(parents=True)
    for file in (Path("odd.json"), *(Path("folder", name) for name in NAMES)):
        if kind == "pipe":
            os.mkfifo(file)
        elif kind == "endless":
            file.symlink_to("/dev/zero")
        else:
            file.write_text(DEEP)
    result = typed(*arguments)
    assert result.exit_code == (1 if arguments[:2] == ["vectors", "lint"] else 2)
    assert len(words(result.stdout + result.stderr)) < 1500
