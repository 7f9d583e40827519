"""The document of a report: the results of a run, as the JSON that ``report.schema.json`` describes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cache, partial
from typing import Any

from sds_harness.environment import PLAIN
from sds_harness.files import packaged_schema
from sds_testee.version import suite_version

from ..judging.causes import Cause, is_reported_elsewhere
from ..judging.certification import Certification
from ..judging.finding_replays import FindingReplays
from ..judging.formats import format_count
from ..judging.plan import Plan
from ..judging.runner import BrokenRun
from ..judging.verdict import Finding, RequirementVerdict, Verdict, full_code
from ..presentation.invocation import Invocation
from ..protocols import protocol_of
from ..scenario_files.expectations import ExpectationResult, rows_of

SCHEMA_ID = "sds-conformance/report/4"
ROWS = {"causes": "cause", "requirements": "requirement", "breakdowns": "breakdown", "ways": "way"}
"""Maps the lists of the document to the name of their rows in report.jsonl."""

load_schema = partial(packaged_schema, __package__, "report.schema.json")
"""Returns the JSON Schema (2020-12) of the document."""


@cache
def validator_of(load: Callable[[], dict[str, Any]]) -> Any:
    """Return the validator of the JSON Schema (2020-12) that ``load`` returns."""
    # Import here: commands that read no file need no validator, and the import is slow.
    from jsonschema import Draft202012Validator

    return Draft202012Validator(load())


def document(outcome: Certification, how: Invocation, left_out_scenarios: int = 0) -> dict[str, Any]:
    """Return the document of a run. ``left_out_scenarios`` is the number of scenarios that were not played because of
    the selection of requirements.
    """
    declared = outcome.declaration
    files = _scenario_files(outcome, how)
    return {
        "schema": SCHEMA_ID,
        "suite": {"name": "sds-conformance", "version": suite_version()},
        "implementation": {
            "name": declared.name,
            "version": declared.version,
            "language": declared.language,
            "homepage": declared.homepage,
            "command": [_text(part) for part in how.command],
            "revisions": list(declared.revisions),
            "capabilities": declared.capability_names,
            "limits": {name: limit for name, limit in declared.limits.items() if limit is not None},
            "clock": declared.outside_clock.described if declared.outside_clock is not None else "",
        },
        "started": outcome.started.isoformat(timespec="seconds"),
        "revision": outcome.plan.revision,
        "profile": outcome.plan.profile,
        "whole": not outcome.plan.narrowed,
        "narrowed": sorted(outcome.plan.narrowed),
        "profiles": {**declared.profiles, "dialect": outcome.dialect},
        "framing": how.framing,
        "options": [_text(option) for option in how.options],
        "strict": outcome.strict,
        "sections": {section.id: section.title for section in outcome.plan.catalogue.sections},
        "doubts": list(protocol_of(outcome.plan.revision).doubts(outcome.doubt_data)),
        "unplayed": _unplayed_notes(outcome, left_out_scenarios),
        "notes": [
            {"requirement": note.requirement, "expected": note.expected, "seen": note.seen} for note in _notes(outcome)
        ],
        "baseline": None,
        "summary": summary(outcome),
        "causes": [_cause(cause, how) for cause in outcome.causes],
        "requirements": [_requirement_json(verdict, outcome, how) for verdict in outcome.verdicts],
        "breakdowns": [_breakdown_json(broken, outcome, how) for broken in outcome.breakdowns],
        "ways": [_ways(position, outcome) for position in outcome.ways],
        **({"scenario_files": files} if files else {}),
    }


def _scenario_files(outcome: Certification, how: Invocation) -> list[dict[str, Any]]:
    """Return a row for each scenario file: the requirements that it is for, and its expectations."""
    out = []
    verdicts = {verdict.requirement.id: verdict for verdict in outcome.verdicts}
    for scenario in outcome.plan.scenarios:
        if (file := scenario.file) is None:
            continue
        runs = [run.name for run in outcome.plan.runs if run.scenario is scenario]
        played = [run for run in runs if run in outcome.played_runs]
        exercised = {r: sum(outcome.sightings.get(r, {}).get(run, 0) for run in runs) for r in scenario.declared}
        results = {
            run: ExpectationResult(outcome.unmet_expectations.get(run, ()), outcome.unchecked.get(run, ""))
            for run in played
        }
        out.append(
            {
                "scenario": scenario.name,
                "file": _text(file.path),
                "description": file.description,
                "requirements": [
                    {
                        "id": r,
                        "exercised": exercised[r],
                        "why": "" if exercised[r] else _why_unexercised(r, verdicts, outcome),
                    }
                    for r in scenario.declared
                ],
                "expectations": rows_of(file.expected, results),
                "again": _text(how.play(scenario.name, PLAIN.name)),
            }
        )
    return out


def _why_unexercised(requirement: str, verdicts: Mapping[str, RequirementVerdict], outcome: Certification) -> str:
    """Return why the scenario file of a requirement did not exercise it."""
    plan = outcome.plan
    known = plan.catalogue.requirements[requirement]
    if requirement in verdicts:
        verdict = verdicts[requirement]
        return verdict.reason or "the situation of the requirement did not arise in this scenario"
    if not known.is_stated_in(plan.revision):
        return f"it is not stated in {plan.revision}"
    if requirement not in plan.rules.register.checks:
        return "it has no check"
    return "it was not selected"


def summary(outcome: Certification) -> dict[str, Any]:
    """Return the counts of verdicts and runs, and the exit code."""
    return {
        **{verdict.value: outcome.count(verdict) for verdict in Verdict},
        "scenarios": outcome.scenarios,
        "environments": [e.name for e in outcome.plan.environments if e.name not in outcome.left_out],
        "left_out": dict(outcome.left_out),
        "runs": outcome.runs,
        "steps": outcome.steps,
        "interrupted": outcome.interrupted,
        "complete": outcome.is_driven and not (outcome.interrupted or outcome.gave_up or outcome.ended_early),
        "exit_code": outcome.exit_code,
    }


def _unplayed_notes(outcome: Certification, left_out_scenarios: int) -> list[str]:
    """Return sentences about scenarios that were not played, with the reason."""
    out = []
    if outcome.ended_early:
        out.append("The remaining scenarios were not played: --fail-fast ended the run at the first failure.")
    if outcome.gave_up:
        used_up = f"{outcome.exhausted_resource} was used up" if outcome.exhausted_resource else ""
        out.append(
            f"The remaining scenarios were not played: {used_up or 'the implementation broke down too often in a row'}."
        )
    if left_out_scenarios:
        played = format_count(len(outcome.plan.scenarios), "scenario")
        were = "was" if len(outcome.plan.scenarios) == 1 else "were"
        what = f"{format_count(left_out_scenarios, 'other scenario')} may also show violations"
        out.append(f"Only the {played} for the selected requirements {were} played: {what}. --scenario '*' plays all.")
        if related := _related_requirements(outcome.plan):
            more = f" and {format_count(len(related) - 3, 'more requirement')}" if len(related) > 3 else ""
            out.append(f"The played scenarios also test {', '.join(related[:3])}{more}: not selected, so not judged.")
    return out


def _related_requirements(what: Plan) -> list[str]:
    """Return the requirements that scenarios of the plan test, but that were not selected, by number of scenarios."""
    judged = {one.id for one in what.rules.judged_requirements(what.revision, what.profile)} - set(what.requirements)
    count = Counter(name for scenario in what.scenarios for name in scenario.exercises if name in judged)
    return [name for name, _ in count.most_common()]


def _notes(outcome: Certification) -> list[Finding]:
    """Return the notes, without notes on a deviation that also violates another requirement."""
    passed = [verdict for verdict in outcome.verdicts if verdict.verdict is Verdict.PASS]
    noted = [finding for verdict in passed for finding in verdict.findings[:1] if finding.severity is Verdict.PASS]
    return [note for note in noted if not is_reported_elsewhere(outcome.plan.rules, note, outcome.verdicts)]


def _text(part: str) -> str:
    """Convert a command-line argument, which may be invalid Unicode, to text that JSON accepts."""
    return part.encode("utf-8", "backslashreplace").decode()


def _requirement_json(verdict: RequirementVerdict, outcome: Certification, how: Invocation) -> dict[str, Any]:
    requirement = verdict.requirement
    return {
        "id": requirement.id,
        "section": requirement.section,
        "level": requirement.level,
        "severity": requirement.severity,
        "anchor": requirement.anchor,
        "statement": requirement.statement,
        "verdict": verdict.verdict.value,
        "exercised": verdict.exercised,
        "runs": sorted(outcome.sightings.get(requirement.id, ())),
        "reason": verdict.reason,
        "findings": [_finding_json(finding, outcome, how) for finding in verdict.findings],
        "findings_not_shown": verdict.findings_dropped,
        "kinds": [
            {
                "code": full_code(requirement.id, kind.code),
                "severity": kind.severity,
                "scenarios": dict(scenarios.most_common()),
            }
            for kind, scenarios in verdict.tally.kinds.items()
        ],
        **_replays_json(verdict.replays),
    }


def _replays_json(again: FindingReplays | None) -> dict[str, Any]:
    return {"repeated": asdict(again)} if again is not None else {}


def _cause(cause: Cause, how: Invocation) -> dict[str, Any]:
    verdict = cause.verdict
    return {
        "requirement": verdict.requirement.id,
        "verdict": verdict.verdict.value,
        "severity": cause.severity,
        "violations": verdict.tally.total,
        "scenarios": verdict.tally.scenarios,
        "under": [{"requirement": under.requirement.id, "why": why} for under, why in cause.under],
        "again": _text(how.replay(verdict.requirement.id, verdict.worst)),
        **({"title": _text(cause.title)} if cause.title else {}),
    }


def _finding_json(finding: Finding, outcome: Certification, how: Invocation) -> dict[str, Any]:
    return {
        "severity": finding.severity_name,
        "code": finding.full_code,
        "scenario": finding.scenario,
        "environment": finding.environment,
        "participant": finding.participant,
        "channel": finding.channel_id,
        "step": finding.step,
        "rule": outcome.plan.catalogue.requirements[finding.requirement].statement,
        "expected": finding.expected,
        "seen": finding.seen,
        "position": finding.position,
        "again": _text(how.replay(finding.requirement, finding)),
        **({"stderr": list(finding.stderr_lines)} if finding.stderr_lines else {}),
    }


def _breakdown_json(broken: BrokenRun, outcome: Certification, how: Invocation) -> dict[str, Any]:
    trace = outcome.traces.get(broken.where)
    return {
        "kind": broken.breakdown.kind.value,
        "where": broken.where,
        "step": broken.step,
        "command": broken.command,
        "detail": broken.breakdown.detail,
        "advice": broken.breakdown.advice,
        "stderr": list(broken.breakdown.stderr),
        "again": _text(how.play(broken.where, trace.environment)) if trace is not None else "",
        **_replays_json(broken.replays),
    }


def _ways(position: str, outcome: Certification) -> dict[str, Any]:
    return {
        "position": position,
        "topic": outcome.plan.catalogue.positions[position].question,
        "ways": [asdict(shown) for shown in outcome.ways[position]],
        "error": outcome.way_errors.get(position, ""),
    }
