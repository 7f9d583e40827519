"""Findings as text: the story of the terminal, and something to read even where the trace is none."""

from __future__ import annotations

from typing import Any

from made_reports import HOSTILE, faulty, hostile
from sds_conformance.reports.plain_text import WIDTH, format_breakdown, story
from sds_conformance.reports.report import Report, worst


def lines_of(report: Report) -> list[tuple[dict[str, Any], str]]:
    """The first requirement that fails, and its story."""
    row = next(report.requirements("fail"))
    finding = worst(row)
    assert finding is not None
    return [(row, story(report, row["id"], finding))]


def test_a_story_has_the_steps_with_the_blamed_one_marked() -> None:
    ((row, text),) = lines_of(faulty())
    lines = text.splitlines()
    assert lines[0].startswith(f"Scenario  {row['findings'][0]['scenario']}: ")
    (blamed,) = (line for line in lines if line.lstrip("Done ").startswith("> "))
    assert blamed.split("> ")[1].split()[0] == str(row["findings"][0]["step"])
    labels = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert labels == ["Scenario", "Done", "Expected", "Seen"]


def test_a_trace_that_is_none_costs_no_more_than_the_steps() -> None:
    whole = faulty()
    none: Any = object()
    for traces in ({}, {run: none for row in whole.requirements() for run in row["runs"]}):
        ((_, text),) = lines_of(Report(whole.data, traces=traces))
        assert "Expected  " in text
        assert "Done  " not in text


def test_whatever_strangers_say_stands_in_lines_that_can_be_shown() -> None:
    ((_, text),) = lines_of(hostile())
    broken = format_breakdown(hostile().data["breakdowns"][0])
    assert HOSTILE not in text
    for line in [*text.splitlines(), *broken.splitlines()]:
        assert line.isprintable()
        assert len(line) <= WIDTH
    assert "stderr    <script>" in broken
