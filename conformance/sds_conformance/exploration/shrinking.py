"""Shrinking: reduces a schedule that shows a fault to a small schedule that still shows it.

The operations of a schedule name participants and messages. An operation that names a missing message has no effect. So
any operation can be removed, and the rest is still a valid schedule. Shrinking works on all schedules: from a seed,
Hypothesis, a file or a corpus.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any

from sds_harness.schedules import GroupTrace, Operation, Schedule
from sds_harness.schedules.operations import EVERYBODY, STRAIGHT, Calm, Cut, Heal, Links, Route, Tick, Wait

from ..protocols.schedules import Repertoire
from ..scenario_files.reader import rename_fields

Fails = Callable[[Schedule], GroupTrace | None]
"""Plays a schedule. Returns the group trace if it shows the fault, else None."""
MAX_ATTEMPTS = 3_000
PEERS = ("xavier", "zoe", "wendy", "victor", "uma", "trent", "sybil")
"""Names of scripted peers in generated schedules."""


@dataclass
class Shrunk:
    """A shrunk schedule, and how it was found."""

    schedule: Schedule
    attempts: int
    """Number of schedules that were played to find the shrunk one."""
    out_of_time: bool = False
    """The time was over, so the schedule may not be the smallest one."""


class _LimitReachedError(Exception):
    """The limit of attempts or of time is reached."""


def shrink(
    schedule: Schedule,
    fails: Fails,
    repertoire: Repertoire,
    max_attempts: int = MAX_ATTEMPTS,
    budget_s: float = math.inf,
) -> Shrunk:
    """Return a schedule for which ``fails`` still returns a group trace, and from which nothing more can be removed.

    The shrunk schedule has no expectations, because they may name a message that was removed. ``schedule`` itself must
    show the fault. No attempt starts after ``budget_s`` seconds; without this limit the result is deterministic. An
    interrupt is not caught.
    """
    return _Shrinker(schedule, fails, repertoire, max_attempts, budget_s).run()


class _Shrinker:
    def __init__(
        self, schedule: Schedule, fails: Fails, repertoire: Repertoire, max_attempts: int, budget_s: float
    ) -> None:
        self.best = replace(schedule, expect=(), requirements=(), description="", parameter="")
        self._until = time.monotonic() + budget_s
        self._out_of_time = False
        self._fails = fails
        self._repertoire = repertoire
        self._left = max_attempts
        self._max = max_attempts
        self._known: set[Schedule] = set()

    def run(self) -> Shrunk:
        try:
            while True:
                before = self.best
                self._drop_operations()
                self._explain_losses()
                self._merge_waits()
                self._drop_members()
                self._simplify_setting()
                self._simplify_operations()
                if self.best == before:
                    break
            # IDs depend on names, and the order of equal timestamps and some times depend on IDs. So a renamed schedule
            # may not show the fault.
            self._try(with_numbered_labels(self.best))
            usual = with_usual_names(self.best, self._repertoire.names)
            if not usual.peers & set(usual.names):
                self._try(usual)
            self._try(with_usual_peers(self.best))
        except _LimitReachedError:
            pass
        return Shrunk(self.best, self._max - self._left, self._out_of_time)

    def _try(self, candidate: Schedule) -> bool:
        """Keep a candidate if it shows the fault as well."""
        if candidate == self.best or candidate in self._known:
            return False
        self._known.add(candidate)
        self._out_of_time = time.monotonic() >= self._until
        if not self._left or self._out_of_time:
            raise _LimitReachedError
        self._left -= 1
        if self._fails(candidate) is None:
            return False
        self.best = candidate
        return True

    def _try_change(self, **changed: Any) -> bool:
        return self._try(replace(self.best, **changed))

    # ---- operations ------------------------------------------------------------------------------------------------

    def _drop_operations(self) -> None:
        """Delta debugging: remove chunks from the end, first halves of the schedule, finally single operations."""
        size = max(1, len(self.best.operations) // 2)
        while size:
            start = len(self.best.operations) - size
            while start > -size:
                kept = self.best.operations[: max(0, start)] + self.best.operations[max(0, start) + size :]
                self._try_change(operations=kept)
                start -= size
            size //= 2

    def _explain_losses(self) -> None:
        """Replace network rules and cuts by the losses and delays that they caused at each operation."""
        if not any(isinstance(operation, Links | Cut) for operation in self.best.operations):
            return
        group_trace = self._fails(self.best)
        if group_trace is not None:
            self._try(store_route_effects(self.best, group_trace))

    def _simplify_operations(self) -> None:
        index = len(self.best.operations) - 1
        while index >= 0:
            again = True
            while again and index < len(self.best.operations):
                operations = self.best.operations
                again = any(
                    self._try_change(operations=(*operations[:index], simpler, *operations[index + 1 :]))
                    for source in (simpler_operations, self._repertoire.simpler)
                    for simpler in source(operations[index], self.best)
                )
            index -= 1

    def _merge_waits(self) -> None:
        for index in range(len(self.best.operations) - 2, -1, -1):
            match self.best.operations[index : index + 2]:
                case (Wait(first, ""), Wait(second, "")):
                    operations = self.best.operations
                    merged = (*operations[:index], Wait(first + second), *operations[index + 2 :])
                    self._try_change(operations=merged)

    # ---- everything else -------------------------------------------------------------------------------------------

    def _drop_members(self) -> None:
        for name in reversed(self.best.names):
            if len(self.best.members) > 1:
                self._try(without_member(self.best, name))

    def _simplify_setting(self) -> None:
        # Remove related settings together: one of two periods alone could be an invalid configuration.
        for group in {key.partition("_")[0]: None for key, _ in self.best.configuration}:
            kept = tuple(pair for pair in self.best.configuration if pair[0].partition("_")[0] != group)
            self._try_change(configuration=kept)
        if len(self.best.channels) > 1:
            operations = tuple(
                operation.with_values(channel=0) if getattr(operation, "channel", 0) else operation
                for operation in self.best.operations
            )
            self._try_change(channels=self.best.channels[:1], operations=operations)
        self._try_change(channels=tuple(f"c{place + 1}" for place in range(len(self.best.channels))))
        for place, member in enumerate(self.best.members):
            for field in fields(member)[1:]:
                usual: dict[str, Any] = {field.name: field.default}
                simpler = replace(member, **usual)
                members = (*self.best.members[:place], simpler, *self.best.members[place + 1 :])
                self._try_change(members=members)
        self._try_change(seed=0)


def without_member(schedule: Schedule, name: str) -> Schedule:
    operations: list[Operation] = []
    for operation in schedule.operations:
        if name in (getattr(operation, key, EVERYBODY) for key in operation.names):
            continue
        if isinstance(operation, Cut):
            senders = tuple(n for n in operation.senders if n != name)
            listeners = tuple(n for n in operation.listeners if n != name)
            if not senders or not listeners:
                continue
            operation = operation.with_values(senders=senders, listeners=listeners)
        route = getattr(operation, "route", STRAIGHT)
        if route:
            operation = operation.with_values(route=_route_without(route, name))
        operations.append(operation)
    members = tuple(member for member in schedule.members if member.name != name)
    return replace(schedule, members=members, operations=tuple(operations))


def _route_without(route: Route, name: str) -> Route:
    return Route(
        tuple(n for n in route.lost if n != name),
        tuple(pair for pair in route.late if pair[0] != name),
        tuple(n for n in route.twice if n != name),
    )


def store_route_effects(schedule: Schedule, group_trace: GroupTrace) -> Schedule:
    """Return the schedule without network rules; each operation stores the losses and delays that the rules caused."""
    lost: dict[int, dict[str, None]] = {}
    late: dict[int, dict[str, int]] = {}
    for loss in group_trace.losses:
        if loss.why in ("lost", "cut"):
            lost.setdefault(loss.packet.operation, {})[loss.listener] = None
    for act in group_trace.acts:
        if act.packet is not None and act.source == "network" and act.at_ms > act.packet.at_ms:
            late.setdefault(act.packet.operation, {}).setdefault(act.who, act.at_ms - act.packet.at_ms)
    operations = []
    for index, operation in enumerate(schedule.operations):
        if isinstance(operation, Links | Cut | Heal):
            continue
        if hasattr(operation, "route"):
            gone = tuple(lost.get(index, ()))
            delays = tuple((n, ms) for n, ms in late.get(index, {}).items() if n not in gone)
            operation = operation.with_values(route=Route(gone, delays, operation.route.twice))
        operations.append(operation)
    return replace(schedule, operations=tuple(operations))


def simpler_operations(operation: Operation, schedule: Schedule) -> Iterator[Operation]:
    """Yield simpler versions of an operation, the simplest first."""
    defaults = {f.name: f.default for f in fields(operation)}
    for key, default in defaults.items():
        value = getattr(operation, key)
        if key not in ("who", "peer", "ms", "to", "op", "rounds", "period_ms", "times") and value != default:
            if default is not MISSING and (not isinstance(value, tuple) or default in (None, (), (0, 0))):
                yield operation.with_values(**{key: default})
            if isinstance(value, tuple) and value and not isinstance(value[0], int):
                for place in range(len(value)):
                    smaller = value[:place] + value[place + 1 :]
                    if smaller or default is not MISSING:
                        yield operation.with_values(**{key: smaller})
    yield from _smaller_route(operation)
    match operation:
        case Wait(ms):
            for shorter in (1, 1_000, 30_000, 60_000, 120_000, ms // 2, ms - ms % 1_000):
                if 0 < shorter < ms:
                    yield operation.with_values(ms=shorter)
        case Tick(who) if who == EVERYBODY:
            for name in schedule.names:
                yield operation.with_values(who=name)
        case Calm(rounds):
            for fewer in (1, 2, rounds // 2, rounds - 1):
                if 0 < fewer < rounds:
                    yield operation.with_values(rounds=fewer)


def _smaller_route(operation: Operation) -> Iterator[Operation]:
    route: Route = getattr(operation, "route", STRAIGHT)
    for name in dict.fromkeys([*route.lost, *(n for n, _ in route.late), *route.twice]):
        yield operation.with_values(route=_route_without(route, name))
    for name, _ in route.late:
        # A loss is simpler than a delay, because no later step delivers a lost message.
        yield operation.with_values(route=replace(_route_without(route, name), lost=(*route.lost, name)))


# ---- Usual names ----------------------------------------------------------------------------------------------------


def with_usual_names(schedule: Schedule, names: Sequence[str]) -> Schedule:
    """Rename the participants, in order, to ``names``, which are the names in generated schedules. A schedule with more
    participants than names stays unchanged.
    """
    usual = dict(zip(schedule.names, names, strict=False))
    if len(schedule.names) > len(names):
        return schedule
    members = tuple(replace(member, name=usual[member.name]) for member in schedule.members)
    operations = tuple(rename_fields(one, (*one.names, "route"), _lookup_in(usual)) for one in schedule.operations)
    return replace(schedule, members=members, operations=operations)


def with_usual_peers(schedule: Schedule) -> Schedule:
    """Rename scripted peers whose names are not ASCII to names of generated schedules."""
    peers = list(dict.fromkeys(peer for o in schedule.operations if (peer := getattr(o, "peer", ""))))
    free = (name for name in PEERS if name not in {*peers, *schedule.names})
    usual = {peer: peer if peer.isascii() else next(free, peer) for peer in peers}
    operations = tuple(rename_fields(one, ("peer", "poses_as"), _lookup_in(usual)) for one in schedule.operations)
    return replace(schedule, operations=operations)


def with_numbered_labels(schedule: Schedule) -> Schedule:
    """Rename the messages to m1, m2, m3, ... in the order of sending. Messages that were never sent come last."""
    sent = [getattr(operation, "label", "") for operation in schedule.operations]
    spoken = [label for operation in schedule.operations for label in labels_of(operation)]
    labels = [label for label in dict.fromkeys([*sent, *spoken]) if label]
    numbered = {label: f"m{n}" for n, label in enumerate(labels, 1)}
    return replace(
        schedule, operations=tuple(rename_fields(one, one.labels, _lookup_in(numbered)) for one in schedule.operations)
    )


def labels_of(operation: Operation) -> list[str]:
    """Return the labels of messages that an operation names."""
    out: list[str] = []
    for key in operation.labels:
        value = getattr(operation, key, None) or ()
        referred = [value] if isinstance(value, str) else value
        # An entry of a causal history has a label, and other fields.
        out += [label for one in referred if (label := one if isinstance(one, str) else one.label)]
    return out


def _lookup_in(known: Mapping[str, str]) -> Callable[[str], str]:
    return lambda name: known.get(name, name)
