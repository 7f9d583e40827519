"""Small schedules, one for each global property: each exercises its property, and shows what a fault makes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from played import Handle, reference, stage
from sds_conformance.judging.judgement import Outcome
from sds_conformance.protocols.properties import Replay, Sighting
from sds_conformance.protocols.sds.catalogue import CURRENT
from sds_conformance.protocols.sds.properties import examine
from sds_harness.schedules import Schedule
from sds_harness.schedules.operations import (
    Calm,
    Crash,
    Cut,
    Heal,
    Join,
    Links,
    Look,
    Operation,
    Route,
    StepClock,
    Tick,
    Wait,
)
from sds_harness.sds.operations import Again, Ephemeral, Garble, Member, Say, Send, Sync
from sds_harness.sds.performance import Performance
from sds_harness.sds.player import play

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


def performed(what: Schedule, start: Callable[[], Handle] = reference, revision: str = CURRENT) -> Performance:
    """Everybody is one implementation."""
    played = stage(start(), revision=revision)
    return play(what, dict.fromkeys(what.names, played))


def replaying(start: Callable[[], Handle] = reference) -> Replay:
    return lambda changed: performed(changed, start)


def sightings(what: Schedule, start: Callable[[], Handle] = reference) -> dict[str, list[Sighting]]:
    """What all properties say, the twins among them."""
    return examine(performed(what, start), replaying(start))


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
    "G-04": schedule(
        Send("alice", "m1", route=Route(late=(("bob", 300),))),
        Send("alice", "m2", route=Route(late=(("bob", 200),))),
        Send("alice", "m3"),
        Wait(1_000),
        Tick(),
        Look(),
    ),
    "G-05": schedule(Send("alice", "m1"), Wait(5), Send("bob", "m2"), Send("carol", "m3"), Look()),
    "G-06": schedule(Send("alice", "m1", route=lost_to("bob", "carol")), Wait(1_000), Calm(), Look()),
    "G-07": schedule(*missed(), configuration=REPAIRING),
    "G-08": schedule(
        Send("alice", "m1", route=Route(twice=("bob",))), Wait(1), Send("bob", "m2"), Again("m1", "carol"), Look()
    ),
    "G-09": schedule(Send("alice", "m1", content="été \x00 end"), Send("bob", "m2"), Look()),
    "G-10": schedule(Send("alice", "m1"), Send("bob", "m2"), Sync("carol"), Look()),
    "G-11": schedule(Send("alice", "m1"), Send("alice", "m2"), Send("alice", "m3"), Sync("bob"), Look()),
    "G-12": schedule(
        Send("alice", "m1", route=Route(late=(("bob", 300),))),
        Send("alice", "m2"),
        Wait(1_000),
        Calm(),
        Look(),
    ),
    "G-13": schedule(
        Send("alice", "m1"),
        Send("alice", "m2"),
        Sync("alice"),
        StepClock("alice", -3_600_000),
        Send("alice", "m3"),
        Sync("alice"),
    ),
    "G-14": schedule(*(Send("alice", f"m{n}") for n in range(5)), Wait(1_000), Send("bob", "m9")),
    "G-15": schedule(
        *(Send("alice", f"m{n}", channel=n % 2) for n in range(6)),
        Send("bob", "m7", channel=1),
        Send("bob", "m8"),
        Calm(),
        Look(),
        channels=("c1", "c2"),
    ),
    "G-16": schedule(
        Send("alice", "m1"),
        Send("alice", "m2"),
        Send("bob", "m3"),
        members=(Member("alice", clock_ms=60_000), Member("bob")),
    ),
    "G-17": schedule(
        Send("alice", "m1"), Sync("bob"), Send("bob", "m2"), Sync("alice"), Sync("carol"), Send("carol", "m3"), Calm()
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
    "G-20": schedule(
        Send("p00", "m1", route=lost_to("p01")),
        Crash("p00"),
        Wait(1_000),
        Send("p02", "m2"),
        Wait(120_001),
        Sync("p01"),
        *(op for _ in range(130) for op in (Wait(1_000), Tick())),
        names=CROWD,
        configuration=REPAIRING,
    ),
    "G-21": schedule(
        Send("p00", "m1", route=lost_to(*CROWD[2:])),
        Crash("p00"),
        Wait(1_000),
        Links(delay_ms=(5, 5)),
        Send("p01", "m2"),
        Wait(28_500),
        *(op for _ in range(8) for op in (Wait(1_500), Tick())),
        names=CROWD[:24],
        configuration=(*REPAIRING, ("sync_interval_ms", 1_500)),
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
    "G-25": schedule(Send("alice", "m1"), Send("bob", "m2"), Send("carol", "m3"), Sync("alice"), Calm(), Look()),
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
    "G-27": schedule(
        *(Send("alice", f"m{n}") for n in range(6)),
        Wait(60_000),
        Join("carol"),
        Send("carol", "m9"),
        Send("bob", "m10"),
        Calm(store=True),
        Look(),
        members=(Member("alice"), Member("bob"), Member("carol", late=True)),
    ),
    "G-28": schedule(
        Cut(("alice",), ("bob", "carol")),
        Send("alice", "m1"),
        Send("bob", "m2"),
        Wait(60_000),
        Heal(),
        Calm(),
        Look(),
    ),
    "G-29": schedule(
        Send("alice", "m1", route=lost_to("bob", "carol")),
        Send("bob", "m2"),
        Send("alice", "m3"),
        Wait(1_000),
        Send("carol", "m4"),
        Calm(),
        Look(),
        members=(Member("alice", clock_ms=3_600_000), Member("bob", clock_ms=-3_600_000), Member("carol")),
    ),
    "G-30": schedule(*missed(), configuration=REPAIRING),
    "G-31": schedule(Send("alice", "m1", route=lost_to("bob", "carol")), Wait(61_000), Tick(), Wait(61_000), Tick()),
    "G-32": schedule(*(Send("alice", f"m{n}") for n in range(4)), Send("bob", "m9"), Sync("carol"), Look()),
    "G-33": schedule(Send("alice", "m1"), Sync("bob"), Ephemeral("carol"), Sync("alice"), Send("alice", "m2"), Look()),
    "G-34": schedule(
        Send("alice", "m1"),
        Garble("bob", "00ff"),
        Say("xavier", "x1", raw_filter="00"),
        Say("mallory", "x2", poses_as="bob"),
        Send("bob", "m2"),
        Send("carol", "m3"),
        Calm(),
        Look(),
    ),
    "G-35": schedule(*missed()[:4], Look(), Calm(), Look(), configuration=REPAIRING),
}
"""By property."""

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
    "G-04": ONE_MESSAGE,
    "G-05": without("G-05", Look),
    "G-06": schedule(Send("alice", "m1"), Wait(1_000), Calm(), Look()),
    "G-07": schedule(*missed(crash=False), configuration=REPAIRING),
    "G-08": without("G-09", Look),
    "G-09": NOTHING,
    "G-10": NOTHING,
    "G-11": ONE_MESSAGE,
    "G-12": without("G-12", Look),
    "G-13": ONE_MESSAGE,
    "G-14": ONE_MESSAGE,
    "G-15": EXERCISES["G-01"],
    "G-16": ONE_MESSAGE,
    "G-17": EXERCISES["G-06"],
    "G-18": EXERCISES["G-17"],
    "G-19": EXERCISES["G-06"],
    "G-20": EXERCISES["G-07"],
    "G-21": EXERCISES["G-07"],
    "G-22": EXERCISES["G-07"],
    "G-23": EXERCISES["G-07"],
    "G-24": EXERCISES["G-01"],
    "G-25": without("G-25", Calm),
    "G-26": EXERCISES["G-07"],
    "G-27": EXERCISES["G-01"],
    "G-28": EXERCISES["G-01"],
    "G-29": EXERCISES["G-01"],
    "G-30": schedule(*missed(crash=False), configuration=REPAIRING),
    "G-31": EXERCISES["G-05"],
    "G-32": NOTHING,
    "G-33": NOTHING,
    "G-34": EXERCISES["G-17"],
    "G-35": EXERCISES["G-01"],
}
"""By property: its premises are not met, so it must say nothing."""
