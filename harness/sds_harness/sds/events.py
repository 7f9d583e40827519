"""The register of the events in a small world of SDS, and the simple events: one function for each kind.

Each function returns one operation, or several that belong together. Its arguments are the participant, a label that no
other event has, and the route of its broadcast. The first line of its docstring is printed to users.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..schedules.choices import NAMES
from ..schedules.worlds import EventKind, Write
from .operations import Calm, Ephemeral, Operation, Route, Send, Sync, Tick

PERIOD_MS = 31_000
"""A wait in milliseconds, after which all work with a period of at most 30 seconds is due."""
REST = "rest"
KINDS: list[EventKind] = []
"""All kinds of events except arrivals, in the order in which words (see ``schedules.worlds``) are compared."""
REPAIRS: set[EventKind] = set()
"""The kinds of events that a word may contain only if SDS-R is on."""


def event(name: str, *, repairs: bool = False, **rest: Any) -> Callable[[Write], Write]:
    """Register the decorated function as a kind of event. Users select it by ``name``.

    ``rest`` are other fields of ``EventKind``.
    """

    def register(write: Write) -> Write:
        kind = EventKind(name, write, **rest)
        KINDS.append(kind)
        REPAIRS.update({kind} if repairs else ())
        return write

    return register


story = partial(event, most=1, equals=False, starts=True, aware=True)
"""Registers an event that is a whole story about one participant, at most once in a word."""


@event("send", broadcasts=True, ranked=True, starts=True)
def send(who: str, label: str, route: Route) -> Operation:
    """A participant sends a content message."""
    return Send(who, label, route=route)


@event("sync", broadcasts=True)
def sync(who: str, label: str, route: Route) -> Operation:
    """A participant sends a sync message."""
    return Sync(who, route=route)


@event("ephemeral", broadcasts=True)
def ephemeral(who: str, label: str, route: Route) -> Operation:
    """A participant sends an ephemeral message."""
    return Ephemeral(who, route=route)


@event("time", broadcasts=True, everybody=True, after_ms=PERIOD_MS, due=True)
def time(who: str, label: str, route: Route) -> Operation:
    """Time passes until the next work is due, and all participants run their periodic work."""
    return Tick(who, route)


@event(REST, everybody=True, aware=True, ends=True)
def rest(who: str, label: str, route: Route) -> tuple[Operation, ...]:
    """The network heals, and all participants exchange their state until nothing new happens."""
    return (Calm(),) if who == NAMES[0] else ()
