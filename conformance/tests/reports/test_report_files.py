"""A report is read back unchanged; truncated, forged and invalid ones are recognised."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from run_helpers import certify_reference
from sds_conformance.judging.certification import Certification
from sds_conformance.presentation.invocation import Invocation
from sds_conformance.protocols.sds import rules
from sds_conformance.reports.document import document
from sds_conformance.reports.files import read_report, write_report
from sds_conformance.reports.report import Report, ReportError
from suite_terminal import typed, words

MUTANT = "delivers-children-first"
"""It fails at several steps of several scenarios."""


@cache
def outcome() -> Certification:
    return certify_reference(lambda: rules.MODEL.mutant(MUTANT, frozenset()), scenarios=["a-d*"])


@cache
def data() -> dict[str, Any]:
    return document(outcome(), Invocation(("./testee",)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_report(tmp_path, Report(data(), traces=outcome().traces, seconds=outcome().seconds))
    return tmp_path


def test_it_is_read_as_it_was_written(folder: Path) -> None:
    for place in (folder, folder / "report.jsonl", folder / "report.json"):
        read = read_report(place)
        assert read.data == data()
        assert not read.cut_off
    assert Report(data(), traces=outcome().traces).data == data()


def test_a_trace_that_is_not_there_or_cut_off_is_none(folder: Path) -> None:
    name = next(iter(sorted((folder / "traces").iterdir()))).stem
    assert read_report(folder).trace(name) is not None
    kept = folder / "traces" / f"{name}.jsonl"
    lines = kept.read_text("utf-8").splitlines(keepends=True)
    for text in ("".join(lines[:-1]), "".join(lines)[:-20], "[]\n", "{}\n", ""):
        kept.write_text(text, "utf-8")
        assert read_report(folder).trace(name) is None
    kept.unlink()
    assert read_report(folder).trace(name) is None


def test_no_name_of_a_run_leads_out_of_the_folder(folder: Path) -> None:
    outside = folder / "traces" / "inner"
    outside.mkdir()
    kept = next(iter(sorted((folder / "traces").glob("*.jsonl"))))
    (folder / "out.jsonl").write_bytes(kept.read_bytes())
    for name in ("../out", str(folder / "out"), "", "a/../../out", "out\0"):
        assert read_report(folder).trace(name) is None


def test_a_report_that_was_cut_off_is_read_as_far_as_it_goes_and_says_so(folder: Path) -> None:
    file = folder / "report.jsonl"
    text = file.read_text("utf-8")
    lines = text.splitlines(keepends=True)
    for kept, where in ((len(lines) - 1, "after line"), (3, "after line 3"), (1, "after line 1")):
        file.write_text("".join(lines[:kept]), "utf-8")
        read = read_report(folder)
        assert read.cut_off.startswith(where)
        assert not read.data["summary"]["complete"]
        counted = sum(read.data["summary"][verdict] for verdict in ("pass", "fail", "warn", "inconclusive", "skipped"))
        assert counted == len(read.data["requirements"])
    file.write_text(text[: len(text) // 2], "utf-8")
    assert read_report(folder).cut_off.startswith("in line")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("report.jsonl", "", "no header"),
        ("report.jsonl", '{"type": "footer"}\n', "line 1 is out of order"),
        ("report.json", "{", "not JSON"),
        ("report.json", '{"schema": "another/1"}', "another/1"),
        ("report.json", '{"schema": "\\u001b[2J"}', "this version reads"),
        ("report.json", {"strict": "yes"}, "at strict"),
        ("report.json", {"summary": {}}, "at summary"),
    ],
)
def test_what_is_none_is_refused_with_the_reason(
    tmp_path: Path, name: str, text: str | dict[str, Any], said: str
) -> None:
    """``text`` is the whole text, or what is changed in a report."""
    (tmp_path / name).write_text(text if isinstance(text, str) else json.dumps(data() | text), "utf-8")
    with pytest.raises(ReportError, match=said) as refused:
        read_report(tmp_path / name)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("name", ["report.json", "report.jsonl"])
def test_a_summary_that_does_not_count_the_requirements_is_refused(name: str, tmp_path: Path) -> None:
    write_report(tmp_path, Report(data(), traces=outcome().traces, seconds=outcome().seconds))
    file = tmp_path / name
    passed = data()["summary"]["pass"]
    text, said = file.read_text("utf-8"), json.dumps({"pass": passed})[1:-1]
    assert text.count(said) == 1
    file.write_text(text.replace(said, json.dumps({"pass": passed + 1})[1:-1]), "utf-8")
    with pytest.raises(ReportError, match=f"the summary counts {passed + 1} pass, but {passed} requirements"):
        read_report(file)


@pytest.mark.parametrize("line", ['{"type": []}', "[]", '{"type": "way"}'])
def test_a_line_of_the_wrong_shape_is_refused_by_every_reader(folder: Path, line: str) -> None:
    file = folder / "report.jsonl"
    file.write_text(file.read_text("utf-8").splitlines(keepends=True)[0] + line + "\n", "utf-8")
    (folder / "report.json").unlink()
    for command in (
        ["report"],
        ["compare", folder],
        ["certificate", "write"],
        ["baseline", "write", folder / "b.yaml"],
    ):
        result = typed(*command, folder)
        assert result.exit_code == 2, result.output
        assert "line 2" in words(result.stderr)
