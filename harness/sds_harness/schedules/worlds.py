"""Every schedule of a small world up to a bound, each of them once: what can happen is spelled with events.

A word is a sequence of events. Which words there are follows from the kinds of events alone and from no implementation:
of what is done, a copy to each other participant is under way from then on, and each of these arrives once, later, or
never. So words can be counted, numbered and shared out before anything is played, and are the same for everybody. Where
an implementation broadcasts nothing, nothing can arrive: whoever plays finds that out and leaves the word out. What one
participant broadcasts at once travels together.

A copy that never arrives is a lost one, so that a loss is no event and costs none.

**One of each kind.** Two words that differ only in the order of events which do not touch each other show every
participant the same. Events touch each other if the same participant takes part in both, or if one is the arrival of
what the other broadcast. Of all words that are alike so (a trace, as Mazurkiewicz has it) there is the one that comes
first in the order of the alphabet. It is known by this: no event in it could stand before a greater one, to the left of
it, that neither it nor anything between them touches. That holds for every beginning of such a word, too, so they are
spelled event by event, and none that is not wanted is ever begun.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise, permutations
from typing import NamedTuple

from .operations import Operation, Route

ALL = -1
"""Instead of a participant: it happens at all of them at once."""


class Event(NamedTuple):
    """One event of a word. Words are compared by these numbers."""

    kind: int
    """Index of its kind."""
    who: int
    """Index of the participant at which it happens, or ``ALL``."""
    sender: int = -1
    """Of an arrival: whose message it is,"""
    nth: int = -1
    """and that participant's how manieth event broadcast it, from 0."""


Word = tuple[Event, ...]
Write = Callable[[str, str, Route], Operation | tuple[Operation, ...]]
Known = tuple[int, int]
"""An event by the participant, and which of its events it is, from 0: the same in all words that are alike."""


@dataclass(frozen=True)
class Kind:
    """A kind of events."""

    name: str
    """As it is called in an alphabet. Several may have one name: then they are chosen, and counted, together."""
    write: Write | None = None
    """What is done: takes the participant, a label that no other event has, and what becomes of what it broadcasts.
    Several operations follow each other, with all the time that passes in them. None for an arrival."""
    copies: int = 0
    """Of an arrival: how many copies there are."""
    broadcasts: bool = False
    """What it broadcasts can arrive at others."""
    everybody: bool = False
    """All do it at once."""
    after_ms: int = 0
    """So much time passes first."""
    most: int = 0
    """So often at most in a word, with the others of its name; 0 is any number."""
    equals: bool = True
    """Participants are alike in it, whatever they are called."""
    ranked: bool = False
    """It sends what has a place in an order that IDs may decide."""
    starts: bool = False
    """From then on something may be due."""
    due: bool = False
    """It happens only where something may be due."""
    aware: bool = False
    """What it is depends on all that was before it, wherever that was."""
    ends: bool = False
    """Nothing comes after it."""


@dataclass(frozen=True)
class Part:
    """What can happen in one word."""

    names: tuple[str, ...]
    """Of kinds."""
    most: int = 0
    """In words of so many events at most; 0 is any number."""

    def without(self, name: str) -> Part:
        """All but that."""
        return Part(tuple(other for other in self.names if other != name), self.most)

    @classmethod
    def read(cls, text: str) -> Part:
        """From what it is as a string: names with commas between, and ``:8`` after them. Raises ValueError."""
        names, colon, most = text.partition(":")
        return cls(tuple(name.strip() for name in names.split(",") if name.strip()), int(most) if colon else 0)

    def __str__(self) -> str:
        return ",".join(self.names) + (f":{self.most}" if self.most else "")


