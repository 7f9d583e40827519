"""The page of a report, as a validator sees it."""

from __future__ import annotations

from pathlib import Path

from html_validator import complaints_about
from pages import faulty, hostile, sample
from sds_conformance.reports.files import read_report, write_report
from sds_conformance.reports.html import html
from sds_conformance.reports.report import Report


def test_pages_are_valid_and_accessible(tmp_path: Path) -> None:
    write_report(tmp_path / "cut-off", Report(sample().data, traces=faulty().traces, seconds=faulty().seconds))
    file = tmp_path / "cut-off" / "report.jsonl"
    file.write_text("".join(file.read_text("utf-8").splitlines(keepends=True)[:4]), "utf-8")
    broken = {"kind": "crash", "where": "a", "step": 2, "command": "tick", "detail": "it ended", "advice": "Why?"}
    breakdowns = [{**broken, "stderr": ["panic"]}, {**broken, "kind": "hang", "stderr": []}]
    made = {
        "whole": html(sample(breakdowns=breakdowns, doubts=["Most was refused.", "Another layout?"], whole=False)),
        "hostile": html(hostile()),
        "cut": html(read_report(file)),
        "untold": html(Report(sample().data, folder=tmp_path)),
    }
    assert complaints_about(tmp_path, **made) == []


def test_what_is_not_valid_would_be_seen(tmp_path: Path) -> None:
    text = html(sample())
    complaints = complaints_about(tmp_path, bad=text.replace("</h1>", "</h2>").replace('<html lang="en">', "<html>"))
    assert any("close-order" in complaint for complaint in complaints)
    assert any("lang" in complaint for complaint in complaints)
