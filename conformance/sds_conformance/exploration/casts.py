"""Casts: several implementations, each on a session of its own, that play schedules together.

A cast outlives its schedules: sessions are opened once, and opened again for the next schedule after an implementation
broke. Whatever one of them does, the others can go on.
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
from sds_harness.faults import Breakdown, FaultKind, TesteeFault
from sds_harness.link import Limits
from sds_harness.room import Room
from sds_harness.schedules import Performance, Schedule
from sds_harness.session import Session
from sds_harness.stage import Stage
from sds_harness.trace import Dialect, Trace

from ..judging.rules import UnknownDialect
from ..judging.runner import PATIENCE, BrokenRun, Connect
from ..protocols import protocol_of, repertoire_of, revisions

LARGE_BYTES = 32 << 20
"""Of what a schedule made one say and hear: who goes on with the next lets go of it first."""


@dataclass(frozen=True)
class Implementation:
    """One implementation of a cast, and how to start it."""

    name: str
    """What it is called here, whatever it calls itself."""
    connect: Connect
    limits: Limits = field(default_factory=Limits)
    dialect: str | None = None
    """Its private wire layout, "" for that of the text; None for the one that it declares."""


class NotPlayed(Exception):
    """A schedule was not played, because an implementation could not take part."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)  # what it is made of, so that it comes out of another process as it is
        self.name = name
        """The implementation."""
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.name} {self.reason}"


class NotStarted(NotPlayed):
    """One was not played, because a process of the implementation did not start again."""


class GivenUp(NotPlayed):
    """One was not played, because the implementation broke down too often in a row."""


class OutOfTime(NotPlayed):
    """One was not played to its end, because the total time was over: the same holds for all after it."""


class OtherText(ValueError):
    """An implementation speaks another text than the rest of its cast; the message says who, and which."""

    def __init__(self, name: str, spoken: Sequence[str], revision: str) -> None:
        super().__init__(f"{name} speaks {' and '.join(spoken)}, and not {revision}")
        self.spoken = spoken
        """The revisions that it declares."""


def not_played(name: str, breakdown: Breakdown, otherwise: str) -> NotPlayed:
    """Why an implementation that did not start takes no part: the time, or else what it is called."""
    if breakdown.kind is FaultKind.OUT_OF_TIME:
        return OutOfTime(name, f"ran out of time: {breakdown.detail}")
    return NotStarted(name, otherwise)


