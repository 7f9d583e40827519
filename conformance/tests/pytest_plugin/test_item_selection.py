"""Items are selected, repeated, stopped and spread as any others of pytest."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from pytest_runs import LOADED, ended, items_of, run
from run_helpers import odd_adapter, reference_command

BUFFERED_IS_MET = reference_command("--mutant", "buffered-is-met")
BLAMED = "sds::a-dependent-of-the-buffered::SDS-RECV-06"


def passed(result: pytest.RunResult) -> list[str]:
    """The node IDs that passed, of a run with -v."""
    return re.findall(r"^(\S+) PASSED", result.stdout.str(), re.MULTILINE)


def alive(pids: Path) -> list[int]:
    """The processes of an adapter that wrote its numbers to a file which still run."""
    return [pid for pid in {int(line) for line in pids.read_text().split()} if psutil.pid_exists(pid)]


def test_node_ids_can_be_typed(pytester: pytest.Pytester) -> None:
    result = run(pytester, reference_command(), "-v", "sds::ties::SDS-CONFLICT-01", "sds::a-diamond::")
    assert passed(result)[-1] == "sds::ties::SDS-CONFLICT-01"
    result.assert_outcomes(passed=items_of("a-diamond") + 1)
    less = run(pytester, reference_command(), "sds::a-diamond", "--deselect", "sds::a-diamond::others")
    less.assert_outcomes(passed=items_of("a-diamond") - 1, deselected=1)


def test_a_node_id_of_nothing_is_an_error_that_says_what_to_type(pytester: pytest.Pytester) -> None:
    result = run(pytester, reference_command(), "sds::no-such-scenario")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: not found: sds::no-such-scenario (`pytest --collect-only -q sds` *"])


def test_the_suite_comes_beside_the_tests_of_the_user_unless_they_are_named(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_mine="def test_mine(): pass")
    both = run(pytester, reference_command(), "-k", "mine or a-diamond", "-v")
    assert passed(both)[0] == "test_mine.py::test_mine"
    both.assert_outcomes(passed=items_of("a-diamond") + 1, deselected=both.parseoutcomes()["deselected"])
    run(pytester, reference_command(), "test_mine.py").assert_outcomes(passed=1)
    run(pytester, reference_command(), "sds::ties::others", "test_mine.py").assert_outcomes(passed=2)


def is_guardian(process: psutil.Process) -> bool:
    """It stays where another test of this process left something to guard."""
    return any(word.endswith("guardian.py") for word in process.cmdline())


def test_x_stops_and_lf_repeats_what_failed_and_no_process_stays(pytester: pytest.Pytester) -> None:
    before = set(psutil.Process().children(recursive=True))
    stopped = run(pytester, BUFFERED_IS_MET, "-x", BLAMED, "sds::ties")
    stopped.assert_outcomes(failed=1)
    assert not [one for one in set(psutil.Process().children(recursive=True)) - before if not is_guardian(one)]
    repeated = run(pytester, BUFFERED_IS_MET, "--lf", "-k", "a-d or ties", "sds")
    assert ended(repeated, "FAILED") == [BLAMED]
    assert not repeated.parseoutcomes().get("passed")
    mended = run(pytester, reference_command(), "--lf", "-k", "a-d or ties", "sds")
    mended.assert_outcomes(passed=1, deselected=mended.parseoutcomes()["deselected"])


def test_a_scenario_is_played_once_for_all_its_items(pytester: pytest.Pytester) -> None:
    pids = pytester.path / "pids"
    run(pytester, odd_adapter("slow", "0", str(pids)), "sds::a-diamond::SDS-RECV-06").assert_outcomes(passed=1)
    once = len(pids.read_text().split())
    pids.unlink()
    result = run(pytester, odd_adapter("slow", "0", str(pids)), "sds::a-diamond")
    result.assert_outcomes(passed=items_of("a-diamond"))
    assert len(pids.read_text().split()) == once
    assert alive(pids) == []


def test_other_environments_show_in_the_names(pytester: pytest.Pytester) -> None:
    result = run(pytester, reference_command(), "--sds-environment", "all-*", "-v", "sds::a-diamond@all-scripts")
    assert len(passed(result)) == items_of("a-diamond")
    listed = run(pytester, reference_command(), "--sds-environment", "*", "--collect-only", "-q", "sds")
    assert {"sds::ties::others", "sds::ties@turkish::others"} <= set(listed.outlines)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--sds-testee", "node 'adapter"], "--sds-testee * is not a command: No closing quotation"),
        (["--sds-revision", "1999"], "--sds-revision '1999' is unknown; known are sds-2026-01, *"),
        (["--sds-profile", "half"], "--sds-profile 'half' is unknown; known are full, *"),
        (["--sds-timeout", "soon"], "--sds-timeout 'soon': write a number of seconds, 0.05 or more"),
        (["--sds-dialect", "elvish"], "--sds-dialect: *"),
        (["--sds-revision", "forum-2024", "--sds-profile", "sds-r"], "*: leave --sds-profile out"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, list) else "",
)
def test_what_was_typed_wrongly_is_said(pytester: pytest.Pytester, options: list[str], said: str) -> None:
    result = run(pytester, ["x"], *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {said}"])


@pytest.mark.exhaustive
@pytest.mark.parametrize("how", ["load", "loadscope"])
def test_xdist_spreads_the_suite(pytester: pytest.Pytester, how: str) -> None:
    result = run(
        pytester, BUFFERED_IS_MET, "-n", "2", "--dist", how, "-v", "-k", "a-d or ties or ephemerals or handshake", "sds"
    )
    assert result.ret == 1
    assert ended(result, "FAILED") == [BLAMED]
    workers: dict[str, set[str]] = {}
    for worker, scenario in re.findall(r"^\[(gw\d)\].* sds::([^: ]+)", result.stdout.str(), re.MULTILINE):
        workers.setdefault(scenario, set()).add(worker)
    assert len(workers) > 8
    assert how == "load" or all(len(found) == 1 for found in workers.values())
    assert set.union(*workers.values()) == {"gw0", "gw1"}


def test_an_interrupt_leaves_no_process(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    command = shlex.join(odd_adapter("hangs-at-start", str(pids)))
    words = [sys.executable, "-m", "pytest", *LOADED, "--rootdir", str(tmp_path), "--sds-testee", command, "sds"]
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    while not (pids.exists() and pids.read_text()):
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, said
    assert alive(pids) == []
