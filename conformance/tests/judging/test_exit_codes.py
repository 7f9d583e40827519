"""The exit code of a run follows from its verdicts and breakdowns, and leaving things out is never a fault."""

from __future__ import annotations

import pytest

from run_helpers import ALL_CAPABILITIES, certified, plan, reference, with_verdict
from sds_conformance.judging.certification import Certification
from sds_conformance.judging.exits import Exit
from sds_conformance.judging.runner import BrokenRun
from sds_conformance.judging.verdict import RequirementVerdict, Verdict
from sds_harness.faults import Breakdown, FaultKind
from sds_harness.sds.language import SDS

pytestmark = pytest.mark.exhaustive

EXERCISED = (Verdict.PASS, Verdict.FAIL, Verdict.WARN, Verdict.ERROR)


def summed_up(
    outcome: Certification, *verdicts: Verdict, broken: tuple[FaultKind, ...] = (), strict: bool = False
) -> int:
    """The exit code of a run with these verdicts and breakdowns."""
    what = next(iter(outcome.plan.catalogue.requirements.values()))
    made_up = Certification(outcome.plan, outcome.declaration, "", strict)
    made_up.verdicts = [RequirementVerdict(what, verdict, int(verdict in EXERCISED)) for verdict in verdicts]
    made_up.breakdowns = [BrokenRun("somewhere", 1, "tick", Breakdown(kind, "it broke")) for kind in broken]
    return made_up.exit_code


@pytest.mark.parametrize(
    ("verdicts", "broken", "expected"),
    [
        ((Verdict.PASS,), (), Exit.CONFORMANT),
        ((Verdict.PASS, Verdict.WARN), (), Exit.CONFORMANT),
        ((Verdict.PASS, Verdict.SKIPPED, Verdict.INCONCLUSIVE), (), Exit.CONFORMANT),
        ((Verdict.PASS, Verdict.FAIL), (), Exit.NON_CONFORMANT),
        ((Verdict.PASS, Verdict.ERROR), (), Exit.OURS),
        ((Verdict.PASS, Verdict.ERROR, Verdict.FAIL), (), Exit.NON_CONFORMANT),
        ((Verdict.ERROR,), (FaultKind.HANG,), Exit.NON_CONFORMANT),
        ((Verdict.PASS,), (FaultKind.HANG,), Exit.NON_CONFORMANT),
        ((Verdict.PASS,), (FaultKind.NEVER_EXITS,), Exit.CONFORMANT),
        ((Verdict.PASS,), (FaultKind.NEVER_EXITS, FaultKind.CRASH), Exit.NON_CONFORMANT),
        ((Verdict.PASS, Verdict.INCONCLUSIVE), (FaultKind.TOO_LONG,), Exit.CONFORMANT),
        ((Verdict.INCONCLUSIVE,), (FaultKind.TOO_LONG,), Exit.NOTHING_EXERCISED),
        ((Verdict.INCONCLUSIVE, Verdict.SKIPPED), (), Exit.NOTHING_EXERCISED),
        ((), (), Exit.NOTHING_EXERCISED),
        ((Verdict.INCONCLUSIVE,), (FaultKind.CRASH,), Exit.NOT_DRIVEN),
        ((Verdict.INCONCLUSIVE,), (FaultKind.NEVER_EXITS,), Exit.NOTHING_EXERCISED),
    ],
)
def test_the_exit_code_follows_from_verdicts_and_breakdowns(
    outcome: Certification, verdicts: tuple[Verdict, ...], broken: tuple[FaultKind, ...], expected: int
) -> None:
    assert summed_up(outcome, *verdicts, broken=broken) == expected


def test_a_process_that_never_exits_counts_when_the_run_is_strict(outcome: Certification) -> None:
    assert summed_up(outcome, Verdict.PASS, broken=(FaultKind.NEVER_EXITS,), strict=True) == Exit.NON_CONFORMANT


@pytest.mark.parametrize("capability", sorted(ALL_CAPABILITIES), ids=SDS.name_of)
def test_an_implementation_that_lacks_a_capability_does_not_fail(capability: int) -> None:
    outcome = certified(lambda: reference(without=[capability]))
    assert with_verdict(outcome, Verdict.FAIL, Verdict.WARN, Verdict.ERROR) == set()
    assert outcome.exit_code == Exit.CONFORMANT
    for verdict in outcome.verdicts:
        if verdict.verdict is Verdict.SKIPPED:
            assert SDS.name_of(capability) in verdict.reason


def test_globs_select_and_deselect_requirements() -> None:
    assert plan(["SDS-CONFLICT-*"]).requirements == ("SDS-CONFLICT-01", "SDS-CONFLICT-02", "SDS-CONFLICT-03")
    assert plan(["SDS-CONFLICT-*"], ["*-02"]).requirements == ("SDS-CONFLICT-01", "SDS-CONFLICT-03")
    assert plan(["SDS-CONFLICT-01", "SDS-CONFLICT-01"]).requirements == ("SDS-CONFLICT-01",)
    assert set(plan((), ["SDS-*"]).requirements) == set()


def test_a_selection_of_requirements_leaves_no_scenario_out() -> None:
    """A finding can come from any of them, so one requirement alone is judged as it is among all."""
    assert plan(["SDS-MSG-01"]).scenarios == plan().scenarios
