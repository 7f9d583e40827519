"""An implementation that ignores what it receives does not conform, whatever it declares; a legal one is never called
deaf."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest

from sds_conformance.judging.certification import Certification, certify
from sds_conformance.judging.declarations import (
    DEAF,
    Declared,
    Disguise,
)
from sds_conformance.judging.plan import plan
from sds_conformance.judging.run_player import VERDICTS
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.sds.rules import RULES, start
from sds_harness.declaration import Declaration
from sds_harness.faults import FaultKind
from sds_harness.link import Limits, Link, LocalLink
from sds_harness.sds.language import SDS
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Participant
from sds_reference.channel import Channel
from sds_reference.local_log import LocalLog, LogEntry

EVERY = frozenset(number for number in pb.Capability.values() if number) - {pb.CAPABILITY_MESSAGE_ID_REQUIRED}
LONG = pytest.mark.exhaustive
FEW_SCENARIOS = ("two-channels", "named-in-a-history", "a-missing-dependency", "the-filter-grows", "ties")


def kinds(outcome: Certification) -> set[FaultKind]:
    return {broken.breakdown.kind for broken in outcome.breakdowns}


@pytest.mark.parametrize(("select", "scenarios"), [((), ["the-filter-grows"]), (["SDS-SEND-01"], ())])
def test_of_a_part_of_the_run_deafness_is_only_a_warning(select: Iterable[str], scenarios: Iterable[str]) -> None:
    declared = Declared("sds-2026-01", frozenset(), {}, {"bloom": "private"})

    def connect(_: Mapping[str, str]) -> Link:
        return Disguise(start(without=EVERY), SDS, declared, DEAF)

    outcome = certify(connect, plan(RULES, select, scenarios=scenarios), Limits(), keep=VERDICTS)
    assert kinds(outcome) == {FaultKind.DEAF}
    assert outcome.exit_code in (0, 4)


def test_whoever_answers_receive_with_unsupported_is_not_deaf() -> None:
    def handle(request: pb.Request) -> pb.Reply:
        reply = pb.Reply(id=request.id)
        if request.WhichOneof("command") == "receive":
            reply.unsupported.what = "it only sends"
            return reply
        answer: pb.Reply = model.call(request, 1.0, pb.Reply)
        return answer

    model = start(without=EVERY)
    outcome = certify(lambda _: LocalLink(handle), plan(RULES, scenarios=FEW_SCENARIOS), Limits(), keep=VERDICTS)
    assert kinds(outcome) == {FaultKind.REFUSAL}
    assert outcome.exit_code != 0


def declared_with(limits: Mapping[str, int]) -> Declaration:
    reply = pb.Reply()
    for name, value in limits.items():
        setattr(reply.hello.limits, name, value)
    return Declaration.from_hello(reply.hello, SDS)


@pytest.mark.parametrize(
    ("name", "declared", "honoured"),
    [
        ("lamport_ahead_ms", 0, 1_000),
        ("lamport_ahead_ms", 999, 1_000),
        ("lamport_ahead_ms", 1_001, 1_001),
        ("content_bytes", 0, 1_024),
        ("log_entries", 1, 2),
        ("log_entries", 2**64 - 1, 2**64 - 1),
        ("repair_clock_ms", 60_000, 1_000),
        ("repair_clock_ms", 0, 0),
        ("waiting_messages", 0, 0),
    ],
)
def test_a_limit_is_honoured_within_its_bounds(name: str, declared: int, honoured: int) -> None:
    declaration = declared_with({name: declared})
    assert declaration.limit(name) == honoured
    assert (name in declaration.partly_honoured_limits) is (declared != honoured)


def bounded(size: int, *, by_order: bool) -> type[Participant]:
    """A participant whose log keeps the newest ``size`` entries only, by its order or by when they entered."""

    class Bounded(LocalLog):
        def insert(self, entry: LogEntry) -> bool:
            new = super().insert(entry)
            while len(self) > size:
                oldest = self._order[0][1] if by_order else next(iter(self._entries))
                self._order.remove(next(place for place in self._order if place[1] == oldest))
                del self._entries[oldest]
            return new

    channel = type("BoundedChannel", (Channel,), {"log_class": Bounded})
    return type("BoundedParticipant", (Participant,), {"channel_class": channel})


@pytest.mark.parametrize("by_order", [True, pytest.param(False, marks=LONG)])
@pytest.mark.parametrize(
    "capabilities", [pytest.param((), marks=LONG), (pb.CAPABILITY_DELIVERED,), pytest.param(tuple(EVERY), marks=LONG)]
)
@pytest.mark.parametrize("size", [2, pytest.param(3, marks=LONG), pytest.param(50, marks=LONG)])
def test_a_log_of_the_declared_size_is_accused_of_nothing_that_it_has_dropped(
    size: int, capabilities: tuple[int, ...], by_order: bool
) -> None:
    declared = Declared("sds-2026-01", frozenset(capabilities), {"log_entries": size}, {"bloom": "private"})

    def connect(_: Mapping[str, str]) -> Link:
        model = start(participant=bounded(size, by_order=by_order), without=EVERY - declared.capabilities)
        return Disguise(model, SDS, declared)

    outcome = certify(connect, plan(RULES), Limits(), keep=VERDICTS)
    bad = [v for v in outcome.verdicts if v.verdict in (Verdict.FAIL, Verdict.WARN, Verdict.ERROR)]
    assert [(v.requirement.id, v.findings[0].run, v.findings[0].expected, v.findings[0].seen) for v in bad] == []
    assert outcome.breakdowns == []
