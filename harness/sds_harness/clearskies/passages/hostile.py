"""Passages in which scripted peers say what no peer should, and what one with the keys of the club may."""

from __future__ import annotations

from ...schedules.choices import pick, some
from ..operations import Again, Ask, Garble, Leave, Look
from ..writer import LURKERS, PEERS, Writer
from .registry import a_reader, passage

FORGERIES = ("none", "forged", "flipped", "read-only")
ODD = ("nan", "twice", "surrogate", "fraction", "list", "no-clock", "no-uuid", "no-time", "negative", "deep")
REVISIONS = (1, 2, 1 << 31, (1 << 53) + 1, 1 << 63, (1 << 64) - 1, 1 << 64)
WIRES = (
    "00",
    "6d2d31",
    "6d99",
    b"m2{}".hex(),
    b"m99999999{".hex(),
    b"m2[]".hex(),
    b"s2:4{}\nAAAA\n".hex(),
    b"s2:4{}AAAA".hex(),
    b"!2{}3\nabc0\n".hex(),
    b"m16777217{".hex(),
    b'm23{"type":"core.nothing"}\n'.hex(),
    b"m007{}     ".hex(),
)


@passage(8, scripted=True)
def forgeries(writer: Writer) -> None:
    """Somebody who may only read sends changes, unsigned or signed wrongly, of its own and of others."""
    peer, to = pick(writer.choices, LURKERS), writer.someone()
    if writer.chance(70):
        writer.put(writer.writer())
    for _ in writer.times(1, 3):
        writer.say(
            peer,
            to,
            read_only=True,
            key=writer.key(),
            signature=pick(writer.choices, FORGERIES),
            after=pick(writer.choices, ["", *writer.recent(2)]),
            poses_as=writer.writer() if writer.chance(75) else "",
            deleted=writer.chance(20),
            at_ms=pick(writer.choices, (0, 3_600_000)),
        )
    writer.perhaps(40, Look(to))


@passage(8, scripted=True)
def replays(writer: Writer) -> None:
    """Somebody repeats what was said before, to those who have it and those who have not, or what was newer."""
    who, peer = writer.writer(), pick(writer.choices, LURKERS)
    # Signed copies go to those who may only read.
    writer.add(Ask(peer, who, True))
    key = writer.key()
    for _ in writer.times(1, 3):
        writer.change(who, key)
    for label in some(writer.choices, writer.recent(), 70):
        for to in some(writer.choices, writer.here, 40):
            writer.add(Again(peer, to, True, label, flipped=writer.chance(25)))


@passage(6, scripted=True)
def odd_bodies(writer: Writer) -> None:
    """A peer with the keys of those who write sends what is no record, or hardly one."""
    peer = pick(writer.choices, PEERS)
    to = writer.someone()
    for _ in writer.times(1, 3):
        writer.say(peer, to, key=writer.key(), odd=pick(writer.choices, ODD))
    if writer.chance(50):
        writer.say(peer, to, key=writer.key())


@passage(6, scripted=True)
def revisions(writer: Writer) -> None:
    """Revisions out of order, and as large as they come."""
    peer, to = pick(writer.choices, PEERS), writer.someone()
    for _ in writer.times(2, 4):
        writer.say(peer, to, key=writer.key(), revision=pick(writer.choices, REVISIONS))
    if writer.chance(25):
        writer.say(peer, to, key=writer.key(), revision=pick(writer.choices, REVISIONS), poses_as=writer.writer())
    if writer.writers:
        writer.put(writer.writer())


@passage(5, scripted=True)
def clocks_full_of_strangers(writer: Writer) -> None:
    """Vector clocks with thousands of members, and with numbers as large as they come."""
    peer, to = pick(writer.choices, PEERS), writer.someone()
    label = writer.put(writer.writer())
    writer.say(
        peer,
        to,
        key=writer.key(),
        after=label if writer.chance(50) else "",
        # Many are more work than all the rest of a schedule.
        clock_members=pick(writer.choices, (1_000, 10_000) if writer.chance(10) else (0, 10, 100)),
        clock_number=pick(writer.choices, (0, 1 << 53, 1 << 63, (1 << 64) - 1, 1 << 64)),
    )
    writer.change(writer.writer(), writer.key())


@passage(5, scripted=True)
def clocks_beyond_doubles(writer: Writer) -> None:
    """Of two changes that follow each other the numbers in the clocks are the same to whoever keeps them in doubles."""
    peer, to, key = pick(writer.choices, PEERS), writer.someone(), writer.new_key()
    number = pick(writer.choices, (1 << 53, 1 << 60))
    first = writer.say(peer, to, key=key, clock_number=number)
    writer.say(peer, to, key=key, after=first, clock_number=number + 1)
    writer.perhaps(50, Again(peer, writer.someone(), label=first))


@passage(5, scripted=True, fits=a_reader)
def unsigned_to_a_reader(writer: Writer) -> None:
    """One who may write tells one who may only read, and does not sign."""
    peer, to = pick(writer.choices, PEERS), pick(writer.choices, writer.readers)
    key = writer.key()
    label = writer.put(writer.writer(), key)
    for _ in writer.times(1, 2):
        after = label if writer.chance(50) else ""
        writer.say(peer, to, key=key if after else writer.new_key(), after=after, signature="none")
    writer.perhaps(50, Look(to))


