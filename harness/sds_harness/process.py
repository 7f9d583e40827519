"""The process of an implementation under test: started in a group of its own, watched, and ended without remains."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence

import psutil

from .declaration import without_controls
from .faults import FaultKind, TesteeFault

_STDERR_BYTES = 64 * 1024
_STDERR_LINES = 12
_LOOK_EVERY_S = 0.05
_LAST_WORDS_S = 2.0
_MEMORY_EVERY_S = 0.25
# What a pipe holds. For a larger buffer malloc would map new pages at every read, which costs more than the read.
_READ_BYTES = 1 << 16


class TesteeProcess:
    """A child process with pipes for stdin and stdout; stderr is kept, bounded, for the failure report.

    One that does not ``talk`` has nothing to say on stdout: what it prints there is kept as if it were on stderr.

    A watchdog thread kills the process group when a deadline passes or its memory grows over the limit, which ends the
    read with an end of file; ``failure`` then says why. Reads and writes wait until then and no longer, even for a pipe
    that a stranger outside the group still holds.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], memory_bytes: int, *, talks: bool = True
    ) -> None:
        self.failure: FaultKind | None = None
        self.memory_bytes = memory_bytes
        self._deadline = float("inf")
        self._stderr: deque[bytes] = deque()
        self._stderr_size = 0
        self._ended = threading.Event()
        self._stopped = False
        try:
            self._child = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE if talks else subprocess.STDOUT,
                env={**os.environ, **environment},
                bufsize=0,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise TesteeFault(FaultKind.NO_START, f"cannot start {command[0]!r}: {error}") from None
        assert self._child.stdin
        assert self._child.stdout
        self._stdin = self._child.stdin.fileno()
        self._stdout = self._child.stdout.fileno()
        os.set_blocking(self._stdin, False)
        self._kept = self._child.stderr or self._child.stdout
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(self._stdout, select.POLLIN)
        self._writable.register(self._stdin, select.POLLOUT)
        self._reader = threading.Thread(target=self._keep_stderr, daemon=True)
        self._reader.start()
        threading.Thread(target=self._watch, daemon=True).start()

    @property
    def pid(self) -> int:
        return self._child.pid

    def deadline_in(self, seconds: float) -> None:
        """From now on the process has that long to answer."""
        self._deadline = time.monotonic() + seconds

    def write(self, data: bytes) -> bool:
        """Write all of ``data`` to stdin; False if nobody reads it any more."""
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._stdin, view) :]
            except BlockingIOError:
                if not self._writable.poll(_LOOK_EVERY_S * 1000) and self._stopped:
                    return False
            except OSError:
                return False
        return True

    def read(self) -> bytes:
        """Some bytes of stdout, b"" at its end."""
        while not self._readable.poll(_LOOK_EVERY_S * 1000):
            if self._stopped:
                return b""
        return os.read(self._stdout, _READ_BYTES)

    def settle_exit(self, seconds: float = 0.5) -> int | None:
        """The exit status after stdout has ended (negative: the signal), None if the process still runs."""
        self._deadline = float("inf")  # a kill now would look like its own end
        try:
            status = self._child.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        self._reader.join(_LAST_WORDS_S)
        return status

    def stderr_lines(self) -> tuple[str, ...]:
        """The last lines of stderr, without control characters."""
        text = b"".join(self._stderr).decode("utf-8", "replace")
        lines = [without_controls(line, " ").rstrip()[:300] for line in text.splitlines()]
        return tuple(line for line in lines if line)[-_STDERR_LINES:]

    def close(self, grace_s: float) -> bool:
        """End stdin, wait up to ``grace_s`` seconds, kill what is left of the group. True if it ended by itself."""
        if self._ended.is_set():
            return True
        self._deadline = float("inf")
        self._stdin = self._stdout = -1  # the numbers may soon stand for other files
        assert self._child.stdin
        assert self._child.stdout
        with contextlib.suppress(OSError):
            self._child.stdin.close()
        try:
            if self._kept is not self._child.stdout:
                # Nobody reads stdout now, so what the process still writes must not keep it waiting.
                self._child.stdout.close()
            self._child.wait(grace_s)
            ended = True
        except subprocess.TimeoutExpired:
            ended = False
        self.kill()
        self._ended.set()
        return ended

    def kill(self) -> None:
        """Kill the process group and every descendant that has left it, and reap the child."""
        self._kill_family()
        self._child.wait()
        self._reader.join(_LAST_WORDS_S)

    def _keep_stderr(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(self._kept.fileno(), 1 << 16):
                self._stderr.append(chunk)
                self._stderr_size += len(chunk)
                while self._stderr_size > _STDERR_BYTES and len(self._stderr) > 1:
                    self._stderr_size -= len(self._stderr.popleft())
        self._kept.close()

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
                # If the process has ended by itself, and only its children keep the pipe open, that says more.
                if self._child.poll() is None:
                    self.failure = failure
                self._kill_family()
                self._stopped = True
                return

    def _resident_bytes(self) -> int:
        total = 0
        for process in self._family():
            with contextlib.suppress(psutil.Error):
                total += process.memory_info().rss
        return total

    def _kill_family(self) -> None:
        family = self._family()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._child.pid, signal.SIGKILL)
        for process in family:
            with contextlib.suppress(psutil.Error):
                process.kill()

    def _family(self) -> list[psutil.Process]:
        """The child and its descendants, in whatever group they are."""
        try:
            # Once the child is reaped, its number may be another's.
            leader = psutil.Process(self._child.pid) if self._child.returncode is None else None
            return [leader, *leader.children(recursive=True)] if leader else []
        except psutil.Error:
            return []
