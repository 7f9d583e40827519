"""Passages with messages of scripted peers: invalid ones, and valid ones that only a peer with the keys of the club can
send.
"""

from __future__ import annotations

from ..operations import Again, Ask, Garble, Leave, Look
from ..writer import LURKERS, Writer
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
    """A read-only peer sends unsigned or wrongly signed changes, often in the name of a writer."""
    peer, to = writer.pick(LURKERS), writer.pick_participant()
    if writer.chance(70):
        writer.put(writer.writer())
    for _ in writer.times(1, 3):
        writer.say(
            peer,
            to,
            read_only=True,
            key=writer.key(),
            signature=writer.pick(FORGERIES),
            after=writer.pick(["", *writer.recent(2)]),
            poses_as=writer.writer() if writer.chance(75) else "",
            deleted=writer.chance(20),
            at_ms=writer.pick((0, 3_600_000)),
        )
    writer.with_probability(40, Look(to))


@passage(8, scripted=True)
def replays(writer: Writer) -> None:
    """A peer repeats earlier messages to peers that have received these or newer messages, and to other peers."""
    who, peer = writer.writer(), writer.pick(LURKERS)
    # Participants send signed updates to a read-only peer, so signed copies of the changes exist.
    writer.add(Ask(peer, who, True))
    key = writer.key()
    for _ in writer.times(1, 3):
        writer.change(who, key)
    for label in writer.sample(writer.recent(), 70):
        for to in writer.sample(writer.here, 40):
            writer.add(Again(peer, to, True, label, flipped=writer.chance(25)))


@passage(6, scripted=True)
def odd_bodies(writer: Writer) -> None:
    """A peer with the writers' keys sends invalid or odd records."""
    peer = writer.pick(writer.peers)
    to = writer.pick_participant()
    for _ in writer.times(1, 3):
        writer.say(peer, to, key=writer.key(), odd=writer.pick(ODD))
    if writer.chance(50):
        writer.say(peer, to, key=writer.key())


@passage(6, scripted=True)
def revisions(writer: Writer) -> None:
    """A peer sends updates whose revisions are out of order, or as large as possible."""
    peer, to = writer.pick(writer.peers), writer.pick_participant()
    for _ in writer.times(2, 4):
        writer.say(peer, to, key=writer.key(), revision=writer.pick(REVISIONS))
    if writer.chance(25):
        writer.say(peer, to, key=writer.key(), revision=writer.pick(REVISIONS), poses_as=writer.writer())
    if writer.writers:
        writer.put(writer.writer())


@passage(5, scripted=True)
def clocks_full_of_strangers(writer: Writer) -> None:
    """A peer sends an update whose vector clock has many unknown peers, or a number as large as possible."""
    peer, to = writer.pick(writer.peers), writer.pick_participant()
    label = writer.put(writer.writer())
    writer.say(
        peer,
        to,
        key=writer.key(),
        after=label if writer.chance(50) else "",
        # A vector clock with more members would be more work than the rest of the schedule.
        clock_members=writer.pick((1_000, 10_000) if writer.chance(10) else (0, 10, 100)),
        clock_number=writer.pick((0, 1 << 53, 1 << 63, (1 << 64) - 1, 1 << 64)),
    )
    writer.change(writer.writer(), writer.key())


@passage(5, scripted=True)
def clocks_beyond_doubles(writer: Writer) -> None:
    """The vector clocks of two successive changes differ, but are equal when their numbers are stored as doubles."""
    peer, to, key = writer.pick(writer.peers), writer.pick_participant(), writer.new_key()
    number = writer.pick((1 << 53, 1 << 60))
    first = writer.say(peer, to, key=key, clock_number=number)
    writer.say(peer, to, key=key, after=first, clock_number=number + 1)
    writer.with_probability(50, Again(peer, writer.pick_participant(), label=first))


@passage(5, scripted=True, fits=a_reader)
def unsigned_to_a_reader(writer: Writer) -> None:
    """A writer sends updates to a read-only peer and does not sign them."""
    peer, to = writer.pick(writer.peers), writer.pick(writer.readers)
    key = writer.key()
    label = writer.put(writer.writer(), key)
    for _ in writer.times(1, 2):
        after = label if writer.chance(50) else ""
        writer.say(peer, to, key=key if after else writer.new_key(), after=after, signature="none")
    writer.with_probability(50, Look(to))


@passage(3, scripted=True)
def a_crowd_listens(writer: Writer) -> None:
    """All scripted peers request updates from a peer, which is linked to all others and changes records."""
    who = writer.writer()
    for other in writer.others(who):
        writer.link(who, other)
    for peer in (*writer.peers, *LURKERS):
        writer.add(Ask(peer, who, peer in LURKERS))
    for _ in writer.times(1, 2):
        writer.change(who, writer.key())
    for peer in writer.sample((*writer.peers, *LURKERS), 60):
        writer.add(Leave(peer, who, peer in LURKERS))


