"""Cached results of checks are used for equal traces only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from played import Handle, altered, stage
from sds_conformance.judging import exercise
from sds_conformance.judging.certification import Certification
from sds_conformance.judging.observations import Known, Sights, identity
from sds_conformance.judging.run_player import VERDICTS
from sds_conformance.protocols.sds.rules import MODEL, RULES
from sds_harness.declaration import OutsideClock
from sds_harness.environment import Environment
from sds_harness.faults import Breakdown, FaultKind
from sds_harness.sds.stage import Stage
from sds_harness.sds.trace import Trace
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import REVISIONS
from sds_reference.testee.dialect import load_dialect

A_FEW = ("ties", "a-diamond", "received-syncs", "asks-for-what-is-missing", "a-filter-rolls-over")
FAULTS = ("log-by-arrival", "buffered-is-met", "hasty-clock")


def talk(on: Stage) -> Trace:
    alice = on.open()
    alice.receive(on.peer("bob").content(lamport=5))
    alice.send()
    on.advance(1_000)
    alice.tick()
    return on.trace


def played(handle: Handle | None = None) -> Trace:
    return talk(stage(handle))


def judged(name: str, known: Known | None) -> Certification:
    without: frozenset[int] = frozenset()
    return exercise.certify_reference(
        RULES, lambda: MODEL.mutant(name, without), scenarios=A_FEW, keep=VERDICTS, known=known
    )


def said(outcome: Certification) -> list[Any]:
    return [
        *(
            (v.requirement.id, v.verdict, v.exercised, v.places, v.traces, v.findings, v.tally)
            for v in outcome.verdicts
        ),
        outcome.sightings,
        outcome.causes,
    ]


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_recalled_is_what_is_worked_out(name: str) -> None:
    known = Known()
    exercise.certify_reference(RULES, lambda: MODEL.reference(frozenset()), scenarios=A_FEW, keep=VERDICTS, known=known)
    assert not known.recalled
    assert said(judged(name, known)) == said(judged(name, None))
    before = known.recalled
    assert 0 < before < len(A_FEW)
    assert said(judged(name, known)) == said(judged(name, None))
    assert known.recalled == before + len(A_FEW)


def test_who_it_says_it_is_and_how_its_requests_are_numbered_make_no_difference() -> None:
    def calls_itself_something_else(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("hello"):
            reply.hello.name, reply.hello.version = "another", "2"

    again = stage()
    talk(again)
    second = Stage(again.session, "by-hand")
    talk(second)
    assert second.trace.parties["alice"].handle != again.trace.parties["alice"].handle
    assert identity(played()) == identity(second.trace) == identity(played(altered(calls_itself_something_else)))


def test_nothing_of_a_trace_is_changed_by_looking_at_it() -> None:
    trace = played()
    before = [(step.request.SerializeToString(), step.reply.SerializeToString()) for step in trace.steps if step.reply]
    identity(trace)
    after = [(step.request.SerializeToString(), step.reply.SerializeToString()) for step in trace.steps if step.reply]
    assert after == before
    assert len(after) == len(trace.steps)


def a_reply_more(trace: Trace) -> None:
    assert trace.steps[2].reply is not None
    trace.steps[2].reply.effects.message_id += "x"


def no_reply(trace: Trace) -> None:
    trace.steps[-1].reply = None


def another_request(trace: Trace) -> None:
    trace.steps[-1].request.tick.now_ms += 1


def somebody_else(trace: Trace) -> None:
    trace.steps[-1].participant = "bob"


def a_step_less(trace: Trace) -> None:
    trace.steps.pop()


def a_capability_less(trace: Trace) -> None:
    declared = trace.declaration
    trace.declaration = replace(declared, capabilities=declared.capabilities - {pb.CAPABILITY_OBSERVE})


def a_limit(trace: Trace) -> None:
    declared = trace.declaration
    trace.declaration = replace(declared, limits={**declared.limits, "lamport_ahead_ms": 1})


def a_profile(trace: Trace) -> None:
    declared = trace.declaration
    trace.declaration = replace(declared, profiles={**declared.profiles, "bloom": "another"})


def a_clock_from_outside(trace: Trace) -> None:
    trace.declaration = replace(trace.declaration, outside_clock=OutsideClock(True, "ours", ""))


def another_place(trace: Trace) -> None:
    trace.schedule += "-2"


def another_environment(trace: Trace) -> None:
    trace.environment = Environment("elsewhere", "").name


def another_revision(trace: Trace) -> None:
    trace.revision = REVISIONS["sds-2025-10-amended"]


def a_dialect(trace: Trace) -> None:
    trace.dialect = load_dialect("nim-sds")


def another_start(trace: Trace) -> None:
    trace.start_ms += 1


def a_breakdown(trace: Trace) -> None:
    trace.breakdown = Breakdown(FaultKind.EXIT, "it is gone")


def an_end(trace: Trace) -> None:
    trace.stopped = "needs more"


def a_fault_of_ours(trace: Trace) -> None:
    trace.suite_error = "of ours"


@pytest.mark.parametrize(
    "change",
    [
        a_reply_more,
        no_reply,
        another_request,
        somebody_else,
        a_step_less,
        a_capability_less,
        a_limit,
        a_profile,
        a_clock_from_outside,
        another_place,
        another_environment,
        another_revision,
        a_dialect,
        another_start,
        a_breakdown,
        an_end,
        a_fault_of_ours,
    ],
)
def test_whatever_a_check_may_see_makes_a_difference(change: Callable[[Trace], None]) -> None:
    trace = played()
    change(trace)
    assert identity(trace) != identity(played())


def looking(looked: list[str], what: str) -> Callable[[], Sights]:
    def look() -> Sights:
        looked.append(what)
        return Sights()

    return look


def test_no_more_is_remembered_than_was_asked_for() -> None:
    known, looked = Known(2), list[str]()
    traces = [played() for _ in range(3)]
    for number, trace in enumerate(traces):
        trace.schedule = f"number-{number}"
    for trace in [*traces, traces[2], traces[0]]:
        known.sights(trace, {}, looking(looked, trace.schedule))
    assert looked == ["number-0", "number-1", "number-2", "number-0"]
    assert known.recalled == 1


def test_other_checks_look_for_themselves() -> None:
    known, trace, looked = Known(), played(), list[str]()
    checks = RULES.register.checks["SDS-MSG-01"]
    for number, applicable in enumerate([{"SDS-MSG-01": checks}, {"SDS-MSG-01": checks[:1]}, dict[str, Any]()]):
        known.sights(trace, applicable, looking(looked, f"{number}"))
    assert looked == ["0", "1", "2"]
