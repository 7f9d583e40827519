"""Events about buffered messages and repair requests, in a small world of SDS in which no missing message is declared
lost.

Each function is one kind of event, as in `odd_events.py`.
"""

from __future__ import annotations

from functools import partial

from ..schedules.operations import Route
from .events import PERIOD_MS, event
from .odd_events import DAY_MS, OTHER, PEER, Said, lost, passing
from .operations import Again, Look, Say, Send, Sync, Tick, Wait

PATIENT = "patient"

patient = partial(event, PATIENT, most=1, equals=False, starts=True, aware=True)
patient()(passing)


@patient()
def nobody(who: str, label: str, route: Route) -> Said:
    """Messages of all kinds have an empty sender ID."""
    unsigned = partial(Say, PEER, empty=("sender",), to=who)
    return (
        unsigned(f"{label}.1"),
        unsigned(f"{label}.2"),
        Say(OTHER, f"{label}.3", after=(f"{label}.1", f"{label}.2"), to=who),
        unsigned(f"{label}.4", content=None, after=(f"{label}.3",)),
        unsigned(f"{label}.5", lamport_ms=None),
        unsigned(f"{label}.6", route=Route((who,))),
        Say(OTHER, f"{label}.7", after=(f"{label}.6",), to=who),
        Again(f"{label}.6", who),
        Tick(who),
        Look(who),
        Send(who, f"{label}.own"),
        Sync(who),
        Look(who),
    )


@patient()
def a_day_late(who: str, label: str, route: Route) -> Said:
    """A missing message arrives more than a day after the message that depends on it."""
    return (
        lost(who, f"{label}.1"),
        Say(PEER, label, after=(f"{label}.1",), to=who),
        *(step for ms in (PERIOD_MS, 3_700_000, DAY_MS + 3_600_000) for step in (Tick(who), Wait(ms))),
        Tick(who),
        Look(who),
        Again(f"{label}.1", who),
        Tick(who),
        Look(who),
    )


@patient()
def in_reverse(who: str, label: str, route: Route) -> Said:
    """Each message depends only on the message before it, and the messages arrive in reverse order."""
    one, two, three = (f"{label}.{n}" for n in range(1, 4))
    return (
        lost(who, one, lamport_ms=1),
        lost(who, two, lamport_ms=2, after=(one,)),
        lost(who, three, lamport_ms=3, after=(two,)),
        *(Again(name, who) for name in (three, two, one)),
        Tick(who),
        Look(who),
    )


@patient()
def after_a_sync(who: str, label: str, route: Route) -> Said:
    """Messages depend on sync messages, one of which has a missing dependency itself."""
    one, two = f"{label}.1", f"{label}.2"
    return (
        Say(PEER, one, content=None, lamport_ms=1, to=who),
        Say(PEER, two, content=None, after=("ghost",), lamport_ms=2, to=who),
        *(Say(OTHER, f"{name}.w", after=(name,), lamport_ms=3, to=who) for name in (one, two)),
        Tick(who),
        Look(who),
    )


@patient(repairs=True)
def answered_by_others(who: str, label: str, route: Route) -> Said:
    """A peer requests a message that was buffered before its delivery, and another peer responds first."""
    first, second = f"{label}.1", f"{label}.2"
    return (
        lost(who, first),
        Say(PEER, second, after=(first,), senders_named=True, to=who),
        Again(first, who),
        Tick(who),
        Say(OTHER, f"{label}.3", content=None, asks=(second,), senders_named=True, to=who),
        Look(who),
        Again(second, who),
        Look(who),
        Wait(PERIOD_MS),
        Tick(who),
        Look(who),
    )


@patient(repairs=True)
def asked_by_a_copy(who: str, label: str, route: Route) -> Said:
    """A message that was once buffered is resent and requests one message; a sync message requests another one."""
    first, second = f"{label}.1", f"{label}.2"
    return (
        lost(who, first),
        Say(OTHER, second, after=(first,), senders_named=True, to=who),
        Again(first, who),
        Tick(who),
        *(Say(PEER, f"{label}.{n}", to=who) for n in (3, 5)),
        Say(OTHER, f"{label}.4", content=None, asks=(f"{label}.3",), senders_named=True, to=who),
        Again(second, who, asks=(f"{label}.5",)),
        Look(who),
        *(step for _ in range(4) for step in (Wait(PERIOD_MS), Tick(who))),
        Look(who),
    )


@patient(repairs=True)
def asked_in_vain(who: str, label: str, route: Route) -> Said:
    """A causal history names a message again that was requested but has not arrived."""
    missing = f"{label}.1"
    return (
        lost(who, missing),
        Say(PEER, f"{label}.2", after=(missing,), senders_named=True, to=who),
        Wait(PERIOD_MS - 1_000),
        Sync(who),
        Send(who, f"{label}.own"),
        Say(OTHER, f"{label}.3", after=(missing,), senders_named=True, to=who),
        Look(who),
        Wait(PERIOD_MS),
        Sync(who),
        Send(who, f"{label}.then"),
        Look(who),
    )
