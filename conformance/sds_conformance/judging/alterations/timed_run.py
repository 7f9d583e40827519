"""Plays one run of a model in this process, hashes its answers and limits its time."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from types import FrameType
from typing import Any, NoReturn

from sds_harness.faults import FaultKind, TesteeError
from sds_harness.link import Limits, Link
from sds_harness.trace import Trace

from ..registry import Run
from ..rules import Rules
from ..runner import Runner
from .source import Configuration

COMMAND_S = 5.0
"""CPU seconds that a model may take for one command. The unchanged model needs a thousandth of this time."""


class RunTimeoutError(BaseException):
    """A model in this process takes too long. Not a subclass of Exception, because a model may catch every
    Exception.
    """


@contextmanager
def cpu_time_limit(seconds: float, *, whole: bool = False) -> Iterator[None]:
    """Raise RunTimeoutError after this number of CPU seconds. There is no limit outside of the main thread, because it
    uses signals.

    A limit for the ``whole`` test of an alteration may contain limits for single commands.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    timer, number = (signal.ITIMER_PROF, signal.SIGPROF) if whole else (signal.ITIMER_VIRTUAL, signal.SIGVTALRM)
    before = signal.signal(number, _on_timer)
    signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(number, before)


def _on_timer(number: int, frame: FrameType | None) -> NoReturn:
    raise RunTimeoutError


class HashingLink(Link):
    """A link to a model in this process that hashes the answers and limits the time of each command."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._digest = blake2b(digest_size=16)

    @property
    def answers(self) -> bytes:
        """Hash of the answers so far."""
        return self._digest.digest()

    def call(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        try:
            with cpu_time_limit(COMMAND_S):
                answer = self._link.call(request, timeout_s, reply)
        except RunTimeoutError:
            raise TesteeError(FaultKind.HANG, "the command does not end") from None
        self._digest.update(answer.SerializeToString(deterministic=True))
        return answer

    def call_unknown(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        return self.call(request, timeout_s, reply)


def play(rules: Rules, configuration: Configuration, link: Link, run: Run) -> tuple[Trace[Any] | None, str]:
    """Return the trace of a run (None if the handshake failed), and a description of the breakdown ("" if there was
    none).
    """
    runner = Runner(lambda _: link, Limits(), rules, configuration.revision)
    trace = runner.trace_of(run)
    broke = runner.breakdowns[0].breakdown if runner.breakdowns else None
    return trace, f"{broke.kind.value}: {broke.detail}" if broke else ""
