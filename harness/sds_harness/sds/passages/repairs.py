"""Passages about SDS-R: missing messages that only a repair can bring, repair requests, responses, and responses that
are no longer needed."""

from __future__ import annotations

from ..operations import Again, Look, Route, StepClock, Tick, Wait
from ..writer import Writer
from .odd_messages import CONTENTS
from .registry import passage


def step_ms(writer: Writer) -> int:
    """Choose a wait in milliseconds after which a repair request or a response may be due, such as T_min or T_max."""
    low, high = writer.t_min_ms, writer.t_max_ms
    return writer.pick((low, high, 1, max(1, high - low), max(1, (low + high) // 2), max(1, high // 4)))


def pass_time(writer: Writer, least: int, most: int) -> None:
    """Let time pass in ``least`` to ``most`` steps, or sometimes in 8 small steps, with a `tick` after each step."""
    if writer.chance(20):
        writer.add(*8 * (Wait(max(1, writer.t_max_ms // 6)), Tick()))
        return
    for _ in writer.times(least, most):
        writer.add(Wait(step_ms(writer)), Tick())


def missed(writer: Writer) -> tuple[str, str, str]:
    """Send a message that one participant misses. Returns the sender, that participant, and the label."""
    author, poor = writer.two()
    return author, poor, writer.send(author, Route(lost=(poor,) if poor != author else ()))


def speak(writer: Writer, who: str) -> None:
    """Send a message of a random kind that can carry a repair request."""
    writer.sync(who) if writer.chance(50) else writer.send(who)


@passage(10, repairs=True)
def gap(writer: Writer) -> None:
    """A participant misses a message, learns of it, requests it when the request is due, and gets a response."""
    author, poor = writer.two()
    alone = tuple(writer.sample(writer.others(author, poor), 25))
    labels = [writer.send(author, Route(lost=(poor, *alone) if poor != author else alone)) for _ in writer.times(1, 3)]
    if writer.chance(25):
        writer.crash(author)
    if not writer.here:
        return
    witness = writer.pick_participant(poor)
    writer.send(witness) if writer.chance(70) else writer.sync(witness)
    writer.with_probability(25, Look(poor))
    pass_time(writer, 1, 3)
    if writer.chance(20):
        writer.add(Again(labels[0], poor)) if poor in writer.here else None
    if poor in writer.here:
        writer.send(poor, writer.hazards(poor, 15)) if writer.chance(60) else writer.sync(poor)
    pass_time(writer, 1, 4)
    writer.with_probability(40, Look())


@passage(6, repairs=True)
def crowd_with_a_gap(writer: Writer) -> None:
    """Many participants miss the same message: the first one requests it, and the others receive the request."""
    author = writer.pick_participant()
    writer.send(author, Route(lost=tuple(writer.others(author)[1:])))
    writer.send(writer.pick_participant(author))
    for _ in writer.times(2, 4):
        writer.add(Wait(step_ms(writer)))
        who = writer.pick_participant(author)
        speak(writer, who)
        writer.add(Tick())
    pass_time(writer, 1, 2)


@passage(10, repairs=True, scripted=True)
def asked(writer: Writer) -> None:
    """A peer requests messages that participants have sent, have delivered, have buffered, or miss themselves."""
    if len(writer.labels) < 2:
        who = writer.pick_participant()
        writer.send(who, writer.hazards(who))
        writer.send(writer.pick_participant())
    if writer.chance(15):
        writer.say(raw=writer.pick(CONTENTS))
    if writer.chance(8):
        writer.say(lamport_ms=(1 << 53) + 1)
    wanted = writer.sample(writer.recent(5), 45) or writer.recent(1)
    kind = writer.choices.integer(0, 3)
    writer.say(
        lamport_ms=None if kind == 3 else 0,
        content=None if kind == 1 else "usual",
        asks=tuple(wanted),
        after=tuple(writer.sample(writer.recent(3), 30)),
        senders_named=True,
    )
    writer.with_probability(40, Look())
    if writer.chance(30):
        writer.add(Again(wanted[0], writer.pick_participant()))
    if writer.chance(30):
        writer.say(asks=tuple(wanted[:1]), content=None)
    if writer.chance(20):
        writer.send(writer.pick_participant())
    pass_time(writer, 1, 4)
    if writer.chance(40):
        # The same peer or another one requests the messages again after the response.
        writer.say(asks=tuple(wanted), senders_named=True, content=None)
        writer.with_probability(40, Look())
        pass_time(writer, 2, 4)


@passage(4, repairs=True, scripted=True)
def asked_for_many(writer: Writer) -> None:
    """A peer requests messages of several senders in successive repair requests."""
    labels = [writer.say(lamport_ms=place) for place in range(writer.choices.integer(3, 7))]
    for label in labels:
        writer.say(asks=(label,), content=None, senders_named=True)
    writer.add(Look())
    pass_time(writer, 1, 3)
    writer.add(Look())


@passage(6, repairs=True, scripted=True)
def unanswerable(writer: Writer) -> None:
    """A message depends on messages that do not exist; participants request them, also when they are named again."""
    ghosts = tuple(f"ghost{number}" for number in writer.times(1, 5))
    writer.say(after=(*ghosts, *writer.sample(writer.recent(2), 30)), senders_named=writer.chance(70))
    for _ in writer.times(2, 4):
        writer.add(Wait(step_ms(writer)))
        who = writer.pick_participant()
        writer.sync(who) if writer.chance(40) else writer.send(who)
        if ghosts and writer.chance(40):
            writer.say(after=ghosts[:1], senders_named=True, content=None if writer.chance(50) else "usual")
        if writer.chance(25):
            writer.add(StepClock(who, -writer.pick((1_000, 60_000))))
    writer.with_probability(50, Look())


@passage(20, repairs=True, fits=lambda writer: 0 < 11 * writer.sync_interval_ms <= writer.t_max_ms)
def silent_with_a_gap(writer: Writer) -> None:
    """A participant misses a message and sends nothing itself, so that its timers must send the request."""
    author, poor, _ = missed(writer)
    writer.send(author)
    noisy, interval = writer.chance(60), max(1_000, writer.sync_interval_ms)
    whole, pause = writer.t_max_ms + 11 * interval, interval * 19 // 20
    for delay in range(pause, whole, pause) if noisy else ():
        writer.sync(author, Route(lost=tuple(writer.others(author, poor)), late=((poor, delay),)))
    for _ in range(whole // (2 * interval)):
        writer.add(Wait(2 * interval), Tick(poor, writer.heard_only_by(poor)))


@passage(7, repairs=True)
def to_the_millisecond(writer: Writer) -> None:
    """A participant that misses a message sends just before, at and after each time when a request may be due."""
    author, poor, _ = missed(writer)
    if writer.chance(30):
        writer.add(StepClock(poor, writer.pick((-60_000, 60_000))))
    writer.send(author)
    writer.add(Wait(max(1, writer.t_min_ms - 1)))
    for _ in writer.times(2, 5):
        speak(writer, poor)
        writer.with_probability(40, Tick())
        writer.add(Wait(1))
    pass_time(writer, 1, 4)


@passage(5, repairs=True, scripted=True)
def gap_of_strangers(writer: Writer) -> None:
    """A participant misses up to five messages of a peer, sometimes too many for one request; some arrive later."""
    labels = [f"m{len(writer.labels) + 2 + place}" for place in range(writer.choices.integer(1, 5))]
    poor = writer.pick_participant()
    writer.say(
        after=tuple(labels),
        senders_named=True,
        lamport_ms=10,
        hint=writer.chance(30),
        to=poor if writer.chance(50) else "",
    )
    pass_time(writer, 1, 2)
    speak(writer, poor)
    for place in range(len(labels)):
        if writer.chance(60):
            writer.say(lamport_ms=place, to=poor if writer.chance(30) else "")
        else:
            writer.label("nobody")
        if writer.chance(40):
            writer.add(Wait(step_ms(writer)))
            speak(writer, poor)
    pass_time(writer, 1, 2)
    writer.sync(poor)


@passage(7, repairs=True, scripted=True)
def overheard(writer: Writer) -> None:
    """While a participant misses a message, a scripted peer or a resent message requests the missing message."""
    author, poor, label = missed(writer)
    later = writer.send(author)
    writer.add(Wait(step_ms(writer)))
    if writer.chance(50):
        writer.say(asks=(label,), content=None, to=poor if writer.chance(50) else "")
    else:
        writer.add(Again(later, poor, asks=(label,)))
    writer.add(Wait(step_ms(writer)), Tick())
    speak(writer, poor)
    pass_time(writer, 1, 3)
