"""``sds-conformance interop`` as it is typed, with implementations in processes of their own."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from process_waiting import wait_for
from run_helpers import broken_adapter, odd_adapter, reference_command
from sds_conformance.cli.options import python
from sds_harness.schedules import Schedule, dumps
from sds_harness.sds.operations import Member
from suite_terminal import too_wide, typed, words

pytestmark = pytest.mark.exhaustive


def named(name: str, command: list[str]) -> str:
    return f"{name}={shlex.join(command)}"


HALF = (("cast", "mixed"), ("plays alice", "ref"))
REF = named("ref", reference_command())
NIM = named("nim", reference_command("--dialect", "nim-sds", "--bloom-profile", "nim-sds"))


def test_two_that_agree() -> None:
    result = typed("interop", "--schedules", "0", REF, named("other", reference_command("--variant", "history-of-ten")))
    assert result.exit_code == 0
    assert result.stderr == ""
    assert "ref     ✓ ✓ ✓ ✓ ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓ ✓ ✓ ✓ ✓\n" in result.stdout
    assert "Both agree (32 schedules, " in result.stdout
    assert too_wide(result.stdout) == []


def test_three_of_which_one_speaks_a_private_layout() -> None:
    result = typed("interop", "--schedules", "0", REF, NIM, named("two", reference_command()))
    assert result.exit_code == 1
    assert "nim     ✗ ✓ ✓ ✓ ✗ ✓ ✓ ✓ ✓ t   ✓ ✓ ✓ ✓ ✓ ✓ ✓ ✓ ✓     ✗ ✓ ✓ ✓ ✗ ✓ ✓ ✓ ✓ t\n" in result.stdout
    assert "nim must act, and use the layout of the specification instead of dialect nim-sds." in words(result.stdout)
    assert "2 to 9 were played with translation" in result.stdout
    assert "  Agree     ref → ref, ref → two, nim → nim, two → ref, two → two\n" in result.stdout
    assert "  Disagree  ref → nim: 1 wire, 5 filter\n" in result.stdout
    assert too_wide(result.stdout) == []


@pytest.mark.parametrize("on_path", [True, False], ids=["python", "no python on PATH"])
def test_the_command_that_is_advised_for_a_single_implementation_works(
    on_path: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent if on_path else tmp_path))
    mine = f"mine={shlex.join([sys.executable, '-m', 'clearskies_reference'])}"
    options = ["--timeout", "50", "--revision", "clearskies-database"]
    alone = typed("interop", *options, mine)
    assert alone.exit_code == 2
    advised = shlex.split(words(alone.stderr).partition("With the bundled reference: ")[2])
    assert advised[1:] == ["interop", *options, mine, f"ref={python()} -m clearskies_reference"]
    done = typed(*advised[1:], "--schedules", "0")
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    ("command", "code", "kind", "said"),
    [
        (["./does-not-exist"], 3, "NO-START", "Not all pairs agree: bad could not be tested"),
        (broken_adapter("crashes"), 1, "CRASH", "bad broke down"),
    ],
)
def test_one_that_breaks_down_is_named_and_the_others_are_played(
    command: list[str], code: int, kind: str, said: str
) -> None:
    result = typed("interop", "--schedules", "0", REF, named("bad", command), named("two", reference_command()))
    assert result.exit_code == code
    assert kind in result.output
    assert said in words(result.stdout)
    assert "  Agree     ref → ref, ref → two, two → ref, two → two\n" in result.stdout
    assert too_wide(result.stdout) == []


# ---- mixed groups --------------------------------------------------------------------------------------------------

BAD = named("bad", reference_command("--mutant", "sync-without-channel"))


def test_what_is_found_is_reported_kept_and_played_again(tmp_path: Path) -> None:
    result = typed("interop", "--schedules", "12", "--out", tmp_path, REF, BAD)
    assert result.exit_code == 1
    data = json.loads(typed("interop", "--json", "--schedules", "12", "--out", tmp_path, REF, BAD).stdout)
    assert (data["exit_code"], data["breakdowns"], data["mixed_groups"]["seed"]) == (1, [], 0)
    assert [row["name"] for row in data["mixed_groups"]["implementations"]] == ["ref", "bad"]
    assert "  ref  12 schedules in mixed groups: nothing found\n" in result.stdout
    assert "  bad  12 schedules in mixed groups: FAIL SDS-MSG-04 (" in result.stdout
    assert re.search(r"^FAIL  bad: SDS-MSG-04/[a-z-]+ ", result.stdout, re.MULTILINE)
    file = tmp_path / "SDS-MSG-04-bad.json"
    assert {path.name for path in tmp_path.glob("SDS-MSG-04-bad*")} == {
        f"SDS-MSG-04-bad{suffix}" for suffix in (".json", ".svg", ".txt", ".trace.jsonl")
    }
    roles = {key: name for key, name in json.loads(file.read_text("utf-8"))["notes"].items() if key.startswith("plays")}
    assert "bad" in roles.values()

    again = typed("interop", "--replay", file, REF, BAD)
    assert again.exit_code == 1
    assert "SDS-MSG-04 is violated by bad in this run as well.\n" in again.stdout
    better = typed("interop", "--json", "--replay", file, REF, named("bad", reference_command()))
    assert better.exit_code == 0
    assert json.loads(better.stdout)["findings"] == []
    missing = typed("interop", "--replay", file, REF)
    assert missing.exit_code == 2
    assert "'bad', which plays alice" in words(missing.stderr)

    single = typed("replay", file, "--", *reference_command("--mutant", "sync-without-channel"))
    assert single.exit_code == 1
    assert "SDS-MSG-04 is violated in this run as well." in single.stdout


def test_a_schedule_of_no_mixed_group_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(dumps(Schedule((Member("alice"),))), "utf-8")
    result = typed("interop", "--replay", file, REF)
    assert result.exit_code == 2
    assert "is not a schedule of a mixed group" in words(result.stderr)
    file.write_text(dumps(Schedule((Member("alice"), Member("bob")), notes=HALF)), "utf-8")
    result = typed("interop", "--replay", file, REF)
    assert result.exit_code == 2
    assert "assigns no implementation to bob" in words(result.stderr)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 128 + signal.SIGTERM)])
def test_no_process_is_left_after_an_interrupt(number: signal.Signals, code: int, tmp_path: Path) -> None:
    started = tmp_path / "started"
    slow = named("slow", odd_adapter("slow", "0.2", str(started)))
    command = [sys.executable, "-m", "sds_conformance", "interop", "--schedules", "0", REF, slow]
    suite = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    assert wait_for(started.exists, 30)
    children = psutil.Process(suite.pid).children(recursive=True)
    suite.send_signal(number)
    assert suite.wait(30) == code
    assert len(children) >= 2
    assert psutil.wait_procs(children, 5)[1] == []
