"""The command line as a process of its own: signals, terminals, framings."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from process_waiting import PATIENCE_S, lives, wait_for
from run_helpers import odd_adapter, reference_command

pytestmark = pytest.mark.exhaustive

SUITE = [sys.executable, "-m", "sds_conformance"]


def suite(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*SUITE, *arguments],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=PATIENCE_S,
        env={**os.environ, **environment},
        check=False,
    )


def lines(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []


def on_a_terminal(*arguments: str, stream: str = "stdout", **environment: str) -> bytes:
    """The output of the suite on a terminal with colours; its other stream is discarded."""
    ours, theirs = pty.openpty()
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: theirs}
    child = subprocess.Popen(
        [*SUITE, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=streams["stdout"],
        stderr=streams["stderr"],
        env={**os.environ, "TERM": "xterm-256color", **environment},
    )
    os.close(theirs)
    out = bytearray()
    try:
        while chunk := os.read(ours, 1 << 16):
            out += chunk
    except OSError:  # what Linux says when the other end is closed
        pass
    finally:
        os.close(ours)
    assert child.wait(PATIENCE_S) == 0
    return bytes(out)


@pytest.mark.parametrize("command", ["run", "smoke"])
@pytest.mark.parametrize(("by", "codes"), [(signal.SIGINT, {130}), (signal.SIGTERM, {143, -15})])
def test_a_signal_before_the_handshake_is_no_verdict_and_leaves_no_process(
    tmp_path: Path, command: str, by: signal.Signals, codes: set[int]
) -> None:
    note = tmp_path / "pid"
    child = subprocess.Popen(
        [*SUITE, command, "--", *odd_adapter("hangs-at-start", str(note))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert wait_for(lambda: bool(lines(note)))
    adapter = int(lines(note)[0])
    child.send_signal(by)
    _, err = child.communicate(timeout=PATIENCE_S)
    gone = wait_for(lambda: not lives(adapter), 5)
    if not gone:
        os.kill(adapter, signal.SIGKILL)
    assert gone
    assert child.returncode in codes
    assert b"Traceback" not in err


def test_colours_and_progress_are_for_a_terminal_that_wants_them(tmp_path: Path) -> None:
    assert b"\x1b[" in on_a_terminal(*SELECTED, NO_COLOR="")
    for arguments in (SELECTED, ("requirements", "SDS-MSG-13", "--no-run")):
        out = on_a_terminal(*arguments, NO_COLOR="1")
        assert len(out) > 100
        assert b"\x1b" not in out
    piped = suite(*SELECTED, TERM="xterm-256color")
    assert piped.returncode == 0
    assert "\x1b" not in piped.stdout + piped.stderr
    for arguments in (("requirements", "SDS-MSG-13", "--run"), ("selftest", "--only", "starts-at-zero", "--jobs", "1")):
        assert suite(*arguments, TERM="xterm-256color").stderr == ""


SELECTED = ("run", "--select", "SDS-MSG-13", "--scenario", "two-channels", "--", *reference_command())
