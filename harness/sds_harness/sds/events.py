"""The register of what can happen in a small world of SDS, and the simple of it: one function for each kind of event.

Each says what is done, in one operation or several that belong together. It is given the participant, a label that no
other event has, and what becomes of what it broadcasts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..schedules.worlds import Kind, Write
from .generator import NAMES
from .operations import Calm, Ephemeral, Operation, Route, Send, Sync, Tick

PERIOD_MS = 31_000
"""After so long everything is due that the setting of a small world has due within 30 seconds."""
REST = "rest"
KINDS: list[Kind] = []
"""All but arrivals, in the order in which words are spelled."""
REPAIRS: set[Kind] = set()
"""Those of them that only SDS-R knows."""


def event(name: str, *, repairs: bool = False, **rest: Any) -> Callable[[Write], Write]:
    """Register a kind of events under its name in an alphabet; the rest is as in ``Kind``."""

    def register(write: Write) -> Write:
        kind = Kind(name, write, **rest)
        KINDS.append(kind)
        REPAIRS.update({kind} if repairs else ())
        return write

    return register


@event("send", broadcasts=True, ranked=True, starts=True)
def send(who: str, label: str, route: Route) -> Operation:
    """A content message."""
    return Send(who, label, route=route)


@event("sync", broadcasts=True)
def sync(who: str, label: str, route: Route) -> Operation:
    """A sync message."""
    return Sync(who, route=route)


@event("ephemeral", broadcasts=True)
def ephemeral(who: str, label: str, route: Route) -> Operation:
    """An ephemeral message."""
    return Ephemeral(who, route=route)


@event("time", broadcasts=True, everybody=True, after_ms=PERIOD_MS, due=True)
def time(who: str, label: str, route: Route) -> Operation:
    """Time passes to the next thing that is due, and the work runs that is."""
    return Tick(who, route)


@event(REST, everybody=True, aware=True, ends=True)
def rest(who: str, label: str, route: Route) -> tuple[Operation, ...]:
    """The network heals, and all tell each other what they have until nothing new happens: said once, for all."""
    return (Calm(),) if who == NAMES[0] else ()
