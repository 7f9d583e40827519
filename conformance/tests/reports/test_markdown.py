"""Markdown: what matters is on it, it fits, and nothing of a stranger does anything there."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from made_reports import FAULT, HOSTILE, faulty, hostile, known, many, outcomes
from sds_conformance.reports import gfm
from sds_conformance.reports.markdown import LIMIT, markdown
from sds_conformance.reports.report import Report

KINDS = outcomes()
OURS = {
    *("heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline", "text", "fence", "softbreak"),
    *("code_inline", "strong_open", "strong_close", "text_special"),
    *("bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"),
    *(f"{part}_{end}" for part in ("table", "thead", "tbody", "tr", "th", "td") for end in ("open", "close")),
}
"""What the page is made of: no HTML, no links, no images."""
LINKS = re.compile(r"(?:^|[^\w`])@\w|(?:^|\W)#\d|://|www\.|mailto:|xmpp:|\w@\w", re.IGNORECASE)
"""What GitHub links in text although Markdown has no sign for it."""


def tokens(text: str) -> list[Token]:
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return list(_flat(parser.parse(text)))


def _flat(found: list[Token]) -> Iterator[Token]:
    for token in found:
        yield token
        yield from _flat(token.children or [])


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_made_of_plain_parts(kind: str) -> None:
    found = tokens(markdown(KINDS[kind]()))
    assert {token.type for token in found} <= OURS
    assert [token.content for token in found if token.type == "text" and LINKS.search(token.content)] == []
    assert [token for token in found if token.type == "fence" and token.info not in ("text", "sh")] == []


@pytest.mark.parametrize("text", [HOSTILE, "`", "``", "a`", "`a``b", "", "\\", "a\\", "*_~`[", "|", "\n\n# x", "- x"])
@pytest.mark.parametrize("before", ["", "word ", "- ", "## "])
def test_a_text_stays_a_text(text: str, before: str) -> None:
    for made in (f"x {gfm.prose(text)} y", f"{gfm.code(text)} y"):
        found = tokens(before + made)
        assert {token.type for token in found} <= OURS
        assert sum(token.type in ("heading_open", "list_item_open", "paragraph_open") for token in found) <= 2
        (inline,) = (token for token in found if token.type == "inline")
        assert inline.content.endswith("y")
        assert [token.content for token in found if token.type == "text" and LINKS.search(token.content)] == []


def test_the_first_screen_has_verdict_counts_and_root_causes() -> None:
    report = faulty()
    text = markdown(report)
    assert "does not conform" in text
    assert f"| {report.data['summary']['pass']} | {report.data['summary']['fail']} |" in text
    order = [text.index(f" {cause['requirement']}/") for cause in report.data["causes"]]
    assert order == sorted(order)
    shown = [token.content.strip() for token in tokens(text) if token.type == "fence" and token.info == "sh"]
    assert shown == [cause["again"] for cause in report.data["causes"]]
    assert "Expected  " in text
    for row in report.requirements("fail", "warn", "inconclusive"):
        assert row["id"] in text


def test_what_comes_first_is_what_is_wrong_with_the_report_or_the_baseline() -> None:
    requirement = FAULT
    made = known(faulty(), requirement, complaints=2)
    text = markdown(Report(made.data, "in line 12"))
    cut_off, baseline, verdict = (text.index(what) for what in ("cut off in line 12", "### Errors", "does not conform"))
    assert cut_off < baseline < verdict
    assert "Line 9, SDS-MSG-01: `it is listed and passes`" in text
    assert f"- {requirement}: `not decided yet` `https://example.org/42`" in text


def test_it_fits_and_says_what_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    assert LIMIT < 1 << 20
    limit = 100_000
    monkeypatch.setattr("sds_conformance.reports.markdown.LIMIT", limit)
    text = markdown(many(hostile(), 300))
    assert limit / 2 < len(text.encode()) <= limit
    assert text.endswith("see the report.\n")
    assert {token.type for token in tokens(text)} <= OURS
    assert "see the report" not in markdown(faulty())


def test_what_is_new_comes_before_what_is_known() -> None:
    new, cause = faulty().data["causes"]
    text = markdown(known(faulty(), cause["requirement"], cause["under"][0]["requirement"]))
    assert f"#### 1. {new['requirement']}/" in text
    (line,) = (line for line in text.splitlines() if line.startswith(f"#### 2. {cause['requirement']}/"))
    assert line.endswith(", known")
    assert text.count("Expected  ") == markdown(faulty()).count("Expected  ") - 1
