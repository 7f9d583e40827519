"""The stage on which a schedule is played: virtual time, names, and the recorded trace.

Every command to the implementation passes through the stage and becomes a step. A schedule that needs an undeclared
capability, or that cannot continue after a refusal, ends with ScheduleStoppedError. That is not a fault.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Generic

from .declaration import VIRTUAL_CLOCK, printable
from .environment import PLAIN, Environment
from .faults import FaultKind, TesteeError
from .link import Limits
from .memory_budget import MemoryBudget
from .session import Session
from .trace import S, Trace

START_MS = 1_800_000_000_000
"""The start of virtual time, in epoch milliseconds (January 2027)."""
COUNTING_START_MS = 100_000_000
"""The start of virtual time, in milliseconds, for protocols that use counters in place of a clock. It fits in 31 bits
and is far from 0."""
NEEDS = "needs the capability "
"""Begins the reason of a ScheduleStoppedError; the name of the missing capability follows. Other code reads the name
from the reason."""
NOT_OPENED = "opening "
"""Begins the reason of a ScheduleStoppedError if a participant was refused."""


class ScheduleStoppedError(Exception):
    """The schedule cannot continue, because a capability is not declared or a necessary command was refused."""


def start_of(session: Session) -> int:
    """Return the time at which a schedule starts: START_MS, or the real time if the testee has its own clock."""
    if session.declaration.can_by_name(VIRTUAL_CLOCK):
        return START_MS
    return time.time_ns() // 1_000_000  # noqa: TID251 - the implementation reads the same clock


class Stage(Generic[S]):
    """Plays one schedule on one session with an implementation, and records the trace."""

    streams = False
    """Whether the bytes of one message on the network may be spread over several steps."""

    def __init__(
        self,
        session: Session,
        trace: Trace[S],
        step: Callable[[int, str, Any], S],
        environment: Environment = PLAIN,
    ) -> None:
        """``trace`` records the steps. ``step`` makes a step object from the index, the participant and the request."""
        self.session = session
        self.environment = environment
        self.now_ms = trace.start_ms
        """Virtual time in epoch milliseconds. A schedule may set it to any value, also to an earlier one. For an
        implementation that uses its own clock, only behaviour that does not depend on time can be judged."""
        self.ahead_ms = 0
        """Milliseconds by which virtual time is ahead of the time that is sent to the implementation."""
        trace.recorded = session.link.note(
            "part",
            name=trace.schedule,
            environment=environment.name,
            revision=trace.revision.name,
            dialect=trace.dialect.name if trace.dialect is not None else "",
            startMs=trace.start_ms,
        )
        self.trace = trace
        self.trace_memory = MemoryBudget(Limits.kept_bytes)
        """The memory budget of the trace. A caller that plays several schedules at a time gives all stages one
        budget."""
        self._begun = step
        self._labels: set[str] = set()
        self._handles: list[tuple[str, int]] = []

    def add_handle(self, participant: str, handle: int) -> None:
        """Register the handle of an open participant, so that `close` is sent for it at the end."""
        self._handles.append((participant, handle))
        self.session.link.note("participant", name=participant, handle=handle)

    def go_ahead(self) -> None:
        """Set the clock of scripted peers ahead of the real time, if the implementation uses its own clock and the
        protocol's checks need that."""
        return

    def label(self, name: str) -> str:
        """The name of a participant or channel in this environment. A name that was already converted is returned
        unchanged."""
        if name not in self._labels:
            name = self.environment.label(name)
            self._labels.add(name)
        return name

    def advance(self, milliseconds: int) -> None:
        """Advance virtual time; a negative value steps the clock back."""
        outside = self.trace.declaration.outside_clock
        latest = outside.latest_ms if outside is not None else (1 << 62) - 1
        if not 0 < self.now_ms + milliseconds <= latest:
            raise ScheduleStoppedError(f"virtual time cannot advance by {milliseconds} ms: it would be out of range")
        self.now_ms += milliseconds

    def need(self, *capabilities: int) -> None:
        """Stop the schedule unless all ``capabilities`` are declared."""
        for name in self.trace.declaration.missing_capabilities(capabilities):
            raise ScheduleStoppedError(f"{NEEDS}{name}")

    def close(self) -> None:
        """Send `close` for all participants. These commands are added to the trace only if one of them breaks the
        conversation. Raises TesteeError."""
        self._record_late_stderr()
        for participant, handle in self._handles:
            request = self.session.language.request()
            request.close.now_ms, request.close.handle = self.now_ms - self.ahead_ms, handle
            try:
                self.session.call(request)
            except TesteeError as fault:
                self.trace.steps.append(self.next(participant, request))
                self.trace.breakdown = fault.breakdown
                raise

    def step(self, participant: str, request: Any) -> S:
        """Send one command and record it in the trace. Raises TesteeError after recording the step in which the
        conversation broke."""
        steps = self.trace.steps
        self._record_late_stderr()
        if offset := self.environment.offset_ms(len(steps)) - self.ahead_ms:
            command = getattr(request, request.WhichOneof("command") or "")
            if "now_ms" in command.DESCRIPTOR.fields_by_name:
                command.now_ms = max(1, command.now_ms + offset)
        step = self.next(participant, request)
        steps.append(step)
        with self._record_breakdown(step):
            step.reply = self.session.call(request)
        step.stderr = self.session.link.new_stderr_lines()
        session, memory = self.session, self.trace_memory
        if not (
            memory.add_message(request, session.request_bytes) and memory.add_message(step.reply, session.reply_bytes)
        ):
            reached = f"reached over {memory.limit >> 20:,} MiB at {step.command}"
            with self._record_breakdown(step):
                session.fail(FaultKind.TOO_MUCH, f"all replies and the data derived from them {reached}")
        step.lighten()
        if self.streams or session.reply_bytes > session.longest_identifier:
            with self._record_breakdown(step):
                session.hold_identifiers(step.command, self.sent_identifiers(step))
        if step.reply is not None and step.answer == "unsupported":
            what = printable(step.reply.unsupported.what, 100)
            raise ScheduleStoppedError(f"{step.command} was answered `unsupported` ({what or 'nothing named'})")
        return step

    def _record_late_stderr(self) -> None:
        """Add output that appeared on stderr after the last step to that step."""
        late = self.session.link.new_stderr_lines()
        if late and self.trace.steps:
            self.trace.steps[-1].stderr += late

    def sent_identifiers(self, step: S) -> Iterable[tuple[str, str]]:
        """The identifiers in the messages that a step broadcast, each as field name and value."""
        return ()

    @contextmanager
    def _record_breakdown(self, step: S) -> Iterator[None]:
        """Record a breakdown in this block: the step then has no reply."""
        try:
            yield
        except TesteeError as fault:
            step.reply = None
            self.trace.breakdown = fault.breakdown
            raise

    def next(self, participant: str, request: Any) -> S:
        """Make the next step, which has no answer yet, without adding it to the trace."""
        return self._begun(len(self.trace.steps) + 1, participant, request)
