"""Enumerates every schedule of a small world up to a length, each exactly once, as words of events.

A word is a sequence of events. The set of words depends only on the kinds of events and on no implementation. After an
event that broadcasts, one copy is under way to each other participant, and each copy arrives once, later, or never. So
words can be counted, numbered and distributed before anything is played, and are the same for all implementations. If
an implementation broadcasts nothing at an event, nothing can arrive; the player detects that and skips the word. All
messages that one participant broadcasts at one event travel together. A copy that never arrives is lost. So a loss is
not an event and does not count towards the length.

**One word per class.** Two words that differ only in the order of independent events show every participant the same.
Two events are dependent if the same participant takes part in both, or if one is the arrival of the other's broadcast.
Each class of such equivalent words (a Mazurkiewicz trace) is represented by its least word in the order of the
alphabet. A word is the least of its class if no event in it could move left past a greater event: that is, if no
greater event stands between an event and the nearest event to its left on which it depends. The same holds for every
prefix of such a word. So words are spelled event by event, and no prefix of an unwanted word is ever started.

**Streams.** In a world of ``streams``, messages between two participants arrive in the order in which they were sent,
and none is lost unless a link breaks. There, an arrival is everything that one participant has under way to another
one, and the recipient may answer or repeat it. So each event of the sender changes what arrives: an arrival also
depends on all events of its sender, before it and after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise, permutations
from typing import NamedTuple

from .operations import Operation, Route

ALL = -1
"""Used instead of a participant: the event happens at all of them at once."""


class Event(NamedTuple):
    """One event of a word. Words are compared by these numbers."""

    kind: int
    """Index of the kind of event."""
    who: int
    """Index of the participant at which it happens, or ``ALL``."""
    sender: int = -1
    """For an arrival: the participant that sent the message."""
    nth: int = -1
    """For an arrival: the index of the sending event among that participant's events, from 0. In a world of streams,
    the index of the last of the sending events."""


Word = tuple[Event, ...]
Write = Callable[[str, str, Route], Operation | tuple[Operation, ...]]
Known = tuple[int, int]
"""An event, identified by a participant and the index among its events, from 0. Equivalent words have the same ones."""
Copy = tuple[int, int, int]
"""A copy under way: the listener, the sender, and the index of the sender's event."""


@dataclass(frozen=True)
class EventKind:
    """A kind of events."""

    name: str
    """The name of the kind in an alphabet. Kinds with the same name are chosen and counted together."""
    write: Write | None = None
    """Makes the operations of an event from the participant, a label that no other event has, and the route of its
    broadcast. Several operations follow each other, with the time that passes in them. None for an arrival."""
    copies: int = 0
    """For an arrival: the number of copies."""
    broadcasts: bool = False
    """Whether it broadcasts something that can arrive at others."""
    everybody: bool = False
    """Whether all participants do it at once."""
    after_ms: int = 0
    """Milliseconds that pass before it."""
    most: int = 0
    """Maximum number of events with this name in a word; 0 means any number."""
    equals: bool = True
    """Whether names of participants make no difference."""
    ranked: bool = False
    """Whether it sends a message with a place in an order that message IDs may decide."""
    starts: bool = False
    """Whether something may be due after it."""
    due: bool = False
    """Whether it can happen only if something may be due."""
    aware: bool = False
    """Whether an earlier event at any participant, not only at its own, can change what it does."""
    ends: bool = False
    """Whether it must be the last event."""
    cuts: bool = False
    """Whether all messages under way are lost."""


@dataclass(frozen=True)
class AlphabetPart:
    """A set of kinds that may occur together in one word."""

    names: tuple[str, ...]
    """Names of kinds."""
    most: int = 0
    """Maximum length of a word in events; 0 means any length."""

    def without(self, name: str) -> AlphabetPart:
        """The part without one name."""
        return AlphabetPart(tuple(other for other in self.names if other != name), self.most)

    @classmethod
    def read(cls, text: str) -> AlphabetPart:
        """Parse the text form: names separated by commas, optionally followed by the maximum length, as in
        ``send,arrive:8``.

        Raises ValueError.
        """
        names, colon, most = text.partition(":")
        return cls(tuple(name.strip() for name in names.split(",") if name.strip()), int(most) if colon else 0)

    def __str__(self) -> str:
        return ",".join(self.names) + (f":{self.most}" if self.most else "")


