"""A conversation that breaks: the step without a reply is no evidence for a violation or a note."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sds_conformance.judging.plan import plan
from sds_conformance.judging.run_summary import TraceJudge
from sds_conformance.judging.runner import Runner
from sds_conformance.protocols import protocol_of
from sds_harness.faults import Breakdown, FaultKind
from sds_harness.link import Limits
from sds_harness.trace import Trace

CRASH = Breakdown(FaultKind.CRASH, "exited with status 2")


def broken_at(trace: Trace[Any], index: int) -> Trace[Any]:
    """The trace of an implementation that crashed at the step with this index."""
    before, last = trace.steps[: index - 1], replace(trace.steps[index - 1], reply=None)
    opened = {step.participant for step in before if step.answer == "opened"}
    parties = {name: party for name, party in trace.parties.items() if name in opened}
    return replace(trace, steps=[*before, last], parties=parties, breakdown=CRASH, _steps_of={}, _sorted=0)


@pytest.mark.parametrize(
    ("revision", "scenario"),
    [
        ("sds-2026-01", "messages-of-all-shapes-are-dependencies"),
        ("sds-2026-01", "named-in-a-history"),
        ("sds-2026-01", "contents-of-growing-length"),
        ("sds-2026-01", "it-resends-all-the-time"),
        ("sds-2026-01", "unknown-fields-of-fixed-length"),
        ("clearskies-database", "changes-are-passed-on"),
    ],
)
def test_a_crash_at_any_step_is_no_evidence(revision: str, scenario: str) -> None:
    protocol = protocol_of(revision)
    rules = protocol.rules
    everything = [requirement.id for requirement in rules.judged_requirements(revision, rules.full)]
    what = plan(rules, everything, (), rules.full, revision, scenarios=[scenario], environments=["plain"])
    runner = Runner(lambda _: protocol.model.reference(frozenset()), Limits(), rules, revision)
    runner.start()
    judge = TraceJudge(rules, what.requirements)
    for run, trace in runner.play(what.runs):
        for index in range(1, len(trace.steps) + 1):
            results = judge.judge(broken_at(trace, index)).results
            found = {name: result.reported for name, result in results.items() if result.reported or result.error}
            assert found == {}, f"{run.name} broken at step {index}"
