"""Passages about links that open, close, are slow, and break in the middle of a message."""

from __future__ import annotations

from ..operations import Hold, LinkPeers, Release, Unlink, Wait
from ..writer import Writer
from .registry import a_reader, passage


@passage(8)
def partition(writer: Writer) -> None:
    """The links between two groups of peers break, both groups write records, and they are linked again."""
    writer.connect_all()
    half = writer.choices.integer(1, max(1, len(writer.here) - 1))
    left, right = writer.here[:half], writer.here[half:]
    for one, other in list(writer.links):
        if (one in left) is not (other in left):
            writer.unlink(one, other)
    key = writer.key()
    for _ in writer.times(2, 4):
        who = writer.writer()
        writer.change(who, key if writer.chance(50) else writer.key())
    if right:
        writer.link(writer.pick(left), writer.pick(right))
        if writer.chance(30):
            writer.link(writer.pick(left), writer.pick(right))


@passage(6)
def changing_links(writer: Writer) -> None:
    """Links are opened and broken while peers write."""
    for _ in writer.times(2, 5):
        one = writer.pick_participant()
        other = writer.pick_participant(one)
        if writer.chance(60):
            writer.link(one, other)
        else:
            writer.unlink(one, other)
        writer.put(writer.writer())


@passage(8)
def slow_links(writer: Writer) -> None:
    """Some links are slow, so that changes arrive earlier over detours than over these links."""
    writer.connect_all()
    slow = writer.sample(writer.links, 60)
    writer.add(*(Hold(*pair) for pair in slow))
    key = writer.key()
    for _ in writer.times(2, 4):
        writer.change(writer.writer(), key if writer.chance(60) else writer.key())
    for pair in reversed(slow) if writer.chance(50) else slow:
        writer.with_probability(80, Release(*pair))
    if writer.chance(40):
        writer.put(writer.writer())
    writer.add(Release())


@passage(6)
def cut_in_a_message(writer: Writer) -> None:
    """A link breaks when a part of a message has arrived, and is opened again."""
    who = writer.writer()
    other = writer.neighbour(who)
    writer.add(Hold(who, other))
    for _ in writer.times(1, 4):
        writer.put(who)
    writer.add(Release(who, other, writer.pick((1, 5, 100, 300, 500, 700, 900))))
    writer.unlink(who, other)
    if writer.chance(50):
        writer.put(writer.writer())
    writer.link(who, other)


@passage(7)
def cut_in_an_answer(writer: Writer) -> None:
    """A link breaks while a peer that was isolated receives records; a new link must bring the missing records."""
    away = writer.pick_participant()
    writer.isolate(away)
    server = writer.pick_participant(away)
    who = server if server in writer.writers else writer.writer(away)
    for _ in writer.times(1, 3):
        writer.put(who, times=writer.pick((1, 2, 4)))
    if who != server:
        writer.link(who, server)
    writer.link(away, server, held=True)
    writer.add(Release(away, server, 1 << 20))
    writer.add(Release(server, away, writer.pick((200, 400, 650, 800, 1_100, 1_500))))
    writer.unlink(away, server)
    if writer.chance(40):
        writer.put(who)
    writer.link(away, writer.pick_participant(away) if writer.chance(30) else server)


@passage(5)
def changes_during_an_answer(writer: Writer) -> None:
    """A peer requests all records, and others write records before the answer has arrived."""
    who = writer.writer()
    other = writer.pick_participant(who)
    writer.unlink(who, other)
    for _ in writer.times(1, 3):
        writer.put(who)
    writer.link(other, who, held=True)
    writer.put(who)
    writer.add(Release(other, who, 1 << 20))
    writer.put(who)
    writer.add(Release(other, who))
    writer.put(who)


@passage(4)
def second_link(writer: Writer) -> None:
    """Two peers get a second link, and change records. Then all their links end, and a new one begins."""
    who = writer.writer()
    other = writer.neighbour(who)
    writer.add(LinkPeers(who, other, second=True))
    writer.put(who)
    if writer.chance(50):
        writer.put(other if other in writer.writers else who)
    writer.add(Unlink(who, other), LinkPeers(who, other), Wait(1_000))
    writer.put(who)


@passage(8, fits=a_reader)
def through_readers(writer: Writer) -> None:
    """After the writer is gone, its records reach others only through read-only peers."""
    who, reader = writer.writer(), writer.pick(writer.readers)
    writer.isolate(reader)
    writer.link(who, reader)
    for _ in writer.times(1, 3):
        writer.change(who, writer.key())
    if writer.chance(40):
        other = writer.writer(who)
        writer.link(other, who)
        writer.change(other, writer.key())
    writer.isolate(reader)
    for name in writer.others(reader, who):
        if writer.chance(70):
            writer.link(reader, name)
    if writer.chance(50):
        writer.put(writer.writer(who))


@passage(6, fits=lambda writer: len(writer.readers) > 1)
def readers_among_themselves(writer: Writer) -> None:
    """Read-only peers have received different records, and are linked only to each other."""
    for reader in list(writer.readers):
        writer.isolate(reader)
    key = writer.key()
    who, another = writer.two_writers()
    writer.put(who, key)
    writer.link(who, writer.readers[0])
    writer.link(another, writer.readers[1])
    if writer.chance(50):
        writer.put(another, key)
    writer.change(who, key)
    for reader in list(writer.readers):
        writer.isolate(reader)
    for one, other in zip(writer.readers, writer.readers[1:], strict=False):
        writer.link(one, other)