@passage(1, scripted=True, fits=lambda writer: len(writer.here) <= 3)
def a_large_body(writer: Writer) -> None:
    """A peer sends an update whose body is almost as large as the specification allows."""
    writer.say(writer.pick(writer.peers), writer.pick_participant(), key=writer.new_key(), odd="large")


@passage(5, scripted=True)
def noise(writer: Writer) -> None:
    """Bytes that are not a message arrive on a separate link."""
    for _ in writer.times(1, 3):
        writer.add(Garble(writer.pick(writer.peers), writer.pick_participant(), wire=writer.pick(WIRES)))
    writer.put(writer.writer())


@passage(9, scripted=True)
def a_stranger_writes(writer: Writer) -> None:
    """An unknown peer changes records of others, with or without having received their last change."""
    peer, to = writer.pick(writer.peers), writer.pick_participant()
    key = writer.key()
    label = writer.put(writer.writer(), key)
    for _ in writer.times(1, 3):
        label = writer.say(
            peer,
            to if writer.chance(70) else writer.pick_participant(),
            key=key if writer.chance(70) else writer.key(),
            after=label if writer.chance(80) else "",
            concurrent=writer.chance(40),
            deleted=writer.chance(25),
            at_ms=writer.pick((0, 0, -3_600_000, 3_600_000, -50, 50)),
            digits=writer.pick((3, 0, 9)),
            # Peers that may write also accept unsigned updates of other writers.
            signature="none" if writer.chance(20) else "usual",
            odd="not-deleted" if writer.chance(15) else "",
        )
        if writer.chance(40):
            writer.change(writer.writer(), key)


@passage(7, scripted=True)
def ghosts_are_repeated(writer: Writer) -> None:
    """A peer sends the old version of a deleted record to peers that know of the deletion."""
    writer.connect_all()
    peer, key = writer.pick(writer.peers), writer.new_key()
    label = writer.put(writer.writer(), key)
    writer.delete(writer.writer(), key)
    for to in writer.sample(writer.writers, 60) or [writer.writer()]:
        writer.add(Again(peer, to, label=label))


@passage(7, scripted=True)
def clocks_against_times(writer: Writer) -> None:
    """A change is newer by its vector clock, but has an earlier time than the version that it replaces."""
    peer, to = writer.pick(writer.peers), writer.pick_participant()
    key = writer.new_key()
    first = writer.say(peer, to, key=key, at_ms=writer.pick((3_600_000, 0)))
    if writer.chance(40):
        first = writer.put(writer.writer(), key)
    writer.say(
        peer,
        to,
        key=key,
        after=first,
        at_ms=writer.pick((-3_600_000, -50, -600_000)),
        deleted=writer.chance(15),
        # With 1, the number of the peer's first change, the vector clock may be the same as in the version before.
        clock_number=1 if writer.chance(20) else 0,
    )
    for label in writer.sample(writer.recent(2), 60):
        writer.add(Again(peer, to if writer.chance(60) else writer.pick_participant(), label=label))


@passage(4, scripted=True)
def in_one_second(writer: Writer) -> None:
    """Two peers change a record independently in one second; one change has a time without fractions of a second."""
    peer, to, key = writer.pick(writer.peers), writer.pick_participant(), writer.key()
    label = writer.put(writer.writer(), key)
    writer.say(peer, to, key=key, after=label, concurrent=True, digits=0)
    writer.with_probability(40, Look(to))


@passage(6, scripted=True)
def the_newest_comes_first(writer: Writer) -> None:
    """An isolated peer receives a change, and then the version that the change replaced, which has a later time."""
    peer, to, key = writer.pick(writer.peers), writer.pick_participant(), writer.new_key()
    writer.isolate(to)
    # With the clock number 1, both changes have the same vector clock. If they also have the same content, there is no
    # conflict to resolve.
    equal = writer.chance(25)
    text = "the same" if equal else ""
    at_ms = writer.pick((3_600_000, 60_000))
    first = writer.say(peer, writer.pick_participant(to), key=key, content=text, at_ms=at_ms)
    writer.say(
        peer,
        to,
        key=key,
        after=first,
        at_ms=writer.pick((0, -60_000, -3_600_000)),
        content=text,
        deleted=writer.chance(25) and not equal,
        clock_number=1 if equal else 0,
    )
    writer.add(Again(peer, to, label=first))
    writer.with_probability(60, Look(to))
    writer.link(to, writer.pick_participant(to))


@passage(6, scripted=True)
def a_stranger_listens(writer: Writer) -> None:
    """A peer requests all updates, or claims to know some or all of them; then others change records."""
    lurks = writer.chance(50)
    peer, to = writer.pick(LURKERS if lurks else writer.peers), writer.pick_participant()
    writer.add(Ask(peer, to, lurks, writer.pick((0, 1, 2, 3, 1 << 63))))
    for _ in writer.times(1, 3):
        writer.change(writer.writer(), writer.key())
    if writer.chance(40):
        writer.add(Leave(peer, to, lurks))
        writer.put(writer.writer())
        writer.add(Ask(peer, to, lurks))
