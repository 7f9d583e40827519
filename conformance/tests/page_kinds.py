"""One page of each kind that the suite writes."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from certificates import certified
from made_reports import faulty
from sds_conformance.reports.certificate_page import page as certificate_page
from sds_conformance.reports.comparing.columns import ReportColumn
from sds_conformance.reports.comparing.comparison import compare
from sds_conformance.reports.comparing.history import histories
from sds_conformance.reports.comparing.page import comparison_page, history_page
from sds_conformance.reports.html import html
from sds_conformance.reports.report import Report

BROKEN = {"kind": "crash", "where": "a", "step": 2, "command": "tick", "detail": "it ended", "advice": "Why?"}
PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" class="spacetime" role="img" width="1060" height="80">'
    "<title>{}</title></svg>"
)


def report_page() -> str:
    breakdowns = [{**BROKEN, "stderr": ["panic"]}, {**BROKEN, "kind": "hang", "stderr": []}]
    return html(faulty(breakdowns=breakdowns, doubts=["Most was refused.", "Another layout?"], whole=False))


def certificate() -> str:
    return certificate_page(certified({"SDS-RECV-06": "fail", "SDS-MSG-14": "warn", "SDS-STATE-01": "skipped"}))


def releases() -> list[Report]:
    """Three reports of one implementation: each release has a fault that the next one does not have."""
    reports = []
    for day in (1, 2, 3):
        one = faulty(started=f"2026-03-0{day}T08:00:00+00:00")
        one.data["implementation"]["version"] = f"1.{day}"
        passing = [row for row in one.data["requirements"] if row["verdict"] == "pass"]
        donor = next(row for row in one.data["requirements"] if row["verdict"] == "fail")
        broken = passing[day] | {key: copy.deepcopy(donor[key]) for key in ("verdict", "findings", "kinds")}
        for found in (*broken["findings"], *broken["kinds"]):
            found["code"] = f"{broken['id']}/{found['code'].partition('/')[2]}"
        passing[day].update(broken)
        one.data["summary"]["pass"] -= 1
        one.data["summary"]["fail"] += 1
        reports.append(one)
    return reports


def comparison(name: str = "other") -> str:
    one, other, _ = releases()
    other.data["implementation"]["name"] = name
    return comparison_page(compare([ReportColumn.from_report(one), ReportColumn.from_report(other)]))


def history() -> str:
    return history_page(histories([ReportColumn.from_report(one) for one in releases()]), "")


def site_history() -> str:
    """The page of a history with a page for each run."""
    columns = [replace(ReportColumn.from_report(one), page=f"runs/{n}.html") for n, one in enumerate(releases())]
    return history_page(histories(columns), "")


def run_of_a_history() -> str:
    return html(releases()[0], back="../index.html")


def corpus_diff() -> str:
    """A page with something in each of its parts, and with words that cannot be broken at a blank."""
    from sds_conformance.corpus.classes import Class
    from sds_conformance.corpus.difference import CorpusDifference, DivergenceCause
    from sds_conformance.corpus.report import DivergenceSample, page

    cause = DivergenceCause(Class.B_VIOLATES, "SDS-SYNC-03", "", 1_234_567, [(3, 7)])
    found: Any = SimpleNamespace(
        causes=[cause],
        classes=Counter({Class.B_VIOLATES: 1_234_567, Class.BOTH_VIOLATE: 12}),
        depths=Counter({(Class.B_VIOLATES, depth): 100_000 + depth for depth in range(9)}),
        fields=Counter({"possibly_acknowledged": 1_234_567}),
        violated_a=Counter({"SDS-EPHEMERAL-04": 1}),
        violated_b=Counter({"SDS-SYNC-03": 1_234_567}),
    )
    corpora: list[Any] = [
        SimpleNamespace(
            manifest=SimpleNamespace(
                name=f"{side}-" + "implementation" * 4,
                schedules=1_300_000,
                steps=99_000_000,
                revision="sds-2025-10-amended",
                casting="together",
                suite_version="1.0.0",
                dialect="",
            ),
            place=SimpleNamespace(label="hdfs://namenode/" + "long" * 30),
        )
        for side in "AB"
    ]
    difference = CorpusDifference(corpora[0], corpora[1], 65_433, 1_234_567, found)
    pictures = {side: PICTURE.format(side) for side in "AB"}
    return page(difference, [DivergenceSample(cause, 7, "samples/x.json", pictures, "They part.", ("a line",))])


KINDS: dict[str, Callable[[], str]] = {
    "report": report_page,
    "certificate": certificate,
    "comparison": comparison,
    "history": history,
    "history-site": site_history,
    "history-run": run_of_a_history,
    "corpus-diff": corpus_diff,
}
