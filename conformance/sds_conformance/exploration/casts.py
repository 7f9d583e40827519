"""Casts: several implementations, each in its own session, that play schedules together.

A cast plays many schedules: a session is opened once, and reopened for the next schedule after a breakdown. The
breakdown of one implementation does not affect the others.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from sds_harness.declaration import VIRTUAL_CLOCK, Declaration
from sds_harness.environment import PLAIN
from sds_harness.faults import Breakdown, FaultKind, TesteeError
from sds_harness.link import Limits
from sds_harness.memory_budget import MemoryBudget
from sds_harness.schedules import GroupTrace, Schedule
from sds_harness.session import Session
from sds_harness.stage import Stage
from sds_harness.trace import Dialect, Trace

from ..judging.rules import UnknownDialectError
from ..judging.runner import PATIENCE, BrokenRun, Connect
from ..protocols import protocol_of, repertoire_of, revisions

LARGE_BYTES = 32 << 20
"""If the requests and replies of a schedule use more memory than this, the memory is freed before the next schedule."""


@dataclass(frozen=True)
class CastImplementation:
    """One implementation of a cast, and how to start it."""

    name: str
    """The name of the implementation in this cast, which may differ from the name that it declares."""
    connect: Connect
    limits: Limits = field(default_factory=Limits)
    dialect: str | None = None
    """The dialect; "" for the layout of the specification, None for the declared dialect."""


class NotPlayedError(Exception):
    """A schedule was not played, because an implementation could not take part."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)  # pickle calls the constructor with these arguments
        self.name = name
        """Name of the implementation that could not take part."""
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.name} {self.reason}"


class NotStartedError(NotPlayedError):
    """A new process of the implementation could not be started."""


class AbandonedError(NotPlayedError):
    """The implementation broke down too often in a row."""


class OutOfTimeError(NotPlayedError):
    """The total time was used up before the schedule ended. Later schedules will fail in the same way."""


class RevisionMismatchError(ValueError):
    """An implementation declares no revision of the specification by which the cast is judged. The message names the
    implementation and its revisions.
    """

    def __init__(self, name: str, spoken: Sequence[str], revision: str) -> None:
        super().__init__(f"{name} speaks {' and '.join(spoken)}, and not {revision}")
        self.spoken = spoken
        """The revisions that the implementation declares."""


def not_played_error(name: str, breakdown: Breakdown, otherwise: str) -> NotPlayedError:
    """Return the exception for a breakdown: OutOfTimeError if the time was used up, else NotStartedError with the
    reason ``otherwise``.
    """
    if breakdown.kind is FaultKind.OUT_OF_TIME:
        return OutOfTimeError(name, f"ran out of time: {breakdown.detail}")
    return NotStartedError(name, otherwise)


