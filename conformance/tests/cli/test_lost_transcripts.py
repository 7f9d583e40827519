"""A transcript that cannot be written, or that vanishes, costs a line on stderr and no run."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

from run_helpers import broken_adapter, reference_command
from sds_harness.transcript import writer
from suite_terminal import typed, words


def test_the_lock_of_another_process_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "LOCK_S", 0.3)
    talk = tmp_path / "talk.jsonl"
    talk.touch()
    with talk.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        result = typed("smoke", "--transcript", talk, "--", *reference_command())
    assert result.exit_code == 0
    output = f"No transcript is written to {talk}: another process held its lock for 5 s."
    assert words(result.stderr).count(output) == 1
    assert "Transcript: " not in result.stderr


def test_a_transcript_that_vanished_is_reported_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    talk = tmp_path / "talk.jsonl"
    begin = writer.Transcript._append

    def deleted(self: writer.Transcript, row: dict[str, object], raw: str = "") -> int:
        number = begin(self, row, raw)
        talk.unlink(missing_ok=True)
        return number

    monkeypatch.setattr(writer.Transcript, "_append", deleted)
    result = typed("smoke", "--transcript", talk, "--", *broken_adapter("crashes"))
    (line,) = [line for line in result.stderr.splitlines() if "ranscript" in line]
    assert line == f"The transcript {talk} has vanished: it was deleted, renamed or replaced during the run."
