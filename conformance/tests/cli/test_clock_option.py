"""``--clock faketime``: an implementation that reads the clock of the system is judged as if it had a virtual one."""

from __future__ import annotations

import json
import sys

import pytest

from run_helpers import REPOSITORY
from sds_harness.clock import MissingClockLibraryError, find_library
from suite_terminal import typed, words

FAKETIME = ("--clock", "faketime")
COUNTEREXAMPLES = REPOSITORY / "harness" / "adapters" / "waku-sds" / "counterexamples"
QUICK = ("--environment", "plain", "--scenario", "every-kind-of-message", "--scenario", "timestamps-*")
UNMOVED = "--clock faketime: time does not move for this implementation (a static binary?"


def system_clock(way: str = "") -> list[str]:
    """The command of an implementation that reads the clock of the system, in one of its odd ways."""
    adapter = REPOSITORY / "harness" / "tests" / "system_clock.py"
    return ["--", sys.executable, str(adapter), *([way] if way else [])]


@pytest.fixture(autouse=True)
def library() -> None:
    try:
        find_library()
    except MissingClockLibraryError as error:
        pytest.skip(str(error))


def test_a_run_has_a_virtual_clock_from_outside_and_says_so() -> None:
    done = typed("run", "--json", *QUICK, "--select", "SDS-SEND-01", *FAKETIME, *system_clock())
    assert done.exit_code == 0
    report = json.loads(done.stdout)
    assert report["implementation"]["clock"] == "libfaketime's, moved from outside before each command"
    assert "virtual-clock" in report["implementation"]["capabilities"]
    assert report["requirements"][0]["verdict"] == "pass"


def test_where_time_does_not_move_the_reason_stands_with_what_is_skipped() -> None:
    scenarios = (*QUICK, "--scenario", "clock-steps-back")
    done = typed("run", "--json", *scenarios, "--select", "SDS-SEND-0[25]", *FAKETIME, *system_clock("deaf"))
    assert done.exit_code == 0
    report = json.loads(done.stdout)
    skipped, judged = report["requirements"]
    assert report["implementation"]["clock"].startswith(f"the implementation's own. {UNMOVED}")
    assert skipped["verdict"] == "skipped"
    assert skipped["reason"].startswith(UNMOVED)
    assert judged["verdict"] == "pass"


COUNTEREXAMPLE = COUNTEREXAMPLES / "SDS-RECV-06.json"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "command", ["fuzz --schedules 6 --jobs 2", f"replay {COUNTEREXAMPLE}", "vectors run --group repair-*"]
)
def test_every_command_that_drives_an_implementation_has_it(command: str) -> None:
    done = typed(*command.split(), "--json", *FAKETIME, *system_clock())
    assert done.exit_code == 0, done.output
    printed = json.loads(done.stdout)
    assert "virtual-clock" not in json.dumps([printed.get("vectors"), printed.get("errors")])


@pytest.mark.exhaustive
def test_nobody_who_goes_by_the_real_time_is_blamed_for_what_takes_time() -> None:
    """Nobody sends again, asks or answers in a calm phase that is over at once."""
    done = typed("fuzz", "--schedules", "60", "--json", *system_clock())
    assert done.exit_code == 0, done.output


def test_a_server_that_runs_already_keeps_its_clock() -> None:
    done = typed("run", "--grpc", "127.0.0.1:9", *FAKETIME)
    assert done.exit_code == 2
    assert "the clock of a running server cannot be set: add -- COMMAND" in words(done.output)


def test_a_library_that_is_missing_can_be_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sds_harness.clock._machine", lambda file: b"")
    done = typed("run", *FAKETIME, *system_clock())
    assert done.exit_code == 2
    assert "pip install 'sds-conformance[clock]', or apt-get install faketime" in words(done.output)


def test_a_time_in_the_environment_would_be_in_the_way() -> None:
    done = typed("run", *FAKETIME, *system_clock(), FAKETIME="+1y")
    assert done.exit_code == 2
    assert "type `unset FAKETIME`" in words(done.output)
