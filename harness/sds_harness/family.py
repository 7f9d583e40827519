"""Finds all processes that descend from a command: its children, those that left the process group or session, and
orphans.

A process belongs to a family if its parent belonged to the family when the process was first seen, or if the
environment of the process has the mark of the family. On Linux, a program that calls ``adopt`` also becomes the parent
of all orphans among its descendants. Then a process is found even if it has removed the mark. On systems that show
neither environments nor orphans, only the processes in the process group are found.

The first family of a process starts the ``guardian``, which kills the remaining processes when this process dies.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from secrets import token_hex

import psutil

from . import guardian
from .declaration import printable

VARIABLE = "SDS_TESTEE_FAMILY"
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_PDEATHSIG = 1
_NAMED = 4
_DISMISSAL_S = 2.0
GONE = (psutil.Error, OSError, LookupError, RuntimeError, ValueError)
"""Exceptions that psutil raises for a process that is gone, or where /proc is empty or not the kernel's."""

_lock = threading.RLock()
"""Held while a process is started, so that it is not taken for a stray before it is registered."""
_open: set[Family] = set()
_ours: set[int] = set()
"""IDs of child processes that only the code that started them may reap."""
_numbers = count(1)
_token = ""
_guard: subprocess.Popen[bytes] | None = None
_adopting = False
_survivors: list[str] = []


class Family:
    """The processes of one command, from before the start until ``end``."""

    def __init__(self) -> None:
        with _lock:
            self.mark = f"{_start_guardian()}.{next(_numbers)}"
            self._seen = _pids()
            self._members: dict[int, psutil.Process] = {}
            self._leader = 0
            self._nameless: set[int] = set()
            """Processes whose environment was read as empty, as happens during exec. They are checked again later."""
            _open.add(self)

    @contextlib.contextmanager
    def start_block(self) -> Iterator[dict[str, str]]:
        """Start the command within this block, with these variables in its environment."""
        with _lock:
            yield {VARIABLE: self.mark}

    def lead(self, pid: int) -> None:
        """Register the process of the command. Call this within the block of ``start_block``."""
        self._leader = pid
        _ours.add(pid)
        _tell_guardian(f"+{pid}")
        with contextlib.suppress(*GONE):
            self._members[pid] = psutil.Process(pid)

    def running_processes(self) -> list[psutil.Process]:
        """The running processes of the family; the process of the command itself comes first."""
        with _lock:
            self._members = {pid: process for pid, process in self._members.items() if _lives(process)}
            pids = _pids()
            new, self._seen = pids - self._seen, pids
            self._nameless.clear()
            # Repeat until nothing new is found: a parent may have a higher PID than its child.
            while found := {pid: process for pid in new if (process := self._member(pid)) is not None}:
                self._members |= found
                new -= found.keys()
            self._seen -= self._nameless
            return sorted(self._members.values(), key=lambda process: process.pid != self._leader)

    def other_processes(self) -> list[psutil.Process]:
        """The running processes of the family without the process of the command itself."""
        return [process for process in self.running_processes() if process.pid != self._leader]

    def end(self) -> None:
        """Forget the family. Call this after waiting for the process of the command and killing the remaining
        processes.
        """
        with _lock:
            _open.discard(self)
            _ours.discard(self._leader)
            if self._leader:
                _tell_guardian(f"-{self._leader}")

    def _member(self, pid: int) -> psutil.Process | None:
        if pid in _ours:
            return None
        try:
            process = psutil.Process(pid)
            parent = process.ppid()
            return process if (parent in self._members or self._claims(process, parent)) and _lives(process) else None
        except GONE:
            return None

    def _claims(self, process: psutil.Process, parent: int) -> bool:
        variables: dict[str, str] = {}
        with contextlib.suppress(*GONE):
            variables = process.environ()
        if not variables:
            self._nameless.add(process.pid)
        mark = variables.get(VARIABLE, "")
        if mark.startswith(f"{_token}."):
            return mark == self.mark
        return len(_open) == 1 and _is_stray(process.pid, parent)


def adopt() -> None:
    """Make orphans among the descendants of this process its children, where the system supports that.

    Only for programs of the suite: a process that adopts must also wait for the adopted ones.
    """
    global _adopting
    with contextlib.suppress(OSError, AttributeError):
        _adopting = ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def end_with_parent() -> Callable[[], None] | None:
    """The function that a child must call first, so that it is killed with this process even if the guardian was
    killed. None where the system does not support that.

    Linux kills the child when the thread that started it ends, so only the main thread may use it. Children of the
    child end when their standard input ends, or the guardian kills them.

    Also None once gRPC is loaded: such a function makes Python fork instead of vfork, and the fork handlers of gRPC
    abort about one child in a hundred (SIGABRT before the command is executed).
    """
    if threading.current_thread() is not threading.main_thread() or "grpc" in sys.modules:
        return None
    try:
        prctl = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return None
    parent = os.getpid()

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # the parent died before the call
            os._exit(128 + signal.SIGKILL)

    return ask


