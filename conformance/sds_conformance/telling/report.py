"""Reports: the outcome of a run as JSON, for machines. ``report.schema.json`` beside this module describes it."""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from sds_harness.environment import PLAIN
from sds_testee.version import suite_version

from ..judging.certification import Certification
from ..judging.registry import scenario_of
from ..judging.runner import BrokenRun
from ..judging.verdict import Finding, RequirementVerdict, Verdict
from ..protocols import protocol_of

SCHEMA_ID = "sds-conformance/report/1"


@dataclass(frozen=True)
class Invocation:
    """How the implementation was driven."""

    command: tuple[str, ...]
    """Empty for a server that runs already: ``options`` say where."""
    framing: str = "json"
    options: tuple[str, ...] = ()
    """Options of the command line that a command to see it again must repeat."""
    program: str = "sds-conformance"
    """The suite as it was called."""


def load_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of report.json."""
    schema: dict[str, Any] = json.loads(files(__package__).joinpath("report.schema.json").read_text("utf-8"))
    return schema


def report(outcome: Certification, how: Invocation) -> dict[str, Any]:
    """The whole report."""
    declared = outcome.declaration
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
            "clock": declared.outside_clock.told if declared.outside_clock is not None else "",
        },
        "revision": outcome.plan.revision,
        "profiles": {**declared.profiles, "dialect": outcome.dialect},
        "framing": how.framing,
        "strict": outcome.strict,
        "doubts": list(protocol_of(outcome.plan.revision).words.doubts(outcome.traces.values())),
        "summary": summary(outcome),
        "requirements": [_requirement(verdict, outcome, how) for verdict in outcome.verdicts],
        "breakdowns": [_breakdown(broken) for broken in outcome.breakdowns],
    }


def summary(outcome: Certification) -> dict[str, Any]:
    """Counts and the exit code."""
    return {
        **{verdict.value: outcome.count(verdict) for verdict in Verdict},
        "scenarios": outcome.scenarios,
        "environments": [e.name for e in outcome.plan.environments if e.name not in outcome.left_out],
        "runs": outcome.runs,
        "steps": outcome.steps,
        "interrupted": outcome.interrupted,
        "complete": outcome.driven and not outcome.interrupted and not outcome.gave_up,
        "exit_code": outcome.exit_code,
    }


def replay_command(requirement: str, finding: Finding | None, how: Invocation) -> str:
    """What to type to see it again."""
    options = ("--select", requirement)
    return _typed(how, *options) if finding is None else play_command(finding.run, finding.environment, how, *options)


def play_command(run: str, environment: str, how: Invocation, *options: str) -> str:
    """What to type to play one run again."""
    where = ("--environment", environment) if environment != PLAIN.name else ()
    return _typed(how, *options, "--scenario", scenario_of(run), *where)


def _typed(how: Invocation, *options: str) -> str:
    return shlex.join([how.program, "run", *options, *how.options, *(["--", *how.command] if how.command else [])])


def _text(part: str) -> str:
    """What is no text on a command line has no place in JSON."""
    return part.encode("utf-8", "backslashreplace").decode()


def _requirement(verdict: RequirementVerdict, outcome: Certification, how: Invocation) -> dict[str, Any]:
    requirement = verdict.requirement
    return {
        "id": requirement.id,
        "section": requirement.section,
        "level": requirement.level,
        "verdict": verdict.verdict.value,
        "exercised": verdict.exercised,
        "runs": sorted(outcome.sightings.get(requirement.id, ())),
        "reason": verdict.reason,
        "findings": [_finding(finding, outcome, how) for finding in verdict.findings],
        "findings_not_shown": verdict.findings_dropped,
    }


def _finding(finding: Finding, outcome: Certification, how: Invocation) -> dict[str, Any]:
    severity = "note" if finding.severity is Verdict.PASS else finding.severity.value
    return {
        "severity": severity,
        "check": finding.check,
        "scenario": finding.scenario,
        "environment": finding.environment,
        "participant": finding.participant,
        "channel": finding.channel_id,
        "step": finding.step,
        "rule": outcome.plan.catalogue.requirements[finding.requirement].statement,
        "expected": finding.expected,
        "seen": finding.seen,
        "position": finding.position,
        "again": _text(replay_command(finding.requirement, finding, how)),
    }


def _breakdown(broken: BrokenRun) -> dict[str, Any]:
    return {
        "kind": broken.breakdown.kind.value,
        "where": broken.where,
        "step": broken.step,
        "command": broken.command,
        "detail": broken.breakdown.detail,
        "advice": broken.breakdown.advice,
        "stderr": list(broken.breakdown.stderr),
    }


def write_report(folder: Path, data: dict[str, Any], outcome: Certification) -> list[Path]:
    """Write report.json, report.jsonl and the traces of what was found; each file appears whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    about = ("schema", "suite", "implementation", "revision", "profiles", "framing", "strict", "doubts")
    header = {key: data[key] for key in about}
    lines = [{"type": "header", **header}]
    lines += [{"type": "requirement", **row} for row in data["requirements"]]
    lines += [{"type": "breakdown", **row} for row in data["breakdowns"]]
    lines += [{"type": "footer", "summary": data["summary"], "seconds": round(outcome.seconds, 3)}]
    written = [
        write_whole(folder / "report.json", json.dumps(data, ensure_ascii=False, indent=2) + "\n"),
        write_whole(folder / "report.jsonl", "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)),
    ]
    found = {finding.run for verdict in outcome.verdicts for finding in verdict.findings}
    found |= {broken.where for broken in outcome.breakdowns}
    for name in sorted(found & set(outcome.traces)):
        (folder / "traces").mkdir(exist_ok=True)
        text = "".join(line + "\n" for line in outcome.traces[name].to_json_lines())
        written.append(write_whole(folder / "traces" / f"{name}.jsonl", text))
    return written


def write_whole(path: Path, text: str) -> Path:
    """Write a file that appears whole or not at all. Raises OSError."""
    # A surrogate can reach us in an ID; it must not cost the report.
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(text, "utf-8", errors="backslashreplace")
    os.replace(temporary, path)
    return path