class Cast:
    """Implementations by name, with their sessions; a context manager, at whose end no process is left."""

    def __init__(self, implementations: Iterable[Implementation], revision: str) -> None:
        """``revision`` is what the run is about. Raises ValueError if two implementations have one name."""
        implementations = list(implementations)
        self.implementations = {implementation.name: implementation for implementation in implementations}
        if len(self.implementations) < len(implementations):
            raise ValueError("two implementations of a cast have the same name")
        self.declarations: dict[str, Declaration] = {}
        """What each declared that got through its first handshake."""
        self.undriven: dict[str, Breakdown] = {}
        """Those that did not, and why: they take part in nothing."""
        self.breakdowns: list[tuple[str, BrokenRun]] = []
        """Every breakdown after that, with the implementation that broke."""
        self.revision = revision
        self._protocol = protocol_of(revision)
        self._sessions: dict[str, Session] = {}
        self._in_a_row: dict[str, int] = {}
        self._room: Room | None = None
        """Of the last performance."""

    def __enter__(self) -> Cast:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is None:
            self.close()
        self.kill()

    def start(self) -> None:
        """Shake hands with each and ask for a command that does not exist; see ``undriven`` and ``breakdowns``."""
        for name in self.implementations:
            try:
                self.declarations[name] = self._session(name).declaration
                self.dialect(name)
            except TesteeFault as fault:
                self.undriven[name] = fault.breakdown
            except UnknownDialect as error:
                unknown = TesteeFault(FaultKind.WRONG_ANSWER, str(error))
                self.undriven[name] = unknown.breakdown
            else:
                try:
                    self._session(name).probe_honesty()
                except TesteeFault as fault:
                    self._broke(name, "honesty probe", None, fault.breakdown)
                continue
            self._kill(name)

    @property
    def driven(self) -> tuple[str, ...]:
        """The implementations that got through the handshake, in order."""
        return tuple(name for name in self.declarations if name not in self.undriven)

    def hold_to_text(self) -> None:
        """Whoever declares revisions has to declare one of the text that all of them are to speak. Raises OtherText:
        what a message of another text is taken for would say nothing of anybody."""
        known, text = revisions(), revisions()[self.revision].prefix
        for name in self.driven:
            spoken = [revision for revision in self.declarations[name].revisions if revision in known]
            if spoken and not any(known[revision].prefix == text for revision in spoken):
                raise OtherText(name, spoken, self.revision)

    def dialect(self, name: str) -> Dialect | None:
        """The private wire layout of an implementation. Raises UnknownDialect for one that is not known here."""
        asked, declared = self.implementations[name].dialect, self.declarations[name]
        return self._protocol.rules.dialect_in_use(self.revision, asked, declared)

    def play(self, schedule: Schedule, roles: Mapping[str, str], *, translated: bool = True) -> Performance:
        """Play a schedule; ``roles`` says by its name which implementation each member is made of.

        Not ``translated``, all bytes go as they are, whatever the dialects. An implementation that breaks ends the
        performance, which says so, and is started again for the next one. Raises NotPlayed.
        """
        if self._room is not None and self._room.used > LARGE_BYTES:
            # A trace and what is read of it hold each other: nobody lets go of them before that is looked for.
            gc.collect()
        stages = self._stages(schedule, roles, translated)
        # What is made of all of them together is kept until it is judged, and no longer.
        self._room = room = Room(max(one.limits.kept_bytes for one in self.implementations.values()))
        for stage in stages.values():
            stage.room = room
        try:
            show = repertoire_of(self.revision).play(
                schedule, {member: stages[roles[member]] for member in schedule.names}
            )
        except BaseException:
            self.kill()  # nobody knows what state they are in
            raise
        for name, stage in stages.items():
            breakdown = stage.trace.breakdown
            if breakdown is not None:
                self._broke(name, schedule.name, stage.trace, breakdown)
            else:
                self._in_a_row[name] = 0
        for name, stage in stages.items():
            if stage.trace.breakdown is not None and stage.trace.breakdown.kind is FaultKind.OUT_OF_TIME:
                raise not_played(name, stage.trace.breakdown, "")
        return show

    def play_afresh(self, schedule: Schedule, roles: Mapping[str, str]) -> Performance:
        """Even if somebody was given up who broke too often: a breakdown that is shrunk does just that."""
        try:
            return self.play(schedule, roles)
        except NotPlayed:
            self.kill()
            self.forgive()
            return self.play(schedule, roles)

    def forgive(self) -> None:
        """Go on with an implementation that was given up: what it breaks down at is not played any more."""
        self._in_a_row.clear()

    def broken_in(self, show: Performance, roles: Mapping[str, str]) -> tuple[str, Breakdown] | None:
        """The implementation that broke in a performance, and how."""
        for member, trace in show.cast.items():
            if trace.breakdown is not None:
                return roles[member], trace.breakdown
        return None

    def close(self) -> None:
        """End all sessions; a process that does not end is noted as a breakdown."""
        for name in list(self._sessions):
            try:
                self._sessions.pop(name).close()
            except TesteeFault as fault:
                self.breakdowns.append((name, BrokenRun.at("end of the session", fault.breakdown)))

    def kill(self) -> None:
        """End all sessions at once."""
        for name in list(self._sessions):
            self._sessions.pop(name).kill()

    def _session(self, name: str) -> Session:
        """Raises TesteeFault if it has to be started and does not get through the handshake."""
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
                raise not_played(name, self.undriven[name], "could not be driven")
            if self._in_a_row.get(name, 0) >= PATIENCE:
                raise GivenUp(name, f"broke down {PATIENCE} times in a row and was given up")
            try:
                session = self._session(name)
            except TesteeFault as fault:
                self._broke(name, "handshake", None, fault.breakdown)
                why = f"could not be started again: {fault.breakdown.detail}"
                raise not_played(name, fault.breakdown, why) from None
            dialect = self.dialect(name) if translated else None
            stages[name] = self._protocol.rules.stage(session, schedule.name, dialect, PLAIN)
        # One of them on its own clock, and the timestamps of the others would be months away from its own.
        if not all(self.declarations[name].can_by_name(VIRTUAL_CLOCK) for name in stages):
            now_ms = time.time_ns() // 1_000_000  # noqa: TID251 - the date that they read, too
            for stage in stages.values():
                stage.now_ms = stage.trace.start_ms = now_ms
        return stages

    def _broke(self, name: str, where: str, trace: Trace[Any] | None, breakdown: Breakdown) -> None:
        self._kill(name)
        self._in_a_row[name] = self._in_a_row.get(name, 0) + 1
        self.breakdowns.append((name, BrokenRun.at(where, breakdown, trace)))

    def _kill(self, name: str) -> None:
        session = self._sessions.pop(name, None)
        if session is not None:
            session.kill()
