"""``limits``: the table, JSON, exit codes, and implementations that break at some size."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest

from run_helpers import odd_adapter, reference_command
from suite_terminal import controls, too_wide, typed, words

CAPPED = reference_command("--mutant", "room-for-waiting-100")
BRIEFLY = ("--budget", "10m", "--memory", "150m")


def rows(*arguments: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """Exit code, and the rows by dimension."""
    result = typed("limits", "--json", *arguments)
    data = json.loads(result.stdout)
    assert data["interrupted"] is False
    return result.exit_code, {row["dimension"]: row for row in data["rows"]}


def test_a_limit_stands_in_the_table_with_the_command_that_plays_it_again() -> None:
    result = typed("limits", "--only", "waiting", "--only", "time", "--budget", "10m", "--", *CAPPED)
    assert result.exit_code == 1
    assert too_wide(result.stdout) == []
    assert controls(result.stdout + result.stderr) == set()
    assert "waiting messages 100 101 wrong, SDS-RECV-08" in words(result.stdout)
    assert "Expected 'bob-102' to be kept, and delivered when 'bob-1' had come" in words(result.stdout)
    (again,) = [line.partition("Again")[2] for line in result.stdout.splitlines() if "  Again " in line]
    _, *arguments = shlex.split(again)
    replayed = typed(*arguments)
    assert replayed.exit_code == 1
    assert "waiting messages, 101: wrong, SDS-RECV-08" in replayed.stdout
    assert "there was no time" not in replayed.stdout


@pytest.mark.parametrize(
    ("how", "told", "timeout"),
    [
        ("hangs", "slow", "0.5"),
        ("allocates", "out of memory", "8"),
        ("crashes", "crashed", "8"),
        ("answers-wrongly", "crashed", "8"),
    ],
)
def test_who_breaks_at_some_size_has_a_row_and_the_others_are_measured(how: str, told: str, timeout: str) -> None:
    only = ("--only", "waiting", "--only", "channels", *BRIEFLY, "--timeout", timeout)
    code, found = rows(*only, "--", *odd_adapter("breaks-at", "7", how))
    assert code == 1
    # The root is received as well.
    assert (found["waiting"]["held"], found["waiting"]["first_not"], found["waiting"]["how"]) == (5, 6, told)
    assert found["waiting"]["verdict"] == "finding"
    # Two messages in each of three channels.
    assert (found["channels"]["held"], found["channels"]["first_not"]) == (3, 4)
    assert {row["requirement"] for row in found.values()} == {None}


def test_0_and_nothing_to_play_again_where_all_holds() -> None:
    code, found = rows("--only", "message-id", "--at", "200", "--", *reference_command())
    assert code == 0
    assert (found["message-id"]["held"], found["message-id"]["replay"]) == (200, None)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--budget", "soon"), 2, "'soon' is no time: write for example 90s, 10m or 2h"),
        (("--budget", "0"), 2, "'0' is no time"),
        (("--budget", "inf"), 2, "'inf' is no time"),
        (("--only", "patience"), 2, "there is no dimension 'patience'"),
        (("--at", "0"), 2, "0 is not in the range"),
        (("--profile", "core", "--only", "answers"), 2, "nothing of that is in the profile core of sds-2026-01"),
        (("--profile", "sds-r", "--only", "log"), 2, "nothing of that is in the profile sds-r of sds-2026-01"),
        (("--at", "300000", "--only", "log"), 2, "--at 300000: log is played up to 262144"),
        (("--budget", "1s", "--", "no-such-adapter-anywhere"), 3, "no-such-adapter-anywhere could not be driven"),
        (("--only", "log", "--", *odd_adapter("opens-nothing")), 4, "refused at 1 already"),
    ],
)
def test_other_exit_codes(arguments: tuple[str, ...], code: int, said: str) -> None:
    result = typed("limits", *arguments)
    assert said in words(result.stdout + result.stderr)
    assert result.exit_code == code
