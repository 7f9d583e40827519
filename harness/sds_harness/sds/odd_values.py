"""Events with empty fields, very long fields, and IDs given by the application, in a small world of SDS.

Each function is one kind of event, as in `odd_events.py`.
"""

from __future__ import annotations

from functools import partial

from ..schedules.group_trace import NEVER
from ..schedules.operations import Route
from ..stage import START_MS
from .events import PERIOD_MS, event
from .odd_events import OTHER, PEER, Said, Story, lost
from .operations import Again, Look, Say, Send, Sync, Tick, Wait

VALUES = "values"
_LONG = 1_010
"""The number of equal characters at the start of two long IDs."""

values = partial(event, VALUES, most=1, equals=False, starts=True, aware=True)


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
