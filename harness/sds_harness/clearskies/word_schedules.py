"""Turns a word, a sequence of events of the alphabet, into a schedule of ClearSkies.

Before the first event, all participants are linked and have exchanged their records. Then all links are held: bytes
wait until an arrival event, which delivers all bytes that wait on the way from one participant to another.

Each event takes place one millisecond after all events on which it depends. So independent events take place at the
same time, equivalent words become the same schedule, and the requests to a participant depend only on events before
them. The links of participants exist from the beginning, so their numbers do not depend on events either. At the end,
at a time that is the same for nearly all words, all participants run their periodic work and are observed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from ..schedules.choices import NAMES
from ..schedules.group_trace import GroupTrace
from ..schedules.operations import STRAIGHT, Operation
from ..schedules.word_schedules import Unfolded
from ..schedules.worlds import ALL, ArrivingCopy, Word, World
from .operations import Connect, Hold, LinkPeers, Look, Release, Schedule, Tick, Wait
from .stage import ROUND_MS

STRANGERS = ("xavier", "zoe", "wendy")
"""The scripted peers, one for each participant."""


END_MS = 300_000
"""A schedule ends this many milliseconds after its start. If its events take longer, the schedule ends at a later
multiple of this time."""
ENDING_TICKS = 3
"""Ticks before participants are observed: some implementations process messages when they are ticked."""


def stranger_of(who: str) -> str:
    """The scripted peer that is linked to a participant. The name of the peer is also the name of their link.

    Scripted peers share no state, so the messages of one do not depend on other participants.
    """
    return STRANGERS[NAMES.index(who)]


def receiving_operations(group_trace: GroupTrace[Any, Any, Any]) -> set[int]:
    """The indexes of the operations during which a participant received bytes."""
    return {act.operation for act in group_trace.acts if act.step.command == "receive"}


@dataclass
class _Action:
    """Operations at one participant that take place at the same time."""

    at_ms: int
    who: int
    operations: tuple[Operation, ...]
    arrival: tuple[ArrivingCopy, int] | None = None
    """For an arrival: the delivered copy of a message, and the index of the event in the word."""


def unfold(world: World, word: Word, setting: Schedule) -> Unfolded:
    """The word as a schedule. ``setting`` has the participants and everything else that all words share."""
    names = setting.names[: world.participants]
    actions = _actions(world, word, names)
    writers = {op.peer for action in actions for op in action.operations if hasattr(op, "peer")}
    operations: list[Operation] = [
        *(LinkPeers(one, other) for one, other in combinations(names, 2)),
        Hold(),
        *(Connect(stranger_of(who), who, link=stranger_of(who)) for who in names if stranger_of(who) in writers),
    ]
    copies: dict[ArrivingCopy, tuple[int, int]] = {}
    elapsed = 0
    # Actions at the same time are independent, so their order does not matter.
    for action in sorted(actions, key=lambda action: (action.at_ms, action.who)):
        if action.at_ms > elapsed:
            operations.append(Wait(action.at_ms - elapsed))
            elapsed = action.at_ms
        if action.arrival is not None:
            copy, place = action.arrival
            copies[copy] = len(operations), place
        operations += action.operations
    operations.append(Wait(END_MS - elapsed % END_MS))
    for _ in range(ENDING_TICKS):
        operations += [Tick(), Wait(ROUND_MS)]
    operations.append(Look())
    schedule = replace(setting, members=setting.members[: world.participants], operations=tuple(operations))
    return Unfolded(schedule, copies, receiving_operations)


def _actions(world: World, word: Word, names: Sequence[str]) -> list[_Action]:
    """The actions of the events of a word, in the order of the word, each with its time."""
    actions: list[_Action] = []
    last = [0] * len(names)
    """By participant: the time of its last event."""
    taken = [0] * len(names)
    """By participant: the last time at which bytes that it had sent arrived at another participant."""
    numbers = [0] * len(names)
    for place, event in enumerate(word):
        kind = world.kinds[event.kind]
        those = range(len(names)) if event.who == ALL else (event.who,)
        before = [time for who in those for time in (last[who], taken[who])]
        at_ms = 1 + max([*before, last[event.sender]] if kind.copies else before) + kind.after_ms
        if kind.copies:
            taken[event.sender] = max(taken[event.sender], at_ms)
            delivery = Release(names[event.sender], names[event.who], one_way=True)
            actions.append(_Action(at_ms, event.who, (delivery,), ((event.who, event.sender, event.nth), place)))
        else:
            assert kind.write is not None, kind.name
            for who in those:
                numbers[who] += 1
                written = kind.write(names[who], f"{names[who][0]}{numbers[who]}", STRAIGHT)
                actions.append(_Action(at_ms, who, written if isinstance(written, tuple) else (written,)))
        for who in those:
            last[who] = at_ms
    return actions
