"""What can happen in a small world of SDS: one function for each kind of event, which says what is done."""

from __future__ import annotations

from collections.abc import Callable, Collection

from sds_proto.testee.v1 import testee_pb2 as pb

from ..declaration import Declaration
from ..schedules.worlds import Kind, World
from .generator import NAMES
from .operations import Ephemeral, Garble, Look, Member, Operation, Route, Say, Schedule, Send, Sync, Tick

Write = Callable[[str, str, Route], Operation]

PERIOD_MS = 31_000
"""After so long everything is due that the setting below has due within 30 seconds."""
PEER = "xavier"
ODD = "odd"
REPAIR = "repair"
"""No event: what there is comes of SDS-R, whose requests and answers travel with the messages of all others."""
_KINDS: list[Kind] = []
_REPAIRS: set[Kind] = set()
"""Those that only SDS-R knows."""


def event(
    name: str,
    *,
    broadcasts: bool = False,
    everybody: bool = False,
    after_ms: int = 0,
    most: int = 0,
    equals: bool = True,
    ranked: bool = False,
    repairs: bool = False,
) -> Callable[[Write], Write]:
    """Register a kind of events under its name in an alphabet; the rest is as in ``Kind``."""

    def register(write: Write) -> Write:
        kind = Kind(name, write, 0, broadcasts, everybody, after_ms, most, equals, ranked)
        _KINDS.append(kind)
        _REPAIRS.update({kind} if repairs else ())
        return write

    return register


@event("send", broadcasts=True, ranked=True)
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


@event("time", broadcasts=True, everybody=True, after_ms=PERIOD_MS)
def time(who: str, label: str, route: Route) -> Operation:
    """Time passes to the next thing that is due, and the work runs that is."""
    return Tick(who, route)


# ---- one odd message of a scripted peer, or none --------------------------------------------------------------------


@event(ODD, most=1, equals=False)
def gap(who: str, label: str, route: Route) -> Operation:
    """A content message that depends on one that nobody has."""
    return Say(PEER, label, after=("ghost",), senders_named=True, to=who)


@event(ODD, most=1, equals=False)
def ahead(who: str, label: str, route: Route) -> Operation:
    """A content message from ten minutes ahead."""
    return Say(PEER, label, lamport_ms=600_000, to=who)


@event(ODD, most=1, equals=False)
def impostor(who: str, label: str, route: Route) -> Operation:
    """A content message that gives whom it reaches as its sender."""
    return Say(PEER, label, poses_as=who, to=who)


@event(ODD, most=1, equals=False)
def tells(who: str, label: str, route: Route) -> Operation:
    """A sync message with the first message of all in its filter."""
    return Say(PEER, label, content=None, filter=("m1",), to=who)


@event(ODD, most=1, equals=False)
def passing(who: str, label: str, route: Route) -> Operation:
    """An ephemeral message that names the first message of all."""
    return Say(PEER, label, lamport_ms=None, after=("m1",), to=who)


@event(ODD, most=1, equals=False)
def noise(who: str, label: str, route: Route) -> Operation:
    """Bytes that are no message."""
    return Garble(who, "ffffffffffffffff")


@event(ODD, most=1, equals=False, repairs=True)
def asks(who: str, label: str, route: Route) -> Operation:
    """A sync message that asks for the first message of all."""
    return Say(PEER, label, content=None, asks=("m1",), senders_named=True, to=who)


_KINDS += [Kind("arrive", copies=1), Kind("twice", copies=2)]
ALPHABET = (*dict.fromkeys(kind.name for kind in _KINDS), REPAIR)
"""All that can be asked for."""
USUAL = ("send", "sync", "time", "arrive", REPAIR)
"""What is, unless something else is."""
_NEEDS = {"sync": pb.CAPABILITY_SYNC, "ephemeral": pb.CAPABILITY_EPHEMERAL, REPAIR: pb.CAPABILITY_SDS_R}


def possible(declared: Declaration, alphabet: Collection[str]) -> tuple[str, ...]:
    """What of an alphabet there is where this is declared, in its usual order."""
    return tuple(n for n in ALPHABET if n in alphabet and (n not in _NEEDS or declared.can(_NEEDS[n])))


def world(participants: int, alphabet: Collection[str]) -> World:
    """So many participants to whom this can happen. Raises ValueError."""
    if not 1 <= participants <= len(NAMES):
        raise ValueError(f"there are from 1 to {len(NAMES)} participants, not {participants}")
    if unknown := set(alphabet) - set(ALPHABET):
        raise ValueError(f"there is no event {min(unknown)!r}: there are {', '.join(ALPHABET)}")
    sds_r = REPAIR in alphabet
    kinds = tuple(kind for kind in _KINDS if kind.name in alphabet and (sds_r or kind not in _REPAIRS))
    # With SDS-R who asks when, and who answers, follows from what participants and messages are called.
    return World(participants, kinds, alike=not sds_r)


def setting(alphabet: Collection[str]) -> Schedule:
    """What all schedules of a world have in common: participants, configuration, and a look at the end."""
    configuration: dict[str, int | float | bool] = {
        "bloom_capacity": 100,
        "sds_r": REPAIR in alphabet,
        "resend_unacknowledged_ms": 30_000,
        "resend_possibly_acknowledged_ms": 60_000,
        "lost_timeout_ms": 90_000,
    }
    if REPAIR in alphabet:
        configuration |= {"t_min_ms": 10_000, "t_max_ms": 30_000, "num_response_groups": 1}
    return Schedule(tuple(map(Member, NAMES)), (Look(),), configuration=tuple(sorted(configuration.items())))
