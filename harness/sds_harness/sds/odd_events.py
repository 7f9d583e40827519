"""Events in which a scripted peer sends something to one participant of a small world of SDS.

`odd_uses.py` has the events of the application, the clock, other channels and other settings, and `odd_values.py` has
those with odd values and large numbers of messages. Each function is one kind of event.
Some events name messages that they do not send. These are messages of participants: ``a1`` is the first message of
alice. The labels of messages that a peer sends, including lost messages, begin with the label of the event.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ..schedules.operations import Route
from .events import PERIOD_MS, story
from .operations import Again, Ephemeral, Garble, Look, Operation, Say, Send, Sync, Tick, Wait

PEER, OTHER = "xavier", "yolanda"
ODD, TWINS, PATIENT = "odd", "twins", "patient"
OWN, NEXT = "a1", "a2"
DAY_MS = 86_400_000
Said = tuple[Operation, ...]
Story = Callable[[str, str, Route], Said]

odd = partial(story, ODD)
"""Registers an event in which a scripted peer sends an odd message, or a few odd messages that belong together."""


def lost(who: str, label: str, *, peer: str = PEER, **rest: object) -> Say:
    """A message of a peer that is lost on the network, so that causal histories can name a missing message."""
    return Say(peer, label, to=who, route=Route((who,)), **rest)  # type: ignore[arg-type]


# ---- dependencies ----------------------------------------------------------------------------------------------------


@odd()
def gap(who: str, label: str, route: Route) -> Operation:
    """A content message depends on a message that does not exist."""
    return Say(PEER, label, after=("ghost",), senders_named=True, to=who)


@odd()
def half_a_gap(who: str, label: str, route: Route) -> Said:
    """A message depends on an arrived message and on a missing one, which arrives after more than an hour."""
    first, second = f"{label}.1", f"{label}.2"
    return (
        Say(PEER, first, to=who),
        lost(who, second),
        Say(PEER, label, after=(first, second), to=who),
        Tick(who),
        Wait(3_700_000),
        Tick(who),
        Again(second, who),
        Tick(who),
        Look(who),
    )


@odd()
def chain(who: str, label: str, route: Route) -> Said:
    """Messages depend directly or indirectly on one message, which arrives last."""
    one, two, three, four, five = (f"{label}.{n}" for n in range(1, 6))
    return (
        lost(who, one),
        Say(PEER, two, after=(one,), to=who),
        Say(PEER, three, after=(two,), to=who),
        Say(OTHER, four, after=(one,), to=who),
        Say(OTHER, five, after=(one, two), to=who),
        Ephemeral(who),
        Send(who, f"{label}.own"),
        Say(PEER, f"{label}.passing", lamport_ms=None, to=who),
        Look(who),
        Again(one, who),
        Tick(who),
        Wait(PERIOD_MS),
        Tick(who),
        Look(who),
        Send(who, f"{label}.then"),
        Sync(who),
    )


@odd()
def given_up(who: str, label: str, route: Route) -> Said:
    """Two dependencies are missing: one arrives after the other was declared lost."""
    one, two = f"{label}.1", f"{label}.2"
    return (
        lost(who, one),
        lost(who, two),
        Say(PEER, f"{label}.a", after=(one,), to=who),
        Wait(46_000),
        Tick(who),
        Say(PEER, f"{label}.b", after=(two,), to=who),
        Say(PEER, f"{label}.c", after=(one, two), to=who),
        Say(PEER, f"{label}.d", content=None, after=(two,), to=who),
        Wait(50_000),
        Tick(who),
        Look(who),
        Again(two, who),
        Tick(who),
        Wait(100_000),
        Tick(who),
        Look(who),
    )


@odd()
def passing(who: str, label: str, route: Route) -> Said:
    """An ephemeral message and a sync message have the ID of a missing content message."""
    ghost = f"{label}.1"
    return (
        lost(who, ghost),
        Say(PEER, label, after=(ghost,), to=who),
        Say(PEER, f"{label}.2", lamport_ms=None, id_of=ghost, to=who),
        Say(PEER, f"{label}.3", after=(f"{label}.2",), to=who),
        Say(PEER, f"{label}.4", content=None, id_of=ghost, to=who),
        Tick(who),
        Look(who),
    )


# ---- acknowledgements ------------------------------------------------------------------------------------------------


@odd()
def tells(who: str, label: str, route: Route) -> Operation:
    """A sync message has the first message of the schedule in its filter."""
    return Say(PEER, label, content=None, filter=(OWN,), to=who)


@odd()
def names_two(who: str, label: str, route: Route) -> Operation:
    """The causal history of a message has a missing message first, then two messages of participants."""
    return Say(PEER, label, after=("ghost", OWN, NEXT), to=who)


@odd()
def tells_twice(who: str, label: str, route: Route) -> Said:
    """Filters of peers contain a message of the participant, except for one empty filter in between."""
    own, then = f"{label}.own", f"{label}.then"
    return (
        Send(who, own),
        Send(who, then),
        Say(PEER, f"{label}.1", filter=(own,), to=who),
        Tick(who),
        Look(who),
        Say(PEER, f"{label}.2", content=None, filter=(), to=who),
        Look(who),
        Wait(PERIOD_MS),
        Tick(who),
        Say(OTHER, f"{label}.3", after=("ghost",), filter=(own, then), to=who),
        Look(who),
        Wait(61_000),
        Tick(who),
        Say(OTHER, f"{label}.4", content=None, after=("ghost", own), to=who),
        Look(who),
        Wait(61_000),
        Tick(who),
        Say(PEER, f"{label}.5", content=None, filter=(own,), to=who),
        Say(OTHER, f"{label}.6", content=None, filter=(own,), to=who),
        Wait(61_000),
        Tick(who),
        Look(who),
    )


@odd()
def silence(who: str, label: str, route: Route) -> Said:
    """After a few messages, a participant receives nothing and only does its periodic work for ten days."""
    return (
        Send(who, f"{label}.own"),
        Say(PEER, f"{label}.1", content=None, filter=(f"{label}.own",), to=who),
        Send(who, f"{label}.other"),
        *(Wait(PERIOD_MS), Tick(who), Say(OTHER, label, to=who), Wait(PERIOD_MS), Tick(who), Wait(5_000), Tick(who)),
        *(Sync(who), Wait(30_000), Tick(who)),
        *(step for _ in range(24) for step in (Wait(61_000), Tick(who))),
        *(step for _ in range(10) for step in (Wait(DAY_MS), Tick(who))),
        Look(who),
    )


# ---- fields ----------------------------------------------------------------------------------------------------------


@odd()
def ahead(who: str, label: str, route: Route) -> Operation:
    """A content message has a Lamport timestamp ten minutes ahead of the clock."""
    return Say(PEER, label, lamport_ms=600_000, to=who)


def _large(lamport_ms: int) -> Story:
    def write(who: str, label: str, route: Route) -> Said:
        """Lamport timestamps are far below or above the clock, up to the maximum of 64 bits."""
        return (
            Say(PEER, f"{label}.1", lamport_ms=lamport_ms, to=who),
            Say(OTHER, f"{label}.2", lamport_ms=lamport_ms + 1, to=who),
            Say(PEER, f"{label}.3", lamport_ms=lamport_ms - 1, to=who),
            Say(PEER, f"{label}.4", content=None, lamport_ms=lamport_ms + 3, to=who),
            Say(PEER, f"{label}.5", lamport_ms=-1, to=who),
            Look(who),
            Send(who, f"{label}.own"),
            Sync(who),
            Look(who),
        )

    return write


for _lamport_ms in (-(10**13) + 1, (1 << 53) - 1_800_000_000_000, (1 << 63) - 1_800_000_000_000, (1 << 64) - 8):
    odd()(_large(_lamport_ms))


@odd()
def in_another_order(who: str, label: str, route: Route) -> Said:
    """Messages that are later in the log arrive first; some have equal timestamps, and IDs in mixed case."""
    return (
        *(Say(PEER, f"{label}.{n}", lamport_ms=n, to=who) for n in (9, 3, 12, 6)),
        *(Say(PEER, f"{label}.{n}", lamport_ms=5, to=who) for n in ("b", "C", "a", "D")),
        Look(who),
        Send(who, f"{label}.own"),
        *(Again(f"{label}.{n}", who) for n in (9, "b")),
        Look(who),
    )


@odd()
def impostor(who: str, label: str, route: Route) -> Said:
    """Messages of all kinds name their recipient as their sender."""
    return (
        Say(PEER, label, poses_as=who, lamport_ms=60_000, to=who),
        Say(PEER, f"{label}.2", content=None, poses_as=who, after=(OWN,), lamport_ms=60_000, to=who),
        Say(PEER, f"{label}.3", lamport_ms=None, poses_as=who, to=who),
        Look(who),
        Send(who, f"{label}.own"),
        Sync(who),
        Look(who),
    )


@odd()
def reflected(who: str, label: str, route: Route) -> Said:
    """The network returns an own message; then a message of a peer arrives with the same ID."""
    return (
        Send(who, f"{label}.own"),
        Again(f"{label}.own", who),
        Look(who),
        Say(PEER, label, id_of=f"{label}.own", to=who),
        Look(who),
    )


def _filtered(raw: str) -> Story:
    def write(who: str, label: str, route: Route) -> Said:
        """Filters are not in the encoding of the specification, or have another size."""
        return (
            Send(who, f"{label}.own"),
            *(Say(peer, f"{label}.{peer}", raw_filter=raw, to=who) for peer in (PEER, OTHER)),
            Say(PEER, label, content=None, raw_filter=raw, after=(f"{label}.own",), to=who),
            Look(who),
        )

    return write


for _raw in ("00", "ff" * 9, "01" * 40, "ff" * 49_000, "0a0508001000", "0801"):
    odd()(_filtered(_raw))


@odd()
def unfiltered(who: str, label: str, route: Route) -> Said:
    """Messages have no filter; some have hints, unknown fields, or their fields in reverse order."""
    return (
        Say(PEER, f"{label}.1", to=who),
        Say(PEER, f"{label}.2", after=(f"{label}.1",), hint=True, senders_named=True, to=who),
        Say(PEER, f"{label}.3", after=("ghost",), hint=True, senders_named=True, to=who),
        Say(PEER, f"{label}.4", encoding="unknown", to=who),
        Say(PEER, f"{label}.5", encoding="reversed", content=None, to=who),
        Tick(who),
        Look(who),
        Send(who, f"{label}.own"),
    )


@odd()
def equal(who: str, label: str, route: Route) -> Said:
    """Two messages have equal content; other contents are zero bytes and invalid text."""
    return (
        *(Say(PEER, f"{label}.{n}", content="the same", to=who) for n in (1, 2)),
        Say(PEER, f"{label}.3", raw="00ff2061ff00", to=who),
        Say(PEER, f"{label}.4", raw="20206120", lamport_ms=None, to=who),
        Look(who),
    )


@odd()
def hybrid(who: str, label: str, route: Route) -> Said:
    """Content without a timestamp has a history and a filter; another message has neither content nor timestamp."""
    return (
        Say(PEER, f"{label}.1", lamport_ms=None, after=(OWN, "ghost"), filter=(OWN,), to=who),
        Say(PEER, f"{label}.2", lamport_ms=None, content=None, to=who),
        Tick(who),
        Look(who),
    )


@odd()
def syncs(who: str, label: str, route: Route) -> Said:
    """Sync messages have empty content, a known ID, gaps, or timestamps ahead of the clock."""
    return (
        Say(PEER, f"{label}.0", to=who),
        Say(PEER, f"{label}.1", content="", lamport_ms=5, filter=(OWN,), to=who),
        Say(PEER, f"{label}.2", content=None, lamport_ms=7, id_of=f"{label}.0", after=(OWN,), to=who),
        Say(PEER, f"{label}.3", content=None, after=("ghost", NEXT), lamport_ms=60_000, to=who),
        Say(PEER, f"{label}.3", content=None, after=("ghost", NEXT), lamport_ms=60_000, to=who),
        Look(who),
        Wait(100_000),
        Tick(who),
        Send(who, f"{label}.own"),
        Sync(who),
        Look(who),
    )


@odd()
def noise(who: str, label: str, route: Route) -> Operation:
    """Bytes arrive that are not a message."""
    return Garble(who, "ffffffffffffffff")


@odd(repairs=True)
def asks(who: str, label: str, route: Route) -> Operation:
    """A sync message asks for the first message of the schedule."""
    return Say(PEER, label, content=None, asks=(OWN,), senders_named=True, to=who)


# ---- nearly equal IDs ------------------------------------------------------------------------------------------------

twins = partial(story, TWINS)


def _nearly(one: str, other: str) -> Story:
    def write(who: str, label: str, route: Route) -> Said:
        """IDs and names are different, but a careless comparison treats them as equal."""
        first, second = f"{label}{one}", f"{label}{other}"
        return (
            lost(who, first),
            Say(PEER, second, to=who),
            Say(PEER, f"{label}.1", after=(first,), to=who),
            Look(who),
            Again(first, who),
            Look(who),
            *(lost(who, f"{label}.{n}") for n in (2, 3)),
            Say(PEER, f"{first}.w", after=(f"{label}.2",), to=who),
            Say(PEER, f"{second}.w", after=(f"{label}.3",), to=who),
            Again(f"{label}.2", who),
            Again(f"{label}.3", who),
            Look(who),
            Say(f"{who}{one}", f"{label}.4", to=who),
            Send(who, f"{label}.own"),
            Sync(who),
            Look(who),
        )

    return write


for _one, _other in (("\0one", "\0two"), ("\u00e9", "e\u0301"), ("\ufb01", "fi"), ("x" * 50 + "1", "x" * 50 + "2")):
    twins()(_nearly(_one, _other))


# ---- buffered messages and repair requests, in a world in which no missing message is declared lost ------------------

patient = partial(story, PATIENT)
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
