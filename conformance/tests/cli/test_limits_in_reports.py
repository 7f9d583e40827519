"""``limits --report``: limits in a report, on its page, on a certificate and in a comparison."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from html_validator import complaints_about
from run_helpers import reference, reference_command
from sds_conformance.exploration.limits.measurement import (
    MeasurementOrder,
    as_json,
    load_schema,
    measure,
    perform_handshake,
)
from sds_conformance.protocols.sds.dimensions import DIMENSIONS
from sds_conformance.protocols.sds.rules import RULES
from sds_conformance.reports import comparing
from sds_conformance.vectors.canonical import digest
from sds_harness.link import Limits, LocalLink
from suite_terminal import controls, too_wide, typed, words

REFERENCE = reference_command()
CAPPED = reference_command("--mutant", "room-for-waiting-100")
HOSTILE = "<script>alert(1)</script>\x1b[2J\u202e"


def measured(folder: Path, command: list[str]) -> Path:
    """A report on a single scenario, with limits."""
    run = typed("run", "--scenario", "a-diamond", "--environment", "plain", "--report", str(folder), "--", *command)
    assert run.exit_code in (0, 1), run.stderr
    only = ("--only", "waiting", "--only", "time", "--budget", "10m")
    result = typed("limits", *only, "--report", str(folder), "--", *command)
    assert result.exit_code == (1 if command is CAPPED else 0)
    assert f"Limits: {folder / 'limits.json'}" in result.stderr
    return folder


@pytest.fixture(scope="module")
def capped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return measured(tmp_path_factory.mktemp("kept") / "capped", CAPPED)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of the reference, which is asked for a little more than the other one holds."""
    folder = tmp_path_factory.mktemp("kept") / "whole"
    typed("run", "--scenario", "a-diamond", "--environment", "plain", "--report", str(folder), "--", *REFERENCE)
    dimensions = [replace(DIMENSIONS["waiting"], most=130), replace(DIMENSIONS["time"], most=130)]
    connect = lambda variables: LocalLink(reference())  # noqa: E731
    order = MeasurementOrder(connect, Limits(), RULES, "sds-2026-01", "full", None, False, dimensions, 600.0)
    outcome = perform_handshake(order)
    measure(order, outcome)
    about = json.loads((folder / "report.json").read_text("utf-8"))["implementation"]
    named = {"implementation": {key: about[key] for key in ("name", "version", "language")}}
    (folder / "limits.json").write_text(json.dumps(as_json(order, outcome, ["", ""]) | named), "utf-8")
    return folder


@pytest.fixture
def altered(capped: Path, tmp_path: Path) -> Callable[..., Path]:
    """A copy of which the limits were changed by hand."""

    def change(row: dict[str, Any] | None = None, **other: Any) -> Path:
        folder = tmp_path / "altered"
        shutil.copytree(capped, folder)
        data = json.loads((folder / "limits.json").read_text("utf-8"))
        data["rows"][0] |= row or {}
        (folder / "limits.json").write_text(json.dumps(data | other), "utf-8")
        return folder

    return change


def test_what_is_kept_is_what_json_prints_and_as_its_schema_says(capped: Path) -> None:
    kept = json.loads((capped / "limits.json").read_text("utf-8"))
    printed = json.loads(typed("limits", "--json", "--only", "waiting", "--budget", "10m", "--", *CAPPED).stdout)
    validator = Draft202012Validator(load_schema())
    assert [error.message for data in (kept, printed) for error in validator.iter_errors(data)] == []
    assert kept.keys() == printed.keys()
    for data in (kept, printed):
        row = data["rows"][0]
        found = (row["dimension"], row["held"], row["first_not"], row["requirement"], row["severity"])
        assert found == ("waiting", 100, 101, "SDS-RECV-08", "fail")


