"""Plays scenarios against an implementation, and continues after breakdowns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sds_harness.declaration import Declaration
from sds_harness.environment import PLAIN
from sds_harness.faults import Breakdown, FaultKind, TesteeError
from sds_harness.link import Limits, Link
from sds_harness.memory_budget import MemoryBudget
from sds_harness.session import Session
from sds_harness.stage import ScheduleStoppedError, Stage
from sds_harness.trace import Dialect, Trace

from .finding_replays import FindingReplays
from .registry import Run
from .rules import Rules

END = "end of the session"
"""Value of `BrokenRun.where` for a process that does not exit."""
ALL_RUNS = "all runs"
"""Value of `BrokenRun.where` for a breakdown that no single run shows."""
PATIENCE = 4
"""Number of consecutive breakdowns, each in a new process, after which no further run is played."""


Connect = Callable[[Mapping[str, str]], Link]
"""Starts the implementation in a process with these environment variables in addition to the inherited ones."""


@dataclass(frozen=True)
class BrokenRun:
    """A breakdown and where it happened: a run, or "handshake", "honesty probe", "end of the session" or "all runs"."""

    where: str
    step: int
    command: str
    breakdown: Breakdown
    replays: FindingReplays | None = None
    """Result of replaying the run; None if it was not replayed."""

    @classmethod
    def at_last_step(cls, where: str, breakdown: Breakdown, trace: Trace[Any] | None = None) -> BrokenRun:
        """Create a breakdown at the last step of a trace; without a trace or steps, the breakdown has step number 0."""
        step = trace.steps[-1] if trace is not None and trace.steps else None
        return cls(where, step.index if step else 0, step.command if step else "", breakdown)


class Runner:
    """Drives one implementation under test, and reconnects after a breakdown."""

    def __init__(
        self,
        connect: Connect,
        limits: Limits,
        rules: Rules,
        revision: str,
        dialect: str | None = None,
        declaration: Declaration | None = None,
    ) -> None:
        """Without ``dialect`` the declared dialect is used; "" means no dialect. ``declaration`` is the declaration of
        an earlier process in the same command; None to use the declaration of the first handshake.
        """
        self._connect = connect
        self._variables: Mapping[str, str] = {}
        self._limits = limits
        self._rules = rules
        self._revision = revision
        self._asked_dialect = dialect
        self._session: Session | None = None
        self.breakdowns: list[BrokenRun] = []
        self.declaration = declaration
        self._consecutive_breakdowns = 0

    def start(self) -> Declaration:
        """Perform the handshake and the honesty probe, a command that does not exist and must be answered with
        ``unsupported``. Raises TesteeError if the handshake fails; a failed probe is recorded as a breakdown.
        """
        session = self._open()
        try:
            session.probe_honesty()
        except TesteeError as fault:
            self._record_breakdown("honesty probe", None, fault)
        return session.declaration

    @property
    def dialect(self) -> Dialect | None:
        """The wire dialect in use after the first handshake: requested or declared. Raises UnknownDialectError."""
        assert self.declaration is not None, "no implementation was started"
        return self._rules.dialect_in_use(self._revision, self._asked_dialect, self.declaration)

    def begin(self) -> None:
        """Reset the count of consecutive breakdowns before the next runs."""
        self._consecutive_breakdowns = 0

    def play(self, runs: Iterable[Run]) -> Iterator[tuple[Run, Trace[Any]]]:
        """Play the runs; yield the trace of each, possibly incomplete."""
        for run in runs:
            trace = self.trace_of(run)
            if trace is not None:
                yield run, trace
            if self.gave_up:
                return

    def trace_of(self, run: Run) -> Trace[Any] | None:
        """Return the trace of a run, possibly incomplete; None if the handshake failed."""
        stage = self.stage(run)
        if stage is None:
            return None
        with self.play_context(stage):
            run.scenario.function(stage)
        return stage.trace

    def session(self, run: Run | None = None) -> Session:
        """Return the session for a run; without ``run``, a session with the environment variables of the last run.
        Raises TesteeError.
        """
        return self._open(run.environment.variables if run is not None else self._variables)

    def stage(self, run: Run) -> Stage[Any] | None:
        """Return the stage for a run; None if the handshake failed."""
        try:
            session = self.session(run)
        except TesteeError as fault:
            self._record_breakdown("handshake", None, fault)
            self._consecutive_breakdowns += 1
            return None
        stage = self._rules.stage(session, run.name, self.dialect, run.environment)
        stage.trace_memory = MemoryBudget(self._limits.kept_bytes)
        stage.go_ahead()
        return stage

    @contextmanager
    def play_context(self, stage: Stage[Any]) -> Iterator[None]:
        """Context for playing a schedule. Exceptions that end the schedule early are stored in its trace and not
        raised.
        """
        try:
            try:
                yield
                self._consecutive_breakdowns = 0
            except ScheduleStoppedError as stopped:
                stage.trace.stopped = str(stopped)
                self._consecutive_breakdowns = 0 if stage.trace.steps else self._consecutive_breakdowns
            stage.close()
        except TesteeError as fault:
            self._record_breakdown(stage.trace.schedule, stage.trace, fault)
            self._consecutive_breakdowns += fault.breakdown.kind not in OUR_LIMITS
        except Exception as error:  # an error of the suite in one scenario must not end the other scenarios
            stage.trace.suite_error = f"{stage.trace.schedule}: {type(error).__name__}: {error}"
            self.kill()

    @property
    def gave_up(self) -> bool:
        """True if the implementation broke down too often in a row, or if no further run can be played."""
        return self._consecutive_breakdowns >= PATIENCE or bool(exhausted_resource(self.breakdowns))

    def close(self) -> None:
        """End the session. A process that does not exit is recorded as a breakdown."""
        session, self._session = self._session, None
        if session is not None:
            try:
                session.close()
            except TesteeError as fault:
                self.breakdowns.append(BrokenRun.at_last_step(END, fault.breakdown))

    def kill(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.kill()

    def _open(self, variables: Mapping[str, str] = PLAIN.variables) -> Session:
        if variables != self._variables:
            self.close()
        if self._session is None:
            self._variables = variables
            self._session = Session(
                lambda: self._connect(variables), self._limits, self._revision, self._rules.language
            )
            self.declaration = self.declaration or self._session.declaration
        return self._session

    def _record_breakdown(self, where: str, trace: Trace[Any] | None, fault: TesteeError) -> None:
        self.kill()
        if trace is not None and trace.breakdown is None:
            trace.breakdown = fault.breakdown
        self.breakdowns.append(BrokenRun.at_last_step(where, fault.breakdown, trace))


def exhausted_resource(breakdowns: Iterable[BrokenRun]) -> str:
    """Return "the total time" if the total time was used up in one of the breakdowns; "" otherwise."""
    over = any(broken.breakdown.kind is FaultKind.OUT_OF_TIME for broken in breakdowns)
    return "the total time" if over else ""


OUR_LIMITS = (FaultKind.TOO_LONG,)
"""Breakdowns that come from a limit of the suite and are no failure: the suite does not judge replies beyond its size
limit.
"""
SOFT_FAULTS = (FaultKind.NEVER_EXITS,)
"""Breakdowns that are reported but are no failure, because they do not violate the protocol."""


def tolerated_breakdowns(*, strict: bool = False, narrowed: Collection[str] = ()) -> frozenset[str]:
    """Return the kinds of breakdowns that do not make an implementation fail. With ``strict``, a process that does not
    exit makes it fail.

    ``narrowed`` is `Plan.narrowed`. If only some requirements or scenarios were selected, a deaf implementation only
    gets a warning, because the played runs may not have required it to show a message.
    """
    soft = {kind.value for kind in OUR_LIMITS}
    soft |= set() if strict else {kind.value for kind in SOFT_FAULTS}
    if not {"requirements", "scenarios"}.isdisjoint(narrowed):
        soft.add(FaultKind.DEAF.value)
    return frozenset(soft)
