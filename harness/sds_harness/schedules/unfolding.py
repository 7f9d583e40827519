"""From a word of events to a schedule that is played, drawn, shrunk and kept like any other.

When something happens follows from what has to be before it, and from nothing else, so that words that are alike
become the same schedule: whatever a participant does, it does at once, so that it may do several things in one
millisecond, and two participants in the same one; and each arrival comes a millisecond after all that is before it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from .operations import STRAIGHT, Operation, Route, Schedule, Wait
from .worlds import ALL, Known, Word, World


@dataclass
class _Done:
    """Something that one participant does."""

    at_ms: int
    kind: int
    known: Known
    """By whom, and which of that participant's events it is."""
    arrives: dict[int, int]
    """At whom what it broadcasts arrives, and when."""
    twice: list[int]


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
    """``setting`` has the participants, and all else that is the same for all words; its operations come last."""
    done = _done(world, word)
    operations: list[Operation] = []
    sources: dict[Known, int] = {}
    elapsed = 0
    names = setting.names[: world.participants]
    # In one millisecond nothing arrives that was sent in it: so participants have their turn one after the other.
    for number, one in enumerate(sorted(done, key=lambda one: (one.at_ms, one.known)), 1):
        if one.at_ms > elapsed:
            operations.append(Wait(one.at_ms - elapsed))
            elapsed = one.at_ms
        kind = world.kinds[one.kind]
        assert kind.write is not None, kind.name
        if kind.broadcasts:
            sources[one.known] = len(operations)
        route = _route(names, one) if kind.broadcasts else STRAIGHT
        operations.append(kind.write(names[one.known[0]], f"m{number}", route))
    end = max((at_ms for one in done for at_ms in one.arrives.values()), default=0)
    if end > elapsed:
        operations.append(Wait(end - elapsed))
    schedule = replace(
        setting, members=setting.members[: world.participants], operations=(*operations, *setting.operations)
    )
    return Unfolded(schedule, sources)


def _done(world: World, word: Word) -> list[_Done]:
    """What is done, in the order of the word, and when what it broadcasts arrives."""
    now = [0] * world.participants
    counts = [0] * world.participants
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
            known[who, counts[who]] = _Done(now[who], event.kind, (who, counts[who]), {}, [])
            counts[who] += 1
    return list(known.values())


def _route(names: Sequence[str], one: _Done) -> Route:
    """What becomes of what one participant broadcasts, at all others."""
    lost = tuple(name for who, name in enumerate(names) if who != one.known[0] and who not in one.arrives)
    late = tuple((names[who], at_ms - one.at_ms) for who, at_ms in sorted(one.arrives.items()))
    return Route(lost, late, tuple(names[who] for who in sorted(one.twice)))
