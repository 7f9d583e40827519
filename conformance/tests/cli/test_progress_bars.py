"""Commands that play long show the time left on a terminal, and keep their results when they are interrupted."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from pseudo_terminal import Screen, play
from run_helpers import reference_command
from sds_conformance.judging.exits import Exit

TIME_LEFT = re.compile(r"left (\d+:\d\d:\d\d|-:--:--)$")
REFERENCE = reference_command()
MUTANT = reference_command("--mutant", "buffered-is-met")
COMMANDS = {
    "run": (("run", "--jobs", "1", "--", *MUTANT), "Exercised"),
    "fuzz": (("fuzz", "--jobs", "1", "--schedules", "9000", "--passage", "gap", "--", *MUTANT), "interrupted"),
    "exhaust": (
        ("exhaust", "--jobs", "1", "--alphabet", "send,sync,arrive", "--events", "6", "--", *REFERENCE),
        "interrupted",
    ),
    "interop": (
        ("interop", "--schedules", "900", f"a={shlex.join(REFERENCE)}", f"b={shlex.join(REFERENCE)}"),
        "Interrupted",
    ),
    "limits": (("limits", "--", *REFERENCE), "not tried: interrupted"),
    "selftest": (("selftest", "--jobs", "1", "--only", "*-*"), "interrupted: the rest was not played"),
    "selftest --hunt": (("selftest", "--hunt", "--jobs", "1"), "interrupted:"),
    "requirements --run": (("requirements", "--run", "SDS-RECV-06"), "Interrupted."),
    "vectors generate": (("vectors", "generate", "--check"), "Interrupted."),
    "vectors run": (("vectors", "run", "--", *REFERENCE), ""),
}


def _is_counting(screen: Screen) -> bool:
    """Is something finished, of a number that is known?"""
    return any(re.search(r"[1-9]\d*/\d", line) for line in screen.bars)


OFTEN = ("run", "limits", "selftest")
"""Commands that show each kind of bar; the others are tested nightly."""


@pytest.mark.parametrize(
    "name", [name if name in OFTEN else pytest.param(name, marks=pytest.mark.exhaustive) for name in COMMANDS]
)
def test_a_bar_shows_the_time_left_and_an_interrupt_keeps_the_results(name: str, tmp_path: Path) -> None:
    command, output = COMMANDS[name]
    screen = play(*command, folder=tmp_path, until=_is_counting)
    counting = [line for line in screen.bars if "/?" not in line]
    assert counting
    assert [line for line in counting if not TIME_LEFT.search(line)] == []
    assert [line for line in screen.bars if "/?" in line and "left" in line] == []
    assert screen.too_wide == []
    assert screen.has_cursor
    assert output in screen.text
    assert screen.code == Exit.INTERRUPTED or name == "vectors run"  # it may be faster than the interrupt


def test_a_terminal_without_escape_sequences_gets_no_bar(tmp_path: Path) -> None:
    command = ("run", "--environment", "plain", "--scenario", "ties*", "--", *REFERENCE)
    screen = play(*command, folder=tmp_path, variables={"TERM": "dumb"})
    assert screen.code == Exit.CONFORMANT
    assert screen.bars == []
    assert "\x1b[?25l" not in screen.raw
    assert "\x1b" not in screen.raw
