"""A command that does not start gets a fitting message: the missing program, and the command to type."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from sds_harness import faults
from sds_harness.faults import Breakdown, FaultKind
from sds_harness.link import Limits, StdioLink
from sds_harness.sds.language import open_session
from sds_testee.framing import Framing

pytestmark = pytest.mark.every_python

LIMITS = Limits(start_s=20, command_s=10, exit_s=5)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder of the commands: it has one script for each possible error."""
    monkeypatch.chdir(tmp_path)
    for name, first_line, mode in (
        ("plain.py", "#!/usr/bin/env python3\n", 0o644),
        ("plain", "#!/bin/sh\n", 0o644),
        ("no-line.py", "import sys\n", 0o755),
        ("no-interpreter", "#!/nowhere/node --fast\n", 0o755),
        ("nothing-by-env", "#!/usr/bin/env no-such-node\n", 0o755),
        ("of-windows", "#!/bin/sh\r\n", 0o755),
        ("here", "#!/bin/sh\n", 0o755),
        ("two words", "#!/bin/sh\necho hello\n", 0o755),
    ):
        (tmp_path / name).write_bytes(first_line.encode())
        (tmp_path / name).chmod(mode)
    (tmp_path / "folder").mkdir()
    return tmp_path


def breakdown_of(command: Sequence[str]) -> Breakdown:
    with pytest.raises(faults.TesteeError) as caught:
        open_session(lambda: StdioLink(command, Framing.JSON, LIMITS), LIMITS, "sds-2026-01")
    return caught.value.breakdown


@pytest.mark.parametrize(
    ("command", "advice"),
    [
        (["node adapter.mjs"], "Remove the quotes: type `-- node adapter.mjs`"),
        (["node adapter.mjs", "--fast"], "type `-- node adapter.mjs --fast`"),
        (["an 'open quote"], "Remove the quotes"),
        (["no-such-program"], "The program 'no-such-program' is not on the PATH"),
        (["./no-such-file"], "The file './no-such-file' does not exist in this folder"),
        (["/no/such/file"], "The file '/no/such/file' does not exist: is it built"),
        (["here"], "'here' is a file of this folder, and not on the PATH: type `-- ./here`"),
        (["plain.py"], "type `-- python3 plain.py`"),
        (["./plain.py"], "type `chmod +x ./plain.py`, or name the program that runs it: type `-- python3 ./plain.py`"),
        (["./plain"], "'./plain' is not executable: type `chmod +x ./plain`"),
        (["./no-line.py"], "with an interpreter, or name the program that runs it: type `-- python3 "),
        (["./no-interpreter"], "`#!/nowhere/node --fast`, names '/nowhere/node': is it installed"),
        (["./of-windows"], "end with CR LF, as on Windows"),
        (["./folder"], "'./folder' is a folder: name the program in it"),
        (["\x1b[31mred\n"], "is not on the PATH"),
    ],
)
def test_what_does_not_start_gets_the_hint_that_fits(command: list[str], advice: str) -> None:
    breakdown = breakdown_of(command)
    assert breakdown.kind is FaultKind.NO_START
    assert advice in breakdown.advice
    assert breakdown.advice.isprintable()


@pytest.mark.parametrize(
    ("command", "advice"),
    [
        ([sys.executable, "no-such-adapter.py"], "The file 'no-such-adapter.py' does not exist in this folder"),
        ([sys.executable, "-c", "raise OSError('x.py')"], FaultKind.NO_START.advice),
        (["./nothing-by-env"], "`#!/usr/bin/env no-such-node`, names 'no-such-node': is it installed"),
    ],
)
def test_what_fails_at_once_gets_the_hint_that_fits(command: list[str], advice: str) -> None:
    breakdown = breakdown_of(command)
    assert breakdown.kind is FaultKind.CRASH
    assert advice in breakdown.advice


@pytest.mark.parametrize("command", [["echo", "hello"], ["./two words"], ["sh", "-c", "echo hello; sleep 0.2"]])
def test_what_was_printed_by_one_that_ended_is_quoted_whoever_was_faster(command: list[str]) -> None:
    breakdown = breakdown_of(command)
    assert breakdown.kind is FaultKind.GARBAGE
    assert breakdown.detail == 'the answer to hello is not a reply (not a JSON object): "hello"'
    assert "Does something print to stdout?" in breakdown.advice


def test_an_adapter_of_another_protocol_gets_its_revision_named() -> None:
    breakdown = breakdown_of([sys.executable, "-m", "clearskies_reference"])
    assert breakdown.kind is FaultKind.GARBAGE
    assert "declares clearskies-database, not sds-2026-01: choose the revision with --revision" in breakdown.advice
