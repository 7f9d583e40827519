"""A certificate that contradicts its rows is neither shown nor made a page of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from certificates import certified, forged, kept
from suite_terminal import typed, words

MUST = "SDS-MSG-01"


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_forged_level_is_neither_shown_nor_put_on_a_page() -> None:
    made = certified({MUST: "fail"})
    for change, said in (
        (lambda data: data["level"].update(name="Core"), "its level is Core, but its verdicts give none"),
        (lambda data: data["verdicts"].update({"pass": 7, "fail": 0}), "it counts 7 pass"),
        (lambda data: data["run"].update(exit_code=0), "its exit code is 0"),
    ):
        result = typed("certificate", "show", kept(forged(made, change), Path()), "--html", "page.html")
        assert result.exit_code == 2
        assert result.stdout == ""
        assert f"certificate.json is forged or damaged: {said}" in words(result.stderr)
        assert not Path("page.html").exists()


def test_the_level_of_another_version_is_computed_from_the_rows() -> None:
    def promote(data: dict[str, Any]) -> None:
        data["suite"]["version"] = "9.9"
        data["level"]["name"] = "Core + SDS-R, strict"

    result = typed("certificate", "show", kept(forged(certified({MUST: "fail"}), promote), Path()))
    assert result.exit_code == 0
    text = words(result.stdout)
    assert "Level none" in text
    assert "Core + SDS-R, strict" not in text
    assert "Warning it was written by version 9.9 of the suite" in text


def test_a_certificate_is_no_report_to_compare() -> None:
    made = kept(forged(certified({MUST: "fail"}), lambda data: data["level"].update(name="Core")), Path())
    for command in ("compare", "report"):
        result = typed(command, made, *([made] if command == "compare" else []))
        assert result.exit_code == 2
        assert "this version reads sds-conformance/report/" in words(result.stderr)
