"""The effect of a signal on a program: one message, hooks are called, and after the grace time no process is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import psutil
import pytest

from sds_harness import signals
from sds_harness.signals import HEEDED, EndRequest, call_on_signal, defer_signals, handle_signals

pytestmark = pytest.mark.every_python

PATIENCE_S = 60


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Keep the grace period from ending the test process. Returns the exit codes with which it would have ended."""
    codes: list[int] = []
    monkeypatch.setattr(signals, "end_now", codes.append)
    monkeypatch.setattr(signals, "GRACE_S", 1e6)
    return codes


def program(text: str, *, grace: float = 60.0) -> subprocess.Popen[str]:
    """A program that handles signals and executes ``text``, after it has printed a first line."""
    head = f"import signal, subprocess, sys, time\nfrom sds_harness import signals\nsignals.GRACE_S = {grace}\n"
    return subprocess.Popen(
        [sys.executable, "-c", head + textwrap.dedent(text)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def line(child: subprocess.Popen[str]) -> str:
    assert child.stdout
    return child.stdout.readline().strip()


@pytest.mark.parametrize("number", HEEDED)
def test_each_signal_interrupts_and_is_remembered(number: signal.Signals, patient: list[int]) -> None:
    ending = EndRequest()
    with pytest.raises(KeyboardInterrupt):
        ending.handle(number)
    assert (ending.number, ending.exit_code, ending.name) == (number, 128 + number, number.name)
    assert ending.by_others == (number != signal.SIGINT)


def test_an_interrupt_that_python_drops_in_a_destructor_is_raised_again() -> None:
    child = program(
        """
        class Interrupted:
            def __del__(self):
                signal.raise_signal(signal.SIGTERM)

        with signals.handle_signals() as ending:
            try:
                Interrupted()
                time.sleep(40)
            except KeyboardInterrupt:
                print(ending.name, flush=True)
        """
    )
    said, errors = child.communicate(timeout=PATIENCE_S)
    assert (said, errors) == ("SIGTERM\n", "")


def test_a_hook_is_called_in_another_thread_and_only_within_its_block(patient: list[int]) -> None:
    called: list[threading.Thread] = []
    there = threading.Event()

    def hook() -> None:
        called.append(threading.current_thread())
        there.set()
        raise RuntimeError("nobody's")

    with call_on_signal(hook), pytest.raises(KeyboardInterrupt):
        EndRequest().handle(signal.SIGTERM)
    assert there.wait(PATIENCE_S)
    with pytest.raises(KeyboardInterrupt):
        EndRequest().handle(signal.SIGTERM)
    assert len(called) == 1
    assert called[0] is not threading.main_thread()


def test_nothing_is_interrupted_where_signals_are_held(patient: list[int]) -> None:
    ending = EndRequest()
    with defer_signals():
        ending.handle(signal.SIGTERM)
    assert ending.number == signal.SIGTERM


def test_a_second_signal_ends_at_once_but_not_one_that_is_the_first_again(
    patient: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signals, "AGAIN_S", 1e6)
    ending = EndRequest()
    with pytest.raises(KeyboardInterrupt):
        ending.handle(signal.SIGTERM)
    ending.handle(signal.SIGTERM)  # `timeout` sends the signal to the process and to its group
    assert patient == []
    monkeypatch.setattr(signals, "AGAIN_S", 0.0)
    ending.handle(signal.SIGINT)
    assert patient == [143]


def test_what_was_ignored_stays_ignored_and_handlers_are_given_back() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # `nohup` ignores the signal like this
    terminating = signal.getsignal(signal.SIGTERM)
    try:
        with handle_signals():
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) != terminating
        assert signal.getsignal(signal.SIGTERM) == terminating
    finally:
        signal.signal(signal.SIGHUP, before)


def test_after_the_grace_nothing_is_left_however_busy_it_is() -> None:
    child = program(
        """
        with signals.handle_signals():
            sleeper = subprocess.Popen(["sleep", "600"], start_new_session=True)
            while True:
                try:
                    print(sleeper.pid, flush=True)
                    time.sleep(600)
                except KeyboardInterrupt:
                    pass
        """,
        grace=0.3,
    )
    sleeper = psutil.Process(int(line(child)))
    child.send_signal(signal.SIGHUP)
    assert child.wait(PATIENCE_S) == 129
    assert psutil.wait_procs([sleeper], PATIENCE_S)[1] == []


def test_who_works_for_a_program_ends_with_it_even_when_that_is_killed() -> None:
    child = program(
        """
        import os
        from multiprocessing import get_context
        def work(*_):
            signals.follow_parent()
            os.write(1, b"works\\n")
            time.sleep(600)
        workers = [get_context("fork").Process(target=work) for _ in range(2)]
        for worker in workers:
            worker.start()
        os.write(1, " ".join(str(worker.pid) for worker in workers).encode() + b"\\n")
        time.sleep(600)
        """
    )
    said = [line(child) for _ in range(3)]
    workers = [psutil.Process(int(pid)) for pid in next(one for one in said if one != "works").split()]
    for worker in workers:
        worker.send_signal(signal.SIGINT)  # a terminal sends the signal to all processes of the group
        worker.send_signal(signal.SIGHUP)
    time.sleep(0.2)
    assert all(worker.is_running() and worker.status() != psutil.STATUS_ZOMBIE for worker in workers)
    os.kill(child.pid, signal.SIGKILL)
    child.wait(PATIENCE_S)
    assert psutil.wait_procs(workers, PATIENCE_S)[1] == []
