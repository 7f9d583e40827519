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
prefix of such a word. So words are built event by event, and a prefix that is not the least of its class is never
continued.

**Streams.** In a world of ``streams``, messages between two participants arrive in the order in which they were sent,
and none is lost unless a link breaks. There, one arrival delivers everything that one participant has under way to
another participant, and the recipient may answer it. So each event of the sender changes the content of the arrival: an
arrival also depends on all events of its sender, whether they come before or after the arrival.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise, permutations
from typing import NamedTuple

from .operations import Operation, Route

ALL = -1
"""Used in place of the index of a participant: the event happens at all participants at once."""


class WordEvent(NamedTuple):
    """One event of a word. The order of words is the order of these tuples of numbers."""

    kind: int
    """Index of the kind of the event in ``World.kinds``."""
    who: int
    """Index of the participant at which the event happens, or ``ALL``."""
    sender: int = -1
    """For an arrival: the participant that sent the message."""
    nth: int = -1
    """For an arrival: the index of the sending event among that participant's events, from 0. In a world of streams,
    the index of the last of the sending events."""


Word = tuple[WordEvent, ...]
Write = Callable[[str, str, Route], Operation | tuple[Operation, ...]]
Known = tuple[int, int]
"""Identifies an event by a participant and the event's index among the participant's events, from 0. It is the same in
all equivalent words."""
ArrivingCopy = tuple[int, int, int]
"""A copy under way: the listener, the sender, and the index of the sender's event."""


@dataclass(frozen=True)
class EventKind:
    """A kind of event in a small world, such as sending a message, with the rules for its place in a word."""

    name: str
    """The name of the kind in an alphabet. Kinds with the same name are chosen and counted together."""
    write: Write | None = None
    """Makes the operations that play an event, from the name of the participant, a unique label for its message and the
    route of the broadcast. None for an arrival, which is played by the route of the broadcast that arrives."""
    copies: int = 0
    """For an arrival: how often the message arrives, 1 or 2. For other kinds: 0."""
    broadcasts: bool = False
    """Whether the event broadcasts a message that can arrive at other participants."""
    everybody: bool = False
    """Whether the event happens at all participants at once."""
    after_ms: int = 0
    """Milliseconds of virtual time that pass before the event."""
    most: int = 0
    """Maximum number of events with this name in a word; 0 means any number."""
    equals: bool = True
    """Whether the effect of the event stays the same when the participants are renamed."""
    ranked: bool = False
    """Whether the event sends a message that participants order by timestamp and, if timestamps are equal, by message
    ID."""
    starts: bool = False
    """Whether the event can cause work that becomes due later, such as a resend."""
    due: bool = False
    """Whether the event lets time pass until work is due, so that a word has it only after an event with ``starts``."""
    aware: bool = False
    """Whether the effect of the event can depend on earlier events at participants that do not take part in it."""
    ends: bool = False
    """Whether the event can only be the last event of a word."""
    cuts: bool = False
    """Whether all messages that are under way when the event happens are lost."""


@dataclass(frozen=True)
class AlphabetPart:
    """Names of kinds of events that may occur together in one word, and the maximum length of such words."""

    names: tuple[str, ...]
    most: int = 0
    """Maximum length of a word in events; 0 means any length."""

    def without(self, name: str) -> AlphabetPart:
        """A copy of the part that lacks ``name``."""
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
    """Whether renaming the participants has no effect, except where message IDs decide the order of two messages."""
    gaps_by_name: bool = False
    """Whether renaming also has an effect where a participant learns of a message that it has not received."""
    parts: tuple[AlphabetPart, ...] = ()
    """All events of a word must belong to one of these parts; empty means that any event may occur."""
    streams: bool = False
    """Whether an arrival delivers all messages that are on their way from one participant to another one."""

    def __post_init__(self) -> None:
        if any(first.copies > second.copies == 0 for first, second in pairwise(self.kinds)):
            raise ValueError("arrivals must be the last kinds: words are ordered by the indexes of their kinds")
        if any((kind.due or kind.ends or kind.cuts) and not kind.everybody for kind in self.kinds):
            raise ValueError(
                "an event that waits until something is due, loses messages or is the last one must happen at all "
                "participants: otherwise its order would matter"
            )

    # ---- words -----------------------------------------------------------------------------------------------------

    def words(self, length: int, beginning: Word = (), since: Word = ()) -> Iterator[Word]:
        """All words of ``length`` events that begin with ``beginning``, in order. With ``since``, only the words from
        ``since`` on."""
        left = length - len(beginning)
        return _Speller(self, length, beginning).words(left, since[len(beginning) :])

    def count(self, length: int, most: int | None = None) -> int:
        """The number of words of ``length`` events, or ``most`` if there are more."""
        return sum(1 for _ in islice(self.words(length), most))

    @cached_property
    def done(self) -> tuple[WordEvent, ...]:
        """All events that are not arrivals, in order."""
        everyone = range(self.participants)
        return tuple(
            WordEvent(index, who)
            for index, kind in enumerate(self.kinds)
            if not kind.copies
            for who in ((ALL,) if kind.everybody else everyone)
        )

    @cached_property
    def arrivals(self) -> tuple[int, ...]:
        """The indexes of the kinds whose events are arrivals."""
        return tuple(index for index, kind in enumerate(self.kinds) if kind.copies)

    def identify_events(self, word: Word) -> list[tuple[Known, ...]]:
        """The identities of each event of a word: one per participant that takes part in the event."""
        return [places for _, places in _identify_events(word, self.participants)]

    def newest(self, word: Word) -> frozenset[int]:
        """The participants that see something new in this word, which they see in no shorter word. The result is empty
        if the last events are independent.

        If independent events of other participants can be removed from the end of a word, the participant sees the same
        in the shorter word. So a caller that judges only the participants returned for each word judges each view once.
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
        """Can renaming the participants change what a conforming implementation does with this word?

        Names matter if two participants send without having received each other's message: their timestamps can be
        equal, so the message IDs, which contain names, decide the order. With ``gaps_by_name``, names also matter if a
        message arrives whose sender knew a message that the recipient has not received.

        In a world of ``streams``, names matter if two participants send at all, because a word does not say which
        messages an arrival contains.
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
        """Is this word the first of all words that differ from it only by the names of the participants? Also True if
        names matter, so that each such word is played."""
        if self.names_matter(word):
            return True
        names = permutations(range(self.participants))
        next(names)
        return all(word <= self.normal_order(_rename_participants(word, name)) for name in names)

    def normal_order(self, word: Word) -> Word:
        """The first of the words that differ from this word only in the order of independent events."""
        left = list(_identify_events(word, self.participants))
        out: list[WordEvent] = []
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

    def _touch(self, event: WordEvent, places: Sequence[Known], other: WordEvent, others: Sequence[Known]) -> bool:
        """Are two events dependent, so that their order matters?"""
        if ALL in (event.who, other.who) or event.who == other.who:
            return True
        if self.streams:
            return event.sender == other.who or other.sender == event.who
        return (event.sender, event.nth) in others or (other.sender, other.nth) in places


