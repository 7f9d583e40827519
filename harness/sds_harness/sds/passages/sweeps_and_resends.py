"""Passages about periodic work: acknowledgements, resends, sweeps, syncs, lost messages."""

from __future__ import annotations

from ..operations import Again, Look, Route, Tick, Wait
from ..writer import Writer
from .registry import passage

BLANKS = ("20206120", "00ff2061ff00", "0a", "00", "ff")
"""Unusual contents: blanks, zero bytes, a line end, invalid UTF-8."""
PERIODS_MS = (31_000, 6_000, 61_000, 95_000, 200_000)
"""Waits in milliseconds, each a little longer than a period that a schedule may configure."""


@passage(8)
def resends(writer: Writer) -> None:
    """A message reaches few participants or none; time passes, and it is resent."""
    who = writer.pick_participant()
    writer.send(who, Route(lost=tuple(writer.sample(writer.others(who), 80))))
    for _ in writer.times(1, 4):
        writer.add(Wait(writer.pick(PERIODS_MS)))
        if writer.chance(25):
            writer.sync(writer.pick_participant(who))
        writer.add(Tick(who, writer.hazards(who, 40)))
    writer.with_probability(40, Look(who))


@passage(8)
def acknowledgements(writer: Writer) -> None:
    """Others send soon after a message, so that histories acknowledge it, or much later, so that only filters do."""
    who, other = writer.two()
    writer.send(who, writer.hazards(who, 40))
    for _ in writer.times(0, 4):
        writer.send(other, Route(lost=(who,)) if other != who else Route())
    if writer.chance(50):
        writer.sync(writer.pick_participant(who), writer.hazards(who))
    else:
        writer.send(writer.pick_participant(who))
    if writer.chance(40):
        writer.add(Wait(writer.pick(PERIODS_MS)), Tick(who))
    writer.add(Look(who))


@passage(5, scripted=True)
def possibly_for_long(writer: Writer) -> None:
    """Only a bloom filter acknowledges a message, so the message is resent, but less often."""
    who = writer.pick_participant()
    label = writer.send(who, writer.heard_only_by(who))
    writer.say(filter=(label,), to=who, content=None if writer.chance(50) else "usual")
    for _ in writer.times(3, 6):
        writer.add(Wait(writer.pick((95_000, 190_000))), Tick(who))


@passage(3, scripted=True)
def no_longer_in_a_filter(writer: Writer) -> None:
    """A filter contains a message, but a later filter does not; the longer resend period must stay in force."""
    who = writer.pick_participant()
    lost = writer.heard_only_by(who)
    label = writer.send(who, lost)
    writer.say(filter=(label,), to=who, content=None)
    for _ in range(2):
        writer.add(*8 * (Wait(writer.resend_ms + 1_000), Tick(who, lost)))
        writer.say(filter=(), to=who, content=None)


@passage(4)
def busy_sender(writer: Writer) -> None:
    """A participant sends messages at intervals shorter than its resend period, and they reach no other participant."""
    who = writer.pick_participant()
    lost = writer.heard_only_by(who)
    for _ in writer.times(5, 8):
        writer.send(who, lost)
        writer.add(Wait(writer.resend_ms * 2 // 3), Tick(who, lost))


@passage(10, fits=lambda writer: writer.sync_interval_ms > 0)
def automatic_syncs(writer: Writer) -> None:
    """No participant sends a message for many sync intervals."""
    who = writer.pick_participant()
    writer.send(who)
    for times in (1, 1, 1, 4, 8):
        writer.add(Wait(times * writer.sync_interval_ms + 1_000), Tick(who, writer.heard_only_by(who)))


@passage(6, fits=lambda writer: writer.bloom_capacity <= 30)
def roll_over(writer: Writer) -> None:
    """A participant receives several times as many messages as its filter can hold, and sends the filter in between."""
    who, speaker = writer.two()
    heard, unheard = writer.heard_only_by(speaker, who), writer.heard_only_by(who)
    for number in range(1, 7):
        writer.send(speaker, heard, times=max(1, writer.bloom_capacity * 4 // 7 - 1))
        for _ in range(4 if number > 1 else 0):
            writer.sync(who, unheard)
            writer.send(speaker, heard)
    writer.sync(who)


@passage(6)
def syncs(writer: Writer) -> None:
    """Participants send several sync messages; some of these participants have received messages, and some have not."""
    for _ in writer.times(2, 4):
        who = writer.pick_participant()
        writer.sync(who, writer.hazards(who), writer.channel())
        writer.with_probability(30, Wait(1))
    if writer.chance(60):
        writer.send(writer.pick_participant())


@passage(6)
def quiet_time(writer: Writer) -> None:
    """No participant sends, and periodic work runs several times."""
    for _ in writer.times(1, 4):
        writer.add(Wait(writer.pick(PERIODS_MS)), Tick())


@passage(6)
def ephemerals(writer: Writer) -> None:
    """Participants send ephemeral and content messages; some participants miss content messages."""
    for _ in writer.times(2, 4):
        who = writer.pick_participant()
        if writer.chance(60):
            raw = writer.pick(BLANKS) if writer.chance(30) else ""
            writer.ephemeral(who, writer.hazards(who), writer.channel(), raw=raw)
        else:
            writer.send(who, writer.hazards(who, 50))
    writer.send(writer.pick_participant())


@passage(2)
def crowded_buffer(writer: Writer) -> None:
    """So many messages depend on a lost message that an incoming buffer of fixed size would overflow."""
    who, speaker = writer.two()
    first = writer.send(speaker, writer.heard_only_by(speaker))
    writer.send(speaker, writer.heard_only_by(speaker, who), times=writer.choices.integer(62, 70))
    writer.add(Again(first, who))
    writer.add(Tick(who))


@passage(7)
def given_up(writer: Writer) -> None:
    """A message is missing for a long time; then it may arrive."""
    who, speaker = writer.two()
    first = writer.send(speaker, Route(lost=(who,)) if who != speaker else Route())
    writer.send(speaker)
    for _ in writer.times(1, 3):
        writer.add(Wait(writer.pick((31_000, 61_000, 3_700_000, 90_000_000))), Tick(who))
    writer.with_probability(60, Again(first, who))
    writer.send(speaker)
