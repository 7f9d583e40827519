"""Passages about sync messages that are logged, as in the proposal of 2024."""

from __future__ import annotations

from ..operations import Look, Lookup, Route, Tick, Wait
from ..writer import Writer
from .registry import passage


@passage(6, scripted=True, logged_syncs=True)
def syncs_in_reverse(writer: Writer) -> None:
    """A peer's sync message arrives before its dependency; then a message arrives that depends on the sync message."""
    peer, who = writer.pick(writer.peers), writer.pick_participant()
    first = writer.say(peer, to=who, route=Route(late=((who, 20),)))
    sync = writer.say(peer, content=None, after=(first,), lamport_ms=1, to=who)
    writer.add(Wait(writer.pick((50, 6_000))))
    writer.say(peer, after=(sync,), lamport_ms=2, to=who)
    writer.add(*3 * (Wait(6_000), Tick(who)))
    writer.with_probability(40, Look(who))


@passage(4, logged_syncs=True)
def missed_syncs(writer: Writer) -> None:
    """A participant misses a sync message on which the next messages depend; a store may have the sync message."""
    speaker, poor = writer.two()
    lost = Route(lost=(poor,) if poor != speaker else ())
    writer.send(speaker)
    writer.sync(speaker, lost)
    for _ in writer.times(1, 3):
        writer.send(speaker) if writer.chance(60) else writer.sync(speaker)
    writer.with_probability(50, Wait(31_000), Tick(poor))
    writer.with_probability(60, Lookup(poor))
    writer.send(poor)


@passage(5, logged_syncs=True, fits=lambda writer: writer.sync_interval_ms > 0)
def idle(writer: Writer) -> None:
    """A participant's message is acknowledged; then the participant sends only sync messages, which the others log."""
    who, other = writer.two()
    writer.send(who)
    writer.send(other)
    for times in (1, 1, 4, 12):
        writer.add(Wait(times * writer.sync_interval_ms + 1_000), Tick(who))
    writer.with_probability(30, Look())
