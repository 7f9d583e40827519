"""Passages in which a scripted peer sends valid messages that a participant could send, with any Lamport timestamps."""

from __future__ import annotations

from ..operations import Look, Route, Tick, Wait
from ..writer import Writer
from .registry import passage


@passage(6, scripted=True)
def strangers_at_one_time(writer: Writer) -> None:
    """Messages of peers have equal timestamps, possibly half a second before or after the present."""
    behind = writer.pick((0, 0, -500, 500))
    for _ in writer.times(2, 4):
        writer.say(lamport_ms=behind)
    if writer.chance(60):
        writer.send(writer.pick_participant())
    writer.with_probability(40, Look())


@passage(6, scripted=True)
def strangers_in_reverse(writer: Writer) -> None:
    """Messages of a peer, each of which depends on the message before it, arrive in reverse order."""
    peer = writer.pick(writer.peers)
    length = writer.choices.integer(2, 5)
    labels = [f"m{len(writer.labels) + 1 + place}" for place in range(length)]
    delayed = writer.others()
    for place in range(length):
        route = Route(late=tuple((name, 10 * (length - place)) for name in delayed))
        after = (labels[place - 1],) if place else tuple(writer.sample(writer.recent(2), 30))
        writer.say(peer, lamport_ms=place, after=after, route=route, senders_named=writer.sds_r)
    writer.add(Wait(100))
    writer.with_probability(30, Tick())
    if writer.chance(70):
        writer.send(writer.pick_participant())


@passage(8, scripted=True)
def strangers_acknowledge(writer: Writer) -> None:
    """The causal histories and filters of a peer contain some messages of a participant but lack others."""
    who = writer.pick_participant()
    own = [writer.send(who) for _ in writer.times(1, 3)]
    for _ in writer.times(1, 3):
        count = writer.choices.integer(0, 4)
        writer.say(
            content=None if writer.chance(40) else "usual",
            filter=tuple(writer.sample(own, 60)) if count else None,
            after=tuple(writer.sample(own, 50)) if count in (0, 4) else (),
            lamport_ms=len(own) + 1,
        )
        if writer.chance(30):
            writer.add(Wait(writer.pick((31_000, 95_000))), Tick(who))
    writer.add(Look(who))


@passage(10, scripted=True, fits=lambda writer: writer.channels > 1)
def said_elsewhere(writer: Writer) -> None:
    """In one channel, a peer sends a history and a filter with messages that a participant sent in the other one."""
    who = writer.pick_participant()
    lost = writer.heard_only_by(who)
    own = [writer.send(who, lost) for _ in writer.times(1, 2)]
    elsewhere = writer.channels - 1 - writer.home
    writer.say(channel=elsewhere, after=tuple(own) if writer.chance(60) else (), filter=tuple(own), to=who)
    writer.add(Look(who), Wait(writer.resend_ms + 1_000), Tick(who, lost))


@passage(6, scripted=True)
def strangers_far_ahead(writer: Writer) -> None:
    """Peers send timestamps far ahead of or behind the clock; then participants send."""
    writer.say(lamport_ms=writer.pick((60_000, 240_000, 1_000, -3_600_000, -600_000, -900_000_000_000)))
    who = writer.pick_participant()
    writer.send(who)
    if writer.chance(40):
        writer.sync(who)
    if writer.chance(30):
        writer.add(Wait(writer.pick((61_000, 200_000))))
        writer.send(who)


@passage(5, scripted=True)
def strangers_with_a_gap(writer: Writer) -> None:
    """A message of a peer may depend on a message that never arrives; a second message depends on the first one."""
    missing = f"ghost{len(writer.labels)}"
    known = tuple(writer.sample(writer.recent(2), 50))
    writer.say(after=(*known, missing) if writer.chance(60) else known)
    content = None if writer.chance(30) else "usual"
    writer.say(after=tuple(writer.recent(1)), content=content)
    who = writer.pick_participant()
    writer.send(who)
    writer.sync(who)
