"""Output on a narrow terminal: IDs are whole at 80 columns, and counts can be read at 60."""

from __future__ import annotations

import re

import pytest

from sds_conformance.protocols.sds.rules import RULES
from suite_terminal import typed, words

COUNTS = ("pass", "fail", "warn", "inconcl.", "skipped", "error")


@pytest.mark.parametrize("columns", ["60", "80"])
def test_sections_are_reported_whole_and_counts_stand_under_their_names(columns: str) -> None:
    result = typed("run", "--scenario", "a-diamond", "--environment", "plain", COLUMNS=columns)
    lines = result.stdout.splitlines()
    (start,) = (number for number, line in enumerate(lines) if line.startswith("Section "))
    (end,) = (number for number, line in enumerate(lines) if line.startswith("All "))
    table = lines[start : end + 1]
    assert tuple(table[0].split()) == ("Section", *COUNTS)
    assert "…" not in "".join(table)
    edge = table[0].index("pass")
    titles = words(" ".join(line[:edge] for line in table))
    judged = {requirement.section for requirement in RULES.judged_requirements(RULES.current, RULES.full)}
    output = [section.title for section in RULES.catalogue.sections if section.id in judged]
    assert len(output) > 20
    assert [title for title in output if title not in titles] == []
    assert all(re.fullmatch(r"[\d· ]*", line[edge:]) for line in table[1:])


@pytest.mark.parametrize("value", ["0", "00", "-5", "", "eighty", "²", " 80", "9" * 5000])
@pytest.mark.parametrize("name", ["COLUMNS", "LINES"])
def test_a_size_that_no_terminal_has_costs_no_text(name: str, value: str) -> None:
    shown = typed("requirements", "SDS-RECV-06", "--no-run", **{name: value}).stdout
    usual = typed("requirements", "SDS-RECV-06", "--no-run", COLUMNS="80").stdout
    assert words(shown) == words(usual)
    assert len(words(usual)) > 1000
