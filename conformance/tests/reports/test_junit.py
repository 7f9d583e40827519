"""JUnit XML: valid, whole, and what a tool counts is what the report says."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import xmlschema
from junitparser import Error, Failure, JUnitXml, Skipped, TestCase

from made_reports import HOSTILE, faulty, hostile, known, outcomes
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


def test_what_xml_cannot_say_is_replaced_and_nothing_of_a_stranger_is_markup() -> None:
    text = junit(hostile())
    assert HOSTILE not in text
    assert "<script" not in text
    assert not {"\x1b", "\x00", "\ud800", "\ufffe", "\u202e"} & set(text)
    failed = [case for case in cases(text).values() if case.result and isinstance(case.result[0], Failure)]
    assert any("<script>" in case.result[0].message for case in failed)


def test_a_trace_that_is_none_costs_no_more_than_the_steps() -> None:
    whole = faulty()
    none: Any = object()
    row = next(whole.requirements("fail"))
    for traces in ({}, {run: none for row in whole.requirements() for run in row["runs"]}):
        (failure,) = cases(junit(Report(whole.data, traces=traces)))[row["id"]].result
        assert "Expected  " in failure.text
        assert "Done  " not in failure.text
