"""A report as JUnit XML, for Jenkins, GitLab, GitHub, Azure and other tools.

A section of the specification is a test suite, a requirement is a test case. Failures in a baseline are failures in
this file, too. CI should use the exit code of the run, which takes the baseline into account.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from sds_harness.declaration import clean_text, printable

from .overall_result import compute_overall_result
from .plain_text import format_breakdown, story
from .report import Report, Row, Unmet, flaky, sides, worst
from .scenario_files import SUITE

CONVERSATION = "conversation"
"""Name of the JUnit test suite that lists breakdowns."""
BASELINE = "baseline"
"""Name of the JUnit test suite that lists wrong lines of the baseline."""
_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'
_TITLE = 100


def junit(report: Report) -> str:
    """Render a report as JUnit XML."""
    sections: dict[str, list[TestCase]] = {}
    for row in report.sort_by_severity():
        sections.setdefault(_section(report, row), []).append(_case(report, row))
    sections[CONVERSATION] = _conversation(report)
    if report.scenario_files:
        sections[SUITE] = _scenario_files(report)
    if report.data["baseline"] is not None:
        sections[BASELINE] = _baseline(report)
    about = {key: report.data[key] for key in ("revision", "profile")}
    about |= {"implementation": report.name, "standing": compute_overall_result(report).sentence}
    suites = JUnitXml(clean_text(f"{report.data['suite']['name']}: {report.name}"))
    for title, cases in sections.items():
        suites.add_testsuite(_suite(title, cases, about, report.start_time))
    suites.update_statistics()
    return f"{_DECLARATION}\n{suites.tostring().decode('utf-8')}\n"


def _suite(title: str, cases: list[TestCase], about: Mapping[str, str], began: datetime | None) -> TestSuite:
    suite = TestSuite(title)
    if began is not None:
        suite.timestamp = began.strftime("%Y-%m-%dT%H:%M:%S")
    for key, what in about.items():
        suite.add_property(key, clean_text(what))
    suite.add_testcases(cases)
    return suite


def _section(report: Report, row: Row) -> str:
    return printable(report.data["sections"].get(row["section"], row["section"]), _TITLE)


def _case(report: Report, row: Row) -> TestCase:
    case = _make_test_case(f"{row['id']} {printable(row['statement'], _TITLE)}", _section(report, row))
    finding = worst(row)
    match row["verdict"]:
        case "fail":
            code = finding["code"] if finding else row["id"]
            case.result = _with_text(
                Failure(_failure_message(report, row, finding), clean_text(code)), _failure_text(report, row, finding)
            )
        case "warn":
            case.system_out = _failure_text(report, row, finding)
        case "skipped" | "inconclusive":
            case.result = Skipped(clean_text(f"{row['verdict']}: {row['reason']}"), row["verdict"])
        case "error":
            case.result = Error(clean_text(row["reason"]), "suite")
    return case


def _make_test_case(name: str, kind: str) -> TestCase:
    """Return a test case. Its time is 0, because the time per requirement is unknown and some tools need a number."""
    return TestCase(clean_text(name), clean_text(kind), 0)


def _with_text(result: Failure | Error, text: str) -> Failure | Error:
    result.text = clean_text(text)
    return result


def _failure_message(report: Report, row: Row, finding: Row | None) -> str:
    """Return the message, which is the only line that many tools show. It begins with the entry of the baseline, or
    with the known root cause, if there is one.
    """
    entries = report.known_failures(row["id"])
    reasons = [" ".join(filter(None, (entry["reason"], entry["link"]))) for entry in entries]
    label = "known, flaky" if any(entry.get("flaky") for entry in entries) else "known"
    seen = "expected {}; seen: {}".format(*sides(finding)) if finding else "failed"
    seen = f"severity {row['severity']}: {seen}"
    seen = f"[{flaky(row)}] {seen}" if flaky(row) else seen
    if cause := report.known_cause(row["id"]):
        seen = f"[under the known {cause}] {seen}"
    return clean_text(f"[{label}: {'; '.join(reasons)}] {seen}" if reasons else seen)


def _failure_text(report: Report, row: Row, finding: Row | None) -> str:
    rule = f"{row['level']}, section {row['anchor']!r}: {row['statement']}"
    if finding is None:
        return clean_text(rule)
    return clean_text(f"{rule}\n\n{story(report, row['id'], finding)}\n\nAgain: {finding['again']}")


def _conversation(report: Report) -> list[TestCase]:
    """Return one test case per kind of breakdown; one passing test case if there were none."""
    cases = []
    for broken, others in report.breakdowns:
        also = f"\nand {len(others)} more of this kind, in {', '.join(others[:20])}" if others else ""
        case = _make_test_case(f"{broken['kind']} in {broken['where']}", CONVERSATION)
        case.result = _with_text(Error(clean_text(broken["detail"]), broken["kind"]), format_breakdown(broken) + also)
        cases.append(case)
    if report.cut_off:
        case = _make_test_case("the report is complete", CONVERSATION)
        case.result = Error(clean_text(f"The report was cut off {report.cut_off}."), "cut-off")
        cases.append(case)
    return cases or [_make_test_case("it holds", CONVERSATION)]


def _scenario_files(report: Report) -> list[TestCase]:
    """Return one test case per expectation, and one for each requirement that a file is for."""
    cases = []
    for file in report.scenario_files:
        for row in file["expectations"]:
            one = Unmet(file, row)
            case = _make_test_case(f"{printable(one.place, _TITLE)}: {printable(row['text'], _TITLE)}", SUITE)
            if row["verdict"] == "unmet":
                case.result = _with_text(
                    Failure(clean_text(one.sentence), "expectation"), f"{one.sentence}\n\nAgain: {file['again']}"
                )
            elif row["verdict"] == "unchecked":
                case.result = Skipped(clean_text(f"not checked: {row['seen']}"), "unchecked")
            cases.append(case)
        for row in file["requirements"]:
            case = _make_test_case(f"{printable(file['file'], _TITLE)} exercises {row['id']}", SUITE)
            if not row["exercised"]:
                case.result = Skipped(clean_text(f"not exercised: {row['why']}"), "inconclusive")
            cases.append(case)
    return cases or [_make_test_case("nothing is expected", SUITE)]


def _baseline(report: Report) -> list[TestCase]:
    """Return one test case per wrong line of the baseline; one passing test case if there are none."""
    cases = []
    for row in report.complaints:
        case = _make_test_case(f"line {row['line']}: {row['requirement']}", BASELINE)
        case.result = _with_text(Failure(clean_text(row["what"]), BASELINE), f"{row['what']}\n{row['change']}")
        cases.append(case)
    return cases or [_make_test_case("the baseline is up to date", BASELINE)]
