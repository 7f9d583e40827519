"""Plays a command line of the suite on a pseudo-terminal, and notes each line that its progress bars show."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from rich.cells import cell_len

WIDTH, HEIGHT = 80, 24
_SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")


@dataclass
class Screen:
    """All that a command printed on a terminal."""

    raw: str = ""
    code: int = 0
    pid: int = field(default=0, repr=False)

    @property
    def lines(self) -> list[str]:
        """Every line that was shown, also those that were written over."""
        # A bar is written over from the beginning of its line, or from that of a line above.
        text = re.sub(r"\x1b\[\d*[AHJ]", "\n", self.raw)
        return [line.rstrip() for line in re.split(r"[\r\n]+", _SEQUENCE.sub("", text))]

    @property
    def bars(self) -> list[str]:
        return [line for line in self.lines if "━" in line]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.lines).split())

    @property
    def too_wide(self) -> list[str]:
        return [line for line in self.lines if cell_len(line) > WIDTH]

    @property
    def has_cursor(self) -> bool:
        return self.raw.rfind("\x1b[?25l") <= self.raw.rfind("\x1b[?25h")


def play(
    *arguments: str,
    folder: Path,
    until: Callable[[Screen], bool] = lambda _: False,
    variables: Mapping[str, str] = MappingProxyType({}),
    limit_s: float = 120,
) -> Screen:
    """Type a command line in a terminal of 80 columns, and press Ctrl-C as soon as the screen is as ``until`` wants
    it. Raises TimeoutError."""
    pid, terminal = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a background job of a shell ignores it
        os.chdir(folder)
        kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR", "CI")}
        command = [sys.executable, "-m", "sds_conformance", *arguments]
        os.execve(sys.executable, command, {**kept, "TERM": "xterm-256color", **variables})
    size = struct.pack("HHHH", HEIGHT, WIDTH, 0, 0)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, size)
    attributes = termios.tcgetattr(terminal)
    attributes[3] &= ~termios.ECHO  # the "^C" of a terminal would be part of a line
    termios.tcsetattr(terminal, termios.TCSANOW, attributes)
    screen, output, end, pressed = Screen(pid=pid), b"", time.monotonic() + limit_s, False
    try:
        while time.monotonic() < end:
            if select.select([terminal], [], [], 0.2)[0]:
                try:
                    piece = os.read(terminal, 1 << 16)
                except OSError:  # the end, on Linux
                    break
                if not piece:
                    break
                output += piece
                screen.raw = output.decode("utf-8", "replace")
            if not pressed and until(screen):
                os.write(terminal, b"\x03")
                pressed = True
        else:
            raise TimeoutError(f"it neither showed what was wanted nor ended:\n{screen.raw[-2_000:]}")
    finally:
        with contextlib.suppress(ProcessLookupError):
            if time.monotonic() >= end:
                os.kill(pid, signal.SIGKILL)
        screen.code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.close(terminal)
    return screen
