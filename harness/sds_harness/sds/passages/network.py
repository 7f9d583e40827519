"""Passages about the network: partitions, one-way links, random losses, crashes, late joiners, duplicates."""

from __future__ import annotations

from ..operations import Again, Cut, Heal, Links, Look, Lookup, Route, Tick, Wait
from ..writer import Writer
from .registry import passage

SHORT_MS = (1, 1_000, 31_000)


@passage(6)
def partition(writer: Writer) -> None:
    """The network is partitioned into two parts, both parts continue to send, and the partition heals."""
    half = writer.choices.integer(1, max(1, len(writer.here) - 1))
    left, right = tuple(writer.here[:half]), tuple(writer.here[half:]) or (writer.here[0],)
    writer.add(Cut(left, right))
    for _ in writer.times(2, 4):
        who = writer.pick_participant()
        writer.send(who)
        if writer.chance(30):
            writer.sync(who)
    writer.add(Wait(writer.pick(SHORT_MS)), Tick(), Heal())
    for who in (writer.pick(left), writer.pick(right)):
        writer.send(who) if writer.chance(50) else writer.sync(who)
    writer.with_probability(50, Lookup())


@passage(5)
def one_way(writer: Writer) -> None:
    """Messages of one participant do not reach another participant, but messages in the other direction arrive."""
    speaker, deaf = writer.two()
    writer.add(Cut((speaker,), (deaf,), both=False))
    writer.send(speaker)
    writer.send(deaf)
    writer.send(speaker)
    writer.add(Heal())
    writer.sync(speaker)
    writer.with_probability(50, Lookup(deaf))


@passage(5)
def lossy(writer: Writer) -> None:
    """Every link loses, duplicates and delays messages at random."""
    writer.add(Links(writer.pick((30, 10, 50)), writer.pick((0, 20)), writer.pick(((0, 0), (1, 20), (0, 2_000)))))
    for _ in writer.times(2, 5):
        who = writer.pick_participant()
        writer.send(who)
        if writer.chance(30):
            writer.add(Wait(writer.pick(SHORT_MS)))
            writer.add(Tick())
        if writer.chance(25):
            writer.sync(writer.pick_participant())
    writer.add(Wait(2_000))
    writer.with_probability(70, Heal())


@passage(6)
def sender_gone(writer: Writer) -> None:
    """A participant sends a message that almost no one receives, and crashes."""
    who, witness = writer.two()
    writer.send(who, writer.heard_only_by(who, witness))
    writer.crash(who)
    if writer.here:
        writer.send(witness if witness in writer.here else writer.pick_participant())
        writer.add(Wait(writer.pick((31_000, 130_000))), Tick())
        writer.sync(writer.pick_participant())
        writer.add(Wait(writer.pick((31_000, 130_000))), Tick())


@passage(5)
def late_joiner(writer: Writer) -> None:
    """A participant joins after it has missed all earlier messages."""
    writer.send(writer.pick_participant())
    writer.join_all()
    joiner = writer.here[-1]
    if writer.chance(50):
        writer.send(joiner)
    writer.send(writer.pick_participant(joiner))
    writer.with_probability(60, Lookup(joiner))
    writer.add(Look(joiner))


@passage(6)
def copies(writer: Writer) -> None:
    """Earlier messages arrive again, at participants that have received them before or have missed them."""
    if not writer.labels:
        who = writer.pick_participant()
        writer.send(who, Route(lost=tuple(writer.sample(writer.others(who), 40))))
    for label in writer.sample(writer.recent(), 60):
        for who in writer.sample(writer.here, 40):
            writer.add(Again(label, who))
    if writer.chance(40):
        writer.send(writer.pick_participant())


@passage(6)
def from_the_store(writer: Writer) -> None:
    """A participant misses messages, learns of them, and fetches them from a store."""
    who, speaker = writer.two()
    for _ in writer.times(1, 3):
        writer.send(speaker, Route(lost=(who,) if who != speaker else ()))
    writer.send(writer.pick_participant(who), hint=writer.chance(40))
    writer.add(Lookup(who))
    if writer.chance(50):
        writer.send(who)
