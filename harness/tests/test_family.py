"""The family of a process: processes that have left their group, session or parent are found, named and killed, too."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from sds_harness import family
from sds_harness.faults import FaultKind
from sds_harness.process import TesteeProcess

pytestmark = pytest.mark.every_python

PATIENCE_S = 60
DAEMON = """
import os, subprocess, sys
def daemon(*command, environment=None):
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    os.execvpe(command[0], command, os.environ if environment is None else environment)
"""
SLEEPER = f"{DAEMON}daemon('sleep', '600')\nsys.stdin.read()"
HIDDEN = f"{DAEMON}daemon('sleep', '600', environment={{}})\nsys.stdin.read()"
HANGING = f"{DAEMON}daemon('sleep', '600')\nimport time\ntime.sleep(600)"
GREEDY = f"{DAEMON}daemon(sys.executable, '-c', 'import time; hoard = b\"x\" * (300 << 20); time.sleep(600)')\n"


@pytest.fixture(autouse=True)
def nothing_told_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the processes that other tests left running."""
    monkeypatch.setattr(family, "_survivors", [])


def python(program: str, memory_bytes: int = 1 << 30) -> TesteeProcess:
    """A process that runs ``program``."""
    return TesteeProcess([sys.executable, "-c", program], {}, memory_bytes)


def wait_for(what: Callable[[], object]) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while not what():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def sleepers(process: TesteeProcess) -> list[psutil.Process]:
    return [one for one in process._family.other_processes() if one.name() == "sleep"]


def gone(process: psutil.Process) -> bool:
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def test_a_daemon_is_found_named_and_killed_when_its_implementation_ends() -> None:
    process = python(SLEEPER)
    assert wait_for(lambda: sleepers(process))
    (sleeper,) = sleepers(process)
    assert sleeper.ppid() != process.pid
    assert os.getpgid(sleeper.pid) != os.getpgid(process.pid)
    assert process.close(PATIENCE_S)
    assert wait_for(lambda: gone(sleeper))
    said = (
        f"1 process that the implementation started was still there after it had ended: sleep ({sleeper.pid}). Killed."
    )
    assert family.describe_survivors() == said
    assert family.describe_survivors() == ""


def test_the_memory_of_a_daemon_counts() -> None:
    process = python(f"{GREEDY}\nimport time\ntime.sleep(600)", 200 << 20)
    assert process.read() == b""
    assert process.failure is FaultKind.OUT_OF_MEMORY
    process.close(0)


def test_many_survivors_are_reported_in_few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(family, "_survivors", [f"sleep ({number})" for number in range(7)])
    said = family.describe_survivors()
    assert said.startswith("7 processes that the implementation started were still there")
    assert said.endswith("sleep (3) and 3 more. Killed.")


def started(text: str, *arguments: str) -> subprocess.Popen[str]:
    """A program that starts implementations."""
    head = "import sys, time\nfrom sds_harness import family\nfrom sds_harness.process import TesteeProcess\n"
    command = [sys.executable, "-c", head + textwrap.dedent(text), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_what_hangs_ends_with_the_program_that_started_it_even_when_that_is_killed() -> None:
    child = started(
        """
        process = TesteeProcess([sys.executable, "-c", sys.argv[1]], {}, 1 << 30)
        while not [one for one in process._family.other_processes() if one.name() == "sleep"]:
            time.sleep(0.02)
        print(*(one.pid for one in process._family.running_processes()), flush=True)
        time.sleep(600)
        """,
        HANGING,
    )
    assert child.stdout
    processes = [psutil.Process(int(pid)) for pid in child.stdout.readline().split()]
    assert len(processes) > 1
    os.kill(child.pid, signal.SIGKILL)
    child.wait(PATIENCE_S)
    assert all(wait_for(lambda process=process: gone(process)) for process in processes)  # type: ignore[misc]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a program adopt")
def test_a_program_that_adopts_finds_a_daemon_that_has_hidden_its_mark() -> None:
    child = started(
        """
        family.adopt()
        process = TesteeProcess([sys.executable, "-c", sys.argv[1]], {}, 1 << 30)
        while not (sleepers := [one for one in process._family.other_processes() if one.name() == "sleep"]):
            time.sleep(0.02)
        print(sleepers[0].pid, flush=True)
        process.close(60)
        print(family.describe_survivors(), flush=True)
        """,
        HIDDEN,
    )
    said, _ = child.communicate(timeout=PATIENCE_S)
    pid, output = said.splitlines()
    assert f"sleep ({pid})" in output
    assert wait_for(lambda: not psutil.pid_exists(int(pid)))


def test_a_guardian_that_was_killed_is_replaced_and_one_that_is_not_needed_goes() -> None:
    child = started(
        """
        import psutil
        def guardians():
            return [one for one in psutil.Process().children() if "guardian" in " ".join(one.cmdline())]
        command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
        TesteeProcess(command, {}, 1 << 30).close(60)
        (first,) = guardians()
        first.kill()
        psutil.wait_procs([first])
        TesteeProcess(command, {}, 1 << 30).close(60)
        (second,) = guardians()
        family.dismiss()
        print(first.pid != second.pid, guardians())
        """
    )
    said, _ = child.communicate(timeout=PATIENCE_S)
    assert said == "True []\n"


@pytest.mark.parametrize("missing", ["environ", "pids"])
def test_where_the_system_shows_less_the_group_is_still_killed(
    missing: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(missing)

    monkeypatch.setattr(psutil.Process, "environ", refuse)
    if missing == "pids":
        monkeypatch.setattr(psutil, "pids", refuse)
    note = tmp_path / "pid"
    program = "import pathlib, subprocess, sys, time; child = subprocess.Popen(['sleep', '600']);"
    process = python(f"{program} pathlib.Path({str(note)!r}).write_text(str(child.pid)); time.sleep(600)")
    assert wait_for(lambda: note.exists() and note.read_text())
    child = psutil.Process(int(note.read_text()))
    assert not process.close(0)
    assert wait_for(lambda: gone(child))


NEVER_ENDS = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills a process with its parent")
@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGSTOP])
def test_an_implementation_ends_with_the_program_and_its_guardian(by: signal.Signals) -> None:
    child = started(
        """
        process = TesteeProcess([sys.executable, "-c", sys.argv[1]], {}, 1 << 30)
        print(process.pid, family._guard.pid, flush=True)
        time.sleep(600)
        """,
        NEVER_ENDS,
    )
    assert child.stdout
    adapter, guardian = (psutil.Process(int(pid)) for pid in child.stdout.readline().split())
    try:
        guardian.send_signal(by)
        os.kill(child.pid, signal.SIGKILL)
        child.wait(PATIENCE_S)
        assert wait_for(lambda: gone(adapter))
    finally:
        for process in (adapter, guardian):
            if not gone(process):
                process.kill()


def test_an_implementation_of_another_thread_outlives_the_thread() -> None:
    child = started(
        """
        import threading
        begun = []
        command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
        thread = threading.Thread(target=lambda: begun.append(TesteeProcess(command, {}, 1 << 30)))
        thread.start()
        thread.join()
        time.sleep(0.5)
        print(begun[0].wait_for_exit(0.1), begun[0].close(60), flush=True)
        """
    )
    said, _ = child.communicate(timeout=PATIENCE_S)
    assert said == "None True\n"
