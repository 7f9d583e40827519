"""JUnit XML, SARIF and annotations of GitHub: valid, whole, and without a command or markup of a stranger."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import xmlschema
from junitparser import Error, Failure, JUnitXml, Skipped, TestCase
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Sarif

from made_reports import HOSTILE, faulty, hostile, known, known_with_new, outcomes
from sds_conformance.judging.formats import make_times_relative
from sds_conformance.reports.annotations import MOST
from sds_conformance.reports.annotations import annotations as annotate
from sds_conformance.reports.junit import BASELINE, CONVERSATION, junit
from sds_conformance.reports.report import Report
from sds_conformance.reports.sarif import sarif

KINDS = outcomes()
SCHEMA = xmlschema.XMLSchema(Path(__file__).with_name("junit.xsd"))
COMMAND = re.compile(r"::(error|warning|notice) ((?:[a-z]+=[^,:\r\n]*,?)+)::([^\r\n]*)")


@pytest.mark.parametrize("kind", KINDS)
def test_every_form_of_every_report_is_valid(kind: str) -> None:
    report = KINDS[kind]()
    SCHEMA.validate(junit(report))
    Sarif.model_validate_json(sarif(report).encode("utf-8"))
    found = commands(annotate(report))
    assert found
    for level in ("error", "warning", "notice"):
        assert sum(level == one for one, _, _ in found) <= MOST
    assert {key for _, properties, _ in found for key in properties} <= {"title", "file", "line"}


# ---- JUnit -------------------------------------------------------------------------------------------------------


def cases(text: str) -> dict[str, TestCase]:
    """Test cases by the first word of their names."""
    return {str(case.name).split()[0]: case for suite in JUnitXml.fromstring(text.encode()) for case in suite}


def test_every_requirement_is_a_test_case_with_its_verdict() -> None:
    report = faulty()
    found = cases(junit(report))
    results = {"fail": [Failure], "skipped": [Skipped], "inconclusive": [Skipped], "error": [Error]}
    for row in report.requirements():
        assert [type(result) for result in found[row["id"]].result] == results.get(row["verdict"], [])
        assert found[row["id"]].classname == report.data["sections"][row["section"]]
    read = JUnitXml.fromstring(junit(report).encode())
    assert read.failures == report.data["summary"]["fail"] > 0
    assert read.skipped == report.data["summary"]["skipped"] + report.data["summary"]["inconclusive"] > 0
    assert read.tests == len(list(report.requirements())) + 1


def test_a_failure_says_what_was_seen_and_how_to_see_it_again() -> None:
    row = next(faulty().requirements("fail"))
    (failure,) = cases(junit(faulty()))[row["id"]].result
    finding = row["findings"][0]
    assert failure.type == finding["code"]
    assert make_times_relative(finding["seen"]) in failure.message
    assert "\n" not in failure.message
    for output in (row["statement"], "Scenario  ", "Done  ", "Expected  ", "Seen  ", f"Again: {finding['again']}"):
        assert output in failure.text


def test_a_trace_that_is_none_costs_no_more_than_the_steps() -> None:
    whole = faulty()
    none: Any = object()
    row = next(whole.requirements("fail"))
    for traces in ({}, {run: none for row in whole.requirements() for run in row["runs"]}):
        (failure,) = cases(junit(Report(whole.data, traces=traces)))[row["id"]].result
        assert "Expected  " in failure.text
        assert "Done  " not in failure.text


def test_a_known_failure_is_a_failure_that_says_so() -> None:
    row = next(faulty().requirements("fail"))
    report = known(faulty(), row["id"], complaints=1)
    (failure,) = cases(junit(report))[row["id"]].result
    assert isinstance(failure, Failure)
    assert failure.message.startswith("[known: not decided yet https://example.org/42] ")
    (complaint,) = next(suite for suite in JUnitXml.fromstring(junit(report).encode()) if suite.name == BASELINE)
    assert complaint.result[0].message == "it is listed and passes"


def test_what_broke_the_conversation_is_an_error_once() -> None:
    suites = {suite.name: list(suite) for suite in JUnitXml.fromstring(junit(KINDS["broken"]()).encode())}
    (case,) = suites[CONVERSATION]
    assert isinstance(case.result[0], Error)
    assert case.result[0].type == "crash"
    assert "segmentation fault" in case.result[0].text


def test_what_xml_cannot_say_is_replaced_and_nothing_of_a_stranger_is_markup() -> None:
    text = junit(hostile())
    assert HOSTILE not in text
    assert "<script" not in text
    assert not {"\x1b", "\x00", "\ud800", "\ufffe", "\u202e"} & set(text)
    failed = [case for case in cases(text).values() if case.result and isinstance(case.result[0], Failure)]
    assert any("<script>" in case.result[0].message for case in failed)


# ---- SARIF -------------------------------------------------------------------------------------------------------


def run_of(report: Report) -> dict[str, Any]:
    (run,) = json.loads(sarif(report))["runs"]
    assert isinstance(run, dict)
    return run


def test_codes_are_rules_and_findings_are_results() -> None:
    report = faulty()
    run = run_of(report)
    rules = run["tool"]["driver"]["rules"]
    findings = [finding for row in report.sort_by_severity() for finding in row["findings"]]
    assert [rule["id"] for rule in rules] == list(dict.fromkeys(finding["code"] for finding in findings))
    stated = {row["id"]: row["statement"] for row in report.requirements()}
    assert all(rule["help"]["text"] == stated[rule["properties"]["requirement"]] for rule in rules)
    assert all(rule["helpUri"].endswith(f"/sds.md#{rule['properties']['section']}") for rule in rules)
    assert len(run["results"]) == len(findings) > 0
    for result, finding in zip(run["results"], findings, strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == finding["code"]
        softly = "note" if rules[result["ruleIndex"]]["properties"]["severity"] == 4 else "warning"
        assert result["level"] == {"fail": "error", "warn": softly, "note": "none"}[finding["severity"]]
        assert finding["seen"] in result["message"]["text"]
        (location,) = result["locations"][0]["logicalLocations"]
        assert location["fullyQualifiedName"] == f"{finding['scenario']}/{finding['environment']}/{finding['step']}"


def test_the_same_fault_with_other_names_has_the_same_fingerprint() -> None:
    first, again = faulty(), faulty()
    finding = next(again.requirements("fail"))["findings"][0]
    finding["seen"] = finding["seen"].replace("'", "'other-", 1)
    finding["step"] += 3
    prints = [[one["partialFingerprints"] for one in run_of(report)["results"]] for report in (first, again)]
    assert prints[0] == prints[1]
    finding["code"] += "-otherwise"
    assert [one["partialFingerprints"] for one in run_of(again)["results"]] != prints[0]


# ---- Annotations -------------------------------------------------------------------------------------------------


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Level, properties and message of each line. Any other line fails the test."""
    out = []
    for line in re.split(r"\r\n|\r|\n", text.removesuffix("\n")):
        found = COMMAND.fullmatch(line)
        assert found, line
        properties = dict(part.split("=", 1) for part in found[2].split(","))
        out.append((found[1], {key: _read(what) for key, what in properties.items()}, _read(found[3])))
    return out