def record_survivors(processes: list[psutil.Process]) -> None:
    """Record for ``describe_survivors`` that these processes were still running after the command had ended."""
    for process in processes:
        name = "?"
        with contextlib.suppress(*GONE):
            name = process.name()
        _survivors.append(f"{printable(name)[:60]} ({process.pid})")


def describe_survivors() -> str:
    """One line that names the processes that implementations left running; empty if none. Kills adopted processes
    that belong to no family."""
    with _lock, contextlib.suppress(*GONE):
        strays = [child for child in psutil.Process().children() if _is_stray(child.pid, os.getpid())]
        family = [*strays, *(one for stray in strays for one in stray.children(recursive=True))]
        record_survivors([process for process in family if _lives(process)])
        for process in family:
            with contextlib.suppress(*GONE):
                process.kill()
    if not _survivors:
        return ""
    names, more = ", ".join(_survivors[:_NAMED]), len(_survivors) - _NAMED
    what = "1 process that the implementation started was"
    if len(_survivors) > 1:
        what = f"{len(_survivors)} processes that the implementation started were"
    _survivors.clear()
    return f"{what} still there after it had ended: {names}{f' and {more} more' if more > 0 else ''}. Killed."


def dismiss() -> None:
    """End the guardian if it has nothing to guard. The next family starts another one."""
    if not _open:
        _send_away()


@contextlib.contextmanager
def name_survivors(tell: Callable[[str], object]) -> Iterator[None]:
    """Call ``tell`` at the end of the block if implementations left processes running, with one line that names
    them.
    """
    _survivors.clear()
    try:
        yield
    finally:
        if left := describe_survivors():
            tell(left)


def _pids() -> set[int]:
    try:
        return set(psutil.pids())
    except GONE:
        return set()


def _lives(process: psutil.Process) -> bool:
    """Is the process running? Reaps it if it has ended and was adopted."""
    try:
        if not process.is_running():
            return False
        if process.status() != psutil.STATUS_ZOMBIE:
            return True
        if process.pid not in _ours and process.ppid() == os.getpid():
            os.waitpid(process.pid, os.WNOHANG)
    except GONE:
        pass
    return False


def _is_stray(pid: int, parent: int) -> bool:
    """Was the process adopted? If so, it is in another session: children that this program starts for itself stay in
    its session."""
    if not _adopting or parent != os.getpid() or pid in _ours:
        return False
    try:
        return os.getsid(pid) != os.getsid(0)
    except OSError:
        return False


def _start_guardian() -> str:
    """Start the guardian if it is not running. Returns the prefix of all marks of this process."""
    global _token, _guard
    _token = _token or token_hex(8)
    if (_guard is None or _guard.poll() is not None) and sys.executable:
        packages = str(Path(psutil.__file__).parent.parent)
        # The guardian has its own session, pipes and folder: a caller that waits for the end of the pipes or the
        # terminal then waits only for this process, not for the guardian.
        with contextlib.suppress(OSError):
            _guard = subprocess.Popen(
                [sys.executable, "-I", "-S", guardian.__file__, VARIABLE, f"{_token}.", packages],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,
            )
            _ours.add(_guard.pid)
            assert _guard.stdin is not None
            os.set_blocking(_guard.stdin.fileno(), False)
            for family in _open:
                if family._leader:
                    _tell_guardian(f"+{family._leader}")
    return _token


def _tell_guardian(line: str) -> None:
    if _guard is not None and _guard.stdin is not None and not _guard.stdin.closed:
        with contextlib.suppress(OSError):  # The guardian was killed, or is stopped and does not read its pipe.
            os.write(_guard.stdin.fileno(), f"{line}\n".encode())


@atexit.register
def _send_away() -> None:
    """End the guardian. If a command still runs, the guardian kills its processes first."""
    if _guard is not None and _guard.stdin is not None:
        with contextlib.suppress(OSError, ValueError):
            _guard.send_signal(signal.SIGCONT)  # a stopped guardian would never end
            if not _open:
                _tell_guardian(".")
            _guard.stdin.close()
            try:
                _guard.wait(_DISMISSAL_S)
            except subprocess.TimeoutExpired:
                if not _open:
                    _guard.kill()


def _fork() -> None:
    """Forget everything in a forked child: the started processes and the guardian belong to the parent."""
    global _lock, _token, _guard, _adopting
    if _guard is not None and _guard.stdin is not None:
        _guard.returncode = 0  # the child must not wait for the guardian
        with contextlib.suppress(OSError):
            _guard.stdin.close()
    _lock, _token, _guard, _adopting = threading.RLock(), "", None, False
    for kept in (_open, _ours, _survivors):
        kept.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_fork)
