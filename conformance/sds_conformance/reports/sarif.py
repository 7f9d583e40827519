"""A report as SARIF 2.1.0: each code with findings becomes a rule, each finding a result.

The location of a finding is its scenario, environment and step. The location of an unmet expectation is its line in the
scenario file. A failure in a baseline is a result with `known` set. A new failure under a known root cause has the
requirement of the root cause as `underKnown`.
"""

from __future__ import annotations

from datetime import UTC
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from sds_harness.declaration import printable
from sds_harness.json_text import dumps

from ..presentation.links import documentation_link, text_link
from ..protocols import stating
from .gfm import prose
from .overall_result import compute_overall_result
from .report import Report, Row, Unmet, sides, worst
from .scenario_files import SUITE

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {"fail": "error", "warn": "warning", "note": "none"}
"""Maps the verdict of a finding to a SARIF level. The level of a warning about a SHOULD (severity 4) is "note"."""
RANKS = {1: 100.0, 2: 75.0, 3: 50.0, 4: 25.0}
"""Maps the severity to the SARIF rank of a result."""
_LONGEST = 1000


def sarif(report: Report) -> str:
    """Render a report as a SARIF document in JSON."""
    data = report.data
    found = [(row, finding) for row in report.sort_by_severity() for finding in row["findings"]]
    rules = {finding["code"]: _rule(finding["code"], row) for row, finding in found}
    places = {code: number for number, code in enumerate(rules)}
    results = [_result(report, places[finding["code"]], row, finding) for row, finding in found]
    if report.unmet:
        rules[SUITE] = {"id": SUITE, "shortDescription": {"text": "An expectation of a scenario file was not met."}}
    results += [_unmet_result(len(rules) - 1, one) for one in report.unmet]
    run = {
        "tool": {
            "driver": {
                "name": data["suite"]["name"],
                "version": _text(data["suite"]["version"]),
                "rules": list(rules.values()),
            }
        },
        "invocations": [_invocation(report)],
        "results": results,
        "properties": {
            "implementation": report.name,
            "revision": _text(data["revision"]),
            "profile": _text(data["profile"]),
            "standing": _text(compute_overall_result(report).sentence),
        },
    }
    return dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(code: str, row: Row) -> dict[str, Any]:
    protocol = stating(row["id"])
    stated = protocol.rules.catalogue.requirements[row["id"]] if protocol is not None else None
    described = stated.codes.get(code.partition("/")[2], "") if stated is not None else ""
    return {
        "id": _text(code),
        "shortDescription": {"text": _text(described or row["statement"])},
        "help": _help(row),
        **({"helpUri": uri} if (uri := documentation_link(row["id"]) or text_link(row["id"])) else {}),
        "defaultConfiguration": {"level": "note" if row["severity"] == 4 else "error", "rank": RANKS[row["severity"]]},
        "properties": {
            "requirement": row["id"],
            "level": row["level"],
            "severity": row["severity"],
            "section": _text(row["anchor"]),
            "verdict": row["verdict"],
        },
    }


def _help(row: Row) -> dict[str, str]:
    """Return the statement of a requirement, with links to the documentation and the published specification if they
    exist.
    """
    links = {"Documentation": documentation_link(row["id"]), "Public text": text_link(row["id"])}
    linked = [f"[{name}]({address})" for name, address in links.items() if address]
    text = _text(row["statement"])
    return {"text": text, **({"markdown": f"{prose(text)}\n\n{', '.join(linked)}"} if linked else {})}


def _result(report: Report, rule: int, row: Row, finding: Row) -> dict[str, Any]:
    violated = finding["severity"] != "note"
    place = f"{finding['scenario']}/{finding['environment']}/{finding['step']}"
    known = report.known_failures(row["id"]) if violated else []
    message = "Expected: {}. Seen: {}. Again: {}".format(*sides(finding), finding["again"])
    more = row["findings_not_shown"] if finding is worst(row) else 0
    return {
        "ruleId": _text(finding["code"]),
        "ruleIndex": rule,
        "kind": "fail" if violated else "informational",
        "level": "note" if finding["severity"] == "warn" and row["severity"] == 4 else LEVELS[finding["severity"]],
        **({"rank": RANKS[row["severity"]]} if violated else {}),
        "message": {"text": _text(message)},
        "locations": [{"logicalLocations": [{"fullyQualifiedName": _text(place), "name": _text(finding["scenario"])}]}],
        "partialFingerprints": {"code/v1": sha256(finding["code"].encode("utf-8", "backslashreplace")).hexdigest()},
        "properties": {
            "participant": _text(finding["participant"]),
            "channel": _text(finding["channel"]),
            "step": finding["step"],
            "position": _text(finding["position"]),
            "known": bool(known),
            "underKnown": _text(report.known_cause(row["id"])) if violated else "",
            "notShown": more,
        },
    }


def _unmet_result(rule: int, one: Unmet) -> dict[str, Any]:
    """Return the result for an expectation that was not met. The location of the result is the line of the expectation
    in the scenario file.
    """
    line = one.data["line"]
    place = {
        "artifactLocation": {"uri": quote(_text(one.file["file"]))},
        **({"region": {"startLine": line}} if line else {}),
    }
    return {
        "ruleId": SUITE,
        "ruleIndex": rule,
        "kind": "fail",
        "level": "error",
        "message": {"text": _text(f"{one.sentence}. Again: {one.file['again']}")},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"code/v1": sha256(f"{SUITE}/{one.data['text']}".encode()).hexdigest()},
    }


def _invocation(report: Report) -> dict[str, Any]:
    messages = [f"{broken['kind']} in {broken['where']}: {broken['detail']}" for broken, _ in report.breakdowns]
    unfinished, began = report.why_incomplete, report.start_time
    return {
        "executionSuccessful": not unfinished,
        "exitCode": report.data["summary"]["exit_code"],
        **({"startTimeUtc": began.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")} if began else {}),
        "toolExecutionNotifications": [
            {"level": "error", "message": {"text": _text(text)}}
            for text in [*messages, *([unfinished] if unfinished else [])]
        ],
    }


def _text(text: str) -> str:
    return printable(text, _LONGEST)
