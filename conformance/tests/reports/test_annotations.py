"""Annotations, read as a runner of GitHub reads them: a line is a command, and only the suite writes commands."""

import re

import pytest

from made_reports import faulty, known, known_with_new, outcomes, whole
from sds_conformance.reports.annotations import MOST, annotations

KINDS = outcomes()
COMMAND = re.compile(r"::(error|warning|notice) ((?:[a-z]+=[^,:\r\n]*,?)+)::([^\r\n]*)")


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


@pytest.mark.parametrize("kind", KINDS)
def test_every_line_is_a_command_of_ours_within_the_limits(kind: str) -> None:
    found = commands(annotations(KINDS[kind]()))
    assert found
    for level in ("error", "warning", "notice"):
        assert sum(level == one for one, _, _ in found) <= MOST
    assert {key for _, properties, _ in found for key in properties} <= {"title", "file", "line"}


def test_there_is_one_for_each_root_cause() -> None:
    report = faulty()
    errors = [(properties, message) for level, properties, message in commands(annotations(report)) if level == "error"]
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
    found = commands(annotations(known(faulty(), requirement, below, complaints=1)))
    level, properties, message = found[0]
    assert (level, properties["file"], properties["line"]) == ("error", "known.toml", "9")
    assert "out of date: SDS-MSG-01" in properties["title"]
    assert message == "it is listed and passes\nremove the line"
    (level, properties, message), *_ = (one for one in found if one[1]["title"].startswith(requirement))
    assert level == "warning"
    assert "which the baseline lists" in properties["title"]
    assert "Known: not decided yet https://example.org/42" in message


def test_a_new_failure_under_a_known_cause_is_an_error_that_names_the_cause() -> None:
    report, root, new = known_with_new(faulty())
    (found,) = [one for one in commands(annotations(report)) if f"known root cause {root}/" in one[1]["title"]]
    level, properties, message = found
    assert level == "error"
    assert re.match(rf"{new} shows now, under the known root cause {root}/", properties["title"])
    assert "Known: not decided yet" in message


def test_what_broke_or_was_not_judged_is_an_error() -> None:
    for kind, output in (
        ("broken", "crash in ties and 1 more"),
        ("cut off", "incomplete"),
        ("nothing", "nothing exercised"),
    ):
        found = commands(annotations(KINDS[kind]()))
        assert any(level == "error" and output in properties["title"] for level, properties, _ in found), kind


def test_all_is_well_is_a_notice() -> None:
    assert [level for level, _, _ in commands(annotations(whole()))] == ["notice"]
