"""SARIF, by a model that was generated from its schema."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Sarif

from made_reports import changed, faulty, known_with_new, outcomes
from sds_conformance.reports.report import Report
from sds_conformance.reports.sarif import sarif

KINDS = outcomes()


def run_of(report: Report) -> dict[str, Any]:
    (run,) = json.loads(sarif(report))["runs"]
    assert isinstance(run, dict)
    return run


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_valid(kind: str) -> None:
    Sarif.model_validate_json(sarif(KINDS[kind]()).encode("utf-8"))


def test_codes_are_rules_and_findings_are_results() -> None:
    report = faulty()
    run = run_of(report)
    rules = run["tool"]["driver"]["rules"]
    codes = [finding["code"] for row in report.sort_by_severity() for finding in row["findings"]]
    assert [rule["id"] for rule in rules] == list(dict.fromkeys(codes))
    stated = {row["id"]: row["statement"] for row in report.requirements()}
    assert all(rule["help"]["text"] == stated[rule["properties"]["requirement"]] for rule in rules)
    assert all(rule["helpUri"].endswith(f"/sds.md#{rule['properties']['section']}") for rule in rules)
    severities = [rule["properties"]["severity"] for rule in rules if rule["properties"]["verdict"] == "fail"]
    assert severities == sorted(severities)
    findings = [(finding["code"], finding) for row in report.sort_by_severity() for finding in row["findings"]]
    assert len(run["results"]) == len(findings) > 0
    for result, (code, finding) in zip(run["results"], findings, strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == code
        softly = "note" if rules[result["ruleIndex"]]["properties"]["severity"] == 4 else "warning"
        assert result["level"] == {"fail": "error", "warn": softly, "note": "none"}[finding["severity"]]
        assert finding["seen"] in result["message"]["text"]
        (location,) = result["locations"][0]["logicalLocations"]
        assert location["fullyQualifiedName"] == f"{finding['scenario']}/{finding['environment']}/{finding['step']}"


def test_a_new_failure_under_a_known_cause_names_the_cause() -> None:
    report, root, new = known_with_new(faulty())
    for result in run_of(report)["results"]:
        if result["kind"] == "fail":
            requirement = result["ruleId"].partition("/")[0]
            assert result["properties"]["underKnown"] == (root if requirement == new else "")
            assert result["properties"]["known"] == (requirement == root)


def test_the_same_fault_with_other_names_has_the_same_fingerprint() -> None:
    first, again = faulty(), faulty()
    finding = next(again.requirements("fail"))["findings"][0]
    finding["seen"] = finding["seen"].replace("'", "'other-", 1)
    finding["step"] += 3
    prints = [[one["partialFingerprints"] for one in run_of(report)["results"]] for report in (first, again)]
    assert prints[0] == prints[1]
    finding["code"] += "-otherwise"
    assert [one["partialFingerprints"] for one in run_of(again)["results"]] != prints[0]


def test_a_run_that_did_not_end_is_reported() -> None:
    (invocation,) = run_of(Report(faulty().data, "after line 3"))["invocations"]
    assert not invocation["executionSuccessful"]
    assert "cut off after line 3" in invocation["toolExecutionNotifications"][0]["message"]["text"]
    (invocation,) = run_of(changed(faulty(), started="yesterday"))["invocations"]
    assert "startTimeUtc" not in invocation
