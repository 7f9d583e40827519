"""The first lines of commands that play: what is tested, against what, how much is played and for how long."""

from __future__ import annotations

import re
from io import StringIO
from types import SimpleNamespace

import pytest
from rich.console import Console

from run_helpers import reference_command
from sds_conformance.cli import campaign_output
from sds_conformance.cli.campaign_output import FORECAST_AFTER_S, Plays
from suite_terminal import typed

TESTED = "  Testing   sds_reference 0.1.0 (Python), JSON lines over stdin and stdout"
AGAINST = "  Against   sds-2026-01: SDS with the SDS-R extension"


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        (
            ("run", "--scenario", "ties", "--environment", "plain"),
            (TESTED, AGAINST, "  Plays     1 scenario, in 1 run"),
        ),
        (("fuzz", "--schedules", "2", "--jobs", "1"), (TESTED, AGAINST, "  Plays     2 schedules of seed 0")),
        (("exhaust", "--events", "1", "--alphabet", "send", "--jobs", "1"), (TESTED, AGAINST)),
        (
            ("limits", "--only", "waiting", "--at", "4", "--budget", "90"),
            (TESTED, AGAINST, "  Measures  1 dimension, for at most 90 s"),
        ),
        (("vectors", "run", "--group", "lamport"), (TESTED, "  Against   N vectors of sds-2026-01")),
        (("smoke",), (TESTED, AGAINST)),
    ],
    ids=lambda each: each[0] if each and not each[0].startswith(" ") else "",
)
def test_a_command_says_first_what_it_does(command: tuple[str, ...], lines: tuple[str, ...]) -> None:
    printed = typed(*command, "--", *reference_command()).stdout
    head, _, _ = re.sub(r"\d+(?= vectors)", "N", printed).partition("\n\n")
    assert printed.startswith(f"{TESTED}\n")
    assert [line for line in lines if line not in head.splitlines()] == []


@pytest.mark.parametrize(
    ("done", "output"),
    [
        ([(0.0, 1)], "2,000 runs"),  # not enough was played to tell
        ([(30.0, 1), (31.0, 90)], "2,000 runs"),
        ([(30.0, 1), (32.0, 41)], "2,000 runs, for about 100 s"),  # until the first was played, processes started
        ([(30.0, 1), (34.0, 1), (35.0, 2)], "2,000 runs, for about 167 min"),
    ],
)
def test_the_time_is_reported_as_soon_as_it_is_known_and_only_once(
    monkeypatch: pytest.MonkeyPatch, done: list[tuple[float, int]], output: str
) -> None:
    now = 0.0
    monkeypatch.setattr(campaign_output, "time", SimpleNamespace(monotonic=lambda: now))
    out = Console(file=StringIO(), width=80)
    plays = Plays(out)
    plays.begin("2,000 runs")
    for now, number in done:  # noqa: B007
        plays(number, 2_000)
    now += FORECAST_AFTER_S
    plays.end()
    assert isinstance(out.file, StringIO)
    assert out.file.getvalue() == f"  Plays     {output}\n\n"