@passage(3, scripted=True)
def a_crowd_listens(writer: Writer) -> None:
    """All strangers ask one peer, who is linked to all others as well, and then changes something."""
    who = writer.writer()
    for other in writer.others_than(who):
        writer.link(who, other)
    for peer in (*PEERS, *LURKERS):
        writer.add(Ask(peer, who, peer in LURKERS))
    for _ in writer.times(1, 2):
        writer.change(who, writer.key())
    for peer in some(writer.choices, (*PEERS, *LURKERS), 60):
        writer.add(Leave(peer, who, peer in LURKERS))


@passage(1, scripted=True, fits=lambda writer: len(writer.here) <= 3)
def a_large_body(writer: Writer) -> None:
    """A body that is nearly as large as one may be."""
    writer.say(pick(writer.choices, PEERS), writer.someone(), key=writer.new_key(), odd="large")


@passage(5, scripted=True)
def noise(writer: Writer) -> None:
    """Bytes that are no message, on a link of their own."""
    for _ in writer.times(1, 3):
        writer.add(Garble(pick(writer.choices, PEERS), writer.someone(), wire=pick(writer.choices, WIRES)))
    writer.put(writer.writer())


@passage(9, scripted=True)
def a_stranger_writes(writer: Writer) -> None:
    """A peer nobody knew changes what others wrote, with or without having heard of their last change."""
    peer, to = pick(writer.choices, PEERS), writer.someone()
    key = writer.key()
    label = writer.put(writer.writer(), key)
    for _ in writer.times(1, 3):
        label = writer.say(
            peer,
            to if writer.chance(70) else writer.someone(),
            key=key if writer.chance(70) else writer.key(),
            after=label if writer.chance(80) else "",
            concurrent=writer.chance(40),
            deleted=writer.chance(25),
            at_ms=pick(writer.choices, (0, 0, -3_600_000, 3_600_000, -50, 50)),
            digits=pick(writer.choices, (3, 0, 9)),
            # Who may write and does not sign is believed by those who may write, too.
            signature="none" if writer.chance(20) else "usual",
            odd="not-deleted" if writer.chance(15) else "",
        )
        if writer.chance(40):
            writer.change(writer.writer(), key)


@passage(7, scripted=True)
def ghosts_are_repeated(writer: Writer) -> None:
    """Somebody repeats to those who know that a record is deleted what it was before."""
    writer.connect_all()
    peer, key = pick(writer.choices, PEERS), writer.new_key()
    label = writer.put(writer.writer(), key)
    writer.delete(writer.writer(), key)
    for to in some(writer.choices, writer.writers, 60) or [writer.writer()]:
        writer.add(Again(peer, to, label=label))


@passage(7, scripted=True)
def clocks_against_times(writer: Writer) -> None:
    """A record is older by the vector clock and younger by the time, or the other way round; copies of it come late."""
    peer, to = pick(writer.choices, PEERS), writer.someone()
    key = writer.new_key()
    first = writer.say(peer, to, key=key, at_ms=pick(writer.choices, (3_600_000, 0)))
    if writer.chance(40):
        first = writer.put(writer.writer(), key)
    writer.say(
        peer,
        to,
        key=key,
        after=first,
        at_ms=pick(writer.choices, (-3_600_000, -50, -600_000)),
        deleted=writer.chance(15),
        # With the number that its first change had, the clock may be that of the other one.
        clock_number=1 if writer.chance(20) else 0,
    )
    for label in some(writer.choices, writer.recent(2), 60):
        writer.add(Again(peer, to if writer.chance(60) else writer.someone(), label=label))


@passage(4, scripted=True)
def in_one_second(writer: Writer) -> None:
    """Two change a record who know nothing of each other, within one second, and one of them writes whole seconds."""
    peer, to, key = pick(writer.choices, PEERS), writer.someone(), writer.key()
    label = writer.put(writer.writer(), key)
    writer.say(peer, to, key=key, after=label, concurrent=True, digits=0)
    writer.perhaps(40, Look(to))


@passage(6, scripted=True)
def the_newest_comes_first(writer: Writer) -> None:
    """A peer that was away hears of a change before it hears of what was changed, which is younger by its time."""
    peer, to, key = pick(writer.choices, PEERS), writer.someone(), writer.new_key()
    writer.isolate(to)
    # With the number of the first change, the clock of the second one is that of it. If they say the same, nobody has
    # anything to decide.
    equal = writer.chance(25)
    said = "the same" if equal else ""
    at_ms = pick(writer.choices, (3_600_000, 60_000))
    first = writer.say(peer, writer.someone(to), key=key, content=said, at_ms=at_ms)
    writer.say(
        peer,
        to,
        key=key,
        after=first,
        at_ms=pick(writer.choices, (0, -60_000, -3_600_000)),
        content=said,
        deleted=writer.chance(25) and not equal,
        clock_number=1 if equal else 0,
    )
    writer.add(Again(peer, to, label=first))
    writer.perhaps(60, Look(to))
    writer.link(to, writer.someone(to))


@passage(6, scripted=True)
def a_stranger_listens(writer: Writer) -> None:
    """Somebody asks for what it does not know, or says that it knows everything, and gets what comes from then on."""
    lurks = writer.chance(50)
    peer, to = pick(writer.choices, LURKERS if lurks else PEERS), writer.someone()
    writer.add(Ask(peer, to, lurks, pick(writer.choices, (0, 1, 2, 3, 1 << 63))))
    for _ in writer.times(1, 3):
        writer.change(writer.writer(), writer.key())
    if writer.chance(40):
        writer.add(Leave(peer, to, lurks))
        writer.put(writer.writer())
        writer.add(Ask(peer, to, lurks))
