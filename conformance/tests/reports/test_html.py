"""The page of a report: all of the report is on it, first what matters, and nothing that anybody else put there."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from made_reports import FAULT, faulty, hostile
from pages import ParsedPage, read
from sds_conformance.presentation.links import text_link
from sds_conformance.reports.files import read_report, write_report
from sds_conformance.reports.html import html

LINK = "https://x.test/7"
KNOWN = {"requirement": FAULT, "scenario": "", "reason": "waits for a release", "link": LINK, "line": 4}
COMPLAINT = {"line": 9, "requirement": "X", "what": "It passes.", "change": "Cut it."}
BASELINE = {"file": "known.toml", "known": [KNOWN], "complaints": []}


@pytest.fixture(scope="module")
def whole() -> ParsedPage:
    return read(faulty())


def first_line(made: ParsedPage) -> str:
    (lead,) = made.of("p", "lead")
    return lead.words


def test_the_first_line_is_the_verdict_and_the_counts_follow(whole: ParsedPage) -> None:
    summary = faulty().data["summary"]
    assert first_line(whole).startswith("toy does not conform: ")
    assert f"{summary['fail']} requirements failed" in first_line(whole)
    (counts,) = whole.of("ul", "counts")
    for verdict in ("pass", "fail", "skipped", "inconclusive"):
        assert (f"{summary[verdict]} {verdict}" in counts.words) == bool(
            summary[verdict] or verdict in ("pass", "fail")
        )
    assert [element.words for element in whole.of("h1")] == ["toy 1"]


def test_root_causes_stand_first_in_their_order_with_rule_and_command(whole: ParsedPage) -> None:
    data = faulty().data
    causes = [element for element in whole.of("li", within="causes") if element.around[-1].classes == ["causes"]]
    assert len(causes) == len(data["causes"]) > 1
    assert data["causes"][0]["under"]
    rules = {row["id"]: row["statement"] for row in data["requirements"]}
    for element, cause in zip(causes, data["causes"], strict=True):
        assert cause["requirement"] in element.words
        assert " ".join(rules[cause["requirement"]].split()) in element.words
        assert cause["again"] in element.text
        for under in cause["under"]:
            assert under["requirement"] in element.words
            assert under["why"] in element.words
    assert whole.html.index('id="causes"') < whole.html.index('id="requirements"')


def test_what_a_link_names_is_there_and_nothing_is_there_twice(whole: ParsedPage) -> None:
    for made in (whole, read(hostile())):
        ids = Counter(element.attrs["id"] for element in made.elements if "id" in element.attrs)
        assert set(ids.values()) == {1}
        links = [element.attrs["href"] for element in made.of("a")]
        assert {link.removeprefix("#") for link in links if link.startswith("#")} <= set(ids)
    assert f"#{FAULT}" in {element.attrs["href"] for element in whole.of("a")}


def test_a_report_that_was_cut_off_says_so_in_the_first_line(tmp_path: Path) -> None:
    write_report(tmp_path, faulty())
    file = tmp_path / "report.jsonl"
    lines = file.read_text("utf-8").splitlines(keepends=True)
    for kept in (len(lines) - 1, 5, 1):
        file.write_text("".join(lines[:kept]), "utf-8")
        assert "cut off after line" in first_line(read(read_report(tmp_path)))


def test_traces_that_somebody_has_changed_cost_no_html(tmp_path: Path) -> None:
    write_report(tmp_path, faulty())
    for kept in (tmp_path / "traces").iterdir():
        head, *rows = map(json.loads, kept.read_text("utf-8").splitlines())
        rows = [row for row in rows if "step" in row]
        for row in rows:
            row["participant"] = "nobody" if row["step"] % 2 else ""
            row["request"].pop("open", None) if row["step"] > 1 else None
            if "receive" in row["request"]:
                row["request"]["receive"]["wire"] = "////"
        rows = [row for row in rows if set(row["request"]) - {"id"}]
        head["steps"] = len(rows)
        kept.write_text("\n".join(map(json.dumps, [head, *rows])) + "\n", "utf-8")
    assert first_line(read(read_report(tmp_path))).startswith("toy does not conform")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"doubts": ["Most was refused.", "Another layout?"]}, ("Warning", "Another layout?")),
        ({"whole": False, "narrowed": ["scenarios"]}, ("Not all was played", "Not all scenarios were selected.")),
        ({"strict": True}, ("strict", "no position softens a failure")),
        ({"baseline": BASELINE}, ("known failure", "waits for a release", 'href="https://x.test/7"')),
        (
            {"baseline": {**BASELINE, "complaints": [COMPLAINT]}},
            ("The baseline is out of date", "known.toml, line 9: It passes. Cut it."),
        ),
    ],
)
def test_what_changes_the_meaning_is_said_at_the_top(changed: dict[str, object], said: tuple[str, ...]) -> None:
    made = html(faulty(**changed))
    head = made[: made.index('id="requirements"')]
    for words in said:
        assert words in head


def test_hostile_text_is_text_and_nothing_else() -> None:
    text = html(hostile())
    made = ParsedPage(text)
    assert [element.attrs for element in made.of("script")] == [{}]
    assert not made.of("img")
    assert not [
        e for e in made.elements for name in e.attrs if name.startswith("on") or name in ("src", "style", "srcdoc")
    ]
    texts = {text_link(row["id"]) for row in hostile().data["requirements"]}
    assert {link for element in made.of("a") if ":" in (link := element.attrs["href"])} <= texts
    assert "window.hacked=1" in made.of("h1")[0].text
    assert {character for character in text if not character.isprintable()} == {"\n"}
    assert len(made.of("pre", "stderr")[0].text.splitlines()) == 1
