"""The command line in this process: exit codes, and what stands on stdout and stderr."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path

import pytest

from run_helpers import broken_adapter, odd_adapter, reference_command
from suite_terminal import MUTANT, too_wide, typed, words


@pytest.mark.every_python
@pytest.mark.exhaustive
def test_0_the_reference_conforms_and_no_command_drives_it() -> None:
    result = typed("run", "--environment", "plain")
    assert result.exit_code == 0
    assert too_wide(result.stdout) == []
    assert "sds_reference 0.1.0 conforms to what was tested" in words(result.stdout)
    assert "No COMMAND given: driving the bundled reference" in words(result.stderr)


@pytest.mark.every_python
def test_1_a_fault_is_reported_as_a_story() -> None:
    result = typed("run", "--environment", "plain", "--scenario", "clock-at-first-use", "--", *MUTANT)
    assert result.exit_code == 1
    assert too_wide(result.stdout) == []
    (head,) = re.findall(r"^FAIL .*", result.stdout, re.MULTILINE)
    assert re.fullmatch(r"FAIL  SDS-STATE-02/[a-z-]+  MUST, section 'participant-state'", head)
    for label in ("Rule", "Scenario", "Done", "Expected", "Seen", "Again"):
        assert re.search(rf"^  {label} ", result.stdout, re.MULTILINE)
    last = "starts-at-zero 0.1.0 does not conform: 1 root cause, 1 requirement failed, 1 violation."
    assert last in words(result.stdout)


def test_1_a_breakdown_is_reported_with_its_last_words_and_a_hint() -> None:
    some = ("--scenario", "nobody-answers", "--scenario", "clock-*", "--environment", "plain")
    result = typed("run", *some, "--", *broken_adapter("crashes"))
    assert result.exit_code == 1
    assert "CRASH  in nobody-answers" in result.stdout
    assert "panic: the log is inside out" in result.stdout
    assert "in answer to tick" in words(result.stdout)
    assert re.search(r"^  Hint ", result.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("refuses-to-tick", "tick, which every implementation needs, was answered `unsupported` (not today)"),
        ("refuses-to-be-observed", "observe, although Hello declares observe, was answered `unsupported`"),
    ],
)
def test_1_a_promise_that_is_not_kept_is_a_breakdown_that_counts(name: str, said: str) -> None:
    result = typed("run", "--scenario", "nobody-answers", "--", *broken_adapter(name))
    assert result.exit_code == 1
    assert too_wide(result.stdout) == []
    assert "REFUSAL  in nobody-answers" in result.stdout
    assert said in words(result.stdout)
    assert "Implement the command in the adapter" in words(result.stdout)


PLAYING = ("run", "smoke", "fuzz", "exhaust", "limits --only log", "vectors run --group lamport")


@pytest.mark.parametrize(
    ("adapter", "said"),
    [
        (["no-such-adapter-anywhere"], "cannot start 'no-such-adapter-anywhere'"),
        (["false"], "the process ended with exit code 1 in answer to hello"),
        (["true"], "the process ended with exit code 0 in answer to hello"),
        (["cat"], "the answer to hello"),
        (odd_adapter("greets-in-colour"), "the handshake was refused"),
    ],
)
def test_3_what_cannot_be_driven_is_reported_on_stderr(adapter: list[str], said: str) -> None:
    for command in PLAYING:
        result = typed(*command.split(), "--", *adapter)
        assert (command, result.exit_code, result.stdout) == (command, 3, "")
        assert said in words(result.stderr)


@pytest.mark.every_python
def test_3_an_adapter_that_never_says_hello_is_not_waited_for() -> None:
    result = typed("run", "--start-timeout", "0.3", "--", *broken_adapter("hangs-at-start"))
    assert result.exit_code == 3
    assert "no answer to hello within 0.3 s" in words(result.stderr)


def test_4_nothing_exercised_is_not_green() -> None:
    result = typed("run", "--scenario", "ties", "--environment", "plain", "--", *odd_adapter("opens-nothing"))
    assert result.exit_code == 4
    assert "opens-nothing 1 has no verdict: nothing was exercised." in words(result.stdout)
    assert "no room" in result.stdout
    limits = typed("limits", "--only", "log", "--", *odd_adapter("opens-nothing"))
    assert (limits.exit_code, "refused even at 1" in words(limits.stdout)) == (4, True)


# ---- Reports and JSON --------------------------------------------------------------------------------------------


@pytest.mark.every_python
def test_json_is_all_there_is_on_stdout() -> None:
    for command in (reference_command(), MUTANT, odd_adapter("opens-nothing")):
        result = typed("run", "--scenario", "clock-*", "--environment", "plain", "--json", "--", *command)
        data = json.loads(result.stdout)
        assert data["summary"]["exit_code"] == result.exit_code
        assert data["implementation"]["command"] == command


@pytest.mark.every_python
def test_a_report_is_written_and_its_place_is_reported(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    result = typed("run", "--scenario", "clock-*", "--report", folder, "--json", "--", *MUTANT)
    assert json.loads((folder / "report.json").read_text("utf-8")) == json.loads(result.stdout)
    assert str(folder / "report.json") in result.stderr.replace("\n", "")
    assert (folder / "traces").is_dir()


def test_a_full_disk_costs_the_report_and_not_the_story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def disk_is_full(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", disk_is_full)
    result = typed("run", "--scenario", "clock-*", "--report", tmp_path)
    assert result.exit_code != 0
    assert "No space left on device" in words(result.stderr)
    assert "conforms to what was tested" in words(result.stdout)


# ---- What is typed -----------------------------------------------------------------------------------------------


@pytest.mark.every_python
@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("run --select A --strict python3 -u x.py --json", "run --select A --strict -- python3 -u x.py --json"),
        ("smoke node --no-warnings 'my adapter.mjs'", "smoke -- node --no-warnings 'my adapter.mjs'"),
        ("fuzz --seed 3 ./adapter --fast", "fuzz --seed 3 -- ./adapter --fast"),
        ("replay found.json python3 -m x", "replay found.json -- python3 -m x"),
        ("vectors run python3 -m x", "vectors run -- python3 -m x"),
        ("corpus record python3 -m x", "corpus record -- python3 -m x"),
    ],
)
def test_a_command_without_its_dashes_is_typed_as_it_was_meant(given: str, meant: str) -> None:
    result = typed(*shlex.split(given))
    assert result.exit_code == 2
    assert f"The command of an implementation follows `--`. Type\n  sds-conformance {meant}\n" in result.stderr


@pytest.mark.parametrize("given", ["run --bogus -- python3 -m x", "report --bogus folder", "--bogus run"])
def test_an_unknown_option_of_ours_is_no_command_of_an_implementation(given: str) -> None:
    result = typed(*given.split())
    assert result.exit_code == 2
    assert "follows `--`" not in result.stderr
