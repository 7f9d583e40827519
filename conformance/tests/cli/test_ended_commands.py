"""Commands that are interrupted or out of time: results so far are kept, and no process is left."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import psutil
import pytest

from process_waiting import PATIENCE_S, lives, wait_for
from run_helpers import odd_adapter, reference_command
from sds_conformance.judging.exits import Exit
from sds_conformance.scenario_files.reader import load_one
from sds_harness import signals
from suite_terminal import typed, words

SUITE = [sys.executable, "-m", "sds_conformance"]
MUTANT = reference_command("--mutant", "upper-case-id")


def numbers(note: Path) -> list[int]:
    return [int(number) for number in note.read_text().split()] if note.exists() else []


def heed() -> None:
    """The test runner may ignore signals, and children inherit that."""
    for number in signals.HEEDED:
        signal.signal(number, signal.SIG_DFL)


def asked_to_end(by: signal.Signals, note: Path, *arguments: str, hanging: int = 1) -> tuple[int, str]:
    """Exit code and stdout of a command that gets a signal when this number of its implementations hang.

    Nothing of it may live any more.
    """
    child = subprocess.Popen(
        [*SUITE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heed
    )
    hung = wait_for(lambda: len(numbers(note)) >= 2 * hanging)
    assert hung, (child.communicate(timeout=PATIENCE_S), child.returncode)
    family = [one.pid for one in psutil.Process(child.pid).children(recursive=True)]
    child.send_signal(by)
    out, err = child.communicate(timeout=30)
    assert "Traceback" not in err
    assert wait_for(lambda: not any(map(lives, [*family, *numbers(note)])), 30)
    return child.returncode, out


@pytest.mark.parametrize(
    "by", [signal.SIGTERM, *(pytest.param(s, marks=pytest.mark.exhaustive) for s in (signal.SIGINT, signal.SIGHUP))]
)
def test_run_judges_tells_and_keeps_what_was_played(by: signal.Signals, tmp_path: Path) -> None:
    note = tmp_path / "pids"
    command = ["run", "--environment", "plain", "--report", str(tmp_path / "report"), "--"]
    code, out = asked_to_end(by, note, *command, *odd_adapter("hangs-late", "150", str(note)))
    assert code == {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}[by]
    assert "the run was interrupted" in " ".join(out.split())
    summary = json.loads((tmp_path / "report" / "report.json").read_text("utf-8"))["summary"]
    assert summary["interrupted"]
    assert summary["fail"] > 0


@pytest.mark.exhaustive
@pytest.mark.parametrize("by", [*signals.HEEDED, signal.SIGKILL])
def test_workers_of_fuzz_end_with_their_implementations(by: signal.Signals, tmp_path: Path) -> None:
    note, kept = tmp_path / "pids", tmp_path / "kept"
    command = ["fuzz", "--jobs", "2", "--timeout", "100", "--out", str(kept), "--"]
    code, _ = asked_to_end(by, note, *command, *odd_adapter("hangs-late", "300", str(note)), hanging=2)
    assert code == (-by if by is signal.SIGKILL else 128 + by)
    assert by is signal.SIGKILL or list(kept.glob("*.json"))


@pytest.mark.exhaustive
@pytest.mark.parametrize(("command", "by"), [("selftest", signal.SIGKILL), ("selftest --hunt", signal.SIGTERM)])
def test_workers_of_the_self_test_end_with_it(command: str, by: signal.Signals) -> None:
    child = subprocess.Popen(
        [*SUITE, *command.split(), "--jobs", "2"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=heed
    )
    suite = psutil.Process(child.pid)
    assert wait_for(lambda: len(suite.children()) > 1)
    workers = suite.children(recursive=True)
    child.send_signal(by)
    assert child.wait(30) == (-by if by is signal.SIGKILL else 128 + by)
    assert psutil.wait_procs(workers, 30)[1] == []


@pytest.mark.exhaustive
def test_a_terminal_that_is_gone_costs_no_report(tmp_path: Path) -> None:
    note, report = tmp_path / "pids", tmp_path / "report"
    ours, theirs = os.openpty()
    command = [*SUITE, "run", "--environment", "plain", "--report", str(report), "--"]
    child = subprocess.Popen(
        [*command, *odd_adapter("hangs-late", "150", str(note))],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=heed,
    )
    os.close(theirs)
    assert wait_for(lambda: numbers(note))
    os.close(ours)
    child.send_signal(signal.SIGHUP)
    assert child.wait(30) == 129
    assert json.loads((report / "report.json").read_text("utf-8"))["summary"]["interrupted"]


def test_an_interrupt_while_shrinking_ends_the_shrinking_and_tells_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(import_module("sds_conformance.cli.fuzz"), "shrink_finding", interrupted)
    result = typed("fuzz", "--jobs", "1", "--schedules", "1", "--json", "--out", tmp_path, "--", *MUTANT)
    assert result.exit_code == Exit.INTERRUPTED
    data = json.loads(result.stdout)
    assert data["interrupted"]
    assert len(data["findings"]) > 1
    assert all(load_one(Path(found["files"]["schedule"])).schedule.operations for found in data["findings"])


def test_a_daemon_of_an_implementation_is_named_and_gone(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    script = tmp_path / "adapter.sh"
    script.write_text(f"setsid sleep 600 <&- >&- 2>&- &\necho $! > {note}\n{' '.join(reference_command())}\n")
    result = typed("run", "--environment", "plain", "--scenario", "two-channels", "--", "sh", str(script))
    assert result.exit_code == 0
    assert "still there after it had ended: sleep (" in words(result.stderr)
    assert wait_for(lambda: not any(map(lives, numbers(note))), 30)


# ---- The total time --------------------------------------------------------------------------------------------------


STUCK = str(Path(__file__).parents[1] / "stuck_suite.py")


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


def test_workers_that_are_stuck_are_not_waited_for() -> None:
    ended = stuck("asleep", 40, "fuzz", "--schedules", "2000", "--jobs", "2", "--total-timeout", "6")
    # A busy machine may have played nothing by then.
    assert ended.returncode in (1, 3), ended.stderr
    assert "total time" in words(ended.stdout + ended.stderr)


def test_where_nothing_wakes_the_main_thread_a_line_says_so_and_the_command_ends() -> None:
    ended = stuck("deaf", 100, "run", "--environment", "plain", "--jobs", "1", "--total-timeout", "2")
    assert ended.returncode == 3
    assert ended.stderr.endswith("blocked the harness beyond every timeout. Nothing was judged.\n")


def test_an_interrupt_while_workers_start_prints_no_traceback() -> None:
    """Ctrl-C reaches all processes of the terminal: also the fork server, which still imports the suite."""
    command = [*SUITE, "fuzz", "--jobs", "2", "--schedules", "100000", "--", *reference_command()]
    child = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=heed,
        start_new_session=True,
    )

    def fork_server_runs() -> bool:
        family = psutil.Process(child.pid).children(recursive=True)
        with contextlib.suppress(psutil.ZombieProcess, psutil.NoSuchProcess):  # a process may end meanwhile
            return any("forkserver" in " ".join(one.cmdline()) for one in family)
        return False

    try:
        assert wait_for(fork_server_runs, 30)
        time.sleep(0.5)  # the fork server starts to import
        os.killpg(child.pid, signal.SIGINT)
        out, _ = child.communicate(timeout=60)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    assert child.returncode == Exit.INTERRUPTED
    assert "Traceback" not in out
