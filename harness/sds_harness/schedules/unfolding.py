"""From a word of events to a schedule that is played, drawn, shrunk and kept like any other.

When something happens follows from what has to be before it, and from nothing else, so that words that are alike
become the same schedule: whatever a participant does, it does at once, so that it may do several things in one
millisecond, and two participants in the same one; and each arrival comes a millisecond after all that is before it.
Each is looked at in the end, when its last event is over. So what a participant is told, and when, follows from what is
before it, whatever others do meanwhile.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from .operations import STRAIGHT, Look, Operation, Route, Schedule, Wait
from .worlds import ALL, Known, Word, World


@dataclass
class _Done:
    """Something that one participant does."""

    at_ms: int
    kind: int
    known: Known
    """By whom, and which of that participant's events it is."""
    number: int
    """How many that participant has done with it."""
    arrives: dict[int, int]
    """At whom what it broadcasts arrives, and when."""
    twice: list[int]

    def label(self, names: Sequence[str]) -> str:
        """What its message is called: the same whatever others do."""
        return f"{names[self.known[0]][0]}{self.number}"


@dataclass(frozen=True)
class Unfolded:
    """A word as a schedule."""

    schedule: Schedule
    sources: dict[Known, int]
    """The operations that should broadcast something, by their index."""

    def silent(self, broadcast: Collection[int]) -> set[Known]:
        """What should have been broadcast and was not; ``broadcast`` are the operations that did broadcast."""
        return {known for known, operation in self.sources.items() if operation not in broadcast}


def unfold(world: World, word: Word, setting: Schedule) -> Unfolded:
    """``setting`` has the participants, and all else that is the same for all words."""
    done, ends = _done(world, word)
    names = setting.names[: world.participants]
    turns: list[tuple[int, int, Known, _Done | None]] = [(one.at_ms, 0, one.known, one) for one in done]
    turns += [(at_ms, 1, (who, 0), None) for who, at_ms in enumerate(ends)]
    stories = {one.known: _story(world, names, one) for one in done if not world.kinds[one.kind].broadcasts}
    lasting = [(one.at_ms, ms) for one in done if (ms := sum(map(_lasts_ms, stories.get(one.known, ()))))]
    operations: list[Operation] = []
    sources: dict[Known, int] = {}
    elapsed = more = 0
    # In one millisecond nothing arrives that was sent in it: so participants have their turn one after the other.
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
            # What is under way while a story lasts arrives after it: so it was in the word.
            later = {to: at + sum(ms for began, ms in lasting if began < at) - more for to, at in one.arrives.items()}
            operations += _story(world, names, one, _route(names, one, later))
    schedule = replace(setting, members=setting.members[: world.participants], operations=tuple(operations))
    return Unfolded(schedule, sources)


def _done(world: World, word: Word) -> tuple[list[_Done], list[int]]:
    """What is done, in the order of the word, and when what it broadcasts arrives; and when it is over for each."""
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
    """What a participant does in one event."""
    write = world.kinds[one.kind].write
    assert write is not None, world.kinds[one.kind].name
    written = write(names[one.known[0]], one.label(names), route)
    return written if isinstance(written, tuple) else (written,)


def _lasts_ms(operation: Operation) -> int:
    return operation.ms if isinstance(operation, Wait) else 0


def _route(names: Sequence[str], one: _Done, arrives: Mapping[int, int]) -> Route:
    """What becomes of what one participant broadcasts, at all others; ``arrives`` is when."""
    lost = tuple(name for who, name in enumerate(names) if who != one.known[0] and who not in one.arrives)
    late = tuple((names[who], at_ms - one.at_ms) for who, at_ms in sorted(arrives.items()))
    return Route(lost, late, tuple(names[who] for who in sorted(one.twice)))