def test_the_page_of_the_report_has_them(capped: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert "Limits 1 finding, 0 warnings in 2 dimensions" in words(typed("report", str(capped)).stdout)
    assert typed("report", str(capped), "--html", str(page)).exit_code == 0
    text = page.read_text("utf-8")
    assert "Limits: 1 finding, 0 warnings in 2 dimensions" in text
    assert '<th scope="row">waiting messages</th><td>100</td><td>101</td>' in text
    assert "limits --only waiting --at 101" in text
    without = tmp_path / "without"
    shutil.copytree(capped, without)
    (without / "limits.json").unlink()
    assert typed("report", str(without), "--html", str(page)).exit_code == 0
    assert "How far it holds" not in page.read_text("utf-8")


def test_the_pages_that_have_them_are_valid(capped: Path, whole: Path, tmp_path: Path) -> None:
    pages = {name: tmp_path / f"{name}.html" for name in ("report", "certificate", "comparison")}
    typed("report", str(capped), "--html", str(pages["report"]))
    typed("compare", str(whole), str(capped), "--html", str(pages["comparison"]))
    certificate = ("--out", str(tmp_path / "certificate.json"), "--html", str(pages["certificate"]))
    typed("certificate", "write", str(capped), *certificate)
    made = {name: page.read_text("utf-8") for name, page in pages.items()}
    assert complaints_about(tmp_path, **made) == []


def test_a_new_report_has_no_limits_of_the_one_before(capped: Path, tmp_path: Path) -> None:
    folder = tmp_path / "again"
    shutil.copytree(capped, folder)
    typed("run", "--scenario", "a-diamond", "--environment", "plain", "--report", str(folder), "--", *CAPPED)
    assert not (folder / "limits.json").exists()


def test_a_certificate_has_them_and_its_level_and_digest_cover_them(capped: Path, tmp_path: Path) -> None:
    file, page = tmp_path / "certificate.json", tmp_path / "certificate.html"
    assert typed("certificate", "write", str(capped), "--out", str(file), "--html", str(page)).exit_code == 0
    data = json.loads(file.read_text("utf-8"))
    assert (data["limits"]["complete"], data["limits"]["budget_seconds"]) == (True, 600)
    row = data["limits"]["rows"][0]
    assert (row["held"], row["first_not"], row["verdict"], row["how"]) == (100, 101, "finding", "wrong")
    less = "its limit is smaller than it declares, or than it must be: waiting messages (SDS-RECV-08)"
    assert less in data["level"]["against"]
    assert "waiting messages" in page.read_text("utf-8")
    shown = typed("certificate", "show", str(file))
    assert "Limits 1 finding, 0 warnings in 2 dimensions" in words(shown.stdout)
    assert "waiting messages 100 101 wrong, SDS-RECV-08" in words(shown.stdout)
    assert too_wide(shown.stdout) == []
    verified = typed("certificate", "verify", str(file), "--", *CAPPED)
    assert verified.exit_code == 0
    assert "Limits not played again" in words(verified.stdout)


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"first_not": 2_000, "exact": False, "verdict": "finding"}, "the size that does not hold"),
        ({"verdict": "warning"}, "the size that does not hold"),
        ({"held": 101}, "the sizes that hold"),
        ({"exact": False}, "the sizes that hold"),
        ({"declared": 100}, "what is declared"),
        ({"demanded": 5}, "the measured data"),
        ({"dimension": "patience"}, "patience is not a dimension of the suite"),
        ({"dimension": "time"}, "the measured data"),
    ],
)
def test_what_does_not_follow_is_forged_whoever_computed_the_digest(
    capped: Path, tmp_path: Path, change: dict[str, Any], wrong: str
) -> None:
    file = tmp_path / "certificate.json"
    typed("certificate", "write", str(capped), "--out", str(file))
    data = json.loads(file.read_text("utf-8"))
    data["limits"]["rows"][0] |= change
    del data["digest"]
    file.write_text(json.dumps({**data, "digest": digest(data)}), "utf-8")
    verified = typed("certificate", "verify", str(file), "--", *CAPPED)
    assert verified.exit_code == 2
    assert wrong in words(verified.stdout)


def test_two_are_compared_side_by_side(capped: Path, whole: Path, tmp_path: Path) -> None:
    page, text = tmp_path / "page.html", tmp_path / "page.md"
    result = typed("compare", str(whole), str(capped), "--html", str(page), "--markdown", str(text))
    assert result.exit_code == 0
    assert "Limits differ in 1 of 2 dimensions." in result.stdout
    (line,) = [line.split() for line in result.stdout.splitlines() if line.startswith("waiting messages ")]
    assert line[2:] == ["130+", "100!"]
    assert "Broke waiting messages, B at 101: wrong, SDS-RECV-08" in words(result.stdout)
    assert too_wide(result.stdout) == []
    assert "100! <small>wrong, SDS-RECV-08</small>" in page.read_text("utf-8")
    assert "| 130+ | 100\\!: wrong, SDS-RECV-08 |" in text.read_text("utf-8")
    data = json.loads(typed("compare", "--json", str(whole), str(capped)).stdout)
    schema = json.loads(files(comparing).joinpath("compare.schema.json").read_text("utf-8"))
    assert [error.message for error in Draft202012Validator(schema).iter_errors(data)] == []
    reaches = {reach["dimension"]: reach for reach in data["limits"]}
    assert (reaches["waiting"]["differs"], reaches["time"]["differs"]) == (True, False)
    assert reaches["waiting"]["extents"][1]["first_not"] == 101


