"""Every schedule of a small world, each once: held against an enumeration that knows no reduction."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sds_harness.schedules import Member, Route, Schedule
from sds_harness.schedules.operations import Tick, Wait
from sds_harness.schedules.unfolding import unfold
from sds_harness.schedules.worlds import ALL, Event, Kind, Word, World

Seen = tuple[tuple[Event, ...], ...]
"""What each participant takes part in, in order: the same in words that are alike, and in no others."""


def doing(who: str, label: str, route: Route) -> Tick:
    return Tick(who, route)


SEND = Kind("send", doing, broadcasts=True, ranked=True)
SYNC = Kind("sync", doing, broadcasts=True)
TIME = Kind("time", doing, broadcasts=True, everybody=True, after_ms=1_000)
ODD = (Kind("odd", doing, most=1, equals=False), Kind("odd", doing, most=1, equals=False))
ARRIVE, TWICE = Kind("arrive", copies=1), Kind("twice", copies=2)
WORLDS = {
    "two": (World(2, (SEND, SYNC, TIME, ARRIVE)), 4),
    "two, all of it": (World(2, (SEND, SYNC, TIME, *ODD, ARRIVE, TWICE)), 4),
    "three": (World(3, (SEND, TIME, ARRIVE)), 4),
    "three, two kinds": (World(3, (SEND, SYNC, ARRIVE)), 4),
    "in another order": (World(2, (TIME, SYNC, SEND, TWICE)), 4),
}
SETTING = Schedule(tuple(map(Member, ("alice", "bob", "carol"))))


def all_words(world: World, length: int) -> Iterator[Word]:
    """Every order of events that can be, whatever they are like."""

    def further(word: Word, counts: tuple[int, ...], under_way: frozenset[Event]) -> Iterator[Word]:
        if len(word) == length:
            yield word
            return
        events = [
            Event(kind, who)
            for kind, one in enumerate(world.kinds)
            if not one.copies
            for who in ([ALL] if one.everybody else range(world.participants))
        ]
        for event in events:
            one = world.kinds[event.kind]
            if one.most and sum(world.kinds[e.kind].name == one.name for e in word) >= one.most:
                continue
            them = range(world.participants) if event.who == ALL else [event.who]
            copies = {
                Event(-1, to, who, counts[who])
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
    """The same with other names."""
    out: list[tuple[Event, ...]] = [()] * len(names)
    for who, events in enumerate(seen_so):
        out[names[who]] = tuple(
            e._replace(who=e.who if e.who == ALL else names[e.who], sender=names[e.sender] if e.sender >= 0 else -1)
            for e in events
        )
    return tuple(out)


def orbit(seen_so: Seen) -> frozenset[Seen]:
    """It and all that differs from it by names alone."""
    return frozenset(renamed(seen_so, names) for names in permutations(range(len(seen_so))))


@pytest.mark.parametrize("name", WORLDS)
def test_each_trace_has_one_word(name: str) -> None:
    """As many words as there are kinds of what can be seen, and of each kind one: that which comes first."""
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
    """One of each orbit is left where names do not matter, all of it where they do."""
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


def test_arrivals_come_last_in_an_alphabet() -> None:
    with pytest.raises(ValueError, match="arrivals are the last kinds"):
        World(2, (ARRIVE, SEND))


def test_a_tie_is_never_renamed_away() -> None:
    world = World(2, (SEND, ARRIVE))
    heard = (Event(0, 0), Event(1, 1, 0, 0), Event(0, 1))
    assert not world.names_matter(heard)
    assert world.names_matter((Event(0, 0), Event(0, 1))), "neither has heard of the other: their IDs decide"
    assert World(2, (SEND, ARRIVE), alike=False).names_matter(heard), "SDS-R goes by names everywhere"
    odd = World(2, (*ODD, SEND, ARRIVE))
    assert odd.names_matter((Event(0, 1),)), "what a scripted peer says has an ID of its own"


@pytest.mark.parametrize("name", WORLDS)
def test_a_beginning_has_all_that_begins_so(name: str) -> None:
    """So that words can be shared out by how they begin, and each keeps its number."""
    world, most = WORLDS[name]
    words = list(world.words(most))
    assert [word for beginning in world.words(most - 2) for word in world.words(most, beginning)] == words
    assert world.count(most, 3) == 3


@pytest.mark.parametrize("name", WORLDS)
def test_what_is_alike_becomes_the_same_schedule(name: str) -> None:
    """Nothing of the order in which a word is spelled is left in it."""
    world, most = WORLDS[name]
    schedules: dict[Seen, Schedule] = {}
    for word in all_words(world, most - 1):
        made = unfold(world, word, SETTING).schedule
        assert schedules.setdefault(seen(world, word), made) == made
    if name == "three":  # in the others there are kinds that do the same
        assert len(set(schedules.values())) == len(schedules)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_everything_happens_in_its_order(data: st.DataObject) -> None:
    """An arrival comes after what was done before it by whom it reaches, and after the message was sent."""
    world, _ = WORLDS[data.draw(st.sampled_from(["two, all of it", "three"]))]
    word: Word = ()
    for _ in range(data.draw(st.integers(0, 9))):
        further = list(world.words(len(word) + 1, word))
        word = data.draw(st.sampled_from(further)) if further else word
    unfolded = unfold(world, word, SETTING)
    at, times = 0, []
    for operation in unfolded.schedule.operations:
        if isinstance(operation, Wait):
            assert operation.ms > 0
            at += operation.ms
            continue
        assert isinstance(operation, Tick)
        listeners = {*operation.route.lost, *(name for name, _ in operation.route.late)}
        assert not operation.route or listeners == set(unfolded.schedule.names) - {operation.who}
        assert all(ms > 0 for _, ms in operation.route.late), "nothing arrives in the millisecond it was sent in"
        times += [(name, at + ms) for name, ms in operation.route.late]
    assert len(times) == sum(bool(world.kinds[event.kind].copies) for event in word)
    assert len(set(times)) == len(times), "at one participant one thing arrives at a time"
    assert max((ms for _, ms in times), default=0) <= at
    assert unfolded.silent(()) >= {(e.sender, e.nth) for e in word if e.sender >= 0}
    assert not unfolded.silent(range(len(unfolded.schedule.operations)))
