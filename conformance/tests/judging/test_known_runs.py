"""The result of a run is taken from an earlier one only if checks could see no difference between the two."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from sds_conformance.judging.certification import Certification
from sds_conformance.judging.exercise import NOTHING, certify_reference
from sds_conformance.judging.known_runs import KnownRuns
from sds_conformance.judging.rules import Rules
from sds_conformance.judging.run_player import VERDICTS
from sds_conformance.protocols.sds.rules import MODEL, RULES
from sds_harness.link import Link, LocalLink
from sds_proto.testee.v1 import testee_pb2 as pb

A_FEW = ("ties", "a-diamond", "received-syncs", "asks-for-what-is-missing", "a-filter-rolls-over")
FAULTS = ("log-by-arrival", "buffered-is-met", "updates-clock-on-reception")
REFERENCE = partial(MODEL.reference, NOTHING)
Change = Callable[[pb.Request, pb.Reply], None]


def judged(start: Callable[[], Link], known: KnownRuns | None, rules: Rules = RULES, **chosen: Any) -> Certification:
    chosen.setdefault("scenarios", A_FEW)
    return certify_reference(rules, start, keep=VERDICTS, known=known, **chosen)


def result(outcome: Certification) -> list[Any]:
    verdicts = [
        (v.requirement.id, v.verdict, v.exercised, v.places, v.traces, v.findings, v.tally) for v in outcome.verdicts
    ]
    return [verdicts, outcome.sightings, outcome.causes, outcome.steps, outcome.breakdowns]


def altered(change: Change) -> Callable[[], Link]:
    """The reference model, with ``change`` applied to each reply."""

    def start() -> Link:
        model = REFERENCE()

        def answer(request: pb.Request) -> pb.Reply:
            reply: pb.Reply = model.call(request, 1.0, pb.Reply)
            change(request, reply)
            return reply

        return LocalLink(answer)

    return start


@pytest.mark.parametrize("name", FAULTS)
def test_known_results_are_the_results_of_a_run_that_is_played(name: str) -> None:
    known = KnownRuns()
    mutant = partial(MODEL.mutant, name, NOTHING)
    judged(REFERENCE, known)
    assert not known.recalled
    assert result(judged(mutant, known)) == result(judged(mutant, None))
    before = known.recalled
    assert 0 < before < len(A_FEW)
    assert result(judged(mutant, known)) == result(judged(mutant, None))
    assert 2 * before <= known.recalled <= before + len(A_FEW), "only runs without violations are stored"


def a_longer_id(request: pb.Request, reply: pb.Reply) -> None:
    if request.HasField("send") and reply.HasField("effects"):
        reply.effects.message_id += "x"


def a_capability_less(request: pb.Request, reply: pb.Reply) -> None:
    if reply.HasField("hello"):
        reply.hello.capabilities.remove(pb.CAPABILITY_CHANNELS)


def a_refusal(request: pb.Request, reply: pb.Reply) -> None:
    if request.HasField("receive"):
        reply.rejected.reason = "not today"


def its_own_clock(request: pb.Request, reply: pb.Reply) -> None:
    if reply.HasField("hello"):
        reply.hello.capabilities.remove(pb.CAPABILITY_VIRTUAL_CLOCK)


@pytest.mark.parametrize("change", [a_longer_id, a_capability_less, a_refusal, its_own_clock])
def test_a_reply_or_declaration_that_differs_is_played(change: Change) -> None:
    known = KnownRuns()
    judged(REFERENCE, known)
    judged(altered(change), known, scenarios=["ties"])
    assert not known.recalled