@dataclass(frozen=True)
class World:
    """A number of participants, and the events that can happen to them."""

    participants: int
    kinds: tuple[EventKind, ...]
    alike: bool = True
    """Whether names of participants have no effect except where message IDs decide an order."""
    gaps_by_name: bool = False
    """Whether names also have an effect where a participant learns of a message that it has not received."""
    parts: tuple[AlphabetPart, ...] = ()
    """All events of a word must belong to one of these parts; empty means that any event may occur."""
    streams: bool = False
    """Whether an arrival delivers all messages that are on their way from one participant to another one."""

    def __post_init__(self) -> None:
        if any(first.copies > second.copies == 0 for first, second in pairwise(self.kinds)):
            raise ValueError("arrivals must be the last kinds: the order of kinds is the order of words")
        if any((kind.due or kind.ends or kind.cuts) and not kind.everybody for kind in self.kinds):
            raise ValueError(
                "an event that waits until something is due, loses messages or is the last one must happen at all "
                "participants: otherwise its order would matter"
            )

    # ---- words -----------------------------------------------------------------------------------------------------

    def words(self, length: int, beginning: Word = (), since: Word = ()) -> Iterator[Word]:
        """All words of this length with this prefix, in order. With ``since``, only the words from that one on."""
        left = length - len(beginning)
        return _Speller(self, length, beginning).words(left, since[len(beginning) :])

    def count(self, length: int, most: int | None = None) -> int:
        """The number of words of this length. ``most`` stops the count early."""
        return sum(1 for _ in islice(self.words(length), most))

    @cached_property
    def done(self) -> tuple[Event, ...]:
        """All events that are not arrivals, in order."""
        everyone = range(self.participants)
        return tuple(
            Event(index, who)
            for index, kind in enumerate(self.kinds)
            if not kind.copies
            for who in ((ALL,) if kind.everybody else everyone)
        )

    @cached_property
    def arrivals(self) -> tuple[int, ...]:
        """The kinds that are arrivals."""
        return tuple(index for index, kind in enumerate(self.kinds) if kind.copies)

    def identify_events(self, word: Word) -> list[tuple[Known, ...]]:
        """The identity of each event of a word, for each participant that takes part in it."""
        return [places for _, places in _identify_events(word, self.participants)]

    def newest(self, word: Word) -> frozenset[int]:
        """The participants that see more in this word than in any shorter part of it; none if two independent events
        are last.

        The events up to a participant's last event are themselves a word, which is shorter if an event of another
        participant comes later. In that word the participant sees the same. So a caller that judges only these
        participants judges each view once.
        """
        if any(self.kinds[event.kind].aware for event in word):
            return frozenset(range(self.participants))
        placed = list(_identify_events(word, self.participants))
        last = [
            event
            for index, (event, places) in enumerate(placed)
            if not any(self._touch(event, places, *later) for later in placed[index + 1 :])
        ]
        if len(last) != 1:
            return frozenset()
        return frozenset(range(self.participants)) if last[0].who == ALL else frozenset((last[0].who,))

    # ---- renaming --------------------------------------------------------------------------------------------------

    def names_matter(self, word: Word) -> bool:
        """Could the result depend on the names of participants?

        It could if two participants send without having heard from each other: with equal timestamps, the message IDs
        decide the order. With ``gaps_by_name``, it also could if a message arrives whose sender knew of messages that
        the recipient has not received.

        In a world of streams, it could if two participants send at all: an arrival shows that something was under way,
        and not which messages it contained, so that the recipient may not have heard of one of them.
        """
        if not self.alike or not all(self.kinds[event.kind].equals for event in word):
            return True
        if self.streams:
            return len({event.who for event in word if self.kinds[event.kind].ranked}) > 1
        heard: list[set[Known]] = [set() for _ in range(self.participants)]
        has: list[set[Known]] = [set() for _ in range(self.participants)]
        knew: dict[Known, frozenset[Known]] = {}
        ranked: list[Known] = []
        for event, places in _identify_events(word, self.participants):
            if event.sender >= 0:
                source = (event.sender, event.nth)
                has[event.who] |= {source} & set(ranked)
                if self.gaps_by_name and any(one in knew[source] and one not in has[event.who] for one in ranked):
                    return True
                heard[event.who] |= knew[source]
            before = {who: frozenset(heard[who]) for who, _ in places}
            for place in places:
                heard[place[0]].add(place)
                knew[place] = before[place[0]] | {place}
                if self.kinds[event.kind].ranked:
                    if any(other[0] != place[0] and other not in before[place[0]] for other in ranked):
                        return True
                    ranked.append(place)
                    has[place[0]].add(place)
        return False

    def first_of_its_names(self, word: Word) -> bool:
        """Is this the first of all words that result from it by renaming participants? True if names matter."""
        if self.names_matter(word):
            return True
        names = permutations(range(self.participants))
        next(names)
        return all(word <= self.normal_order(_rename_participants(word, name)) for name in names)

    def normal_order(self, word: Word) -> Word:
        """The first word that is equivalent to this one up to the order of independent events."""
        left = list(_identify_events(word, self.participants))
        out: list[Event] = []
        while left:
            free = [
                (event, index)
                for index, (event, places) in enumerate(left)
                if not any(self._touch(event, places, *other) for other in left[:index])
            ]
            event, index = min(free)
            out.append(event)
            del left[index]
        return tuple(out)

    def _touch(self, event: Event, places: Sequence[Known], other: Event, others: Sequence[Known]) -> bool:
        """Are two events dependent, so that their order matters?"""
        if ALL in (event.who, other.who) or event.who == other.who:
            return True
        if self.streams:
            return event.sender == other.who or other.sender == event.who
        return (event.sender, event.nth) in others or (other.sender, other.nth) in places


