"""A small world has each schedule exactly once, as an enumeration without reduction shows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import pytest

from sds_harness.schedules import Route
from sds_harness.schedules.operations import Tick
from sds_harness.schedules.worlds import ALL, AlphabetPart, EventKind, Word, WordEvent, World

Seen = tuple[tuple[WordEvent, ...], ...]
"""The events of each participant, in order: equal for equivalent words, and for no others."""


def doing(who: str, label: str, route: Route) -> Tick:
    return Tick(who, route)


SEND = EventKind("send", doing, broadcasts=True, ranked=True, starts=True)
SYNC = EventKind("sync", doing, broadcasts=True)
TIME = EventKind("time", doing, broadcasts=True, everybody=True, after_ms=1_000, due=True)
ODD = (
    EventKind("odd", doing, most=1, equals=False, aware=True),
    EventKind("odd", doing, most=1, equals=False, starts=True),
)
ARRIVE, TWICE = EventKind("arrive", copies=1), EventKind("twice", copies=2)
WORLDS = {
    "two": (World(2, (SEND, SYNC, TIME, ARRIVE)), 4),
    "two, all of it": (World(2, (SEND, SYNC, TIME, *ODD, ARRIVE, TWICE)), 4),
    "three": (World(3, (SEND, TIME, ARRIVE)), 4),
    "three, two kinds": (World(3, (SEND, SYNC, ARRIVE)), 4),
    "three, gaps": (World(3, (SEND, SYNC, ARRIVE), gaps_by_name=True), 4),
    "in parts": (
        World(
            2,
            (SEND, SYNC, TIME, *ODD, ARRIVE),
            parts=(
                AlphabetPart(("send", "sync", "arrive")),
                AlphabetPart(("send", "time", "arrive")),
                AlphabetPart(("send", "odd"), 3),
            ),
        ),
        4,
    ),
    "in another order": (World(2, (TIME, SYNC, SEND, TWICE)), 4),
}
STREAM = EventKind("arrive", copies=1, broadcasts=True)
CUT = EventKind("cut", doing, broadcasts=True, everybody=True, cuts=True)
STREAMS = {
    "two": (World(2, (SEND, CUT, STREAM), streams=True), 5),
    "two, two kinds": (World(2, (SEND, SYNC, TIME, STREAM), streams=True), 4),
    "three": (World(3, (SEND, CUT, STREAM), streams=True), 4),
}


def all_words(world: World, length: int) -> Iterator[Word]:
    """All possible orders of events, without reduction."""

    def further(word: Word, counts: tuple[int, ...], under_way: frozenset[WordEvent]) -> Iterator[Word]:
        if len(word) == length:
            names = {world.kinds[event.kind].name for event in word}
            parts = [part for part in world.parts if not part.most or length <= part.most]
            if not world.parts or any(names <= set(part.names) for part in parts):
                yield word
            return
        events = [
            WordEvent(kind, who)
            for kind, one in enumerate(world.kinds)
            if not one.copies
            for who in ([ALL] if one.everybody else range(world.participants))
        ]
        for event in events:
            one = world.kinds[event.kind]
            if one.most and sum(world.kinds[e.kind].name == one.name for e in word) >= one.most:
                continue
            if one.due and not any(world.kinds[e.kind].starts for e in word):
                continue
            them = range(world.participants) if event.who == ALL else [event.who]
            copies = {
                WordEvent(-1, to, who, counts[who])
                for who in them
                for to in range(world.participants)
                if to != who and one.broadcasts
            }
            after = tuple(n + (who in them) for who, n in enumerate(counts))
            yield from further((*word, event), after, under_way | copies)
        for copy in under_way:
            for kind, one in enumerate(world.kinds):
                if one.copies:
                    after = tuple(n + (who == copy.who) for who, n in enumerate(counts))
                    yield from further((*word, copy._replace(kind=kind)), after, under_way - {copy})

    return further((), (0,) * world.participants, frozenset())


def seen(world: World, word: Word) -> Seen:
    return tuple(tuple(e for e in word if e.who in (ALL, who)) for who in range(world.participants))


def renamed(seen_so: Seen, names: tuple[int, ...]) -> Seen:
    """The word with renamed participants."""
    out: list[tuple[WordEvent, ...]] = [()] * len(names)
    for who, events in enumerate(seen_so):
        out[names[who]] = tuple(
            e._replace(who=e.who if e.who == ALL else names[e.who], sender=names[e.sender] if e.sender >= 0 else -1)
            for e in events
        )
    return tuple(out)


def orbit(seen_so: Seen) -> frozenset[Seen]:
    """The word and all words that differ from it only by names."""
    return frozenset(renamed(seen_so, names) for names in permutations(range(len(seen_so))))


@pytest.mark.parametrize("name", WORLDS)
def test_each_trace_has_one_word(name: str) -> None:
    """There is exactly one word for each distinct trace: the first one in order."""
    world, most = WORLDS[name]
    for length in range(most + 1):
        everything: dict[Seen, Word] = {}
        for word in all_words(world, length):
            alike = seen(world, word)
            everything[alike] = min(word, everything.get(alike, word))
        words = list(world.words(length))
        assert words == sorted(everything.values())
        assert world.count(length) == len(words) == len(everything)


@pytest.mark.parametrize("name", WORLDS)
def test_names_are_changed_where_they_cannot_matter(name: str) -> None:
    """One word of each orbit is kept if names do not matter. If they matter, all words are kept."""
    world, most = WORLDS[name]
    for length in range(most + 1):
        words = list(world.words(length))
        matter = [word for word in words if world.names_matter(word)]
        left = [word for word in words if not world.names_matter(word)]
        chosen = [word for word in left if world.first_of_its_names(word)]
        assert not {orbit(seen(world, word)) for word in matter} & {orbit(seen(world, word)) for word in left}
        assert {orbit(seen(world, word)) for word in chosen} == {orbit(seen(world, word)) for word in left}
        assert len({orbit(seen(world, word)) for word in chosen}) == len(chosen)
        assert {seen(world, w) for w in left} == {alike for w in chosen for alike in orbit(seen(world, w))}


def all_stream_words(world: World, length: int) -> Iterator[Word]:
    """Every order of events on streams."""

    def further(word: Word, counts: tuple[int, ...], under_way: frozenset[tuple[int, int]]) -> Iterator[Word]:
        if len(word) == length:
            yield word
            return
        everyone = range(world.participants)
        for kind, one in enumerate(world.kinds):
            if one.due and not any(world.kinds[e.kind].starts for e in word):
                continue
            if one.copies:
                events = [WordEvent(kind, to, sender, counts[sender] - 1) for to, sender in under_way]
            else:
                events = [WordEvent(kind, who) for who in ([ALL] if one.everybody else everyone)]
            for event in events:
                those = everyone if event.who == ALL else [event.who]
                left = frozenset() if one.cuts else under_way - {(event.who, event.sender)}
                sent = {(to, who) for who in those for to in everyone if to != who and one.broadcasts}
                after = tuple(n + (who in those) for who, n in enumerate(counts))
                yield from further((*word, event), after, left | sent)

    return further((), (0,) * world.participants, frozenset())


def read(world: World, word: Word) -> tuple[object, ...]:
    """For each two participants, the events of the first one and the arrivals from it at the second one, in order.

    The results are equal for equivalent words and for no others.
    """

    def concerns(event: WordEvent, who: int, reader: int) -> bool:
        return event.who in (ALL, who) or (event.who, event.sender) == (reader, who)

    pairs = permutations(range(world.participants), 2)
    return tuple(tuple(event for event in word if concerns(event, *pair)) for pair in pairs)


@pytest.mark.parametrize("name", STREAMS)
def test_each_trace_of_streams_has_one_word(name: str) -> None:
    """An arrival delivers all messages in transit, so it depends on all events of its sender."""
    world, most = STREAMS[name]
    for length in range(most + 1):
        everything: dict[tuple[object, ...], Word] = {}
        for word in all_stream_words(world, length):
            alike = read(world, word)
            everything[alike] = min(word, everything.get(alike, word))
        words = list(world.words(length))
        assert words == sorted(everything.values())
        assert all(world.normal_order(word) == word for word in words)
