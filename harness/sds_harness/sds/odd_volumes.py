"""Events with large numbers of messages in a small world of SDS. They are the last kinds of events, so that words
without them are played first.

Each function is one kind of event, as in `odd_events.py`.
"""

from __future__ import annotations

from functools import partial

from ..schedules.operations import Route
from .events import PERIOD_MS, event
from .odd_events import OTHER, PEER, Said, Story, lost
from .operations import Again, Ephemeral, Look, Say, Send, Sync, Tick, Wait

MANY = "many"
_MOST_LABELS = 950

many = partial(event, MANY, most=1, equals=False, starts=True, aware=True)


def _first_and_last(names: tuple[str, ...]) -> tuple[str, ...]:
    """All names if one message may name so many; otherwise the first and the last names, half of the maximum each."""
    half = _MOST_LABELS // 2
    return names if len(names) <= _MOST_LABELS else names[:half] + names[-half:]


def _many_own_messages(number: int) -> Story:
    def write(who: str, label: str, route: Route) -> Said:
        """A participant sends many messages at once; peers acknowledge some of them."""
        all_names = tuple(f"{label}.{n}" for n in range(1, number))
        named = _first_and_last(all_names)
        parts = [all_names[n : n + _MOST_LABELS] for n in range(0, number, _MOST_LABELS)]
        return (
            Send(who, label, times=number),
            Wait(PERIOD_MS),
            Tick(who),
            Say(PEER, f"{label}.f", content=None, filter=named, to=who),
            Look(who),
            Wait(61_000),
            Tick(who),
            *(Say(PEER, f"{label}.h{n}", after=part, to=who) for n, part in enumerate(parts)),
            Look(who),
            Sync(who),
        )

    return write


def _many_peer_messages(number: int) -> Story:
    def write(who: str, label: str, route: Route) -> Said:
        """Peers send many messages, then one that is earlier in the log, and some with missing dependencies."""
        all_names = tuple(f"{label}.{n}" for n in range(number))
        names = _first_and_last(all_names)
        return (
            *(Say(f"{PEER}-{n}" if n < 120 else PEER, name, lamport_ms=n, to=who) for n, name in enumerate(all_names)),
            Say(PEER, f"{label}.late", lamport_ms=-5, to=who),
            *(lost(who, f"{label}.lost{n}") for n in range(2)),
            Say(PEER, f"{label}.n1", after=(*names, f"{label}.lost0"), to=who),
            Say(PEER, f"{label}.n2", after=(f"{label}.lost1", *names), to=who),
            Say(OTHER, f"{label}.n3", after=names, to=who),
            Again(names[0], who),
            Look(who),
            Send(who, f"{label}.own"),
        )

    return write


def _waiting(number: int) -> Story:
    def write(who: str, label: str, route: Route) -> Said:
        """Each message of a peer depends on the message before it, and the first message arrives last."""
        names = tuple(f"{label}.{n}" for n in range(number))
        return (
            lost(who, names[0]),
            *(Say(PEER, name, after=(names[n],), to=who) for n, name in enumerate(names[1:])),
            Look(who),
            Again(names[0], who),
            Tick(who),
            Look(who),
        )

    return write


for _number in (150, 1_000):
    for _many in (_many_own_messages, _many_peer_messages, _waiting):
        many()(_many(_number))
many()(_many_peer_messages(420))


@many()
def waiting_and_naming(who: str, label: str, route: Route) -> Said:
    """A peer sends many messages; each depends on a missing message and on one of the participant's messages."""
    names = tuple(f"{label}.{n}" for n in range(1, 120))
    return (
        Send(who, label, times=len(names) + 1),
        *(Say(PEER, f"{name}.w", after=("ghost", name), to=who) for name in names),
        Look(who),
    )


@many()
def syncs_and_ephemerals(who: str, label: str, route: Route) -> Said:
    """A participant and a peer send many sync and ephemeral messages; the peer's sync messages differ in history."""
    rounds = range(120)
    own = f"{label}.own"
    return (
        Send(who, own, times=len(rounds) + 1),
        *(
            step
            for n in rounds
            for step in (Sync(who), Ephemeral(who), Say(PEER, f"{label}.e{n}", lamport_ms=None, to=who))
        ),
        *(Say(PEER, f"{label}.s{n}", content=None, after=(f"{own}.{n + 1}",), to=who) for n in rounds),
        Look(who),
    )
