"""Plays the operations of a schedule in order under virtual time, with any transport.

The same schedule and the same implementations always give the same group trace.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from ..faults import TesteeError
from ..stage import NEEDS, ScheduleStoppedError
from . import operations as ops
from .expressions import MOST, UNLIMITED, UNTOLD, ExpressionError, value_of
from .group_trace import GroupTrace, S, T, W

MAX_STEPS = 50_000
"""Maximum number of steps of a group trace, of all participants together, so that it fits into memory."""
MOST_REPEATED = 100_000
"""Maximum number of operations that are played in the rounds of `repeat` operations."""
QUIET_ROUNDS = 2
"""Number of successive rounds without a change after which a `calm` operation ends, if no participant misses a
message.
"""

A = TypeVar("A")
"""The type of objects that drive participants."""


class MessageStormError(Exception):
    """The participants send messages without end."""


class ScheduleTooLongError(Exception):
    """The schedule takes more steps or more repetitions than the player allows. The message names the bound."""


class RequirementNotMetError(ScheduleStoppedError):
    """The player ends the schedule, because the condition of a `require` operation does not hold."""


def raise_if_stopped(group_trace: GroupTrace[Any, Any, Any], *optional: str) -> None:
    """Raise ScheduleStoppedError if a schedule ended early or an operation was not played.

    An operation may be left out without an error if a capability is missing, if the implementation does not report a
    period, or if the reason begins with one of ``optional``.
    """
    refused = (why for why in group_trace.left_out.values() if not why.startswith((NEEDS, UNTOLD, *optional)))
    if why := group_trace.ended or next(
        refused, "the participants sent messages without end" if group_trace.storm else ""
    ):
        raise ScheduleStoppedError(why)


class BasePlayer(ABC, Generic[A, S, T, W]):
    """Plays one schedule and records its group trace. Each protocol has a subclass.

    The method ``_play_`` and the name of an operation, such as ``_play_tick``, plays the operation.
    """

    def __init__(self, schedule: ops.Schedule, stages: Mapping[str, Any], length_factor: int = 1) -> None:
        """``stages`` has the stage of each member, by name. ``length_factor`` multiplies the maximum length of a group
        trace.
        """
        self.schedule = schedule
        self._length_factor = length_factor
        self._members = {member.name: member for member in schedule.members}
        self._stages = stages
        self._distinct: list[Any] = list({id(stage): stage for stage in stages.values()}.values())
        cast = {name: stages[name].trace for name in schedule.names}
        self.group_trace: GroupTrace[S, T, W] = GroupTrace(schedule, [stage.trace for stage in self._distinct], cast)
        self._epochs = {id(stage): stage.now_ms for stage in self._distinct}
        self._elapsed = 0
        self._clocks = {member.name: member.clock_ms for member in schedule.members}
        self._actors: dict[str, A] = {}
        self._operation = 0
        self._packets_before = 0

    # ---- implemented by each protocol ------------------------------------------------------------------------------

    @abstractmethod
    def _open(self, member: ops.Member) -> None:
        """Send `open` for a participant to the stage of the participant, and remember the participant as open."""

    @abstractmethod
    def _play_tick(self, op: ops.Tick) -> None:
        """Run the periodic work that is due."""

    @abstractmethod
    def _play_look(self, op: ops.Look) -> None:
        """Ask participants for their state."""

    @abstractmethod
    def _round(self, op: ops.Calm) -> None:
        """Play one round of a `calm` operation. The caller has already advanced virtual time by the period of the
        round.
        """

    @abstractmethod
    def _account(self) -> object:
        """A value that changes between two calm rounds if the first of them changed anything in the group trace."""

    def _longest_ms(self) -> int:
        """Maximum time in milliseconds that a missing message may still take to arrive; 0 if no participant misses a
        message.
        """
        return 0

    @abstractmethod
    def _heal(self) -> None:
        """Remove all faults that the schedule has set on the network, such as losses and partitions."""

    def _play_wait(self, op: ops.Wait) -> None:
        self._advance(op.ms + self._value(op.period))

    def _advance(self, ms: int) -> None:
        """Advance virtual time by ``ms``. Raises ScheduleStoppedError if the resulting time is out of range."""
        for stage in self._distinct:
            outside = stage.trace.declaration.outside_clock
            latest = outside.latest_ms if outside is not None else MOST
            if not 0 < self._epochs[id(stage)] + self._elapsed + ms <= latest:
                raise ScheduleStoppedError(f"virtual time cannot advance by {ms} ms: it would be out of range")
        self._pass(ms)

    def _in_force(self, name: str) -> int | None:
        """The value in force of the configuration field ``name``, from the first participant that reports the
        field; None if no participant reports it.
        """
        return None

    def _value(self, expression: str) -> int:
        """The value of an expression; 0 for an empty one. Raises ScheduleStoppedError for an expression without a
        value.
        """
        if not expression:
            return 0
        times: dict[str, int] = {"now_ms": self._now_ms, "start_ms": min(self._epochs.values())}
        declared = [stage.trace.declaration for stage in self._distinct]

        def named(name: str) -> int | None:
            if name in times:
                return times[name]
            if name in declared[0].limits:
                limits = (one.limit(name) for one in declared)
                return min((limit for limit in limits if limit is not None), default=UNLIMITED)
            return self._in_force(name)

        try:
            return value_of(expression, named)
        except ExpressionError as error:
            raise ScheduleStoppedError(str(error)) from None

    @property
    def _now_ms(self) -> int:
        """Virtual time by a correct clock, in epoch milliseconds."""
        epoch: int = min(self._epochs.values())
        return epoch + self._elapsed

    def _pass(self, milliseconds: int) -> None:
        """Advance virtual time without checking its range."""
        self._elapsed += milliseconds

    # ---- playing ---------------------------------------------------------------------------------------------------

    def play(self) -> GroupTrace[S, T, W]:
        """Play the schedule, from the opening of the participants to their end.

        A breakdown of an implementation is recorded in the group trace.
        """
        try:
            self.perform()
        except TesteeError as fault:
            self._record_breakdown(fault)
        for stage in self._distinct:
            if stage.trace.breakdown is None:
                try:
                    stage.close()
                except TesteeError as fault:
                    self._record_breakdown(fault)
        return self.group_trace

    def perform(self) -> GroupTrace[S, T, W]:
        """Play the schedule and leave the stages open. Raises TesteeError if an implementation breaks down."""
        group_trace, opened = self.group_trace, False
        try:
            skipped = 0
            for index, operation in enumerate(self.schedule.operations):
                if not opened and not ops.is_about_declarations(operation):
                    self._open_all()
                    opened = True
                if index < skipped:
                    continue  # the preceding `repeat` has already played this operation
                if isinstance(operation, ops.Repeat):
                    skipped = index + 1 + operation.operations
                self._play_one(index)
            if not opened:
                self._open_all()
        except RequirementNotMetError as why:
            group_trace.left_out[self._operation] = str(why)
            group_trace.ended = str(why)
        except MessageStormError:
            group_trace.storm = True
        except ScheduleTooLongError as why:
            group_trace.left_out[self._operation] = f"{why}, and the rest was not played"
        return group_trace

    def _play_one(self, index: int) -> None:
        self._operation = index
        self._packets_before = len(self.group_trace.packets)
        self._try(index, lambda: self._play(self.schedule.operations[index]))

    def _play_repeat(self, op: ops.Repeat) -> None:
        begin = self._operation + 1
        body = range(begin, min(begin + op.operations, len(self.schedule.operations)))
        self._messages_per_round = Counter(getattr(self.schedule.operations[index], "peer", "") for index in body)
        for number in range(min(op.most, self._value(op.rounds)) if op.rounds else op.most):
            self._round_number = number
            self._packets_before_round = len(self.group_trace.packets)
            for index in body:
                self.group_trace.labels.pop(getattr(self.schedule.operations[index], "label", ""), None)
            for index in body:
                self._repeated += 1
                if self._repeated > MOST_REPEATED * self._length_factor:
                    most = MOST_REPEATED * self._length_factor
                    raise ScheduleTooLongError(f"the maximum of {most:,} repeated operations was reached")
                self._play_one(index)
            if op.until and self._value(op.until):
                break
        self._round_number = 0

    _round_number = 0
    """The number of the current round of a `repeat` operation, from 0; 0 outside of a `repeat`."""
    _repeated = 0
    """The number of operations that were played in the rounds of all `repeat` operations."""
    _packets_before_round = 0
    """The number of packets in the group trace before the current round of a `repeat` began."""
    _messages_per_round: Mapping[str, int] = MappingProxyType({})
    """Maps a scripted peer to the number of messages that it writes in one round of the current `repeat`."""

    def _play(self, op: ops.Operation) -> None:
        """Play an operation, unless its condition does not hold."""
        if not op.when or self._value(op.when):
            self.group_trace.began[self._operation] = self._elapsed
            getattr(self, f"_play_{op.op}")(op)

    def _record_breakdown(self, fault: TesteeError) -> None:
        """Record the breakdown and its participant in the group trace, unless an earlier breakdown was recorded."""
        group_trace = self.group_trace
        if group_trace.breakdown is None:
            group_trace.breakdown = fault.breakdown
            last = [trace.steps[-1] for trace in group_trace.traces if trace.breakdown is not None and trace.steps]
            group_trace.broken = last[0].participant if last else ""

    def _try(self, index: int, play: Callable[[], None]) -> None:
        """Call ``play``. If the operation cannot be played, record the reason and continue with the schedule."""
        try:
            play()
        except RequirementNotMetError:
            raise
        except ScheduleStoppedError as stopped:
            self.group_trace.left_out[index] = str(stopped)

    # ---- participants ----------------------------------------------------------------------------------------------

    def _member(self, name: str) -> ops.Member:
        return self._members[name]

    def _open_all(self) -> None:
        self._operation = -1
        for member in self.schedule.members:
            if not member.late:
                self._try(-1, lambda: self._try_to_open(member))  # noqa: B023

    def _try_to_open(self, member: ops.Member) -> None:
        with suppress(*([ScheduleStoppedError] if member.may_be_refused else [])):
            self._open(member)

    def _play_require(self, op: ops.Require) -> None:
        for stage in self._distinct:
            declared = stage.trace.declaration
            for name in op.capabilities:
                number = declared.spoken.number_of(name)
                if number is None or [*declared.missing_capabilities([number])]:
                    raise RequirementNotMetError(f"{NEEDS}{name}")
        if op.condition and not self._value(op.condition):
            raise RequirementNotMetError(op.reason or f"{op.condition} does not hold")

    def _play_step_clock(self, op: ops.StepClock) -> None:
        self._clocks[op.who] += op.ms

    def _open_participants(self, who: str) -> list[str]:
        """The open participants that an operation applies to."""
        if who != ops.EVERYBODY:
            return [who] if who in self._actors else []
        return [name for name in self._members if name in self._actors]

    def _at(self, who: str) -> Any:
        """The stage of a participant. Its clock is first set to virtual time plus the offset of the participant's
        clock.
        """
        stage = self._stages[who]
        stage.now_ms = max(1, self._epochs[id(stage)] + self._elapsed + self._clocks[who])
        return stage

    def _play_calm(self, op: ops.Calm) -> None:
        self._heal()
        group_trace, quiet = self.group_trace, 0
        group_trace.settled = False
        before = self._account()
        for _ in range(op.rounds):
            self._packets_before = len(group_trace.packets)
            self._pass(op.period_ms)
            self._round(op)
            group_trace.calm_rounds += 1
            account = self._account()
            quiet = quiet + 1 if account == before else 0
            before = account
            # While a participant lacks a message, wait for the longest time that the message may take.
            if quiet >= QUIET_ROUNDS - (-self._longest_ms() // op.period_ms):
                group_trace.settled = True
                return