@dataclass(frozen=True)
class World:
    """So many participants, and what can happen to them."""

    participants: int
    kinds: tuple[Kind, ...]
    alike: bool = True
    """Nothing depends on what participants are called, but where IDs decide an order."""
    gaps_by_name: bool = False
    """Except where somebody hears of what it did not get."""
    parts: tuple[Part, ...] = ()
    """All that is in a word has to be in one of them; none is anything."""

    def __post_init__(self) -> None:
        if any(first.copies > second.copies == 0 for first, second in pairwise(self.kinds)):
            raise ValueError("arrivals are the last kinds: words come in the order in which they are spelled")
        if any((kind.due or kind.ends) and not kind.everybody for kind in self.kinds):
            raise ValueError(
                "what waits until something is due, or is the end, happens at everybody: else its order would matter"
            )

    # ---- words -----------------------------------------------------------------------------------------------------

    def words(self, length: int, beginning: Word = (), since: Word = ()) -> Iterator[Word]:
        """All words of that length that begin so, in order; of these only ``since`` one of them, if that is given."""
        left = length - len(beginning)
        return _Speller(self, length, beginning).words(left, since[len(beginning) :])

    def count(self, length: int, most: int | None = None) -> int:
        """How many words of that length there are; with ``most`` it stops to count there."""
        return sum(1 for _ in islice(self.words(length), most))

    @cached_property
    def done(self) -> tuple[Event, ...]:
        """All that can be done, in order."""
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

    def known(self, word: Word) -> list[tuple[Known, ...]]:
        """What each event of a word is known by, for each participant that takes part in it."""
        return [places for _, places in _placed(word, self.participants)]

    def newest(self, word: Word) -> frozenset[int]:
        """The participants of whom a word shows more than any part of it: of nobody, if two things in it are the last.

        All that comes before somebody's last event is a word, too, a shorter one if anything else is the last
        elsewhere; and there that participant sees the same. So whoever judges a participant by what it sees judges it
        once, and each of them, if it judges only these.
        """
        if any(self.kinds[event.kind].aware for event in word):
            return frozenset(range(self.participants))
        last: Event | None = None
        later: set[int] = set()
        used: set[Known] = set()
        placed = list(_placed(word, self.participants))
        for event, places in reversed(placed):
            if not any(place[0] in later or place in used for place in places):
                if last is not None:
                    return frozenset()
                last = event
            later.update(who for who, _ in places)
            used.add((event.sender, event.nth))
        if last is None:
            return frozenset()
        return frozenset(range(self.participants)) if last.who == ALL else frozenset((last.who,))

    # ---- renaming --------------------------------------------------------------------------------------------------

    def names_matter(self, word: Word) -> bool:
        """Could it make a difference who is called what? So it could if two participants send without having heard of
        each other: with one timestamp, the IDs of their messages decide which comes first. And, if gaps are filled by
        names, where something comes from somebody who knew of more than whom it reaches has got."""
        if not self.alike or not all(self.kinds[event.kind].equals for event in word):
            return True
        heard: list[set[Known]] = [set() for _ in range(self.participants)]
        has: list[set[Known]] = [set() for _ in range(self.participants)]
        knew: dict[Known, frozenset[Known]] = {}
        ranked: list[Known] = []
        for event, places in _placed(word, self.participants):
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
        """Is it, of all the words that differ from it by who is called what and by nothing that depends on that, the
        first?"""
        if self.names_matter(word):
            return True
        names = permutations(range(self.participants))
        next(names)
        return all(word <= self.in_order(_renamed(word, name)) for name in names)

    def in_order(self, word: Word) -> Word:
        """The first of the words that are like one in all but the order of what does not touch each other."""
        left = list(_placed(word, self.participants))
        out: list[Event] = []
        while left:
            free = [
                (event, index)
                for index, (event, places) in enumerate(left)
                if not any(_touch(event, places, *other) for other in left[:index])
            ]
            event, index = min(free)
            out.append(event)
            del left[index]
        return tuple(out)


def _placed(word: Iterable[Event], participants: int) -> Iterator[tuple[Event, tuple[Known, ...]]]:
    """The events of a word, with what each is known by, for each participant that takes part in it."""
    counts = [0] * participants
    for event in word:
        places = []
        for who in range(participants) if event.who == ALL else (event.who,):
            places.append((who, counts[who]))
            counts[who] += 1
        yield event, tuple(places)


def _touch(event: Event, places: Sequence[Known], other: Event, others: Sequence[Known]) -> bool:
    """Does their order make a difference?"""
    together = ALL in (event.who, other.who) or event.who == other.who
    return together or (event.sender, event.nth) in others or (other.sender, other.nth) in places


def _renamed(word: Word, names: Sequence[int]) -> Word:
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
            for part in world.parts or (Part(tuple(kind.name for kind in world.kinds)),)
            if not part.most or part.most >= length
        ]
        self._word: list[Event] = []
        self._number: list[int] = []
        """Of each event, which one of its participant's it is; 0 of one of all."""
        self._counts = [0] * world.participants
        self._under_way: set[tuple[int, int, int]] = set()
        """Copies: the listener, the sender, and which event of the sender's it was."""
        self._often: dict[str, int] = {}
        for event in beginning:
            self._append(event)

    def words(self, more: int, since: Word = ()) -> Iterator[Word]:
        """All that so many more events make of it, from those ``since`` on."""
        if more <= 0:
            yield tuple(self._word)
            return
        if more == 1:  # most words are told apart by their last event: nothing is kept in order for these
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

    def _can(self, kind: Kind) -> bool:
        if kind.due and not any(self._world.kinds[event.kind].starts for event in self._word):
            return False
        return not kind.most or self._often.get(kind.name, 0) < kind.most

    def _first(self, event: Event) -> bool:
        """Is the word with it the first of those that are like it?"""
        who, sender, nth = event.who, event.sender, event.nth
        if who == ALL:
            return True
        for index in range(len(self._word) - 1, -1, -1):
            other = self._word[index]
            if other.who in (who, ALL) or (other.who == sender and self._number[index] == nth):
                return True
            if event < other:
                return False
        return True

    def _append(self, event: Event) -> set[tuple[int, int, int]]:
        """One more; the copies that were under way before."""
        before = self._under_way
        kind, everyone = self._world.kinds[event.kind], range(self._world.participants)
        if kind.copies:
            self._under_way = before - {(event.who, event.sender, event.nth)}
        doing = everyone if event.who == ALL else (event.who,)
        if kind.broadcasts:
            sent = {(listener, who, self._counts[who]) for who in doing for listener in everyone if listener != who}
            self._under_way = before | sent
        self._number.append(0 if event.who == ALL else self._counts[event.who])
        self._word.append(event)
        for who in doing:
            self._counts[who] += 1
        if kind.most:
            self._often[kind.name] = self._often.get(kind.name, 0) + 1
        return before

    def _remove(self, before: set[tuple[int, int, int]]) -> None:
        event = self._word.pop()
        self._number.pop()
        self._under_way = before
        for who in range(self._world.participants) if event.who == ALL else (event.who,):
            self._counts[who] -= 1
        if self._world.kinds[event.kind].most:
            self._often[self._world.kinds[event.kind].name] -= 1
