"""A verdict says what was observed and no more: what was not exercised is never a pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from run_helpers import rules_with, scenario
from sds_conformance.judging.catalogue import Catalogue, Requirement
from sds_conformance.judging.judgement import Observation, observe_met, observe_note, observe_violation
from sds_conformance.judging.registry import Check, CheckFunction, Run, Scenario
from sds_conformance.judging.verdict import MAX_FINDINGS, Judge, RequirementVerdict, Verdict
from sds_conformance.protocols.sds.catalogue import CURRENT
from sds_conformance.protocols.sds.rules import RULES
from sds_conformance.protocols.sds.view.channel_view import ChannelView
from sds_harness.declaration import Declaration
from sds_harness.faults import Breakdown, FaultKind
from sds_harness.sds.language import SDS
from sds_harness.sds.trace import Step, Trace
from sds_harness.trace import Party
from sds_proto.testee.v1 import testee_pb2 as pb

ID = "SDS-MADE-01"
OTHER = "SDS-MADE-02"

Judgement = Callable[..., RequirementVerdict]


def requirement(requirement_id: str = ID, level: str = "MUST", softened: str = "") -> Requirement:
    return Requirement(
        requirement_id, "MADE", level, 3, "explicit", "made-up", "wire", "A statement.", (), softened, (CURRENT,)
    )


def trace(
    name: str = "one",
    *capabilities: int,
    observe: bool = True,
    steps: int = 3,
    parties: tuple[str, ...] = ("alice",),
    channels: tuple[str, ...] = ("c1",),
) -> Trace:
    declared = frozenset(capabilities) | ({pb.CAPABILITY_OBSERVE} if observe else set())
    declaration = Declaration("made up", "1", "", "", (), declared, {}, {}, SDS)
    out = Trace(name, declaration)
    for party in parties:
        out.parties[party] = Party(party, 1, channels, 0, pb.Configuration(), pb.Configuration())
    out.steps = [Step(n + 1, parties[0], pb.Request(tick=pb.Tick(now_ms=n)), pb.Reply()) for n in range(steps)]
    return out


def yielding(*observations: Observation) -> CheckFunction:
    """A check that sees the same in every channel."""

    def made_up_check(view: ChannelView) -> Iterator[Observation]:
        yield from observations

    return made_up_check


def step(index: int = 1) -> Step:
    return Step(index, "alice", pb.Request(), None)


HELD = observe_met(step())
BROKEN = observe_violation(step(2), "out-of-order", "this", "that")
SOFT = observe_violation(step(3), "too-late", "this", "something else", "AMB-99")
NOTED = observe_note(step(2), "worth a word")


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Judgement:
    """Judge traces with made-up checks of one made-up requirement."""

    def judged(
        *functions: CheckFunction,
        traces: tuple[Trace, ...] = (trace(),),
        played: Scenario | None = None,
        needs: tuple[int, ...] = (),
        level: str = "MUST",
        softened: str = "",
        strict: bool = False,
    ) -> RequirementVerdict:
        monkeypatch.setattr(RULES.register, "checks", {ID: [Check(ID, function, needs) for function in functions]})
        catalogue = Catalogue((), {ID: requirement(ID, level, softened)}, {})
        judging = Judge(rules_with(catalogue), [ID], strict=strict)
        for one in traces:
            judging.add(one, Run(played) if played is not None else None)
        (verdict,) = judging.verdicts()
        return verdict

    return judged


@pytest.mark.parametrize("traces", [(), (trace(),), (trace(steps=0),), (trace("a"), trace("b"))])
def test_what_was_not_exercised_is_inconclusive(judge: Judgement, traces: tuple[Trace, ...]) -> None:
    verdict = judge(yielding(), traces=traces)
    assert (verdict.verdict, verdict.exercised, verdict.traces) == (Verdict.INCONCLUSIVE, 0, 0)
    assert verdict.reason == "not exercised"


def test_one_violation_among_many_observations_fails(judge: Judgement) -> None:
    verdict = judge(yielding(HELD, HELD, BROKEN, HELD))
    assert verdict.verdict is Verdict.FAIL
    assert [(f.step, f.expected, f.seen, f.severity) for f in verdict.findings] == [(2, "this", "that", Verdict.FAIL)]


def test_a_finding_has_a_code_and_names_scenario_participant_and_channel(judge: Judgement) -> None:
    (finding,) = judge(yielding(BROKEN), traces=(trace("somewhere", parties=("dora",), channels=("c9",)),)).findings
    assert (finding.requirement, finding.code, finding.full_code) == (ID, "out-of-order", f"{ID}/out-of-order")
    assert (finding.scenario, finding.participant, finding.channel_id) == ("somewhere", "dora", "c9")


def test_a_missing_capability_skips_and_is_named(judge: Judgement) -> None:
    verdict = judge(yielding(BROKEN), needs=(pb.CAPABILITY_RESEND_PERIOD, pb.CAPABILITY_DELIVERED))
    assert (verdict.verdict, verdict.exercised) == (Verdict.SKIPPED, 0)
    assert verdict.reason == "not declared: delivered, resend-period"


def test_where_nothing_can_be_observed_the_requirement_is_skipped_for_that(judge: Judgement) -> None:
    verdict = judge(yielding(), traces=(trace(observe=False),))
    assert (verdict.verdict, verdict.reason) == (Verdict.SKIPPED, "not declared: observe")


@pytest.mark.parametrize("observe", [True, False])
def test_a_scenario_that_needs_what_is_not_declared_skips_as_well(judge: Judgement, observe: bool) -> None:
    stopped = trace(observe=observe)
    stopped.stopped = "needs the capability sync"
    verdict = judge(yielding(), traces=(stopped,), played=scenario("one", lambda stage: None, ID))
    assert (verdict.verdict, verdict.reason) == (Verdict.SKIPPED, "not declared: sync")


@pytest.mark.parametrize("observe", [True, False])
def test_a_refusal_that_ends_the_scenario_is_no_skip(judge: Judgement, observe: bool) -> None:
    stopped = trace(observe=observe)
    stopped.stopped = "send was refused: too long"
    verdict = judge(yielding(), traces=(stopped,), played=scenario("one", lambda stage: None, ID))
    assert (verdict.verdict, verdict.reason) == (Verdict.INCONCLUSIVE, "one: send was refused: too long")


@pytest.mark.parametrize(
    ("level", "strict", "expected"),
    [
        ("MUST", False, Verdict.WARN),
        ("MUST NOT", False, Verdict.WARN),
        ("MUST", True, Verdict.FAIL),
        ("SHOULD", True, Verdict.WARN),
        ("MAY", True, Verdict.PASS),
    ],
)
def test_a_position_softens_a_must_unless_the_run_is_strict(
    judge: Judgement, level: str, strict: bool, expected: Verdict
) -> None:
    verdict = judge(yielding(SOFT), level=level, strict=strict)
    assert verdict.verdict is expected
    assert verdict.findings[0].position == "AMB-99"


@pytest.mark.parametrize(("strict", "expected"), [(False, Verdict.WARN), (True, Verdict.FAIL)])
def test_a_softened_requirement_warns_unless_the_run_is_strict(
    judge: Judgement, strict: bool, expected: Verdict
) -> None:
    verdict = judge(yielding(BROKEN), softened="AMB-7", strict=strict)
    assert (verdict.verdict, verdict.findings[0].position) == (expected, "AMB-7")


@pytest.mark.parametrize("level", ["MAY", "RECOMMENDED"])
def test_a_deviation_from_a_permission_passes_with_a_note(judge: Judgement, level: str) -> None:
    verdict = judge(yielding(BROKEN), level=level)
    assert verdict.verdict is Verdict.PASS
    assert [(finding.seen, finding.severity) for finding in verdict.findings] == [("that", Verdict.PASS)]


def test_a_note_on_a_must_is_reported_and_does_not_fail(judge: Judgement) -> None:
    verdict = judge(yielding(NOTED))
    assert (verdict.verdict, verdict.exercised) == (Verdict.PASS, 1)
    assert [finding.seen for finding in verdict.findings] == ["worth a word"]


def test_an_exception_in_a_check_is_our_error_and_says_where(judge: Judgement) -> None:
    def falls_over(view: ChannelView) -> Iterator[Observation]:
        yield BROKEN
        raise KeyError("surprise")

    verdict = judge(falls_over, yielding(HELD))
    assert verdict.verdict is Verdict.ERROR
    assert verdict.reason == "falls_over on one: KeyError: 'surprise'"


def test_a_break_down_before_it_was_exercised_is_the_reason(judge: Judgement) -> None:
    broken = trace("fragile")
    broken.breakdown = Breakdown(FaultKind.HANG, "no answer")
    verdict = judge(yielding(), traces=(broken,), played=scenario("fragile", lambda stage: None, ID))
    assert verdict.verdict is Verdict.INCONCLUSIVE
    assert verdict.reason == "the implementation broke down first (hang in fragile)"


def test_a_break_down_says_more_than_a_missing_capability(judge: Judgement) -> None:
    broken = trace("fragile")
    broken.breakdown = Breakdown(FaultKind.CRASH, "gone")
    played = scenario("fragile", lambda stage: None, ID)
    verdict = judge(yielding(HELD), traces=(broken,), played=played, needs=(pb.CAPABILITY_SYNC,))
    assert "broke down first (crash in fragile)" in verdict.reason


def test_a_break_down_where_it_was_not_to_be_exercised_is_no_reason(judge: Judgement) -> None:
    broken = trace("fragile")
    broken.breakdown = Breakdown(FaultKind.CRASH, "gone")
    verdict = judge(yielding(), traces=(broken,), played=scenario("fragile", lambda stage: None, OTHER))
    assert verdict.reason == "not exercised"


def test_findings_are_capped_and_the_rest_is_counted(judge: Judgement) -> None:
    traces = tuple(trace(f"run-{number}") for number in range(MAX_FINDINGS + 3))
    verdict = judge(yielding(BROKEN), traces=traces)
    assert len(verdict.findings) == MAX_FINDINGS
    assert verdict.findings_dropped == 3
    assert verdict.exercised == MAX_FINDINGS + 3


def test_one_scenario_does_not_take_the_places_of_all_others(judge: Judgement) -> None:
    verdict = judge(yielding(*[BROKEN] * 10), traces=(trace("loud"), trace("quiet")))
    assert [finding.scenario for finding in verdict.findings] == ["loud", "loud", "quiet", "quiet"]
    assert verdict.findings_dropped == 16


@pytest.mark.parametrize("before", [NOTED, SOFT])
def test_a_failure_that_comes_after_many_lesser_findings_still_fails(judge: Judgement, before: Observation) -> None:
    """Otherwise a sluggish implementation would be cleared of what it gets wrong after its fifth warning."""

    def worse_at_the_end(view: ChannelView) -> Iterator[Observation]:
        yield BROKEN if view.trace.schedule == "last" else before

    traces = (*(trace(f"run-{number}") for number in range(MAX_FINDINGS)), trace("last"))
    verdict = judge(worse_at_the_end, traces=traces)
    assert verdict.verdict is Verdict.FAIL
    assert verdict.findings[0].severity is Verdict.FAIL or verdict.findings[-1].severity is Verdict.FAIL
