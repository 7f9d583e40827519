"""``limits``: the table, JSON, exit codes, and implementations that break at some size."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from run_helpers import odd_adapter, reference_command
from suite_terminal import controls, too_wide, typed, words

CAPPED = reference_command("--mutant", "room-for-waiting-100")
WAITING = """\
description: Messages wait for a lost one, and are delivered when it arrives.
members: [alice, bob]
requirements: [SDS-RECV-08]
parameter: operations[1].times
operations:
- {op: send, who: bob, label: lost, route: {lost: [alice]}}
- {op: send, who: bob, label: m, times: 200}
- {op: lookup, who: alice}
- {op: settle, who: alice}
expect:
- {who: alice, delivers: [lost, m]}
"""
"""A scenario file with a number to raise."""
GIVES_UP = """\
members: [alice, bob]
configuration: {lost_timeout_ms: 600000, incoming_sweep_ms: 1000}
parameter: operations[2].ms
operations:
- {op: send, who: bob, label: lost, route: {lost: [alice]}}
- {op: send, who: bob, label: m}
- {op: wait, ms: 500}
- {op: tick, who: alice}
- {op: look, who: alice}
expect:
- {who: alice, does_not_deliver: [m]}
"""
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
    assert "Expected 'bob-102' to be kept, and delivered after 'bob-1' had arrived" in words(result.stdout)
    (again,) = [line.partition("Again")[2] for line in result.stdout.splitlines() if "  Again " in line]
    _, *arguments = shlex.split(again)
    replayed = typed(*arguments)
    assert replayed.exit_code == 1
    assert "waiting messages, 101: wrong, SDS-RECV-08" in replayed.stdout
    assert "there was no time" not in replayed.stdout


@pytest.mark.parametrize(
    ("how", "output", "timeout"),
    [
        ("hangs", "slow", "0.5"),
        ("crashes", "crashed", "8"),
        pytest.param("allocates", "out of memory", "8", marks=pytest.mark.exhaustive),
        pytest.param("answers-wrongly", "crashed", "8", marks=pytest.mark.exhaustive),
    ],
)
def test_who_breaks_at_some_size_has_a_row_and_the_others_are_measured(how: str, output: str, timeout: str) -> None:
    only = ("--only", "waiting", "--only", "channels", *BRIEFLY, "--timeout", timeout)
    code, found = rows(*only, "--", *odd_adapter("breaks-at", "7", how))
    assert code == 1
    # The root is received as well.
    assert (found["waiting"]["held"], found["waiting"]["first_not"], found["waiting"]["how"]) == (5, 6, output)
    assert found["waiting"]["verdict"] == "finding"
    # Two messages in each of three channels.
    assert (found["channels"]["held"], found["channels"]["first_not"]) == (3, 4)
    assert {row["requirement"] for row in found.values()} == {None}


def test_4_where_everything_is_refused() -> None:
    result = typed("limits", "--only", "log", "--", *odd_adapter("opens-nothing"))
    assert result.exit_code == 4
    assert "refused even at 1" in words(result.stdout)


# ---- Scenario files --------------------------------------------------------------------------------------------------


def waiting(folder: Path, *changes: tuple[str, str]) -> str:
    """The file, with texts replaced."""
    text = WAITING
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "waiting.yaml").write_text(text, "utf-8")
    return str(folder / "waiting.yaml")


@pytest.mark.parametrize(("times", "code", "verdict"), [(200, 1, "finding"), (50, 0, "warning")])
def test_a_file_demands_the_number_that_it_has(tmp_path: Path, times: int, code: int, verdict: str) -> None:
    file = waiting(tmp_path, ("200", str(times)))
    found_code, found = rows("--scenario-file", file, "--budget", "10m", "--", *CAPPED)
    (row,) = found.values()
    assert (found_code, row["verdict"], row["demanded"]) == (code, verdict, times)
    assert (row["dimension"], row["held"], row["first_not"]) == ("waiting.yaml", 100, 101)
    _, *again = shlex.split(row["replay"])
    assert again[:5] == ["limits", "--scenario-file", file, "--at", "101"]
    replayed = typed(*again)
    assert replayed.exit_code == code
    assert "Raises operations[1].times in" in words(replayed.stdout)


@pytest.mark.parametrize(("ms", "code", "verdict"), [(600_000, 1, "finding"), (500, 0, "warning")])
def test_an_expectation_that_is_not_met_is_a_limit(tmp_path: Path, ms: int, code: int, verdict: str) -> None:
    """After 600 s, the participant gives up the lost message and delivers the other one, which violates nothing."""
    (tmp_path / "gives-up.yaml").write_text(GIVES_UP.replace("500", str(ms)), "utf-8")
    found_code, found = rows("--scenario-file", str(tmp_path / "gives-up.yaml"), "--", *reference_command())
    (row,) = found.values()
    assert (found_code, row["verdict"], row["how"], row["requirement"]) == (code, verdict, "expectation not met", None)
    assert (row["held"], row["first_not"]) == (599_999, 600_000)
    assert row["said"] == "expected: alice does not deliver m; seen: delivered m at step 6"


def test_a_conforming_implementation_holds_the_number_of_a_file(tmp_path: Path) -> None:
    file = waiting(tmp_path)
    code, found = rows("--scenario-file", file, "--only", "hint", "--at", "150", "--", *reference_command())
    assert (code, {name: row["held"] for name, row in found.items()}) == (0, {"waiting.yaml": 150, "hint": 150})
    assert {row["replay"] for row in found.values()} == {None}


TIMES = "parameter: operations[1].times"


@pytest.mark.parametrize(
    ("parameter", "said"),
    [
        ("", "has no number to raise: add a line such as `parameter: operations"),
        ("operations[1].tmes", "line 4: parameter: operations[1] (send) has no number 'tmes'. Did you mean times?"),
        ("operations[9].times", "line 4: parameter: operations[9] does not exist: the last one is operations[3]"),
        ("times", "line 4: parameter: 'times' does not name a number: write a path such"),
        ("configuration.bloom_capacity", "the configuration of the file has no number 'bloom_capacity'. It has no "),
        ("members[0].clock_ms", "members[0].clock_ms is 0, and `limits` raises numbers from"),
    ],
)
def test_2_a_file_without_a_number_to_raise(tmp_path: Path, parameter: str, said: str) -> None:
    file = waiting(tmp_path, (f"{TIMES}\n", f"parameter: {parameter}\n" if parameter else ""))
    result = typed("limits", "--scenario-file", file, "--", *reference_command())
    assert result.exit_code == 2
    assert said in words(result.stderr)


def test_2_sizes_that_a_file_cannot_have_and_reports(tmp_path: Path) -> None:
    file = waiting(tmp_path)
    for option, value, said in (
        ("--at", "2001", "--at 2001: waiting.yaml is played up to 2000"),
        ("--report", tmp_path, "--report keeps the limits of the suite's dimensions: omit it or --scenario-file"),
    ):
        result = typed("limits", "--scenario-file", file, option, value)
        assert result.exit_code == 2
        assert said in words(result.stderr)
