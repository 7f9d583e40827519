"""Files that commands read, and files that an implementation creates for them."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import NoReturn

import pytest

from run_helpers import odd_adapter
from suite_terminal import typed, words

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
        assert "Known are nim-sds; describe another in a file, and give it to --dialect" in output, command


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
