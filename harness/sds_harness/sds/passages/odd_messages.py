"""Passages with odd messages: fields at their limits, bytes that are not messages, copies that differ, own messages."""

from __future__ import annotations

from ..operations import Again, Garble, Look, Tick, Wait
from ..writer import Writer
from .registry import passage

NOISE = ("", "00", "0aff", "ffffffffffffffff", "0a03616263", "1203", "6a0568656c6c6f", "080110021803")
"""Bytes that are not an SDS message, as hexadecimal digits: no bytes, broken varints and lengths, a message with one
field, and fields with wrong types."""
CONTENTS = ("20206120", "00ff2061ff00", "00", "ff", "e28080c3", "68690068", "0d0a", "f09fa68a", "00ff" * 300)
"""Unusual contents of messages, as hexadecimal digits: zero bytes, invalid UTF-8, blanks and line ends."""


@passage(6, scripted=True)
def garbled(writer: Writer) -> None:
    """Bytes that are not an SDS message arrive between two messages."""
    for _ in writer.times(1, 3):
        writer.add(Garble(writer.pick_participant(), writer.pick(NOISE)))
    writer.send(writer.pick_participant())


@passage(7, scripted=True)
def odd_contents(writer: Writer) -> None:
    """Messages have contents that are invalid UTF-8, or text with unusual characters."""
    for _ in writer.times(1, 3):
        raw = writer.pick(CONTENTS)
        match writer.choices.integer(0, 4):
            case 0:
                writer.send(writer.pick_participant(), raw=raw, hint=writer.chance(50))
            case 1:
                writer.say(raw=raw)
            case 2:
                writer.ephemeral(writer.pick_participant(), raw=raw)
            case 3:
                writer.say(encoding=writer.pick(("reversed", "unknown", "overlong")))
            case _:
                writer.say(raw=raw, lamport_ms=None)


@passage(8, scripted=True)
def odd_fields(writer: Writer) -> None:
    """Messages have fields that are empty, unset, or set although no implementation would set them."""
    match writer.choices.integer(0, 7):
        case 7:
            writer.say(after=tuple(f"ghost{number}" for number in range(60)))
        case 0:
            writer.say(content="", after=tuple(writer.recent(1)))
        case 1:
            writer.say(content=None, lamport_ms=None)
        case 2:
            writer.say(lamport_ms=None, after=tuple(writer.recent(2)), filter=tuple(writer.recent(2)))
        case 3:
            writer.say(raw_filter=writer.pick(("00", "ff" * 9, "01" * 40)))
        case 4:
            writer.say(after=tuple(writer.recent(1)), hint=True, senders_named=True)
        case 5:
            writer.say(lamport_ms=writer.pick((-(10**13), 1 << 53, (1 << 53) + 1, -900_000_000_000)))
        case _:
            writer.say(filter=())
    who = writer.pick_participant()
    writer.send(who)
    writer.sync(who)


@passage(5, scripted=True)
def impostors(writer: Writer) -> None:
    """A peer sends messages that name a participant as their sender or have the ID of another message."""
    who = writer.pick_participant()
    label = writer.send(who)
    match writer.choices.integer(0, 3):
        case 0:
            writer.say(poses_as=who, to=who if writer.chance(50) else "")
        case 1:
            writer.say(id_of=label)
        case 2:
            writer.add(Again(label, who))
        case _:
            writer.say(poses_as=who, id_of=label, content=None)
    writer.send(writer.pick_participant())
    writer.add(Look(who))


@passage(4, scripted=True)
def strange_ephemerals(writer: Writer) -> None:
    """A message depends on an ephemeral message of a peer, or an ephemeral message has a history and a filter."""
    passing = writer.say(lamport_ms=None)
    if writer.chance(50):
        writer.say(after=(passing,))
    else:
        writer.say(lamport_ms=None, after=tuple(writer.mine.get(writer.pick_participant(), ())[-1:]), filter=(passing,))
    writer.add(*2 * (Wait(61_000), Tick()))


@passage(5, scripted=True)
def odd_syncs(writer: Writer) -> None:
    """A peer sends sync messages with the ID of another message, empty content, or missing dependencies."""
    if not writer.labels:
        writer.send(writer.pick_participant())
    match writer.choices.integer(0, 5):
        case 5:
            for number in range(4):
                writer.say(content="", lamport_ms=number)
        case 4:
            own = [writer.send(writer.pick_participant()), writer.send(writer.pick_participant())]
            label = writer.say(content=None, after=(own[0],))
            writer.say(content=None, id_of=label, after=(own[1],))
        case 0:
            writer.say(content=None, id_of=writer.recent(1)[0])
        case 1:
            writer.say(content="", lamport_ms=5_000)
        case 2:
            writer.say(content=None, after=("ghost-of-a-sync", *writer.recent(1)), lamport_ms=100_000)
        case _:
            label = writer.say(content=None)
            writer.say(after=(label,))
    writer.add(Wait(1))
    who = writer.pick_participant()
    writer.send(who)
    writer.sync(who)
