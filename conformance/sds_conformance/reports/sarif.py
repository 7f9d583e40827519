"""A report as SARIF 2.1.0: requirements are its rules, findings its results.

There is no source file in it: where something happened is a scenario, an environment and a step. What a baseline lists
is a result like any other, and says that it is known.
"""

from __future__ import annotations

import json
from datetime import UTC
from hashlib import sha256
from typing import Any

from sds_harness.declaration import printable
from sds_harness.json_text import dumps

from ..judging.tally import wording
from ..protocols import stating
from .plain import alike, sides, started, worst
from .reading import Report
from .standing import by_severity, known_failures, standing, why_unfinished

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {"fail": "error", "warn": "warning", "note": "none"}
"""By the verdict of a finding. Of a warning about a SHOULD, severity 4, the level is "note"."""
RANKS = {1: 100.0, 2: 75.0, 3: 50.0, 4: 25.0}
"""The SARIF rank of a result, by severity."""
_LONGEST = 1000


def sarif(report: Report) -> str:
    """The whole file."""
    data = report.data
    rules = by_severity(report)
    results = [_result(report, number, row, found) for number, row in enumerate(rules) for found in row["findings"]]
    run = {
        "tool": {
            "driver": {
                "name": data["suite"]["name"],
                "version": _text(data["suite"]["version"]),
                "rules": [_rule(row) for row in rules],
            }
        },
        "invocations": [_invocation(report)],
        "results": results,
        "properties": {
            "implementation": report.name,
            "revision": _text(data["revision"]),
            "profile": _text(data["profile"]),
            "standing": _text(standing(report).sentence),
        },
    }
    return dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(row: dict[str, Any]) -> dict[str, Any]:
    protocol = stating(row["id"])
    link = protocol.rules.catalogue.requirements[row["id"]].link if protocol is not None else ""
    return {
        "id": row["id"],
        "shortDescription": {"text": _text(row["statement"])},
        **({"helpUri": link} if link else {}),
        "defaultConfiguration": {"level": "note" if row["severity"] == 4 else "error", "rank": RANKS[row["severity"]]},
        "properties": {
            "level": row["level"],
            "severity": row["severity"],
            "section": _text(row["anchor"]),
            "verdict": row["verdict"],
        },
    }


def _result(report: Report, rule: int, row: dict[str, Any], finding: dict[str, Any]) -> dict[str, Any]:
    violated = finding["severity"] != "note"
    place = f"{finding['scenario']}/{finding['environment']}/{finding['step']}"
    known = known_failures(report, row["id"]) if violated else []
    message = "Expected: {}. Seen: {}. Again: {}".format(*sides(finding), finding["again"])
    more = row["findings_not_shown"] if finding is worst(row) else 0
    return {
        "ruleId": row["id"],
        "ruleIndex": rule,
        "kind": "fail" if violated else "informational",
        "level": "note" if finding["severity"] == "warn" and row["severity"] == 4 else LEVELS[finding["severity"]],
        **({"rank": RANKS[row["severity"]]} if violated else {}),
        "message": {"text": _text(message)},
        "locations": [{"logicalLocations": [{"fullyQualifiedName": _text(place), "name": _text(finding["scenario"])}]}],
        "partialFingerprints": {"requirementCheckKind/v1": _fingerprint(row["id"], finding)},
        "properties": {
            "check": _text(finding["check"]),
            "participant": _text(finding["participant"]),
            "channel": _text(finding["channel"]),
            "step": finding["step"],
            "position": _text(finding["position"]),
            "known": bool(known),
            "notShown": more,
        },
    }


def _fingerprint(requirement: str, finding: dict[str, Any]) -> str:
    """The same for the same kind of violation, whatever names, IDs and times stand in it."""
    kind = (requirement, finding["check"], wording(finding["expected"]), wording(finding["seen"]))
    return sha256(json.dumps(kind).encode()).hexdigest()


def _invocation(report: Report) -> dict[str, Any]:
    told = [
        f"{broken['kind']} in {broken['where']}: {broken['detail']}" for broken, _ in alike(report.data["breakdowns"])
    ]
    unfinished, began = why_unfinished(report), started(report)
    return {
        "executionSuccessful": not unfinished,
        "exitCode": report.data["summary"]["exit_code"],
        **({"startTimeUtc": began.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")} if began else {}),
        "toolExecutionNotifications": [
            {"level": "error", "message": {"text": _text(text)}}
            for text in [*told, *([unfinished] if unfinished else [])]
        ],
    }


def _text(text: str) -> str:
    return printable(text, _LONGEST)
