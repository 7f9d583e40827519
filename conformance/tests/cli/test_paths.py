"""Every option and argument that names a path: each is an input or an output, and an output is checked before anything
is played."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from output_nodes import FILES, NODES, REFUSED, STREAMS
from sds_conformance.cli import main
from sds_conformance.cli.command_groups import LazyCommand
from sds_conformance.cli.paths import InputPath, OutputFile, OutputFolder, OutputPlace
from suite_terminal import typed, words


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


@pytest.mark.parametrize("path", ["/dev/fd/1", "/proc/1/fd/1", "/dev/fd/987654"])
def test_a_descriptor_is_taken_where_it_is_ours_and_open(path: str) -> None:
    for name, parameter in OUTPUTS.items():
        if name in STREAMED and path == "/dev/fd/1":
            assert converted(parameter, Path(path)) == Path(path)
        elif name not in FOLDERS:
            with pytest.raises(click.BadParameter, match=r"descriptor"):
                converted(parameter, Path(path))


PLAYING = {
    **{f"run --{form}": ["run", f"--{form}"] for form in FORMS},
    **{f"{name} --report": [name, "--report"] for name in ("run", "limits")},
    **{f"{name} --out": [name, "--out"] for name in ("fuzz", "exhaust", "interop")},
    **{f"{name} --transcript": [name, "--transcript"] for name in ("run", "smoke", "fuzz", "interop", "limits")},
    "selftest --markdown": ["selftest", "--markdown"],
    "exhaust --resume": ["exhaust", "--resume"],
    "corpus record --out": ["corpus", "record", "--out"],
}


@pytest.mark.parametrize("arguments", PLAYING.values(), ids=PLAYING.keys())
def test_a_node_that_cannot_be_written_to_is_refused_before_anything_is_played(
    arguments: list[str], tmp_path: Path
) -> None:
    NODES["socket"](tmp_path / "out")
    command = ["a=no-such-adapter", "b=no-such-adapter"] if "interop" in arguments else ["--", "no-such-adapter"]
    if arguments[0] == "selftest":
        command = ["--only", "starts-at-zero"]
    result = typed(*arguments, tmp_path / "out", *command)
    assert result.exit_code == 2
    assert "Name another" in words(result.stderr)
    assert result.stdout == ""


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
