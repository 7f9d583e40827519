"""Plays scenarios against an implementation and goes on when it breaks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sds_harness.declaration import Declaration
from sds_harness.environment import PLAIN
from sds_harness.faults import Breakdown, FaultKind, TesteeFault
from sds_harness.link import Limits, Link
from sds_harness.session import Session
from sds_harness.stage import ScheduleStopped
from sds_harness.trace import Dialect, Trace

from .registry import Run
from .rules import Rules

PATIENCE = 4
"""So many breakdowns in a row, each of a fresh process, end the run: there is nothing more to learn."""


Connect = Callable[[Mapping[str, str]], Link]
"""Starts the implementation, in a process with these environment variables beside those it inherits."""


@dataclass(frozen=True)
class BrokenRun:
    """A breakdown and where it happened: a run, or "handshake", "honesty probe" or "end of the session"."""

    where: str
    step: int
    command: str
    breakdown: Breakdown

    @classmethod
    def at(cls, where: str, breakdown: Breakdown, trace: Trace[Any] | None = None) -> BrokenRun:
        """At the last step of a trace, as far as there is one."""
        step = trace.steps[-1] if trace is not None and trace.steps else None
        return cls(where, step.index if step else 0, step.command if step else "", breakdown)


class Runner:
    """One implementation under test and everything that is needed to talk to it again after it broke."""

    def __init__(self, connect: Connect, limits: Limits, rules: Rules, revision: str, dialect: str = "") -> None:
        self._connect = connect
        self._variables: Mapping[str, str] = {}
        self._limits = limits
        self._rules = rules
        self._revision = revision
        self._asked_dialect = dialect
        self._session: Session | None = None
        self.breakdowns: list[BrokenRun] = []
        self.declaration: Declaration | None = None
        self.gave_up = False

    def start(self) -> Declaration:
        """Handshake and honesty probe. Raises TesteeFault if the implementation cannot be driven at all."""
        self.declaration = self._open().declaration
        session = self._open()
        try:
            session.probe_honesty()
        except TesteeFault as fault:
            self._broke("honesty probe", None, fault)
        return self.declaration

    @property
    def dialect(self) -> Dialect | None:
        """The wire dialect in use: asked for, or declared. Raises UnknownDialect."""
        name = self._asked_dialect or (self.declaration.profile("dialect") if self.declaration else "")
        return self._rules.dialect(self._revision, name) if name else None

    def play(self, runs: Iterable[Run]) -> Iterator[tuple[Run, Trace[Any]]]:
        """The trace of each run, as far as it got."""
        in_a_row = 0
        for run in runs:
            try:
                session = self._open(run.environment.variables)
            except TesteeFault as fault:
                self._broke("handshake", None, fault)
                in_a_row += 1
                if in_a_row >= PATIENCE:
                    self.gave_up = True
                    return
                continue
            stage = self._rules.stage(session, run.name, self.dialect, run.environment)
            stage.go_ahead()
            try:
                try:
                    run.scenario.function(stage)
                    in_a_row = 0
                except ScheduleStopped as stopped:
                    stage.trace.stopped = str(stopped)
                    in_a_row = 0 if stage.trace.steps else in_a_row
                stage.close()
            except TesteeFault as fault:
                self._broke(run.name, stage.trace, fault)
                in_a_row += 1
            except Exception as error:  # a fault of ours in one scenario must not cost the others
                stage.trace.suite_error = f"{run.name}: {type(error).__name__}: {error}"
                self.kill()
            yield run, stage.trace
            if in_a_row >= PATIENCE:
                self.gave_up = True
                return

    def close(self) -> None:
        """End the session; a process that does not end is noted as a breakdown."""
        session, self._session = self._session, None
        if session is not None:
            try:
                session.close()
            except TesteeFault as fault:
                self.breakdowns.append(BrokenRun.at("end of the session", fault.breakdown))

    def kill(self) -> None:
        """End the session at once."""
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
        return self._session

    def _broke(self, where: str, trace: Trace[Any] | None, fault: TesteeFault) -> None:
        self.kill()
        if trace is not None and trace.breakdown is None:
            trace.breakdown = fault.breakdown
        self.breakdowns.append(BrokenRun.at(where, fault.breakdown, trace))


SOFT_FAULTS = (FaultKind.NEVER_EXITS,)
"""Breakdowns that are reported and cost nobody his conformance: nothing of the protocol was at stake."""
