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


def stopped(reason: str, *, observe: bool = True) -> Trace:
    """A trace of a scenario that ended for a reason."""
    out = trace(observe=observe)
    out.stopped = reason
    return out


def broken(kind: FaultKind) -> Trace:
    out = trace("fragile")
    out.breakdown = Breakdown(kind, "no answer")
    return out


@pytest.mark.parametrize(
    ("traces", "needs", "verdict", "reason"),
    [
        ((), (), Verdict.INCONCLUSIVE, "not exercised"),
        ((trace("a"), trace("b")), (), Verdict.INCONCLUSIVE, "not exercised"),
        (
            (trace(),),
            (pb.CAPABILITY_RESEND_PERIOD, pb.CAPABILITY_DELIVERED),
            Verdict.SKIPPED,
            "not declared: delivered, resend-period",
        ),
        ((trace(observe=False),), (), Verdict.SKIPPED, "not declared: observe"),
        ((stopped("needs the capability sync"),), (), Verdict.SKIPPED, "not declared: sync"),
        ((stopped("needs the capability sync", observe=False),), (), Verdict.SKIPPED, "not declared: sync"),
        (
            (stopped("send was refused: too long", observe=False),),
            (),
            Verdict.INCONCLUSIVE,
            "one: send was refused: too long",
        ),
        (
            (stopped("opening participant 'alice' was refused: no", observe=False),),
            (),
            Verdict.INCONCLUSIVE,
            "one: opening participant 'alice' was refused: no",
        ),
        (
            (broken(FaultKind.HANG),),
            (),
            Verdict.INCONCLUSIVE,
            "the implementation broke down before the requirement was exercised (hang in fragile)",
        ),
        (
            (broken(FaultKind.CRASH),),
            (pb.CAPABILITY_SYNC,),
            Verdict.INCONCLUSIVE,
            "the implementation broke down before the requirement was exercised (crash in fragile)",
        ),
    ],
)
def test_a_requirement_that_was_not_exercised_has_the_reason(
    judge: Judgement, traces: tuple[Trace, ...], needs: tuple[int, ...], verdict: Verdict, reason: str
) -> None:
    played = scenario("one", lambda stage: None, ID)
    found = judge(yielding(), traces=traces, played=played, needs=needs)
    assert (found.verdict, found.reason) == (verdict, reason)
    assert (found.exercised, found.traces) == (0, 0)


def test_a_requirement_without_a_selected_scenario_lacks_no_capability() -> None:
    ids = ["SDS-RECV-05", "SDS-SYNC-01"]
    for observe in (True, False):
        judging = Judge(RULES, ids)
        judging.add(trace(observe=observe), Run(scenario("one", lambda stage: None, "SDS-RECV-05")))
        other = judging.verdicts()[1]
        assert (other.verdict, other.reason) == (
            Verdict.INCONCLUSIVE,
            "not played: no scenario for it was selected",
        )


def test_a_participant_that_is_refused_everywhere_lacks_no_capability() -> None:
    """Of the checks of SDS-MSG-05, one needs a capability that is not declared."""
    judging = Judge(RULES, ["SDS-MSG-05"])
    refused = stopped("opening participant 'alice' was refused: no", observe=False)
    judging.add(refused, Run(scenario("one", lambda stage: None, "SDS-MSG-05")))
    (found,) = judging.verdicts()
    assert (found.verdict, found.reason) == (Verdict.INCONCLUSIVE, f"one: {refused.stopped}")


@pytest.mark.parametrize(
    ("seen", "level", "softened", "strict", "expected", "position"),
    [
        (BROKEN, "MUST", "", False, Verdict.FAIL, ""),
        (BROKEN, "MUST", "AMB-7", False, Verdict.WARN, "AMB-7"),
        (BROKEN, "MUST", "AMB-7", True, Verdict.FAIL, "AMB-7"),
        (BROKEN, "MAY", "", False, Verdict.PASS, ""),
        (BROKEN, "RECOMMENDED", "", False, Verdict.PASS, ""),
        (SOFT, "MUST", "", False, Verdict.WARN, "AMB-99"),
        (SOFT, "MUST NOT", "", False, Verdict.WARN, "AMB-99"),
        (SOFT, "MUST", "", True, Verdict.FAIL, "AMB-99"),
        (SOFT, "SHOULD", "", True, Verdict.WARN, "AMB-99"),
        (SOFT, "MAY", "", True, Verdict.PASS, "AMB-99"),
        (NOTED, "MUST", "", False, Verdict.PASS, ""),
    ],
)
def test_level_position_and_strictness_decide_what_a_violation_is(
    judge: Judgement, seen: Observation, level: str, softened: str, strict: bool, expected: Verdict, position: str
) -> None:
    verdict = judge(yielding(HELD, seen, HELD), level=level, softened=softened, strict=strict)
    (finding,) = verdict.findings
    assert (verdict.verdict, finding.severity, finding.position) == (expected, expected, position)
    assert (finding.expected, finding.seen) == (seen.expected, seen.seen)


def test_an_exception_in_a_check_is_our_error_and_says_where(judge: Judgement) -> None:
    def falls_over(view: ChannelView) -> Iterator[Observation]:
        yield BROKEN
        raise KeyError("surprise")

    verdict = judge(falls_over, yielding(HELD))
    assert verdict.verdict is Verdict.ERROR
    assert verdict.reason == "falls_over on one: KeyError: 'surprise'"


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
