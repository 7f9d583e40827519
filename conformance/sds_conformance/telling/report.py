"""Reports: the outcome of a run as JSON, for machines. ``report.schema.json`` beside this module describes it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sds_harness.environment import PLAIN
from sds_harness.files import check_folder, check_whole, make_folder, packaged_schema, write_whole
from sds_harness.json_text import dumps
from sds_testee.version import suite_version

from ..judging.again import Again
from ..judging.causes import Cause, told_as_another
from ..judging.certification import Certification
from ..judging.quoting import counted
from ..judging.registry import scenario_of
from ..judging.runner import BrokenRun
from ..judging.verdict import Finding, RequirementVerdict, Verdict, full_code
from ..protocols import protocol_of

JSON, JSON_LINES, TRACES = "report.json", "report.jsonl", "traces"
"""Names in the folder of a report."""
SCHEMA_ID = "sds-conformance/report/4"
ROWS = {"causes": "cause", "requirements": "requirement", "breakdowns": "breakdown", "ways": "way"}
"""What report.jsonl has a line each of, and how those say what they are. Before them stands a header and after them a
footer with the summary, so that a file that was cut off is told from a whole one."""


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


load_schema = partial(packaged_schema, __package__, "report.schema.json")
"""Gives the JSON Schema (2020-12) of report.json."""


def unusual(options: Mapping[str, tuple[str | None, str | None]]) -> list[str]:
    """Those of which the value, the first, is not the default, the second, as they would be typed."""
    return [word for name, (value, default) in options.items() if value != default for word in (name, value or "")]


def report(outcome: Certification, how: Invocation, left_out_scenarios: int = 0) -> dict[str, Any]:
    """The whole report. ``left_out_scenarios``: how many a selection of requirements left out by itself."""
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
            "limits": {name: limit for name, limit in declared.limits.items() if limit is not None},
            "clock": declared.outside_clock.told if declared.outside_clock is not None else "",
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
        "doubts": list(protocol_of(outcome.plan.revision).words.doubts(outcome.heard)),
        "unplayed": why_unplayed(outcome, left_out_scenarios),
        "notes": [
            {"requirement": note.requirement, "expected": note.expected, "seen": note.seen} for note in _notes(outcome)
        ],
        "baseline": None,
        "summary": summary(outcome),
        "causes": [_cause(cause, how) for cause in outcome.causes],
        "requirements": [_requirement(verdict, outcome, how) for verdict in outcome.verdicts],
        "breakdowns": [_breakdown(broken, outcome, how) for broken in outcome.breakdowns],
        "ways": [_ways(position, outcome) for position in outcome.ways],
    }


def summary(outcome: Certification) -> dict[str, Any]:
    """Counts and the exit code."""
    return {
        **{verdict.value: outcome.count(verdict) for verdict in Verdict},
        "scenarios": outcome.scenarios,
        "environments": [e.name for e in outcome.plan.environments if e.name not in outcome.left_out],
        "left_out": dict(outcome.left_out),
        "runs": outcome.runs,
        "steps": outcome.steps,
        "interrupted": outcome.interrupted,
        "complete": outcome.driven and not (outcome.interrupted or outcome.gave_up or outcome.ended_early),
        "exit_code": outcome.exit_code,
    }


def why_unplayed(outcome: Certification, left_out_scenarios: int = 0) -> list[str]:
    """Sentences about scenarios that were not played, with the reason."""
    out = []
    if outcome.ended_early:
        out.append("The rest was not played: --fail-fast ended the run at the first failure.")
    if outcome.gave_up:
        used_up = f"{outcome.used_up} was used up" if outcome.used_up else ""
        out.append(f"The rest was not played: {used_up or 'the implementation broke down too often in a row'}.")
    if left_out_scenarios:
        played = counted(len(outcome.plan.scenarios), "scenario")
        what = f"{counted(left_out_scenarios, 'other scenario')} may show faults of it, too"
        out.append(f"Only the {played} for what was selected: {what}. --scenario '*' plays all.")
    return out


def _notes(outcome: Certification) -> list[Finding]:
    """Notes on requirements that pass, except those reported under another requirement."""
    passed = [verdict for verdict in outcome.verdicts if verdict.verdict is Verdict.PASS]
    noted = [finding for verdict in passed for finding in verdict.findings[:1] if finding.severity is Verdict.PASS]
    return [note for note in noted if not told_as_another(outcome.plan.rules, note, outcome.verdicts)]


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
        "severity": requirement.severity,
        "anchor": requirement.anchor,
        "statement": requirement.statement,
        "verdict": verdict.verdict.value,
        "exercised": verdict.exercised,
        "runs": sorted(outcome.sightings.get(requirement.id, ())),
        "reason": verdict.reason,
        "findings": [_finding(finding, outcome, how) for finding in verdict.findings],
        "findings_not_shown": verdict.findings_dropped,
        "kinds": [
            {
                "code": full_code(requirement.id, kind.code),
                "severity": kind.severity,
                "scenarios": dict(scenarios.most_common()),
            }
            for kind, scenarios in verdict.tally.kinds.items()
        ],
        **_repeated(verdict.again),
    }


def _repeated(again: Again | None) -> dict[str, Any]:
    """What came of playing something again, nothing if it was not."""
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
        "again": _text(replay_command(verdict.requirement.id, worst(verdict), how)),
    }


def worst(verdict: RequirementVerdict) -> Finding | None:
    """The finding that is told of a requirement, None if none was kept."""
    return next((finding for finding in verdict.findings if finding.severity is verdict.verdict), None)


def _finding(finding: Finding, outcome: Certification, how: Invocation) -> dict[str, Any]:
    severity = "note" if finding.severity is Verdict.PASS else finding.severity.value
    return {
        "severity": severity,
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
        "again": _text(replay_command(finding.requirement, finding, how)),
        **({"stderr": list(finding.said)} if finding.said else {}),
    }


def _breakdown(broken: BrokenRun, outcome: Certification, how: Invocation) -> dict[str, Any]:
    trace = outcome.traces.get(broken.where)
    return {
        "kind": broken.breakdown.kind.value,
        "where": broken.where,
        "step": broken.step,
        "command": broken.command,
        "detail": broken.breakdown.detail,
        "advice": broken.breakdown.advice,
        "stderr": list(broken.breakdown.stderr),
        "again": _text(play_command(broken.where, trace.environment, how)) if trace is not None else "",
        **_repeated(broken.again),
    }


def _ways(position: str, outcome: Certification) -> dict[str, Any]:
    return {
        "position": position,
        "topic": outcome.plan.catalogue.positions[position].question,
        "ways": [asdict(shown) for shown in outcome.ways[position]],
        "error": outcome.way_errors.get(position, ""),
    }


def check_report(folder: Path) -> None:
    """Raises OSError if a link or a node in the folder would make ``write_report`` fail."""
    for name in (JSON, JSON_LINES):
        check_whole(folder / name)
    check_folder(folder / TRACES)


def write_report(folder: Path, data: dict[str, Any], outcome: Certification) -> list[Path]:
    """Write report.json, report.jsonl and the traces of what was found; each file appears whole or not at all.

    Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    check_folder(folder / TRACES)
    header = {key: value for key, value in data.items() if key not in (*ROWS, "summary")}
    lines = [{"type": "header", **header}]
    lines += [{"type": kind, **row} for key, kind in ROWS.items() for row in data[key]]
    lines += [{"type": "footer", "summary": data["summary"], "seconds": round(outcome.seconds, 3)}]
    written = [
        write_whole(folder / JSON, dumps(data, indent=2) + "\n"),
        write_whole(folder / JSON_LINES, "".join(dumps(line) + "\n" for line in lines)),
    ]
    found = {finding.run for verdict in outcome.verdicts for finding in verdict.findings}
    found |= {broken.where for broken in outcome.breakdowns}
    for name in sorted(found & set(outcome.traces)):
        make_folder(folder / TRACES)
        text = "".join(line + "\n" for line in outcome.traces[name].to_json_lines())
        written.append(write_whole(folder / TRACES / f"{name}.jsonl", text))
    return written