def test_what_holds_less_than_before_got_worse(capped: Path, whole: Path) -> None:
    result = typed("compare", "--fail-on-worse", str(whole), str(capped))
    assert result.exit_code == 1
    other = "sds_reference mutant room-for-waiting-100 0.1.0 than in sds_reference 0.1.0"
    assert "waiting messages (130+ → 100!)" in words(result.stdout)
    assert words(result.stdout).startswith(f"1 limit that is smaller in {other}: waiting messages (130+")
    assert typed("compare", "--fail-on-worse", str(capped), str(whole)).exit_code == 0


@pytest.mark.parametrize(
    ("command", "content", "said"),
    [
        (("report",), '{"a":', "is not JSON, or was cut off"),
        (("report",), "[]", "is not an object"),
        (("report",), '{"schema": "sds-conformance/limits/9"}', "is sds-conformance/limits/9, this version reads"),
        (
            ("report",),
            '{"schema": "sds-conformance/limits/2"}',
            "was not written by `sds-conformance limits --report DIR`",
        ),
        (("report",), "[" * 100_000, "nested too deep"),
        (("certificate", "write"), "[]", "is not an object"),
        (("compare",), "[]", "is not an object"),
    ],
)
def test_what_is_no_such_file_is_refused_with_what_to_do(
    capped: Path, tmp_path: Path, command: tuple[str, ...], content: str, said: str
) -> None:
    folder = tmp_path / "broken"
    shutil.copytree(capped, folder)
    (folder / "limits.json").write_text(content, "utf-8")
    result = typed(*command, str(folder), *([str(capped)] if command == ("compare",) else []))
    assert result.exit_code == 2
    assert said in words(result.stderr)
    assert "or delete it" in words(result.stderr)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"revision": "forum-2024"}, "is about forum-2024, and the report about sds-2026-01"),
        ({"implementation": {"name": "other", "version": "0.1.0", "language": ""}}, "of the name 'other'"),
        ({"rows": [{}]}, "is a required property"),
        ({"seconds": -1}, "at seconds"),
    ],
)
def test_what_is_about_something_else_is_refused(
    altered: Callable[..., Path], change: dict[str, Any], said: str
) -> None:
    result = typed("report", str(altered(**change)))
    assert (result.exit_code, said in words(result.stderr)) == (2, True)


def test_the_limits_of_another_version_of_the_suite_go_on_no_certificate(altered: Callable[..., Path]) -> None:
    folder = altered(suite={"name": "sds-conformance", "version": "0.0.1"})
    result = typed("certificate", "write", str(folder))
    assert result.exit_code == 2
    assert "measured by version 0.0.1 of the suite" in words(result.stderr)
    assert not Path("certificate.json").exists()


def test_what_a_stranger_wrote_is_escaped(altered: Callable[..., Path], capped: Path, tmp_path: Path) -> None:
    hostile = {"title": HOSTILE, "expected": HOSTILE, "seen": HOSTILE, "replay": HOSTILE, "requirement": HOSTILE}
    folder, page, compared = altered(hostile), tmp_path / "page.html", tmp_path / "compared.html"
    assert typed("report", str(folder), "--html", str(page)).exit_code == 0
    output = typed("compare", str(folder), str(capped), "--html", str(compared))
    assert output.exit_code == 0
    assert controls(output.stdout) == set()
    for written in (page, compared):
        text = written.read_text("utf-8")
        assert "<script>alert" not in text
        assert "&lt;script&gt;alert" in text
        assert "\x1b" not in text
        assert "\u202e" not in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--revision", "forum-2024"), "is about sds-2026-01: add --revision sds-2026-01"),
        (("--at", "7"), "--at plays one size and so finds no limit"),
        (("--", *REFERENCE), "this is sds_reference 0.1.0, and the report in"),
    ],
)
def test_it_is_said_before_anything_is_measured_that_it_fits_to_no_report(
    capped: Path, arguments: tuple[str, ...], said: str
) -> None:
    before = (capped / "limits.json").read_text("utf-8")
    result = typed("limits", "--only", "waiting", "--report", str(capped), *arguments)
    assert result.exit_code == 2
    assert said in words(result.stderr)
    assert (capped / "limits.json").read_text("utf-8") == before


def test_without_a_report_there_is_nothing_to_add_to(tmp_path: Path) -> None:
    result = typed("limits", "--report", str(tmp_path))
    assert result.exit_code == 2
    assert "`sds-conformance run --report DIR` writes one" in words(result.stderr)
    assert list(tmp_path.iterdir()) == []
