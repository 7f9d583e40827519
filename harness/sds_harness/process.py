"""Runs the process of an implementation under test: starts it in its own process group, watches time and memory, and
kills the whole group.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence

import psutil

from sds_testee.rpc import TOKEN_VARIABLE

from .declaration import without_controls
from .family import GONE, Family, end_with_parent, record_survivors
from .faults import FaultKind, TesteeError
from .redaction import Redaction
from .safe_path import variables_for_implementations
from .start_failures import why_ended_at_once, why_not_started

_STDERR_BYTES = 64 * 1024
_STDERR_LINES = 12
_FIRST_WORDS = 4
_FAILURE = re.compile(
    r"panic: |fatal error: |thread '.*' (\(\d+\) )?panicked at |Exception in thread |SIG[A-Z]+: "
    r"|.*: [Aa]ssertion .* failed|==\d+==ERROR: "
)
"""Matches the first line of a trace that begins with the message: of Go, Rust, Java, assert in C, and sanitizers."""
_LOOK_EVERY_S = 0.05
_LAST_WORDS_S = 2.0
_MEMORY_EVERY_S = 0.25
_STRAGGLING_S = 0.5
"""Seconds that children may take to end after the process itself."""
_DYING_S = 5.0
"""Seconds that a process may take to die of SIGKILL. A process that waits for a disk dies only when the disk
answers."""
_ROUNDS = 20
_PAUSE_S = 0.01
# The capacity of a pipe. For a larger buffer malloc would map new pages at every read, which costs more than the read.
_READ_BYTES = 1 << 16


class TesteeProcess:
    """A child process with pipes for stdin and stdout. The last part of stderr is kept for the failure report.

    If ``talks`` is False, the process does not answer on stdout, and its stdout is kept together with stderr.

    A watchdog thread kills the process group when a deadline passes or the memory exceeds its limit. The pending read
    then returns end of file, and ``failure`` says why. Reads and writes end at that moment, even if a process outside
    the group still holds the pipe.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        memory_bytes: int,
        *,
        talks: bool = True,
        redaction: Redaction | None = None,
    ) -> None:
        self.failure: FaultKind | None = None
        self._command = command
        self._redaction = redaction or Redaction([])
        self.memory_bytes = memory_bytes
        self._deadline = float("inf")
        self._stderr: deque[bytes] = deque()
        self._stderr_size = 0
        self._unread_stderr = 0
        """Number of bytes that were read from stderr since the last call of `new_stderr_lines`."""
        self._hearing = threading.Lock()
        self._ended = threading.Event()
        self._stopped = False
        self._family = Family()
        # The token is for servers. A process that talks on stdout does not need it, and could quote it.
        inherited = {
            name: value
            for name, value in variables_for_implementations().items()
            if not talks or name != TOKEN_VARIABLE
        }
        try:
            with self._family.start_block() as mark:
                self._child = subprocess.Popen(
                    list(command),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE if talks else subprocess.STDOUT,
                    env={**inherited, **environment, **mark},
                    bufsize=0,
                    start_new_session=True,
                    preexec_fn=end_with_parent(),
                )
                self._family.lead(self._child.pid)
        except (OSError, ValueError) as error:
            self._family.end()
            reason = getattr(error, "strerror", None) or error
            hint = why_not_started(command, error)
            raise TesteeError(FaultKind.NO_START, f"cannot start {command[0]!r}: {reason}", hint=hint) from None
        assert self._child.stdin
        assert self._child.stdout
        self._stdin = self._child.stdin.fileno()
        self._stdout = self._child.stdout.fileno()
        os.set_blocking(self._stdin, False)
        self._kept = self._child.stderr or self._child.stdout
        os.set_blocking(self._kept.fileno(), False)
        self._readable, self._writable, self._unheard = select.poll(), select.poll(), select.poll()
        self._readable.register(self._stdout, select.POLLIN)
        self._writable.register(self._stdin, select.POLLOUT)
        self._unheard.register(self._kept.fileno(), select.POLLIN)
        self._reader = threading.Thread(target=self._keep_stderr, daemon=True)
        try:
            threading.Thread(target=self._watch, daemon=True).start()
            self._reader.start()
        except RuntimeError as error:  # the machine cannot start more threads
            self._ended.set()
            self._kill_family()
            self._child.wait(_DYING_S)
            self._family.end()
            raise TesteeError(FaultKind.NO_START, f"cannot start {command[0]!r}: {error}") from None

    @property
    def pid(self) -> int:
        return self._child.pid

    def deadline_in(self, seconds: float) -> None:
        """Set the deadline for the next answer."""
        self._deadline = time.monotonic() + seconds

    def write(self, data: bytes) -> bool:
        """Write all of ``data`` to stdin. False if the process no longer reads it."""
        view = memoryview(data)
        while view:
            if self._stopped:
                return False
            try:
                view = view[os.write(self._stdin, view) :]
            except BlockingIOError:
                self._writable.poll(_LOOK_EVERY_S * 1000)
            except OSError:
                return False
        return True

    def read(self) -> bytes:
        """Some bytes of stdout; b"" at its end."""
        while not self._stopped:
            if self._readable.poll(_LOOK_EVERY_S * 1000):
                return os.read(self._stdout, _READ_BYTES)
        return b""

    def read_remaining(self) -> bytes:
        """The bytes of stdout that can be read without waiting, up to the capacity of a pipe."""
        return os.read(self._stdout, _READ_BYTES) if self._readable.poll(0) else b""

    @property
    def why_at_once(self) -> str:
        """A hint for the user if the process failed before it answered anything; "" if there is none."""
        return why_ended_at_once(self._command, self._child.returncode)

    def wait_for_exit(self, seconds: float = 0.5) -> int | None:
        """Wait for the process to exit, after stdout has ended.

        Returns the exit status (negative: the signal), or None if the process still runs after ``seconds``.
        """
        self._deadline = float("inf")  # the watchdog must not act: its SIGKILL would be reported as the exit status
        try:
            status = self._child.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        self._reader.join(_LAST_WORDS_S)
        return status

    def stderr_lines(self) -> tuple[str, ...]:
        """The last lines of stderr, without control characters.

        Go, Rust, Java and C print the message of a failure before its trace. If the trace is long, the lines after the
        message are kept as well, and a line with the number of omitted lines stands between them and the last lines.
        """
        lines = self._lines(b"".join(self._stderr))
        first = next((place for place in reversed(range(len(lines))) if _FAILURE.match(lines[place])), len(lines))
        more = len(lines) - first - _STDERR_LINES + 1
        if more <= 1:
            return tuple(lines[-_STDERR_LINES:])
        head = first + _STDERR_LINES - _FIRST_WORDS - 1
        return (*lines[first:head], f"... {more} more lines", *lines[head + more :])

    def new_stderr_lines(self) -> tuple[str, ...]:
        """The lines written to stderr since the last call. If there are too many, a line with the number of omitted
        lines replaces those in the middle.
        """
        if self._unheard.poll(0):  # all lines that were written before the answer are in the pipe now
            self._read_stderr()
        with self._hearing:
            untold, self._unread_stderr = self._unread_stderr, 0
            if not untold:
                return ()
            text = b"".join(self._stderr)[-untold:]
        lines = self._lines(text)
        if len(lines) <= _STDERR_LINES:
            return tuple(lines)
        more = len(lines) - _STDERR_LINES + 1
        return (*lines[:_FIRST_WORDS], f"... {more} more lines", *lines[_FIRST_WORDS + more :])

    def _lines(self, text: bytes) -> list[str]:
        """The lines of ``text`` that are not empty, cut at 300 characters, without the access token and control
        characters.
        """
        clean = self._redaction.text(text.decode("utf-8", "replace"))
        lines = (without_controls(line, " ").rstrip()[:300] for line in clean.splitlines())
        return [line for line in lines if line]

    def close(self, grace_s: float) -> bool:
        """Close stdin, wait up to ``grace_s`` seconds, then kill the process if it still runs. True if it ended by
        itself.

        Processes that the process started and left running are recorded for ``family.describe_survivors`` and killed.
        """
        if self._ended.is_set():
            return True
        self._deadline = float("inf")
        self._stdin = self._stdout = -1  # the numbers of these descriptors may be reused
        assert self._child.stdin
        assert self._child.stdout
        with contextlib.suppress(OSError):
            self._child.stdin.close()
        ended = False
        try:
            if self._kept is not self._child.stdout:
                # Close stdout, so that a process that still writes does not block.
                self._child.stdout.close()
            self._child.wait(grace_s)
            ended = True
            if left := psutil.wait_procs(self._family.other_processes(), _STRAGGLING_S)[1]:
                record_survivors(left)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self.kill()
            self._ended.set()
            self._family.end()
        return ended

    def kill(self) -> None:
        """Kill the process group and every descendant that has left it, and reap the child."""
        self._kill_family()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(_DYING_S)
        self._kill_family()  # kills children that were started before the process died
        self._reader.join(_LAST_WORDS_S)

    def _keep_stderr(self) -> None:
        waiting = select.poll()  # not shared: two threads cannot use one poll object
        waiting.register(self._kept.fileno(), select.POLLIN)
        while self._read_stderr():
            waiting.poll()

    def _read_stderr(self) -> bool:
        """Read the available bytes of stderr. Returns False at its end."""
        with self._hearing:
            try:
                chunk = os.read(self._kept.fileno(), 1 << 16)
            except BlockingIOError:
                return True
            except (OSError, ValueError):
                chunk = b""
            if not chunk:
                self._kept.close()
                return False
            self._stderr.append(chunk)
            self._stderr_size += len(chunk)
            self._unread_stderr += len(chunk)
            while self._stderr_size - len(self._stderr[0]) >= _STDERR_BYTES:
                self._stderr_size -= len(self._stderr.popleft())
            return True

    def _watch(self) -> None:
        look_at_memory = 0.0
        while not self._ended.wait(_LOOK_EVERY_S):
            now = time.monotonic()
            failure: FaultKind | None = None
            if now > self._deadline:
                failure = FaultKind.HANG
            elif now >= look_at_memory:
                look_at_memory = now + _MEMORY_EVERY_S
                if self._resident_bytes() > self.memory_bytes:
                    failure = FaultKind.OUT_OF_MEMORY
            if failure:
                # If the process has ended by itself and only its children keep the pipe open, report that instead.
                if self._child.poll() is None:
                    self.failure = failure
                self._kill_family()
                self._stopped = True
                return

    def _resident_bytes(self) -> int:
        total = 0
        for process in self._family.running_processes():
            with contextlib.suppress(*GONE):
                total += process.memory_info().rss
        return total

    def _kill_family(self) -> None:
        for _ in range(_ROUNDS):
            family = self._family.running_processes()
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, signal.SIGKILL)
            for process in family:
                with contextlib.suppress(*GONE):
                    process.kill()
            # One round is enough if only the child was left. Other processes may have started more before they were
            # killed.
            if not any(process.pid != self._child.pid for process in family):
                return
            time.sleep(_PAUSE_S)
