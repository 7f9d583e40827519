"""Converts a word (a sequence of events, see ``worlds``) to a schedule that is played, rendered, shrunk and stored like
any other schedule.

The time of an event depends only on the events that must precede it, so that equivalent words become the same schedule.
A participant acts without delay: it may do several things in one millisecond, and other participants may act in the
same millisecond.
Each arrival comes one millisecond after everything that precedes it. Each participant is observed at the end, after its
last event. So the requests to a participant, and their times, depend only on what precedes them, whatever other
participants do meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .group_trace import GroupTrace
from .operations import STRAIGHT, Look, Operation, Route, Schedule, Wait
from .worlds import ALL, ArrivingCopy, Known, Word, World


@dataclass
class _Done:
    """What one participant does in one event of a word."""

    at_ms: int
    kind: int
    known: Known
    """The participant, and the index of the event among the events of that participant."""
    number: int
    """The number of this action among the actions of the participant, from 1."""
    arrives: dict[int, int]
    """Maps each participant that receives the broadcast of this action to the arrival time in milliseconds."""
    twice: list[int]

    def label(self, names: Sequence[str]) -> str:
        """The label of the message that this action sends. It does not depend on the actions of other participants."""
        return f"{names[self.known[0]][0]}{self.number}"


@dataclass(frozen=True)
class Unfolded:
    """The schedule that a word (a sequence of events, see ``worlds``) was converted to."""

    schedule: Schedule
    copies: Mapping[ArrivingCopy, tuple[int, int]]
    """Maps each copy of a message to the index of the operation without which the copy does not arrive, and to the
    index in the word of the event of that operation."""
    effective: Callable[[GroupTrace[Any, Any, Any]], set[int]]
    """Returns the indexes of the operations that had the effect on which copies depend."""

    def find_missing(self, group_trace: GroupTrace[Any, Any, Any]) -> dict[ArrivingCopy, int]:
        """The copies that cannot arrive, because the implementation did not broadcast the message. Maps each copy to
        the index in the word of the event that should have broadcast it."""
        effective = self.effective(group_trace)
        return {copy: place for copy, (operation, place) in self.copies.items() if operation not in effective}


def broadcasting_operations(group_trace: GroupTrace[Any, Any, Any]) -> set[int]:
    """The indexes of the operations during which a message was broadcast."""
    return {packet.operation for packet in group_trace.packets}


def unfold(world: World, word: Word, setting: Schedule) -> Unfolded:
    """Convert a word of a protocol that broadcasts to a schedule. ``setting`` has the participants and the
    configuration of all words of the world."""
    done, ends = _done(world, word)
    names = setting.names[: world.participants]
    turns: list[tuple[int, int, Known, _Done | None]] = [(one.at_ms, 0, one.known, one) for one in done]
    turns += [(at_ms, 1, (who, 0), None) for who, at_ms in enumerate(ends)]
    stories = {one.known: _story(world, names, one) for one in done if not world.kinds[one.kind].broadcasts}
    lasting = [(one.at_ms, ms) for one in done if (ms := sum(map(_lasts_ms, stories.get(one.known, ()))))]
    operations: list[Operation] = []
    sources: dict[Known, int] = {}
    elapsed = more = 0
    # No message arrives in the millisecond in which it was sent. So the order of actions in one millisecond does not
    # matter.
    for at_ms, _, (who, _), one in sorted(turns, key=lambda turn: turn[:3]):
        if at_ms > elapsed:
            operations.append(Wait(at_ms - elapsed))
            elapsed = at_ms
        if one is None:
            operations.append(Look(names[who]))
        elif one.known in stories:
            operations += stories[one.known]
            more += sum(map(_lasts_ms, stories[one.known]))
        else:
            sources[one.known] = len(operations)
            # Messages that are under way while an event takes time arrive after the event, as in the word.
            later = {to: at + sum(ms for began, ms in lasting if began < at) - more for to, at in one.arrives.items()}
            operations += _story(world, names, one, _route(names, one, later))
    schedule = replace(setting, members=setting.members[: world.participants], operations=tuple(operations))
    places = {known: place for place, events in enumerate(world.identify_events(word)) for known in events}
    copies = {
        (listener, *known): (operation, places[known])
        for known, operation in sources.items()
        for listener in range(world.participants)
    }
    return Unfolded(schedule, copies, broadcasting_operations)


def _done(world: World, word: Word) -> tuple[list[_Done], list[int]]:
    """The actions in the order of the word, each with the arrival times of its broadcast; and for each participant the
    time of its last event. Times are in milliseconds since the start."""
    now = [0] * world.participants
    counts = [0] * world.participants
    numbers = [0] * world.participants
    known: dict[Known, _Done] = {}
    for event in word:
        kind = world.kinds[event.kind]
        if kind.copies:
            source = known[event.sender, event.nth]
            now[event.who] = 1 + max(now[event.who], source.at_ms)
            source.arrives[event.who] = now[event.who]
            source.twice += [event.who] * (kind.copies > 1)
            counts[event.who] += 1
            continue
        doing: Sequence[int] = (event.who,)
        if event.who == ALL:
            doing = range(world.participants)
            now = [max(now)] * world.participants
        for who in doing:
            now[who] += kind.after_ms
            numbers[who] += 1
            known[who, counts[who]] = _Done(now[who], event.kind, (who, counts[who]), numbers[who], {}, [])
            counts[who] += 1
    return list(known.values()), now


def _story(world: World, names: Sequence[str], one: _Done, route: Route = STRAIGHT) -> tuple[Operation, ...]:
    """The operations that play one event of a word."""
    write = world.kinds[one.kind].write
    assert write is not None, world.kinds[one.kind].name
    written = write(names[one.known[0]], one.label(names), route)
    return written if isinstance(written, tuple) else (written,)


def _lasts_ms(operation: Operation) -> int:
    return operation.ms if isinstance(operation, Wait) else 0


def _route(names: Sequence[str], one: _Done, arrives: Mapping[int, int]) -> Route:
    """The route of one broadcast. ``arrives`` maps each participant that receives it to the arrival time."""
    lost = tuple(name for who, name in enumerate(names) if who != one.known[0] and who not in one.arrives)
    late = tuple((names[who], at_ms - one.at_ms) for who, at_ms in sorted(arrives.items()))
    return Route(lost, late, tuple(names[who] for who in sorted(one.twice)))