def _read(text: str) -> str:
    for code, sign in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, sign)
    return text


def test_there_is_an_annotation_for_each_root_cause() -> None:
    report = faulty()
    errors = [(properties, message) for level, properties, message in commands(annotate(report)) if level == "error"]
    causes = [cause for cause in report.data["causes"] if cause["verdict"] == "fail"]
    assert len(errors) == len(causes) > 0
    for (properties, message), cause in zip(errors, causes, strict=True):
        assert re.match(rf"{cause['requirement']}/[a-z-]+ fails, ", properties["title"])
        row = next(row for row in report.requirements() if row["id"] == cause["requirement"])
        assert message.splitlines()[0] == row["statement"]
        assert f"Seen: {row['findings'][0]['seen']}" in message
        assert message.splitlines()[-1] == f"Again: {cause['again']}"


def test_a_line_of_the_baseline_that_is_wrong_is_pointed_at() -> None:
    cause = faulty().data["causes"][1]
    requirement, below = cause["requirement"], cause["under"][0]["requirement"]
    found = commands(annotate(known(faulty(), requirement, below, complaints=1)))
    level, properties, message = found[0]
    assert (level, properties["file"], properties["line"]) == ("error", "known.toml", "9")
    assert "out of date: SDS-MSG-01" in properties["title"]
    assert message == "it is listed and passes\nremove the line"
    (level, properties, message), *_ = (one for one in found if one[1]["title"].startswith(requirement))
    assert level == "warning"
    assert "which the baseline lists" in properties["title"]
    assert "Known: not decided yet https://example.org/42" in message


def test_a_new_failure_under_a_known_cause_names_the_cause() -> None:
    report, root, new = known_with_new(faulty())
    (found,) = [one for one in commands(annotate(report)) if f"known root cause {root}/" in one[1]["title"]]
    level, properties, message = found
    assert level == "error"
    assert re.match(rf"{new} is new under the known root cause {root}/", properties["title"])
    assert "Known: not decided yet" in message
    for result in run_of(report)["results"]:
        if result["kind"] == "fail":
            requirement = result["ruleId"].partition("/")[0]
            assert result["properties"]["underKnown"] == (root if requirement == new else "")
            assert result["properties"]["known"] == (requirement == root)


@pytest.mark.parametrize(
    ("kind", "level", "output"),
    [
        ("broken", "error", "crash in ties and 1 more"),
        ("cut off", "error", "incomplete"),
        ("nothing", "error", "nothing exercised"),
        ("whole", "notice", ""),
    ],
)
def test_what_broke_or_was_not_judged_is_an_error_and_else_all_is_well(kind: str, level: str, output: str) -> None:
    found = commands(annotate(KINDS[kind]()))
    assert any(one == level and output in properties["title"] for one, properties, _ in found)
    assert level == "error" or len(found) == 1