class Cast:
    """Implementations by name, with their sessions. A context manager that ends all processes."""

    def __init__(self, implementations: Iterable[CastImplementation], revision: str) -> None:
        """``revision`` is the revision to judge by. Raises ValueError if two implementations have the same name."""
        implementations = list(implementations)
        self.implementations = {implementation.name: implementation for implementation in implementations}
        if len(self.implementations) < len(implementations):
            raise ValueError("two implementations of a cast have the same name")
        self.declarations: dict[str, Declaration] = {}
        """The declarations of all implementations that completed the handshake."""
        self.undriven: dict[str, Breakdown] = {}
        """Implementations that failed the handshake, each with its breakdown. They play no schedules."""
        self.breakdowns: list[tuple[str, BrokenRun]] = []
        """All breakdowns after the handshake, each with the name of the implementation."""
        self.revision = revision
        self._protocol = protocol_of(revision)
        self._sessions: dict[str, Session] = {}
        self._in_a_row: dict[str, int] = {}
        self._memory: MemoryBudget | None = None

    def __enter__(self) -> Cast:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is None:
            self.close()
        self.kill()

    def start(self) -> None:
        """Perform the handshake with each implementation, and the honesty probe: send a command that does not exist,
        which must be answered with ``unsupported``. Sets ``undriven`` and ``breakdowns``.
        """
        for name in self.implementations:
            try:
                self.declarations[name] = self._session(name).declaration
                self.dialect(name)
            except TesteeError as fault:
                self.undriven[name] = fault.breakdown
            except UnknownDialectError as error:
                unknown = TesteeError(FaultKind.WRONG_ANSWER, str(error))
                self.undriven[name] = unknown.breakdown
            else:
                try:
                    self._session(name).probe_honesty()
                except TesteeError as fault:
                    self._record_breakdown(name, "honesty probe", None, fault.breakdown)
                continue
            self._kill(name)

    @property
    def driven(self) -> tuple[str, ...]:
        """The implementations that completed the handshake, in order."""
        return tuple(name for name in self.declarations if name not in self.undriven)

    def check_text(self) -> None:
        """Raise RevisionMismatchError if an implementation declares only revisions of another specification than that
        of ``revision``.
        """
        known, text = revisions(), revisions()[self.revision].prefix
        for name in self.driven:
            spoken = [revision for revision in self.declarations[name].revisions if revision in known]
            if spoken and not any(known[revision].prefix == text for revision in spoken):
                raise RevisionMismatchError(name, spoken, self.revision)

    def dialect(self, name: str) -> Dialect | None:
        """The private wire layout of an implementation. Raises UnknownDialectError."""
        requested, declared = self.implementations[name].dialect, self.declarations[name]
        return self._protocol.rules.dialect_in_use(self.revision, requested, declared)

    def play(self, schedule: Schedule, roles: Mapping[str, str], *, translated: bool = True) -> GroupTrace:
        """Play a schedule; ``roles`` maps each member to the name of its implementation.

        If ``translated`` is False, dialects are not translated: all bytes are sent unchanged. If an implementation
        breaks down, the schedule ends, and the group trace has the breakdown. The implementation is restarted for the
        next schedule. Raises NotPlayedError.
        """
        if self._memory is not None and self._memory.used > LARGE_BYTES:
            # A trace and its views form reference cycles, so they are freed only by a collection.
            gc.collect()
        stages = self._stages(schedule, roles, translated)
        # All group traces of the schedule are kept until it is judged.
        self._memory = memory = MemoryBudget(max(one.limits.kept_bytes for one in self.implementations.values()))
        for stage in stages.values():
            stage.trace_memory = memory
        try:
            group_trace = repertoire_of(self.revision).play(
                schedule, {member: stages[roles[member]] for member in schedule.names}
            )
        except BaseException:
            self.kill()  # after an exception, the state of the sessions is unknown
            raise
        for name, stage in stages.items():
            breakdown = stage.trace.breakdown
            if breakdown is not None:
                self._record_breakdown(name, schedule.name, stage.trace, breakdown)
            else:
                self._in_a_row[name] = 0
        for name, stage in stages.items():
            if stage.trace.breakdown is not None and stage.trace.breakdown.kind is FaultKind.OUT_OF_TIME:
                raise not_played_error(name, stage.trace.breakdown, "")
        return group_trace

    def play_after_breakdowns(self, schedule: Schedule, roles: Mapping[str, str]) -> GroupTrace:
        """Play a schedule even if an implementation was abandoned. Shrinking needs this, because it reproduces a
        breakdown many times.
        """
        try:
            return self.play(schedule, roles)
        except NotPlayedError:
            self.kill()
            self.resume()
            return self.play(schedule, roles)

    def resume(self) -> None:
        """Continue with abandoned implementations: reset their counts of consecutive breakdowns."""
        self._in_a_row.clear()

    def broken_in(self, group_trace: GroupTrace, roles: Mapping[str, str]) -> tuple[str, Breakdown] | None:
        """Return the implementation that broke down in a group trace, and its breakdown; None if none broke down."""
        for member, trace in group_trace.cast.items():
            if trace.breakdown is not None:
                return roles[member], trace.breakdown
        return None

    def close(self) -> None:
        """End all sessions; a process that does not exit is recorded as a breakdown."""
        for name in list(self._sessions):
            try:
                self._sessions.pop(name).close()
            except TesteeError as fault:
                self.breakdowns.append((name, BrokenRun.at_last_step("end of the session", fault.breakdown)))

    def kill(self) -> None:
        for name in list(self._sessions):
            self._sessions.pop(name).kill()

    def _session(self, name: str) -> Session:
        """Return the session, and start it if needed. Raises TesteeError if the handshake fails."""
        if name not in self._sessions:
            one = self.implementations[name]
            self._sessions[name] = Session(
                lambda: one.connect(PLAIN.variables), one.limits, self.revision, self._protocol.rules.language
            )
        return self._sessions[name]

    def _stages(self, schedule: Schedule, roles: Mapping[str, str], translated: bool) -> dict[str, Stage[Any]]:
        stages: dict[str, Stage[Any]] = {}
        for name in dict.fromkeys(roles[member] for member in schedule.names):
            if name in self.undriven:
                raise not_played_error(name, self.undriven[name], "could not be tested")
            if self._in_a_row.get(name, 0) >= PATIENCE:
                raise AbandonedError(name, f"broke down {PATIENCE} times in a row and was given up")
            try:
                session = self._session(name)
            except TesteeError as fault:
                self._record_breakdown(name, "handshake", None, fault.breakdown)
                why = f"could not be started again: {fault.breakdown.detail}"
                raise not_played_error(name, fault.breakdown, why) from None
            dialect = self.dialect(name) if translated else None
            stages[name] = self._protocol.rules.stage(session, schedule.name, dialect, PLAIN)
        # If one implementation uses its own clock, virtual time must be the real time, or timestamps would be months
        # apart.
        if not all(self.declarations[name].can_by_name(VIRTUAL_CLOCK) for name in stages):
            now_ms = time.time_ns() // 1_000_000  # noqa: TID251 - the date that they read, too
            for stage in stages.values():
                stage.now_ms = stage.trace.start_ms = now_ms
        return stages

    def _record_breakdown(self, name: str, where: str, trace: Trace[Any] | None, breakdown: Breakdown) -> None:
        self._kill(name)
        self._in_a_row[name] = self._in_a_row.get(name, 0) + 1
        self.breakdowns.append((name, BrokenRun.at_last_step(where, breakdown, trace)))

    def _kill(self, name: str) -> None:
        session = self._sessions.pop(name, None)
        if session is not None:
            session.kill()
