"""Events in a small world of SDS in which the application does something odd, the clock steps, another channel is used,
or the configuration is another one.

The configurations: automatic sync messages, forty channels, a channel without a name, SDS-R switched off, or a group of
hundreds. Other events happen at the moment when a clock overflows. Each function is one kind of event, as in
`odd_events.py`.
"""

from __future__ import annotations

from functools import partial

from ..schedules.operations import Route
from ..stage import START_MS
from .events import PERIOD_MS, story
from .odd_events import DAY_MS, OTHER, PEER, Said, Story, lost
from .operations import Ephemeral, Look, Say, Send, StepClock, Sync, Tick, Wait

APPLICATION, CLOCK, CHANNEL = "application", "clock", "channel"
PERIODIC, NAMELESS, FORTY, ROUND = "periodic", "nameless", "forty", "round"
UNREPAIRED, CROWD = "unrepaired", "crowd"
SYNC_INTERVAL_MS = 60_000
CROWD_OF = 300
"""The number of participants of the group that the configuration states."""
MANY_CHANNELS = tuple(f"c-{number}" for number in range(1, 36))
"""Channels in addition to those of the world."""
_MOST_MS = 10**12
"""The longest wait in one operation, in milliseconds."""


# ---- the application -------------------------------------------------------------------------------------------------

application = partial(story, APPLICATION)


@application()
def hinted(who: str, label: str, route: Route) -> Said:
    """The application gives retrieval hints, and contents that are invalid text, equal, or spaces."""
    return (
        *(Send(who, f"{label}.{n}", hint=True) for n in range(3)),
        Say(PEER, label, after=(f"{label}.0", "ghost"), hint=True, to=who),
        *(Send(who, f"{label}.a{n}", content="the same") for n in range(2)),
        *(Send(who, f"{label}.b{n}", raw=raw) for n, raw in enumerate(("20206120", "00ff2061ff00", "00", "ff"))),
        *(Ephemeral(who, raw=raw) for raw in ("20206120", "00ff2061ff00")),
        Sync(who),
        Look(who),
    )


@application()
def busy(who: str, label: str, route: Route) -> Said:
    """A participant with timestamps ahead of its clock sends, and resends while other messages arrive."""
    return (
        Say(OTHER, f"{label}.ahead", lamport_ms=600_000, to=who),
        Send(who, f"{label}.1", times=4),
        *(Wait(20_000), Tick(who), Send(who, f"{label}.2"), Wait(11_000), Tick(who), Send(who, f"{label}.3")),
        *(Wait(20_000), Say(PEER, label, to=who), Wait(11_000), Tick(who), Sync(who), Wait(31_000), Tick(who)),
        *(Wait(61_000), Tick(who), Wait(5_000), Tick(who), Look(who)),
    )


# ---- the clock -------------------------------------------------------------------------------------------------------

clock = partial(story, CLOCK)


def _stepped(ms: int) -> Story:
    def write(who: str, label: str, route: Route) -> Said:
        """The clock steps, or a long time passes, before resends, syncs and lost dependencies become due."""
        return (
            Send(who, f"{label}.1"),
            lost(who, f"{label}.2"),
            Say(PEER, f"{label}.3", after=(f"{label}.2",), to=who),
            Say(PEER, f"{label}.4", content=None, filter=(f"{label}.1",), to=who),
            Tick(who),
            *passing(who, ms),
            *(step for _ in range(3) for step in (Tick(who), Wait(PERIOD_MS))),
            Send(who, f"{label}.5"),
            lost(who, f"{label}.6"),
            Say(PEER, f"{label}.7", after=(f"{label}.6",), to=who),
            Sync(who),
            Say(PEER, label, lamport_ms=min(ms, 10**12), to=who),
            *(step for _ in range(4) for step in (Tick(who), Wait(PERIOD_MS))),
            Tick(who),
            Look(who),
        )

    return write


