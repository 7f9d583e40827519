"""An implementation whose every reply is legal and in time can still say too much, and take too long, in all."""

from __future__ import annotations

import time

from jsonschema import Draft202012Validator

from run_helpers import Handle, altered, plan, reference
from sds_conformance.exploration.assessment import BREAKDOWN
from sds_conformance.exploration.campaign import CampaignOrder, explore
from sds_conformance.judging.certification import Certification, certify
from sds_conformance.judging.exits import Exit
from sds_conformance.presentation.invocation import Invocation
from sds_conformance.protocols.sds.catalogue import CURRENT
from sds_conformance.protocols.sds.vectors.material import MATERIAL
from sds_conformance.reports.document import document, load_schema
from sds_conformance.vectors.running.examination import VectorExaminer, select_files
from sds_conformance.vectors.running.subject import Status
from sds_harness.faults import FaultKind
from sds_harness.link import Limits, LocalLink
from sds_harness.sds.generator import Grammar
from sds_proto.testee.v1 import testee_pb2 as pb
from vector_folders import files

FEW = ("a-diamond", "a-hundred-copies")


def _certified(
    limits: Limits,
    handle: Handle | None = None,
    environments: str = "plain",
    scenarios: tuple[str, ...] = ("a-*",),
) -> Certification:
    what = plan(scenarios=scenarios, environments=[environments])
    return certify(lambda _: LocalLink(handle or reference()), what, limits)


def _sleeps_once(seconds: float, at: int) -> Handle:
    """The reference, which takes that long for one of its answers."""
    asked: list[pb.Request] = []

    def takes_its_time(request: pb.Request, reply: pb.Reply) -> None:
        asked.append(request)
        if len(asked) == at:
            time.sleep(seconds)

    return altered(takes_its_time)


def test_who_says_more_than_is_kept_of_a_run_broke_down_in_it_and_the_rest_is_played() -> None:
    outcome = _certified(Limits(kept_bytes=1 << 20), scenarios=("a-thousand-messages", *FEW))
    assert outcome.breakdowns
    assert {broken.breakdown.kind for broken in outcome.breakdowns} == {FaultKind.TOO_MUCH}
    assert len(outcome.breakdowns) < len(outcome.played_runs) == len(outcome.plan.runs)
    assert (outcome.gave_up, outcome.exit_code) == (False, Exit.NON_CONFORMANT)
    assert any(verdict.exercised for verdict in outcome.verdicts)
    assert list(Draft202012Validator(load_schema()).iter_errors(document(outcome, Invocation(())))) == []


def test_a_schedule_that_was_generated_may_keep_no_more() -> None:
    order = CampaignOrder(
        lambda _: LocalLink(reference()), Limits(kept_bytes=1 << 12), examples=3, grammar=Grammar(longest=1)
    )
    tally = explore(order)
    assert tally.found[BREAKDOWN].seen.startswith("too-much: all replies and the data derived from them reached over")


def test_the_total_time_ends_a_run_and_what_was_played_is_judged() -> None:
    outcome = _certified(Limits(total_s=2), _sleeps_once(2.1, at=60))
    assert [broken.breakdown.kind for broken in outcome.breakdowns] == [FaultKind.OUT_OF_TIME]
    assert (outcome.exhausted_resource, outcome.exit_code) == ("the total time", Exit.NON_CONFORMANT)
    assert any("not played: the total time was used up" in verdict.reason for verdict in outcome.verdicts)


def test_the_total_time_ends_a_campaign() -> None:
    handle = _sleeps_once(1.1, at=100)
    tally = explore(CampaignOrder(lambda _: LocalLink(handle), Limits(total_s=1), examples=10_000, twins=False))
    assert tally.gave_up.startswith("under test ran out of time: the total time of 1 s was over")
    assert BREAKDOWN not in tally.found
    assert tally.exit_code == Exit.NON_CONFORMANT


def test_vectors_are_not_asked_after_the_total_time() -> None:
    handle, asked = _sleeps_once(1.1, at=20), list(select_files(files(), CURRENT, ["lamport"]))
    examiner = VectorExaminer(MATERIAL, lambda _: LocalLink(handle), Limits(total_s=1), CURRENT)
    outcome = examiner.examine(asked)
    assert outcome.out_of_time
    assert len(outcome.answered) + outcome.unasked_count == sum(len(file["tests"]) for file in asked)
    assert (outcome.count(Status.BROKEN), outcome.exit_code) == (0, Exit.NON_CONFORMANT)
