"""The first lines of commands that play: what is tested, against what, how much is played and for how long."""

from __future__ import annotations

import re

import pytest

from run_helpers import reference_command
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
