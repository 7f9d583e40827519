"""Passages about order: equal timestamps, chains and diamonds of dependencies, bursts, reverse arrival."""

from __future__ import annotations

from ..operations import Look, Route, StepClock, Wait
from ..writer import Writer
from .registry import passage


@passage(8)
def chatter(writer: Writer) -> None:
    """Participants send messages; some messages are lost, late or duplicated."""
    for _ in writer.times(2, 5):
        who = writer.pick_participant()
        match writer.choices.integer(0, 6):
            case 0 | 1 | 2:
                writer.send(who, writer.hazards(who), writer.channel(), hint=writer.chance(10))
            case 3:
                writer.sync(who, writer.hazards(who), writer.channel())
            case 4:
                writer.ephemeral(who, writer.hazards(who))
            case 5:
                writer.add(Wait(writer.pick((1, 100, 1_000, 30_000))))
            case _:
                writer.add(Look(who))


@passage(8)
def equal_times(writer: Writer) -> None:
    """Several participants send in the same millisecond, before they receive each other's messages."""
    speakers = writer.others()[: writer.choices.integer(2, 4)]
    turn = writer.choices.integer(0, len(speakers) - 1)
    for place, who in enumerate(speakers[turn:] + speakers[:turn]):
        delays = tuple((name, 5 + writer.choices.integer(0, 3)) for name in writer.others(who))
        writer.send(who, Route(late=delays), content="the same" if place and writer.chance(20) else None)
    writer.add(Wait(10))
    if writer.chance(50):
        writer.send(writer.pick_participant())


@passage(8)
def chain_in_reverse(writer: Writer) -> None:
    """Each message depends on the message before it; one participant receives them in reverse order, or misses some."""
    laggard = writer.pick_participant()
    speakers = writer.others(laggard) or [laggard]
    length = writer.choices.integer(2, 5)
    for place in range(length):
        missed = writer.chance(12)
        late = () if missed else ((laggard, 10 * (length - place)),)
        writer.send(speakers[place % min(2, len(speakers))], Route(late=late, lost=(laggard,) if missed else ()))
    writer.add(Wait(100))
    if writer.chance(60):
        writer.send(laggard)


@passage(7)
def diamond(writer: Writer) -> None:
    """Two participants reply to a message, and its author to both replies; someone receives the message last."""
    first, left, right = writer.pick_participant(), writer.pick_participant(), writer.pick_participant()
    late = writer.pick_participant(first)
    writer.send(first, Route(late=((late, 30),)) if late != first else Route())
    writer.send(left, Route(late=tuple((name, 5) for name in {right: 0, late: 0} if name != left)))
    writer.send(right, Route(late=tuple((name, 5) for name in {left: 0, late: 0} if name != right)))
    writer.add(Wait(6))
    writer.send(first)
    writer.add(Wait(40))


@passage(6)
def burst(writer: Writer) -> None:
    """A participant sends many messages within one millisecond."""
    who = writer.pick_participant()
    for _ in writer.times(3, 7):
        writer.send(who, writer.hazards(who, 10))
    if writer.chance(50):
        writer.add(Wait(1))
        writer.send(writer.pick_participant(who))


@passage(6)
def clock_steps(writer: Writer) -> None:
    """A clock steps forwards or backwards between two messages."""
    who = writer.pick_participant()
    writer.send(who)
    writer.add(StepClock(who, writer.pick((-1_000, 1_000, -600_000, 600_000, 3_600_000))))
    if writer.chance(50):
        writer.sync(who)
    writer.send(who)
    if writer.chance(50):
        writer.send(writer.pick_participant(who))
    if writer.chance(30):
        writer.add(StepClock(who, -3_600_000))
        writer.send(who)


@passage(6)
def long_history(writer: Writer) -> None:
    """Participants send so many messages that old messages drop out of the causal history."""
    for _ in writer.times(5, 9):
        writer.send(writer.pick_participant())
        writer.with_probability(25, Wait(1))


@passage(3)
def many_more(writer: Writer) -> None:
    """A participant sends so many messages that small bloom filters roll over."""
    who, other = writer.two()
    writer.send(who, writer.heard_only_by(who, other), times=writer.choices.integer(*writer.pick(((12, 28), (32, 80)))))
    writer.send(other)
    if writer.chance(50):
        writer.send(other, writer.heard_only_by(who, other), times=writer.choices.integer(3, 12))
        writer.sync(who)
