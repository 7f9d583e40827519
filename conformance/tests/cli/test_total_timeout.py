"""The total time ends a command whatever blocks: what was played is judged, or a line says that nothing was."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from run_helpers import reference_command
from suite_terminal import words

STUCK = str(Path(__file__).parents[1] / "stuck_suite.py")
PATIENCE_S = 90


def stuck(way: str, reads: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Type a command line. A read of the suite blocks."""
    command = [sys.executable, STUCK, way, str(reads), *arguments, "--", *reference_command()]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def test_a_read_that_blocks_past_every_deadline_ends_the_run_and_what_was_played_is_judged() -> None:
    ended = stuck("asleep", 150, "run", "--environment", "plain", "--jobs", "1", "--total-timeout", "6", "--json")
    assert ended.returncode == 1, ended.stderr
    report = json.loads(ended.stdout)
    assert [row["kind"] for row in report["breakdowns"]] == ["out-of-time"]
    assert report["summary"]["pass"] > 0


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(("run", "--environment", "plain"), marks=pytest.mark.exhaustive),
        ("fuzz", "--schedules", "2000"),
        pytest.param(("exhaust", "--events", "4"), marks=pytest.mark.exhaustive),
    ],
    ids=lambda command: command[0],
)
def test_workers_that_are_stuck_are_not_waited_for(command: tuple[str, ...]) -> None:
    ended = stuck("asleep", 40, *command, "--jobs", "2", "--total-timeout", "6")
    # A busy machine may have played nothing by then.
    assert ended.returncode in (1, 3), ended.stderr
    assert "total time" in words(ended.stdout + ended.stderr)


def test_where_nothing_wakes_the_main_thread_a_line_says_so_and_the_command_ends() -> None:
    ended = stuck("deaf", 100, "run", "--environment", "plain", "--jobs", "1", "--total-timeout", "2")
    assert ended.returncode == 3
    assert ended.stderr.endswith("blocked the harness beyond every timeout. Nothing was judged.\n")