def _identify_events(word: Iterable[Event], participants: int) -> Iterator[tuple[Event, tuple[Known, ...]]]:
    """The events of a word with their identities, for each participant that takes part."""
    counts = [0] * participants
    for event in word:
        places = []
        for who in range(participants) if event.who == ALL else (event.who,):
            places.append((who, counts[who]))
            counts[who] += 1
        yield event, tuple(places)


def _rename_participants(word: Word, names: Sequence[int]) -> Word:
    return tuple(
        event._replace(
            who=event.who if event.who == ALL else names[event.who],
            sender=names[event.sender] if event.sender >= 0 else event.sender,
        )
        for event in word
    )


class _Speller:
    """Spells words event by event."""

    def __init__(self, world: World, length: int, beginning: Word) -> None:
        self._world = world
        self._parts = [
            frozenset(index for index, kind in enumerate(world.kinds) if kind.name in part.names)
            for part in world.parts or (AlphabetPart(tuple(kind.name for kind in world.kinds)),)
            if not part.most or part.most >= length
        ]
        self._word: list[Event] = []
        self._number: list[int] = []
        """For each event, its index among the events of its participant; 0 for an event of all."""
        self._counts = [0] * world.participants
        self._under_way: set[Copy] = set()
        self._often: dict[str, int] = {}
        for event in beginning:
            self._append(event)

    def words(self, more: int, since: Word = ()) -> Iterator[Word]:
        """All continuations by ``more`` events, from the word ``since`` on."""
        if more <= 0:
            yield tuple(self._word)
            return
        if more == 1:  # most words differ only in their last event, so no state is kept for it
            beginning = tuple(self._word)
            for event in self._next():
                if not since or event >= since[0]:
                    yield (*beginning, event)
            return
        for event in list(self._next()):
            if since and event < since[0]:
                continue
            gone = self._append(event)
            yield from self.words(more - 1, since[1:] if since and event == since[0] else ())
            self._remove(gone)

    def _next(self) -> Iterator[Event]:
        world = self._world
        if self._word and world.kinds[self._word[-1].kind].ends:
            return
        used = {event.kind for event in self._word}
        kinds = frozenset[int]().union(*(part for part in self._parts if used <= part))
        candidates = [event for event in world.done if event.kind in kinds and self._can(world.kinds[event.kind])]
        copies = sorted(self._under_way)
        candidates += [Event(kind, *copy) for kind in world.arrivals if kind in kinds for copy in copies]
        for event in candidates:
            if self._first(event):
                yield event

    def _can(self, kind: EventKind) -> bool:
        if kind.due and not any(self._world.kinds[event.kind].starts for event in self._word):
            return False
        return not kind.most or self._often.get(kind.name, 0) < kind.most

    def _first(self, event: Event) -> bool:
        """Is the word with this event the first of its class?"""
        who, sender, nth, streams = event.who, event.sender, event.nth, self._world.streams
        if who == ALL:
            return True
        for index in range(len(self._word) - 1, -1, -1):
            other = self._word[index]
            if other.who in (who, ALL) or (other.who == sender and (streams or self._number[index] == nth)):
                return True
            if streams and other.sender == who:
                return True
            if event < other:
                return False
        return True

    def _append(self, event: Event) -> set[Copy]:
        """Append an event. Returns the copies that were under way before."""
        before = self._under_way
        kind, everyone = self._world.kinds[event.kind], range(self._world.participants)
        left: set[Copy] = set() if kind.cuts else before
        if kind.copies:
            left = left - {(event.who, event.sender, event.nth)}
        doing = everyone if event.who == ALL else (event.who,)
        if kind.broadcasts:
            sent = {(listener, who, self._counts[who]) for who in doing for listener in everyone if listener != who}
            if self._world.streams:  # messages that were under way before arrive with it
                left = {copy for copy in left if copy[1] not in doing}
            left = left | sent
        self._under_way = left
        self._number.append(0 if event.who == ALL else self._counts[event.who])
        self._word.append(event)
        for who in doing:
            self._counts[who] += 1
        if kind.most:
            self._often[kind.name] = self._often.get(kind.name, 0) + 1
        return before

    def _remove(self, before: set[Copy]) -> None:
        event = self._word.pop()
        self._number.pop()
        self._under_way = before
        for who in range(self._world.participants) if event.who == ALL else (event.who,):
            self._counts[who] -= 1
        if self._world.kinds[event.kind].most:
            self._often[self._world.kinds[event.kind].name] -= 1
