"""Limits of implementations are found at exactly their size, and no other implementation is reported to have one."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capped_implementations import CHANNELS, FILTERS, PARTICIPANTS, REPAIRS, Start, capped
from run_helpers import altered, reference
from sds_conformance.exploration.limits.case import SizeOutcome, SizeResult
from sds_conformance.exploration.limits.measurement import (
    MeasurementOrder,
    MeasurementResult,
    measure,
    perform_handshake,
)
from sds_conformance.exploration.limits.row import STEADY, LimitRow, Weight
from sds_conformance.exploration.limits.search import Search
from sds_conformance.judging.exits import Exit
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.dimensions import Dimension
from sds_conformance.protocols.sds.dimensions import DIMENSIONS
from sds_conformance.protocols.sds.rules import RULES
from sds_harness.link import Limits, LocalLink
from sds_harness.schedules import Schedule
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config, Message, Participant
from sds_reference.channel import Channel
from sds_reference.effects import Effects
from sds_reference.mutants import MUTANTS

COUNTED = [*CHANNELS, *REPAIRS, *FILTERS, *PARTICIPANTS, "participants"]
LONG = pytest.mark.exhaustive
WHOLE_S = 600.0


ALSO = {"log": "SDS-DELIVER-06", "in-filter": "SDS-SEND-09"}
"""Requirements that show a limit as well, and that can be violated at any size."""
NOWHERE_DEMANDED = {"channels", "participants", "hint"}
"""Refusing or omitting something there violates no requirement."""


def measured(
    start: Start,
    *names: str,
    budget_s: float = WHOLE_S,
    at: int | None = None,
    revision: str = "sds-2026-01",
    **other: int,
) -> MeasurementResult:
    """Measure dimensions, with ``other`` values for some of their fields."""
    there = [DIMENSIONS[name].of_text(RULES, revision, "full") for name in names]
    dimensions = [replace(dimension, **other) for dimension in there if dimension]  # type: ignore[arg-type]
    order = MeasurementOrder(
        lambda _: start(), Limits(), RULES, revision, "full", None, False, dimensions, budget_s, at
    )
    out = perform_handshake(order)
    measure(order, out)
    return out


def row(start: Start, name: str, *, at: int | None = None, revision: str = "sds-2026-01", **other: int) -> LimitRow:
    (only,) = measured(start, name, at=at, revision=revision, **other).rows
    return only


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("waiting", 100),
        *((name, 7) for name in COUNTED),
        *(pytest.param(name, 1_000, marks=LONG) for name in COUNTED),
    ],
)
def test_a_cap_is_found_at_exactly_its_size(name: str, size: int) -> None:
    found = row(capped(name, size), name)
    assert found.held == size
    assert found.first_failing is not None
    assert found.first_failing.size == size + 1
    assert found.is_confirmed is True
    violated = found.first_failing.finding
    assert violated is None or violated.requirement in {*DIMENSIONS[name].about, ALSO.get(name)}
    assert violated is not None or name in NOWHERE_DEMANDED or size >= DIMENSIONS[name].demanded
    failed = violated is not None and violated.severity is Verdict.FAIL
    assert found.weight is (Weight.FINDING if failed and size < DIMENSIONS[name].demanded else Weight.WARNING)


@pytest.mark.parametrize("name", [name for name in DIMENSIONS if name != "cost"])
def test_the_reference_has_no_limit(name: str) -> None:
    found = row(lambda: LocalLink(reference()), name, most=130)
    assert (found.weight, found.held, found.reason) == (Weight.HELD, 130, "no larger size is played")
    assert [case.size for case in found.cases] == [3, 4, 8, 16, 32, 64, 128, 130]


def with_channel(channel: type[Channel], **more: Any) -> Start:
    participant = type("WithChannel", (Participant,), {"channel_class": channel})
    return lambda: LocalLink(reference(Config(**more), participant=participant))


@pytest.mark.parametrize(
    ("name", "mutant", "held", "requirement"),
    [
        ("time", "stores-uptime-ms-in-bits-31", (1 << 31) - 1, "SDS-STATE-03"),
        ("time", "stores-uptime-ms-in-bits-32", (1 << 32) - 1, "SDS-STATE-03"),
        ("time", "stores-ms-since-rebroadcast-in-bits-31", (1 << 31) - 1, "SDS-OUTSWEEP-01"),
        ("lamport", "restarts-clock-after-63", (1 << 63) - 1, "SDS-DELIVER-01"),
        ("lamport", "log-orders-signed-timestamps", (1 << 63) - 1, "SDS-STATE-11"),
    ],
)
def test_the_end_of_a_number_is_found(name: str, mutant: str, held: int, requirement: str) -> None:
    fault = MUTANTS[mutant]
    start = lambda: LocalLink(reference(fault.configure(Config()), participant=fault.participant_class))  # noqa: E731
    found = row(start, name)
    assert (found.held, found.requirement) == (held, requirement)
    assert found.exact


class Quadratic(Channel):
    """Looks through its whole log for every message."""

    def receive(self, message: Message, now_ms: int, hint: bytes | None = None) -> Effects:
        for _ in range(160):
            sorted(entry.message_id for entry in self.log)
        return super().receive(message, now_ms, hint)


@pytest.mark.exhaustive  # the measured time depends on the load of the machine
def test_what_a_message_costs_is_reported_with_its_exponent() -> None:
    steady = row(lambda: LocalLink(reference()), "cost", most=8_192)
    assert (steady.weight, steady.held) == (Weight.HELD, 8_192)
    assert steady.exponent is not None
    assert steady.exponent < STEADY
    grows = row(with_channel(Quadratic), "cost", most=512)
    assert grows.weight is Weight.WARNING
    assert grows.exponent is not None
    assert grows.exponent > 0.6
    assert re.fullmatch(rf"grows: each costs as N\^{grows.exponent:.2f}, [0-9,]+ a second", grows.reason)


def declaring(limit: str, bound: int, start: Start) -> Start:
    """The same, with a limit declared."""

    def declare(request: pb.Request, reply: pb.Reply) -> None:
        if reply.WhichOneof("answer") == "hello":
            setattr(reply.hello.limits, limit, bound)

    def handle(request: pb.Request) -> pb.Reply:
        reply: pb.Reply = link.call(request, 1.0, pb.Reply)
        return reply

    link = start()
    return lambda: LocalLink(altered(declare, handle))


@pytest.mark.parametrize("name", [name for name in COUNTED if DIMENSIONS[name].declared])
def test_what_is_declared_is_compared_exactly(name: str) -> None:
    limit = DIMENSIONS[name].declared
    size = 1_100 if name == "content" else 60  # a limit of contents counts from 1,024 on
    found = row(declaring(limit, size, capped(name, size)), name)
    assert (found.weight, found.held, found.declared, found.reason) == (
        Weight.HELD,
        size,
        size,
        "no larger size is declared",
    )
    too_much = row(declaring(limit, size + 1, capped(name, size)), name, demanded=10)
    assert (too_much.weight, too_much.held, too_much.declared) == (Weight.FINDING, size, size + 1)


@pytest.mark.parametrize("bound", [0, 1, 2, 10, 20, 2**63, 2**64 - 1])
def test_every_dimension_has_a_verdict_whatever_bounds_are_declared(bound: int) -> None:
    start: Start = lambda: LocalLink(reference())  # noqa: E731
    for limit in pb.Limits.DESCRIPTOR.fields_by_name:
        start = declaring(limit, bound, start)
    rows = measured(start, *DIMENSIONS, most=12).rows
    assert len(rows) == len(DIMENSIONS)
    assert [(row.dimension.name, row.reason) for row in rows if row.weight is Weight.ERROR] == []


def test_who_refuses_everything_has_no_limit_of_nothing() -> None:
    def refuse(request: pb.Request, reply: pb.Reply) -> None:
        if request.WhichOneof("command") == "receive":
            reply.rejected.reason = "not today"

    outcome = measured(lambda: LocalLink(altered(refuse)), "log", "waiting")
    assert [found.weight for found in outcome.rows] == [Weight.NOT_EXERCISED] * 2
    assert outcome.rows[0].reason.startswith("refused even at 1: ")
    assert outcome.exit_code == Exit.NOTHING_EXERCISED


def test_what_is_not_declared_is_not_exercised() -> None:
    start = lambda: LocalLink(reference(without=[pb.CAPABILITY_CHANNELS]))  # noqa: E731
    assert row(start, "channels").reason == "not declared: channels"


def test_without_time_nothing_is_tried_and_it_is_said_so() -> None:
    outcome = measured(lambda: LocalLink(reference()), "log", "waiting", budget_s=0.0)
    assert {found.reason for found in outcome.rows} == {"not tried: the budget was used up"}
    assert outcome.exit_code == Exit.NOTHING_EXERCISED


def test_an_interrupt_leaves_what_is_known() -> None:
    calls = 0

    def interrupted(request: pb.Request, reply: pb.Reply) -> None:
        nonlocal calls
        calls += 1
        if calls > 200:
            raise KeyboardInterrupt

    outcome = measured(lambda: LocalLink(altered(interrupted)), "log", "waiting")
    assert outcome.interrupted
    assert outcome.exit_code == Exit.INTERRUPTED
    assert (outcome.rows[0].held, outcome.rows[0].reason) == (64, "interrupted")
    assert outcome.rows[1].reason == "not tried: interrupted"


# ---- The search itself ---------------------------------------------------------------------------------------------

PLAIN = Dimension(
    "plain",
    "plain",
    "Plays nothing.",
    lambda size: Schedule(()),
    lambda stage, size: "",
    ("SDS-RECV-08",),
    1_000,
    "none",
    1 << 62,
)


def searched(limit: int, most: int = 1 << 62) -> Search:
    """The search for a limit, without a time budget."""
    search = Search(
        PLAIN,
        most,
        lambda size, known: SizeResult(size, SizeOutcome.HELD if size <= limit else SizeOutcome.CRASHED),
        lambda seconds, narrowing: True,
    )
    search.run()
    return search


@given(st.integers(1, 1 << 62), st.integers(1, 1 << 62))
def test_every_limit_is_found(limit: int, most: int) -> None:
    search = searched(limit, most)
    assert search.held == min(limit, most)
    assert search.first_failing == (limit + 1 if limit < most else None)
    assert all(1 <= size <= most for size in search.cases)
    assert len(search.cases) <= 200
