"""Badges: well-formed, legible, alone in the world, and never greener than the report."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest

from made_reports import changed, faulty, known, outcomes, summarized, whole
from run_helpers import plan
from sds_conformance.reports.badge import COLOURS, badge
from sds_conformance.reports.overall_result import Tone, compute_overall_result
from sds_conformance.reports.report import Report

KINDS = outcomes()
TOTAL = len(plan().requirements)
SVG = "{http://www.w3.org/2000/svg}"


def skipping(number: int) -> Report:
    made = whole()
    for row in list(made.requirements())[:number]:
        row.update(verdict="skipped", exercised=0, reason="not declared: sync")
    return made


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_complete_in_itself_and_says_what_it_shows(kind: str) -> None:
    made = KINDS[kind]()
    root = ElementTree.fromstring(badge(made))
    assert root.tag == f"{SVG}svg"
    title = root.findtext(f"{SVG}title")
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == title == f"SDS: {compute_overall_result(made).short}"
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert " ".join(map(str, texts)) == str(title).replace(":", "", 1)
    width = float(root.attrib["width"])
    assert sum(float(rect.attrib["width"]) for rect in root.iterfind(f"{SVG}g[1]/*")) == width > 60
    assert re.findall(r"\b(?:href|src|@import|url\((?!#))", badge(made)) == []


@pytest.mark.parametrize(
    ("make", "tone", "short"),
    [
        (whole, Tone.GOOD, "conformant (Core + SDS-R)"),
        (lambda: skipping(3), Tone.GOOD, f"conformant (Core + SDS-R), {TOTAL - 3} of {TOTAL}"),
        (lambda: skipping(60), Tone.PARTIAL, f"partial, {TOTAL - 60} of {TOTAL} judged"),
        (lambda: changed(whole(), whole=False), Tone.PARTIAL, "partial, no faults"),
        (lambda: Report(whole().data, "after line 9"), Tone.NONE, "not complete"),
        (KINDS["interrupted"], Tone.NONE, "not complete"),
        (KINDS["not driven"], Tone.BAD, "could not be tested"),
        (KINDS["broken"], Tone.BAD, "2 breakdowns"),
        (faulty, Tone.BAD, ""),
        (lambda: known(faulty(), *(row["id"] for row in faulty().requirements("fail"))), Tone.BAD, ""),
        (lambda: summarized(faulty(), exit_code=0, fail=0), Tone.BAD, ""),
    ],
)
def test_it_is_green_only_for_what_was_judged_as_a_whole(make: Callable[[], Report], tone: Tone, short: str) -> None:
    made = make()
    assert compute_overall_result(made).tone is tone
    assert short in compute_overall_result(made).short
    assert (COLOURS[Tone.GOOD] in badge(made)) == (tone is Tone.GOOD)
    assert ("conformant" in badge(made)) == (tone is Tone.GOOD)
