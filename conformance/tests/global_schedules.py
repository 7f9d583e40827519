"""Small schedules, one for each global property: each exercises its property, and shows what a fault makes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from run_helpers import Handle, reference, stage
from sds_conformance.judging.judgement import Outcome
from sds_conformance.protocols.properties import Sighting
from sds_conformance.protocols.sds.catalogue import CURRENT
from sds_harness.schedules import Schedule
from sds_harness.schedules.operations import (
    Calm,
    Crash,
    Look,
    Operation,
    Route,
    Tick,
    Wait,
)
from sds_harness.sds.group_trace import GroupTrace
from sds_harness.sds.operations import Ephemeral, Member, Say, Send, Sync
from sds_harness.sds.player import play
from sds_proto.testee.v1 import testee_pb2 as pb

REPAIRING = (("sds_r", True), ("t_min_ms", 30_000), ("t_max_ms", 120_000), ("num_response_groups", 1))
TRIO = ("alice", "bob", "carol")
CROWD = tuple(f"p{number:02}" for number in range(40))


def schedule(
    *operations: Operation,
    names: tuple[str, ...] = TRIO,
    members: tuple[Member, ...] = (),
    channels: tuple[str, ...] = ("c1",),
    configuration: tuple[tuple[str, int | float | bool], ...] = (),
) -> Schedule:
    return Schedule(members or tuple(Member(name) for name in names), operations, channels, configuration, seed=7)


def play_schedule(what: Schedule, start: Callable[[], Handle] = reference, revision: str = CURRENT) -> GroupTrace:
    """Everybody is one implementation."""
    played = stage(start(), revision=revision)
    return play(what, dict.fromkeys(what.names, played))


def outcomes(found: list[Sighting]) -> set[Outcome]:
    return {sighting.outcome for sighting in found}


def lost_to(*listeners: str) -> Route:
    return Route(lost=listeners)


def missed(*, store: bool = False, crash: bool = True) -> tuple[Operation, ...]:
    """Carol misses a message, learns of it from bob, and its sender is gone."""
    gone = (Crash("alice"),) if crash else ()
    return (
        Send("alice", "m1", route=lost_to("carol")),
        *gone,
        Wait(1_000),
        Send("bob", "m2"),
        Calm(store=store),
        Look(),
    )


CONCURRENT = (
    Send("alice", "m1", route=Route(late=(("bob", 50), ("carol", 90)))),
    Send("bob", "m2", route=Route(late=(("alice", 80), ("carol", 20)))),
    Send("carol", "m3", route=Route(late=(("alice", 10), ("bob", 120)))),
)
"""Nobody knows of the others, and everybody hears the others in another order."""

EXERCISES: dict[str, Schedule] = {
    "G-01": schedule(
        Send("alice", "m1", route=lost_to("bob", "carol")),
        Send("alice", "m2"),
        Send("alice", "m3"),
        Wait(1_000),
        Calm(),
        Look(),
    ),
    "G-02": schedule(*CONCURRENT, Wait(500), Send("alice", "m4"), Look()),
    "G-03": schedule(*CONCURRENT, Wait(500), Send("alice", "m4"), Look()),
    "G-06": schedule(Send("alice", "m1", route=lost_to("bob", "carol")), Wait(1_000), Calm(), Look()),
    "G-07": schedule(*missed(), configuration=REPAIRING),
    "G-10": schedule(Send("alice", "m1"), Send("bob", "m2"), Sync("carol"), Look()),
    "G-11": schedule(Send("alice", "m1"), Send("alice", "m2"), Send("alice", "m3"), Sync("bob"), Look()),
    "G-12": schedule(
        Send("alice", "m1", route=Route(late=(("bob", 300),))),
        Send("alice", "m2"),
        Wait(1_000),
        Calm(),
        Look(),
    ),
    "G-15": schedule(
        *(Send("alice", f"m{n}", channel=n % 2) for n in range(6)),
        Send("bob", "m7", channel=1),
        Send("bob", "m8"),
        Calm(),
        Look(),
        channels=("c1", "c2"),
    ),
    "G-18": schedule(
        Send("alice", "m1"), Ephemeral("bob"), Send("bob", "m2"), Ephemeral("alice"), Send("carol", "m3"), Calm()
    ),
    "G-19": schedule(
        *(Say("xavier", f"x{n}", lamport_ms=n) for n in range(5)),
        Send("alice", "m1"),
        Send("bob", "m2"),
        Calm(),
        Look(),
    ),
    "G-22": schedule(
        Send("alice", "m1", route=lost_to("carol")),
        Wait(1_000),
        Send("bob", "m2"),
        Wait(120_001),
        Sync("carol"),
        *(op for _ in range(15) for op in (Wait(10_000), Tick())),
        configuration=(*REPAIRING, ("resend_unacknowledged_ms", 3_600_000)),
    ),
    "G-23": schedule(
        *(Send("p00", f"m{n}", route=lost_to("p01")) for n in range(4)),
        Crash("p00"),
        Wait(1_000),
        Send("p02", "m9"),
        Calm(rounds=8),
        names=CROWD[:9],
        configuration=(*REPAIRING[:3], ("num_response_groups", 3), ("max_repair_requests", 9)),
    ),
    "G-24": schedule(*missed()[:4], Wait(5_000), Sync("carol"), Calm(), Look(), configuration=REPAIRING),
    "G-26": schedule(
        Send("alice", "m1", route=lost_to("bob", "carol")),
        Send("bob", "m2"),
        Send("carol", "m3"),
        Wait(1_000),
        Calm(),
        Look(),
        members=(Member("alice", sds_r=True), Member("bob", sds_r=False), Member("carol", sds_r=False)),
        configuration=(("t_min_ms", 30_000), ("t_max_ms", 120_000)),
    ),
    "G-30": schedule(*missed(), configuration=REPAIRING),
    "G-31": schedule(Send("alice", "m1", route=lost_to("bob", "carol")), Wait(61_000), Tick(), Wait(61_000), Tick()),
    "G-35": schedule(*missed()[:4], Look(), Calm(), Look(), configuration=REPAIRING),
}
"""By property."""

UNDECLARED = {"G-03": (pb.CAPABILITY_DELIVERED,)}
"""By property: capabilities without which alone it is asked, as requirements judge the same with them."""

ONE_MESSAGE = schedule(Wait(1), Send("alice", "m1"), Look())
NOTHING = schedule(Wait(1), Look())


def without(property_id: str, *kinds: type[Operation]) -> Schedule:
    """The schedule of a property, without what its premises need."""
    what = EXERCISES[property_id]
    return replace(what, operations=tuple(op for op in what.operations if not isinstance(op, kinds)))


UNEXERCISED: dict[str, Schedule] = {
    "G-01": without("G-01", Calm),
    "G-02": without("G-02", Look),
    "G-03": ONE_MESSAGE,
    "G-06": schedule(Send("alice", "m1"), Wait(1_000), Calm(), Look()),
    "G-07": schedule(*missed(crash=False), configuration=REPAIRING),
    "G-10": NOTHING,
    "G-11": ONE_MESSAGE,
    "G-12": without("G-12", Look),
    "G-15": EXERCISES["G-01"],
    "G-18": EXERCISES["G-01"],
    "G-19": EXERCISES["G-06"],
    "G-22": EXERCISES["G-07"],
    "G-23": EXERCISES["G-07"],
    "G-24": EXERCISES["G-01"],
    "G-26": EXERCISES["G-07"],
    "G-30": schedule(*missed(crash=False), configuration=REPAIRING),
    "G-31": EXERCISES["G-02"],
    "G-35": EXERCISES["G-01"],
}
"""By property: its premises are not met, so it must say nothing."""
