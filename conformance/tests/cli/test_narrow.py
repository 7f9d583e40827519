"""What is printed on a narrow terminal: IDs are whole at 80 columns, and counts can be read at 60."""

from __future__ import annotations

import re

import pytest

from sds_conformance.cli.options import console
from sds_conformance.protocols.sds.rules import RULES
from sds_conformance.telling.story import plain_table, unbroken
from suite_terminal import typed, words

COUNTS = ("pass", "fail", "warn", "inconcl.", "skipped", "error")


@pytest.mark.parametrize("columns", ["60", "80"])
def test_sections_are_told_whole_and_counts_stand_under_their_names(columns: str) -> None:
    result = typed("run", "--scenario", "a-diamond", "--environment", "plain", COLUMNS=columns)
    lines = result.stdout.splitlines()
    (start,) = (number for number, line in enumerate(lines) if line.startswith("Section "))
    (end,) = (number for number, line in enumerate(lines) if line.startswith("All "))
    table = lines[start : end + 1]
    assert tuple(table[0].split()) == ("Section", *COUNTS)
    assert "…" not in "".join(table)
    edge = table[0].index("pass")
    titles = words(" ".join(line[:edge] for line in table))
    judged = {requirement.section for requirement in RULES.judged(RULES.current, RULES.full)}
    told = [section.title for section in RULES.catalogue.sections if section.id in judged]
    assert len(told) > 20
    assert [title for title in told if title not in titles] == []
    assert all(re.fullmatch(r"[\d· ]*", line[edge:]) for line in table[1:])


def test_ids_of_vectors_are_whole_at_80_columns() -> None:
    shown = typed("vectors", "list", "--group", "hash-murmur3-32-nim", COLUMNS="80").stdout
    assert re.search(r"^hash-murmur3-32-nim/one-beyond-ascii ", shown, re.MULTILINE)


def test_comments_stand_below_where_ids_leave_them_no_room() -> None:
    shown = typed("vectors", "list", "--group", "transcripts", COLUMNS="80").stdout.splitlines()
    (at,) = (
        number for number, line in enumerate(shown) if line.startswith("transcripts/named-in-a-history@forum-2024")
    )
    assert shown[at].endswith("@forum-2024  acceptable")
    assert shown[at + 1].startswith("  Of three own messages two are named in a causal history")


def test_a_table_breaks_words_and_neither_names_nor_numbers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "44")
    table = plain_table(unbroken("Name"), "Words", right=("pass", "fail"))
    table.add_row("a-name-of-20-letters", "several words that are long", "1,234", "5,678")
    console().print(table)
    (head, first, *_) = capsys.readouterr().out.splitlines()
    assert head.split() == ["Name", "Words", "pass", "fail"]
    assert first.split()[0] == "a-name-of-20-letters"
    assert first.split()[-2:] == ["1,234", "5,678"]