def passing(who: str, ms: int) -> Said:
    """Let time pass in as few operations as possible; for a negative time, step back the clock of the participant."""
    if ms < 0:
        return (StepClock(who, ms),)
    return (*(Wait(_MOST_MS) for _ in range(ms // _MOST_MS)), Wait(ms % _MOST_MS))


for _ms in (-3_600_000, (1 << 31) + 1_000, (1 << 32) + 1_000, 12 * 365 * DAY_MS, 80 * 365 * DAY_MS):
    clock()(_stepped(_ms))


# ---- another channel -------------------------------------------------------------------------------------------------

channel = partial(story, CHANNEL)


def _story_in_similar_channel(other: int) -> Story:
    def write(who: str, label: str, route: Route) -> Said:
        """Messages are sent and received in two channels with nearly equal names."""
        return (
            Send(who, f"{label}.1"),
            Send(who, f"{label}.2", channel=other),
            Say(PEER, f"{label}.3", channel=other, lamport_ms=900_000, after=(f"{label}.1", f"{label}.2"), to=who),
            Say(PEER, f"{label}.4", channel=other, id_of=f"{label}.3", to=who),
            Say(PEER, f"{label}.5", after=(f"{label}.3",), to=who),
            Send(who, f"{label}.6"),
            Sync(who, channel=other),
            Send(who, f"{label}.7", channel=other),
            Tick(who),
            Look(who),
        )

    return write


CHANNELS = ("c1", "C1", "c1\0again", "c\u00e9", "ce\u0301")
"""Names of channels that a careless comparison treats as equal."""
for _place in range(1, len(CHANNELS)):
    channel()(_story_in_similar_channel(_place))


# ---- other settings --------------------------------------------------------------------------------------------------


@story(PERIODIC)
def periodic(who: str, label: str, route: Route) -> Said:
    """Automatic sync messages are due every minute, also after a pause of a day or of 2^31 milliseconds."""
    minutes = (SYNC_INTERVAL_MS,) * 12
    return (
        Send(who, label),
        Say(PEER, f"{label}.1", content=None, after=(label,), to=who),
        Tick(who),
        *(step for ms in minutes for step in (Wait(ms), Tick(who))),
        *(step for ms in (DAY_MS + PERIOD_MS, *minutes) for step in (Wait(ms), Tick(who))),
        *(step for ms in ((1 << 31) + PERIOD_MS, *minutes) for step in (Wait(ms), Tick(who))),
        Look(who),
    )


@story(NAMELESS)
def nameless(who: str, label: str, route: Route) -> Said:
    """Messages are sent and received in a channel whose name is empty."""
    return (
        Send(who, label),
        Say(PEER, f"{label}.1", after=(label,), to=who),
        Say(OTHER, f"{label}.2", content=None, filter=(label,), to=who),
        Sync(who),
        Wait(PERIOD_MS),
        Tick(who),
        Look(who),
    )


@story(FORTY)
def forty(who: str, label: str, route: Route) -> Said:
    """Messages are sent and received in the first and in the last of forty channels."""
    last = len(MANY_CHANNELS) + 4
    return (
        Send(who, f"{label}.1"),
        Say(PEER, f"{label}.2", channel=last, lamport_ms=60_000, to=who),
        Send(who, f"{label}.3", channel=last),
        Say(PEER, f"{label}.4", after=(f"{label}.3",), to=who),
        Look(who),
        Sync(who, channel=last),
        Sync(who),
        Tick(who),
        Look(who),
    )


@story(UNREPAIRED)
def unrepaired(who: str, label: str, route: Route) -> Said:
    """Messages with fields of SDS-R reach a participant whose configuration switches SDS-R off."""
    return (
        Say(PEER, f"{label}.1", to=who),
        Say(OTHER, f"{label}.2", after=(f"{label}.1", "ghost"), senders_named=True, asks=(f"{label}.1",), to=who),
        Send(who, f"{label}.own"),
        Wait(PERIOD_MS),
        Tick(who),
        Sync(who),
        Look(who),
    )


@story(CROWD)
def crowd(who: str, label: str, route: Route) -> Said:
    """A peer requests messages in a group of 300, in which each member responds to requests for some messages only."""
    return (
        *(Say(PEER, f"{label}.{n}", to=who) for n in range(4)),
        Say(OTHER, label, content=None, asks=tuple(f"{label}.{n}" for n in range(4)), senders_named=True, to=who),
        Look(who),
        Wait(PERIOD_MS),
        Tick(who),
        Look(who),
    )


def _goes_round(ms: int) -> Story:
    def write(who: str, label: str, route: Route) -> Said:
        """Resends and lost messages become due before and after a counter of milliseconds or of seconds overflows."""
        own, other, missing = f"{label}.1", f"{label}.2", f"{label}.3"
        return (
            *passing(who, ms - 20_000),
            Tick(who),
            Send(who, own),
            Send(who, other),
            Say(OTHER, f"{label}.4", content=None, filter=(other,), to=who),
            lost(who, missing),
            Say(PEER, f"{label}.5", after=(missing,), to=who),
            *(step for _ in range(15) for step in (Wait(10_000), Tick(who))),
            Look(who),
            Send(who, f"{label}.6"),
            Sync(who),
            Look(who),
        )

    return write


def _repairs_go_round(ms: int) -> Story:
    def write(who: str, label: str, route: Route) -> Said:
        """Repair requests and responses become due before and after a counter of (milli)seconds overflows."""
        held, missing = f"{label}.1", f"{label}.2"
        return (
            *passing(who, ms - 10_000),
            Say(PEER, held, to=who),
            lost(who, missing),
            Say(PEER, f"{label}.3", after=(missing,), senders_named=True, to=who),
            Say(OTHER, f"{label}.4", content=None, asks=(held,), senders_named=True, to=who),
            Look(who),
            *(step for _ in range(10) for step in (Wait(5_000), Tick(who), Sync(who))),
            Wait(PERIOD_MS),
            Tick(who),
            Send(who, f"{label}.own"),
            Look(who),
        )

    return write


def _rarely(ms: int) -> Story:
    def write(who: str, label: str, route: Route) -> Said:
        """Between two ticks more milliseconds pass than a counter with 31 or 32 bits can hold."""
        own, other, missing = f"{label}.1", f"{label}.2", f"{label}.3"
        return (
            Send(who, own),
            Send(who, other),
            Say(OTHER, f"{label}.4", content=None, filter=(other,), to=who),
            lost(who, missing),
            Say(PEER, f"{label}.5", after=(missing,), to=who),
            *(step for _ in range(6) for step in (Tick(who), Wait(ms + 100))),
            Tick(who),
            Look(who),
        )

    return write


for _bits in (31, 32):
    story(ROUND)(_rarely(1 << _bits))
    for _ms in (1 << _bits, (1_000 << _bits) - START_MS):
        story(ROUND)(_goes_round(_ms))
        story(ROUND, repairs=True)(_repairs_go_round(_ms))