def _identify_events(word: Iterable[WordEvent], participants: int) -> Iterator[tuple[WordEvent, tuple[Known, ...]]]:
    """The events of a word, each with one identity per participant that takes part in the event."""
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
    """Builds the words of a world event by event: from each class of equivalent words only the first."""

    def __init__(self, world: World, length: int, beginning: Word) -> None:
        self._world = world
        self._parts = [
            frozenset(index for index, kind in enumerate(world.kinds) if kind.name in part.names)
            for part in world.parts or (AlphabetPart(tuple(kind.name for kind in world.kinds)),)
            if not part.most or part.most >= length
        ]
        self._word: list[WordEvent] = []
        self._number: list[int] = []
        """The index of each event of the current word among the events of its participant; 0 for an event at all
        participants."""
        self._counts = [0] * world.participants
        self._under_way: set[ArrivingCopy] = set()
        self._often: dict[str, int] = {}
        for event in beginning:
            self._append(event)

    def words(self, more: int, since: Word = ()) -> Iterator[Word]:
        """All words that continue the current one by ``more`` events, in order. With ``since``, earlier continuations
        are omitted."""
        if more <= 0:
            yield tuple(self._word)
            return
        if more == 1:  # faster: the last event of a word needs no update of the state
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

    def _next(self) -> Iterator[WordEvent]:
        world = self._world
        if self._word and world.kinds[self._word[-1].kind].ends:
            return
        used = {event.kind for event in self._word}
        kinds = frozenset[int]().union(*(part for part in self._parts if used <= part))
        candidates = [event for event in world.done if event.kind in kinds and self._can(world.kinds[event.kind])]
        copies = sorted(self._under_way)
        candidates += [WordEvent(kind, *copy) for kind in world.arrivals if kind in kinds for copy in copies]
        for event in candidates:
            if self._first(event):
                yield event

    def _can(self, kind: EventKind) -> bool:
        if kind.due and not any(self._world.kinds[event.kind].starts for event in self._word):
            return False
        return not kind.most or self._often.get(kind.name, 0) < kind.most

    def _first(self, event: WordEvent) -> bool:
        """Is the current word, continued by this event, the first of the equivalent words?"""
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

    def _append(self, event: WordEvent) -> set[ArrivingCopy]:
        """Append an event to the current word. Returns the copies that were under way before, for ``_remove``."""
        before = self._under_way
        kind, everyone = self._world.kinds[event.kind], range(self._world.participants)
        left: set[ArrivingCopy] = set() if kind.cuts else before
        if kind.copies:
            left = left - {(event.who, event.sender, event.nth)}
        doing = everyone if event.who == ALL else (event.who,)
        if kind.broadcasts:
            sent = {(listener, who, self._counts[who]) for who in doing for listener in everyone if listener != who}
            if self._world.streams:  # older messages arrive with the new ones, as one copy
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

    def _remove(self, before: set[ArrivingCopy]) -> None:
        event = self._word.pop()
        self._number.pop()
        self._under_way = before
        for who in range(self._world.participants) if event.who == ALL else (event.who,):
            self._counts[who] -= 1
        if self._world.kinds[event.kind].most:
            self._often[self._world.kinds[event.kind].name] -= 1
