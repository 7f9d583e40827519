"""Passages about records: many of them, with any value, edited, renamed, deleted and created again."""

from __future__ import annotations

from ..operations import Hold, Look, Put, Read, Release, StepClock
from ..writer import KEYS, Writer
from .registry import a_reader, passage

VALUES = (
    "null",
    "0",
    "-0.0",
    "12345.678e-3",
    '""',
    '"\\u0000\\ud83e\\udd8a"',
    "[]",
    "{}",
    '{"b": 1, "a": [true, false, null, {"": 0}]}',
    '{"camera": "NIKON", "taken": "2014"}',
    "[[[[[[[[1]]]]]]]]",
    "false",
)
NO_VALUES = ("", "{", "NaN", "[1,]", "'a'", "01")
"""Texts that are not JSON."""
STEPS_MS = (3_600_000, -3_600_000, 1_000, -1_000, 60_000, -60_000)


@passage(10)
def chatter(writer: Writer) -> None:
    """Some peers write, and all must receive the records."""
    for _ in writer.times(1, 4):
        writer.put(writer.writer())


@passage(8)
def by_turns(writer: Writer) -> None:
    """Several peers change one record, one after the other."""
    writer.connect_all()
    key = writer.key()
    for _ in writer.times(2, 5):
        writer.change(writer.writer(), key)


@passage(6)
def any_values(writer: Writer) -> None:
    """Peers write values of every kind under keys of every kind, and sometimes invalid JSON."""
    for _ in writer.times(2, 4):
        text = writer.pick(NO_VALUES) if writer.chance(15) else writer.pick(VALUES)
        writer.put(writer.writer(), writer.pick(KEYS), text or " ")
    writer.with_probability(40, Look())


@passage(5)
def long_values(writer: Writer) -> None:
    """A peer writes a value of 1,500 to 70,000 letters, so that the update takes several network packets."""
    size = writer.pick((1_500, 9_000, 70_000))
    writer.put(writer.writer(), text=f'"{"x" * size}"')


@passage(6)
def many_records(writer: Writer) -> None:
    """An isolated peer links to others after they have written many records."""
    newcomer = writer.pick_participant()
    writer.isolate(newcomer)
    who = writer.writer(newcomer)
    for _ in writer.times(1, 2):
        writer.put(who, times=writer.pick((5, 3, 12)))
        who = writer.writer(newcomer)
    writer.link(newcomer, writer.pick_participant(newcomer))


@passage(1, fits=lambda writer: len(writer.here) <= 3)
def a_page_of_records(writer: Writer) -> None:
    """A peer that was isolated must receive 260 new records at once, more than one byte can count."""
    newcomer = writer.pick_participant()
    who = writer.writer(newcomer)
    for name in writer.here:
        writer.isolate(name)
    writer.put(who, times=260)
    writer.link(newcomer, who)


@passage(8)
def renames(writer: Writer) -> None:
    """Records get other keys, also keys that other records have or had."""
    who = writer.writer()
    one, other = writer.new_key(), writer.key()
    writer.put(who, one)
    if writer.chance(60):
        writer.put(writer.writer(), other)
    writer.rename(writer.writer(), one, other)
    for _ in writer.times(0, 2):
        writer.change(writer.writer(), other if writer.chance(60) else one)


@passage(8)
def the_ghost(writer: Writer) -> None:
    """A record is deleted while a peer that has it is disconnected; then that peer connects ("Deleted Records")."""
    writer.connect_all()
    a, c = writer.writer(), writer.pick_participant()
    if a == c:
        c = writer.pick_participant(a)
    key = writer.new_key()
    writer.put(a, key)
    writer.isolate(c)
    writer.connect_others(c)
    writer.delete(a, key)
    if writer.chance(70):
        writer.isolate(a)
    b = writer.pick_participant(a, c)
    writer.link(c, b)
    writer.with_probability(30, Read(b))
    writer.link(a, b)


@passage(6)
def the_ghost_is_slow(writer: Writer) -> None:
    """A record arrives over a slow link after its deletion is already known."""
    writer.connect_all()
    a = writer.writer()
    b = writer.neighbour(a)
    c = writer.pick_participant(a, b)
    writer.link(b, c)
    writer.link(a, c)
    key = writer.new_key()
    writer.add(Hold(a, c))
    writer.put(a, key)
    writer.delete(a if writer.chance(70) or b not in writer.writers else b, key)
    writer.add(Release(a, c))


@passage(4, fits=a_reader)
def readers_try(writer: Writer) -> None:
    """The applications of read-only peers try to write."""
    reader = writer.pick(writer.readers)
    key = writer.key()
    writer.put(writer.writer(), key)
    for _ in writer.times(1, 2):
        writer.change(reader, key if writer.chance(60) else writer.new_key())
    writer.put(writer.writer(), key)


@passage(6)
def made_again(writer: Writer) -> None:
    """The key of a deleted record is used again, by peers that know of the deletion and by others that do not."""
    key = writer.new_key()
    one, other = writer.two_writers()
    writer.put(one, key)
    if writer.chance(60):
        writer.link(one, other)
    if writer.chance(40):
        writer.unlink(one, other)
    writer.delete(one, key)
    writer.put(other, key)
    if writer.chance(50):
        writer.change(one, key)


@passage(8)
def clocks_are_set(writer: Writer) -> None:
    """A clock is set wrong between two changes of one record."""
    writer.connect_all()
    key = writer.key()
    who = writer.writer()
    writer.put(who, key)
    other = writer.writer() if writer.chance(60) else who
    writer.add(StepClock(other, writer.pick(STEPS_MS)))
    for _ in writer.times(1, 3):
        writer.change(writer.writer() if writer.chance(40) else other, key)


@passage(4)
def looked_at_between(writer: Writer) -> None:
    """A peer without links changes a record repeatedly, and its state is shown each time."""
    who, key = writer.writer(), writer.key()
    writer.isolate(who)
    for _ in writer.times(2, 4):
        writer.put(who, key)
        writer.add(Look(who))
    writer.link(who, writer.pick_participant(who))


@passage(4)
def at_once(writer: Writer) -> None:
    """Several changes happen within one millisecond."""
    who = writer.writer()
    for _ in writer.times(2, 5):
        label, key = writer.label(), writer.key()
        writer.add(Put(who, label, key))
        if writer.chance(30):
            who = writer.writer()
