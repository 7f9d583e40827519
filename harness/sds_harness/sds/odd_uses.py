"""Events in a small world of SDS in which the application does something odd, the clock steps, or another channel is
used.

Each function is one kind of event, as in `odd_events.py`.
"""

from __future__ import annotations

from functools import partial

from ..schedules.operations import Route
from .events import PERIOD_MS, event
from .odd_events import DAY_MS, OTHER, PEER, Said, Story, lost
from .operations import Ephemeral, Look, Say, Send, StepClock, Sync, Tick, Wait

APPLICATION, CLOCK, CHANNEL = "application", "clock", "channel"
_MOST_MS = 10**12
"""The longest wait in one operation, in milliseconds."""


# ---- the application -------------------------------------------------------------------------------------------------

application = partial(event, APPLICATION, most=1, starts=True, equals=False, aware=True)


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

clock = partial(event, CLOCK, most=1, equals=False, starts=True, aware=True)


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

channel = partial(event, CHANNEL, most=1, equals=False, starts=True, aware=True)


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
