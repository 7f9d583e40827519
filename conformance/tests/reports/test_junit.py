"""JUnit XML: valid, whole, and what a tool counts is what the report says."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from pathlib import Path

import pytest
import xmlschema
from junitparser import Error, Failure, JUnitXml, Skipped, TestCase

from made_reports import HOSTILE, faulty, hostile, known, known_with_new, outcomes
from sds_conformance.judging.formats import make_times_relative
from sds_conformance.reports.junit import BASELINE, CONVERSATION, junit
from sds_conformance.reports.report import Report

KINDS = outcomes()


@cache
def schema() -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(Path(__file__).with_name("junit.xsd"))


def cases(text: str) -> dict[str, TestCase]:
    """Test cases by the first word of their names."""
    return {str(case.name).split()[0]: case for suite in JUnitXml.fromstring(text.encode()) for case in suite}


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_valid(kind: str) -> None:
    schema().validate(junit(KINDS[kind]()))


def test_failures_of_a_section_stand_by_their_severity() -> None:
    data = deepcopy(faulty().data)
    rows = [row for row in data["requirements"] if row["section"] == "RECV"][:4]
    for row, (verdict, severity) in zip(rows, [("warn", 1), ("fail", 3), ("fail", 1), ("fail", 2)], strict=True):
        row |= {"verdict": verdict, "severity": severity}
    names = list(cases(junit(Report(data))))
    assert sorted((row["id"] for row in rows), key=names.index) == [rows[n]["id"] for n in (2, 3, 1, 0)]


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


def test_what_was_not_judged_says_why() -> None:
    row = next(faulty().requirements("inconclusive"))
    (skipped,) = cases(junit(faulty()))[row["id"]].result
    assert skipped.message == f"inconclusive: {row['reason']}"
    assert skipped.type == "inconclusive"


def test_a_warning_passes_and_is_reported() -> None:
    report = faulty()
    row = next(report.requirements("fail"))
    row["verdict"] = row["findings"][0]["severity"] = "warn"
    case = cases(junit(report))[row["id"]]
    assert case.result == []
    assert row["findings"][0]["again"] in case.system_out


def test_a_failure_names_its_flaky_entry_or_its_known_root_cause() -> None:
    report, root, new = known_with_new(faulty(), flaky=True)
    found = cases(junit(report))
    (failure,) = found[root].result
    assert failure.message.startswith("[known, flaky: not decided yet https://example.org/42] ")
    (failure,) = found[new].result
    assert failure.message.startswith(f"[under the known {root}] ")


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
    (held,) = next(suite for suite in JUnitXml.fromstring(junit(faulty()).encode()) if suite.name == CONVERSATION)
    assert held.result == []


def test_a_report_that_was_cut_off_is_an_error() -> None:
    found = JUnitXml.fromstring(junit(Report(faulty().data, "after line 3")).encode())
    assert found.errors == 1
    assert "cut off after line 3" in junit(Report(faulty().data, "after line 3"))


def test_what_xml_cannot_say_is_replaced_and_nothing_of_a_stranger_is_markup() -> None:
    text = junit(hostile())
    assert HOSTILE not in text
    assert "<script" not in text
    assert not {"\x1b", "\x00", "\ud800", "\ufffe", "\u202e"} & set(text)
    failed = [case for case in cases(text).values() if case.result and isinstance(case.result[0], Failure)]
    assert any("<script>" in case.result[0].message for case in failed)
