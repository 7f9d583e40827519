"""Events with empty fields, very long fields, IDs given by the application, or large numbers of messages, in a small
world of SDS.

Each function is one kind of event, as in `odd_events.py`. The events with large numbers are the last kinds of events,
so that words without them are played first.
"""

from __future__ import annotations

from functools import partial

from ..schedules.group_trace import NEVER
from ..schedules.operations import Route
from ..stage import START_MS
from .events import PERIOD_MS, story
from .odd_events import OTHER, PEER, Said, Story, lost
from .operations import Again, Ephemeral, Look, Say, Send, Sync, Tick, Wait

VALUES, MANY = "values", "many"
_LONG = 1_010
"""The number of equal characters at the start of two long IDs."""
_MOST_LABELS = 950

values = partial(story, VALUES)


@values()
def unfilled(who: str, label: str, route: Route) -> Said:
    """Messages of all kinds have an empty filter."""
    own = f"{label}.own"
    return (
        Send(who, own),
        *(Say(peer, f"{label}.1{peer}", empty=("filter",), to=who) for peer in (PEER, OTHER)),
        Say(PEER, f"{label}.2", content=None, after=("ghost",), empty=("filter",), to=who),
        Look(who),
        Say(OTHER, label, content=None, after=(own,), empty=("filter",), to=who),
        Look(who),
    )


@values()
def hinted_with_nothing(who: str, label: str, route: Route) -> Said:
    """Retrieval hints of missing messages, of acknowledged messages, and of some own messages are empty."""
    own, missing = f"{label}.own", f"{label}.1"
    return (
        Send(who, own, hint=True),
        Send(who, f"{label}.other", hint=True, empty=("hint",)),
        lost(who, missing),
        Say(PEER, f"{label}.2", after=(missing,), hint=True, empty=("hints",), to=who),
        Look(who),
        Say(OTHER, f"{label}.3", after=(own,), hint=True, empty=("hints",), to=who),
        Tick(who),
        Again(missing, who),
        Look(who),
        *(Send(who, f"{label}.4{n}", hint=True, empty=("hint",) if n else ()) for n in range(3)),
        Sync(who),
        Look(who),
    )


@values()
def empty_content(who: str, label: str, route: Route) -> Said:
    """The application sends empty content."""
    return (
        Send(who, label, empty=("content",)),
        Look(who),
        Send(who, f"{label}.own"),
        Wait(PERIOD_MS),
        Tick(who),
        Sync(who),
        Look(who),
    )


@values()
def long_ids(who: str, label: str, route: Route) -> Said:
    """Message IDs of more than a thousand characters differ only in the last character."""
    first, second = (f"{label}-{'x' * _LONG}{n}" for n in range(2))
    return (
        lost(who, f"{label}.1", message_id=first),
        Say(PEER, f"{label}.2", message_id=second, to=who),
        Say(OTHER, f"{label}.3", after=(f"{label}.1",), to=who),
        Look(who),
        Again(f"{label}.1", who),
        Send(who, f"{label}.own"),
        Look(who),
    )


@values()
def awaited(who: str, label: str, route: Route) -> Said:
    """The application sends a message with the ID of a missing dependency of a buffered message."""
    return (
        Say(PEER, f"{label}.1", after=(f"{label}.own",), to=who),
        Tick(who),
        Send(who, f"{label}.own", message_id=f"{NEVER}{label}.own"),
        Tick(who),
        Look(who),
    )


def _at_the_end(bits: int) -> Story:
    def write(who: str, label: str, route: Route) -> Said:
        """A peer's timestamp is just below 2^63 or 2^64, and the timestamps of own messages rise to that limit."""
        return (
            Say(PEER, f"{label}.1", lamport_ms=(1 << bits) - 4 - START_MS, to=who),
            *(Send(who, f"{label}.{n}") for n in range(2, 8)),
            Sync(who),
            Look(who),
        )

    return write


for _bits in (63, 64):
    values()(_at_the_end(_bits))


@values()
def in_its_name(who: str, label: str, route: Route) -> Said:
    """A peer's messages have the sender ID of the participant; history and filter name a message of the participant."""
    own = f"{label}.own"
    posing = partial(Say, PEER, after=(own,), filter=(own,), poses_as=who, to=who)
    return (
        Send(who, own),
        posing(f"{label}.1", content=None),
        posing(f"{label}.2"),
        Look(who),
        Send(who, f"{label}.then"),
        Sync(who),
        Look(who),
    )


def _given(one: str, other: str) -> Story:
    def write(who: str, label: str, route: Route) -> Said:
        """The application sends pairs of messages with nearly equal IDs; peers acknowledge one message of each pair."""
        first, second = f"{label}.1", f"{label}.2"
        return (
            Send(who, first, message_id=f"{who}-{label}{one}"),
            Send(who, second, message_id=f"{who}-{label}{other}"),
            Sync(who),
            *(Say(peer, f"{label}.3{peer}", content=None, filter=(second,), to=who) for peer in (PEER, OTHER)),
            Look(who),
            Send(who, f"{label}.4", message_id=f"{who}-{label}.w{one}"),
            Send(who, f"{label}.5", message_id=f"{who}-{label}.w{other}"),
            Say(PEER, f"{label}.6", after=(f"{label}.4",), to=who),
            Look(who),
            Wait(PERIOD_MS),
            Tick(who),
            Look(who),
        )

    return write


for _one, _other in (("\0one", "\0two"), ("\u00e9", "e\u0301")):
    values()(_given(_one, _other))


# ---- large numbers of messages ---------------------------------------------------------------------------------------

many = partial(story, MANY)


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
