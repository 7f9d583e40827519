"""Shrinking: what is left still fails, nothing of it is idle, and everything on the way is a schedule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from run_helpers import stage
from sds_conformance.exploration.shrinking import shrink
from sds_conformance.protocols.sds.schedules import REPERTOIRE
from sds_harness.schedules import Schedule
from sds_harness.schedules.files import to_json
from sds_harness.sds import operations as ops
from sds_harness.sds.group_trace import GroupTrace
from sds_harness.sds.notation import NOTATION
from sds_harness.sds.operations import Member, Operation, Route
from sds_harness.sds.player import play

Predicate = Callable[[Schedule], bool]

MEMBERS = (Member("alice"), Member("bob", clock_ms=250), Member("carol", late=True), Member("dave", sds_r=False))
CONFIGURATION = (
    ("bloom_capacity", 24),
    ("resend_possibly_acknowledged_ms", 20_000),
    ("resend_unacknowledged_ms", 5_000),
    ("sds_r", True),
    ("t_max_ms", 9_000),
    ("t_min_ms", 2_000),
)
OPERATIONS: tuple[Operation, ...] = (
    ops.Links(50, 20, (1, 20), "alice", "bob"),
    ops.Send("alice", "m1", channel=1, hint=True, times=5, route=Route(("bob", "dave"), (("carol", 30),), ("bob",))),
    ops.Cut(("alice", "bob"), ("carol", "dave"), both=False),
    ops.Sync("bob", route=Route(late=(("alice", 40_000),))),
    ops.Ephemeral("carol", channel=1, raw="00ff", route=Route(lost=("alice",))),
    ops.Tick(),
    ops.Wait(95_123),
    ops.Heal(),
    ops.StepClock("bob", -1_000),
    ops.Garble("bob", "00ff"),
    ops.Join("carol"),
    ops.Lookup("carol"),
    ops.Again("m1", "dave", asks=("m2", "m3")),
    ops.Say(
        "zoe",
        "m2",
        lamport_ms=-5,
        after=("m1", "ghost"),
        raw="7f",
        filter=("m1",),
        asks=("m1", "m3"),
        senders_named=True,
        hint=True,
        id_of="m1",
        poses_as="dave",
        encoding="reversed",
        channel=1,
        to="alice",
        route=Route(twice=("bob",)),
    ),
    ops.Mark("t1"),
    ops.Write(
        "zoe", "m4", lamport_ms=-5, after=("m1", ops.Entry("m2", hint="00")), filter=("m1",), number=3, since="t1"
    ),
    ops.Receive("dave", ("m4", "m1", "m4"), hint="00"),
    ops.Wait(7, "t_max_ms // 2"),
    ops.Settle("carol"),
    ops.Require(("observe", "sync"), "t_max_ms <= 5", "too long"),
    ops.Crash("dave"),
    ops.Look("bob", channel=1, filter=("m1",)),
    ops.Send("bob", "m3", content="the same"),
    ops.Calm(rounds=12, store=True),
    ops.Repeat(2, 3, until="missing == 0"),
    ops.Await("carol", ("m1", "m2"), nth=2, ms=-1, most="t_max_ms"),
    ops.BuildFilter(("a", "b"), ("c",), strangers=5),
    ops.RepairTimes("alice", "bob", "m", num_response_groups=3),
)
RICH = Schedule(MEMBERS, OPERATIONS, ("Grüße", "GRÜSSE"), CONFIGURATION, 77, "rich")


class CountingJudge:
    """Fails what satisfies the predicate, without playing it; remembers what it was asked about."""

    def __init__(self, predicate: Predicate) -> None:
        self._predicate = predicate
        self.asked: list[Schedule] = []

    def __call__(self, schedule: Schedule) -> GroupTrace | None:
        self.asked.append(schedule)
        return GroupTrace(schedule, [], {}) if self._predicate(schedule) else None


def shrunk(schedule: Schedule, predicate: Predicate) -> Schedule:
    """Shrink a schedule. Asserts that the result fails and that each intermediate result is a schedule."""
    judge = CountingJudge(predicate)
    left = shrink(schedule, judge, REPERTOIRE)
    assert predicate(left.schedule)
    assert left.attempts >= len(set(judge.asked)) - 1
    for candidate in judge.asked:
        assert NOTATION.from_json(to_json(candidate)) == candidate
    return left.schedule


def labels(schedule: Schedule) -> list[str]:
    return [operation.label for operation in schedule.operations if isinstance(operation, ops.Send)]


def has(kind: type, schedule: Schedule) -> bool:
    return any(type(operation) is kind for operation in schedule.operations)


# ---- Results ---------------------------------------------------------------------------------------------------------


def test_where_everything_fails_nothing_is_left() -> None:
    left = shrunk(RICH, lambda schedule: True)
    assert left == Schedule((Member("alice"),), (), ("c1",), (), 0, "rich")


def test_certain_messages_are_left_and_nothing_else() -> None:
    left = shrunk(RICH, lambda schedule: {"m1", "m3"} <= set(labels(schedule)))
    assert left.operations == (ops.Send("alice", "m1"), ops.Send("bob", "m3"))
    assert left.members == (Member("alice"), Member("bob"))


@pytest.mark.parametrize("kind", ops.OPERATIONS.values(), ids=ops.OPERATIONS)
def test_one_operation_of_each_kind_is_left_as_simple_as_can_be(kind: type[Operation]) -> None:
    least: dict[str, Operation] = {
        "send": ops.Send("alice", "m1"),
        "sync": ops.Sync("alice"),
        "ephemeral": ops.Ephemeral("alice"),
        "tick": ops.Tick("alice"),
        "wait": ops.Wait(1),
        "look": ops.Look("alice"),
        "join": ops.Join("alice"),
        "crash": ops.Crash("alice"),
        "step_clock": ops.StepClock("alice", -1_000),
        "links": ops.Links(),
        "cut": ops.Cut(("alice",), ("bob",)),
        "heal": ops.Heal(),
        "lookup": ops.Lookup("alice"),
        "again": ops.Again("m1", "alice"),
        "say": ops.Say("xavier", "m1", to="alice"),
        "write": ops.Write("zoe", "m1"),
        "receive": ops.Receive("alice", ("m1",)),
        "settle": ops.Settle("alice"),
        "mark": ops.Mark("m1"),
        "require": ops.Require(),
        "garble": ops.Garble("alice"),
        "calm": ops.Calm(rounds=1),
        "repeat": ops.Repeat(2, 3),
        "await": ops.Await("alice", ("m1",), ms=-1),
        "build_filter": ops.BuildFilter(),
        "repair_times": ops.RepairTimes("alice", "bob", "m"),
    }
    assert shrunk(RICH, lambda schedule: has(kind, schedule)).operations == (least[kind.op],)


def test_participants_and_messages_get_usual_names_where_they_do_not_matter() -> None:
    odd = Schedule(
        (Member("字"), Member("Ж"), Member("z")),
        (
            ops.Send("字", "first", route=Route(lost=("z",))),
            ops.Say("zoe", "second", after=("first", "ghost"), poses_as="z"),
        ),
    )

    def fails(schedule: Schedule) -> bool:
        match schedule.operations:
            case (ops.Send(route=Route(lost=(lost,))), ops.Say(after=(_, _), poses_as=posed)):
                return lost == posed and len(schedule.members) == 3
            case _:
                return False

    left = shrunk(odd, fails)
    assert left.names == ("alice", "bob", "carol")
    assert left.operations == (
        ops.Send("alice", "m1", route=Route(lost=("carol",))),
        ops.Say("xavier", "m2", after=("m1", "m3"), poses_as="carol"),
    )


# ---- Losses by rules -------------------------------------------------------------------------------------------------


def play_it(schedule: Schedule) -> GroupTrace:
    on = stage()
    return play(schedule, dict.fromkeys(schedule.names, on))


def hears(group_trace: GroupTrace, who: str, label: str) -> bool:
    return any(act.who == who and act.packet is not None and act.packet.label == label for act in group_trace.acts)


TRIO = (Member("alice"), Member("bob"), Member("carol"))


@pytest.mark.parametrize("rule", [ops.Links(100, listener="carol"), ops.Cut(("alice", "bob"), ("carol",))])
def test_losses_by_rules_become_routes(rule: Operation) -> None:
    def fails(schedule: Schedule) -> GroupTrace | None:
        if not {"bob", "carol"} <= set(schedule.names) or "m1" not in labels(schedule):
            return None
        group_trace = play_it(schedule)
        return group_trace if hears(group_trace, "bob", "m1") and not hears(group_trace, "carol", "m1") else None

    long = Schedule(TRIO, (rule, ops.Send("alice", "m0"), ops.Send("alice", "m1"), ops.Heal(), ops.Sync("bob")))
    assert shrink(long, fails, REPERTOIRE).schedule.operations == (
        ops.Send("alice", "m1", route=Route(lost=("carol",))),
    )


# ---- Ways and means --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [0, 1, 5, 20])
def test_no_more_attempts_are_made_than_allowed(most: int) -> None:
    plain = replace(RICH, operations=tuple(o for o in OPERATIONS if not isinstance(o, ops.Links | ops.Cut)))
    predicate: Predicate = lambda schedule: "m3" in labels(schedule)  # noqa: E731
    judge = CountingJudge(predicate)
    left = shrink(plain, judge, REPERTOIRE, max_attempts=most)
    assert left.attempts == len(judge.asked) == most
    assert predicate(left.schedule)
    assert (len(left.schedule.operations) < len(plain.operations)) == (most >= 5)
