"""Controls the time of an implementation that reads the system clock: it runs under libfaketime.

libfaketime is a preloaded library. It answers calls for the time with the content of a file. The harness writes the
file before each command that has a time; between two commands the time does not advance. The file holds seconds of the
epoch, so time zones do not matter. A probe finds out whether time really moves for an implementation. Time does not
move for a static binary, or for a program that gets the time from the kernel without the C library.

Monotonic time is not changed: event loops and locks wait by it and would never wake up. There is one exception. If the
probe shows that the clock follows but the timers do not, and that both follow when monotonic time is moved as well,
then monotonic time is moved, too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sds_testee.installation import install_extra

from .declaration import VIRTUAL_CLOCK, OutsideClock
from .faults import TesteeError
from .language import HANDSHAKE, Language
from .link import Limits, Link, WrappedLink
from .session import Session
from .stage import START_MS

OPTION = "--clock faketime"

_SONAME = "libfaketime.so.1"
_SHARED = Path("/dev/shm")
_ELF_MACHINE = slice(18, 20)


class MissingClockLibraryError(Exception):
    """No loadable libfaketime was found; the message names the package to install."""


Start = Callable[[Mapping[str, str]], Link]
"""Starts an implementation in a process with these environment variables, added to the inherited ones."""


@dataclass(frozen=True)
class ClockProbe:
    """The result of a probe of the time. Each reason is a clause; "" if nothing is wrong."""

    clock: str = ""
    """Why the probe cannot confirm that the clock of the implementation shows the moved time."""
    timers: str = ""
    """The timer that does not follow the moved time, although the clock does."""


def find_library() -> Path:
    """The path of libfaketime, from PyPI or the system, built for the processor of this Python.

    Raises MissingClockLibraryError.
    """
    if not sys.platform.startswith("linux"):
        raise MissingClockLibraryError(f"{OPTION} works on Linux only")
    spec = find_spec("libfaketime")
    packaged = [Path(folder) / "vendor/libfaketime/src" for folder in (spec and spec.submodule_search_locations) or ()]
    system = [*sorted(Path("/usr/lib").glob("*/faketime")), Path("/usr/lib/faketime"), Path("/usr/lib64/faketime")]
    wanted = _machine(Path(sys.executable))
    for folder in (*packaged, *system):
        if wanted and _machine(folder / _SONAME) == wanted:
            return folder / _SONAME
    raise MissingClockLibraryError(f"{OPTION} needs libfaketime: {install_extra('clock')}, or apt-get install faketime")


def _machine(file: Path) -> bytes:
    """The processor for which an ELF file is built; b"" if it is not an ELF file."""
    with suppress(OSError), file.open("rb") as opened:
        head = opened.read(_ELF_MACHINE.stop)
        return head[_ELF_MACHINE] if head.startswith(b"\x7fELF") else b""
    return b""


class _TimeFile:
    """The file from which libfaketime reads the time of one clock, in a private folder."""

    def __init__(self, library: Path, *, monotonic: bool) -> None:
        """``monotonic``: monotonic time is moved as well."""
        self._folder = TemporaryDirectory(prefix="sds-clock-")
        self._file = Path(self._folder.name) / "now"
        self._next = self._file.with_suffix(".next")
        self._shows = -1
        # The path of a preloaded library must not contain blanks or colons.
        preloaded = Path(self._folder.name) / _SONAME
        preloaded.symlink_to(library)
        self._preloaded = str(preloaded)
        self._monotonic = monotonic
        self.set_time(START_MS)

    def variables(self, others: Mapping[str, str]) -> dict[str, str]:
        """``others`` and the environment variables that make a process read this clock."""
        before = others.get("LD_PRELOAD", os.environ.get("LD_PRELOAD", ""))
        moved = {
            "LD_PRELOAD": f"{self._preloaded}:{before}" if before else self._preloaded,
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_FMT": "%s",
            "FAKETIME_NO_CACHE": "1",
            # Do not change the times of files: interpreters compare them to see whether compiled code is up to date.
            "NO_FAKE_STAT": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "0" if self._monotonic else "1",
        }
        return {**others, **moved}

    def set_time(self, now_ms: int) -> None:
        """Set the time to ``now_ms``, in epoch milliseconds."""
        now_ms = min(now_ms, OutsideClock.latest_ms)
        if now_ms == self._shows:
            return
        seconds, rest = divmod(now_ms, 1_000)
        # libfaketime reads the fraction as a double and truncates it: without the final 01, .123 would become 122 ms.
        # The folder is private and temporary, so it cannot contain a foreign link.
        self._next.write_text(f"{seconds}.{rest:03}01\n")
        self._next.replace(self._file)  # libfaketime would end the process if it read a half-written time
        self._shows = now_ms

    def remove(self, pid: int | None) -> None:
        """Remove the folder, and the files that libfaketime leaves in /dev/shm for a process that has ended."""
        self._folder.cleanup()
        for name in (f"faketime_shm_{pid}", f"sem.faketime_sem_{pid}"):
            with suppress(OSError):
                (_SHARED / name).unlink()


class ClockedLink(WrappedLink):
    """A link to an implementation under libfaketime, or to an implementation whose time is not moved."""

    def __init__(
        self,
        start: Start,
        variables: Mapping[str, str],
        outside: OutsideClock,
        time_file: _TimeFile | None = None,
        capability: int = 0,
    ) -> None:
        """With ``time_file``, the implementation reads the time from it, and ``capability`` is added to its answer to
        the handshake."""
        self.own_clock = False
        """Whether the implementation declares a virtual clock itself."""
        self._time_file = time_file
        self._capability = capability
        try:
            super().__init__(start(time_file.variables(variables) if time_file else variables))
        except BaseException:
            self._put_away(None)
            raise
        self.outside_clock = outside

    def call(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        name = request.WhichOneof("command") or ""
        command = getattr(request, name, None)
        if self._time_file and command is not None and "now_ms" in command.DESCRIPTOR.fields_by_name:
            self._time_file.set_time(command.now_ms)
        answered = self._link.call(request, timeout_s, reply)
        if name == HANDSHAKE and answered.WhichOneof("answer") == HANDSHAKE and self._time_file:
            self.own_clock = self._capability in answered.hello.capabilities
            if not self.own_clock:
                answered.hello.capabilities.append(self._capability)
        return answered

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._put_away(self.pid)

    def kill(self) -> None:
        super().kill()
        self._put_away(self.pid)

    def _put_away(self, pid: int | None) -> None:
        if self._time_file:
            self._time_file.remove(pid)


@dataclass
class Faketime:
    """Moves the time of an implementation from outside, if a probe shows that this time follows."""

    library: Path
    revision: str
    language: Language
    probe: Callable[[Session], ClockProbe]
    limits: Limits
    _found: dict[frozenset[tuple[str, str]], tuple[OutsideClock, bool]] = field(default_factory=dict)
    """The result of the probe, and whether monotonic time is moved as well. The key is the environment variables of the
    process, because another locale may read the fractions of a second differently."""

    def connect(self, start: Start, variables: Mapping[str, str]) -> Link:
        """Start the implementation with its time moved from outside, or unchanged if moving does not work.

        The first call with these ``variables`` starts extra processes for the probe. Raises TesteeError.
        """
        key = frozenset(variables.items())
        if key not in self._found:
            self._found[key] = self._look(start, variables)
        outside, monotonic = self._found[key]
        if not outside.moves:
            return ClockedLink(start, variables, outside)
        return self._connect_clocked(start, variables, outside, monotonic=monotonic)

    def _look(self, start: Start, variables: Mapping[str, str]) -> tuple[OutsideClock, bool]:
        seen = self._probe(start, variables, monotonic=False)
        if not isinstance(seen, ClockProbe):
            return seen, False
        if seen.clock:
            return _standing_clock(f"time does not move for this implementation ({seen.clock})"), False
        if not seen.timers:
            return OutsideClock(True, "libfaketime's, moved from outside before each command"), False
        again = self._probe(start, variables, monotonic=True)
        if isinstance(again, ClockProbe) and not again.clock and not again.timers:
            described = "libfaketime's, moved from outside before each command, like monotonic time"
            return OutsideClock(True, described), True
        return _standing_clock(f"the clock of this implementation moves, its timers do not ({seen.timers})"), False

    def _probe(self, start: Start, variables: Mapping[str, str], *, monotonic: bool) -> ClockProbe | OutsideClock:
        """The result of the probe, or an OutsideClock with the reason why no probe was made."""
        tried = OutsideClock(True, "")
        try:
            link = self._connect_clocked(start, variables, tried, monotonic=monotonic)
            session = Session(lambda: link, self.limits, self.revision, self.language)
            try:
                if link.own_clock:
                    return OutsideClock(False, "the implementation's own, as declared: the suite does not move it")
                return self.probe(session)
            finally:
                session.kill()
        except TesteeError as fault:
            return _standing_clock(f"the implementation breaks down under libfaketime: {fault.breakdown.detail}")

    def _connect_clocked(
        self, start: Start, variables: Mapping[str, str], outside: OutsideClock, *, monotonic: bool
    ) -> ClockedLink:
        capability = self.language.number_of(VIRTUAL_CLOCK)
        assert capability is not None, "a testee protocol without the capability VIRTUAL_CLOCK has no clock to move"
        time_file = _TimeFile(self.library, monotonic=monotonic)
        return ClockedLink(start, variables, outside, time_file, capability)


def _standing_clock(why: str) -> OutsideClock:
    """The result for an implementation whose time cannot be moved completely."""
    why = f"{OPTION}: {why}"
    return OutsideClock(
        False, f"the implementation's own. {why}, so only requirements that hold in real time are judged", why
    )
