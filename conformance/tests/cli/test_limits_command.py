"""``limits``: the table, JSON, exit codes, scenario files; and limits in reports, certificates and comparisons."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from html_validator import complaints_about
from run_helpers import odd_adapter, reference_command
from sds_conformance.exploration.limits.measurement import (
    load_schema,
)
from sds_conformance.reports import comparing
from sds_conformance.vectors.canonical import digest
from suite_terminal import controls, too_wide, typed, words

CAPPED = reference_command("--mutant", "room-for-waiting-100")
WAITING = """\
description: Messages wait for a lost one, and are delivered when it arrives.
members: [alice, bob]
requirements: [SDS-RECV-08]
parameter: operations[1].times
operations:
- {op: send, who: bob, label: lost, route: {lost: [alice]}}
- {op: send, who: bob, label: m, times: 200}
- {op: lookup, who: alice}
- {op: settle, who: alice}
expect:
- {who: alice, delivers: [lost, m]}
"""
"""A scenario file with a number to raise."""
BRIEFLY = ("--budget", "10m", "--memory", "150m")


def rows(*arguments: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """Exit code, and the rows by dimension."""
    result = typed("limits", "--json", *arguments)
    data = json.loads(result.stdout)
    assert data["interrupted"] is False
    return result.exit_code, {row["dimension"]: row for row in data["rows"]}


def test_a_limit_stands_in_the_table_with_the_command_that_plays_it_again() -> None:
    result = typed("limits", "--only", "waiting", "--only", "time", "--budget", "10m", "--", *CAPPED)
    assert result.exit_code == 1
    assert too_wide(result.stdout) == []
    assert controls(result.stdout + result.stderr) == set()
    assert "waiting messages 100 101 wrong, SDS-RECV-08" in words(result.stdout)
    assert "Expected 'bob-102' to be kept, and delivered after 'bob-1' had arrived" in words(result.stdout)
    (again,) = [line.partition("Again")[2] for line in result.stdout.splitlines() if "  Again " in line]
    _, *arguments = shlex.split(again)
    replayed = typed(*arguments)
    assert replayed.exit_code == 1
    assert "waiting messages, 101: wrong, SDS-RECV-08" in replayed.stdout
    assert "there was no time" not in replayed.stdout


@pytest.mark.parametrize(
    ("how", "output", "timeout"),
    [
        ("hangs", "slow", "0.5"),
        ("crashes", "crashed", "8"),
        pytest.param("allocates", "out of memory", "8", marks=pytest.mark.exhaustive),
        pytest.param("answers-wrongly", "crashed", "8", marks=pytest.mark.exhaustive),
    ],
)
def test_who_breaks_at_some_size_has_a_row_and_the_others_are_measured(how: str, output: str, timeout: str) -> None:
    only = ("--only", "waiting", "--only", "channels", *BRIEFLY, "--timeout", timeout)
    code, found = rows(*only, "--", *odd_adapter("breaks-at", "7", how))
    assert code == 1
    # The root is received as well.
    assert (found["waiting"]["held"], found["waiting"]["first_not"], found["waiting"]["how"]) == (5, 6, output)
    assert found["waiting"]["verdict"] == "finding"
    # Two messages in each of three channels.
    assert (found["channels"]["held"], found["channels"]["first_not"]) == (3, 4)
    assert {row["requirement"] for row in found.values()} == {None}


# ---- Scenario files --------------------------------------------------------------------------------------------------


def waiting(folder: Path, *changes: tuple[str, str]) -> str:
    """The file, with texts replaced."""
    text = WAITING
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "waiting.yaml").write_text(text, "utf-8")
    return str(folder / "waiting.yaml")


@pytest.mark.parametrize(("times", "code", "verdict"), [(200, 1, "finding"), (50, 0, "warning")])
def test_a_file_demands_the_number_that_it_has(tmp_path: Path, times: int, code: int, verdict: str) -> None:
    file = waiting(tmp_path, ("200", str(times)))
    found_code, found = rows("--scenario-file", file, "--budget", "10m", "--", *CAPPED)
    (row,) = found.values()
    assert (found_code, row["verdict"], row["demanded"]) == (code, verdict, times)
    assert (row["dimension"], row["held"], row["first_not"]) == ("waiting.yaml", 100, 101)
    _, *again = shlex.split(row["replay"])
    assert again[:5] == ["limits", "--scenario-file", file, "--at", "101"]
    replayed = typed(*again)
    assert replayed.exit_code == code
    assert "Raises operations[1].times in" in words(replayed.stdout)


TIMES = "parameter: operations[1].times"


@pytest.mark.parametrize(
    ("parameter", "said"),
    [
        ("", "has no number to raise: add a line such as `parameter: operations"),
        ("operations[1].tmes", "line 4: parameter: operations[1] (send) has no number 'tmes'. Did you mean times?"),
        ("operations[9].times", "line 4: parameter: operations[9] does not exist: the last one is operations[3]"),
        ("times", "line 4: parameter: 'times' does not name a number: write a path such"),
        ("configuration.bloom_capacity", "the configuration of the file has no number 'bloom_capacity'. It has no "),
        ("members[0].clock_ms", "members[0].clock_ms is 0, and `limits` raises only numbers above 0"),
    ],
)
def test_2_a_file_without_a_number_to_raise(tmp_path: Path, parameter: str, said: str) -> None:
    file = waiting(tmp_path, (f"{TIMES}\n", f"parameter: {parameter}\n" if parameter else ""))
    result = typed("limits", "--scenario-file", file, "--", *reference_command())
    assert result.exit_code == 2
    assert said in words(result.stderr)


def test_2_sizes_that_a_file_cannot_have_and_reports(tmp_path: Path) -> None:
    file = waiting(tmp_path)
    for option, value, said in (
        ("--at", "2001", "--at 2001: the maximum size of waiting.yaml is 2000"),
        ("--report", tmp_path, "a report has only limits of the suite's dimensions: omit --report or --scenario-file"),
    ):
        result = typed("limits", "--scenario-file", file, option, value)
        assert result.exit_code == 2
        assert said in words(result.stderr)


# ---- In reports, certificates and comparisons ------------------------------------------------------------------------


REFERENCE = reference_command()
CAPPED = reference_command("--mutant", "room-for-waiting-100")
HOSTILE = "<script>alert(1)</script>\x1b[2J\u202e"


RUN = ("run", "--scenario", "a-diamond", "--environment", "plain", "--report")


@pytest.fixture(scope="module")
def capped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report on a single scenario, with limits."""
    folder = tmp_path_factory.mktemp("kept") / "capped"
    assert typed(*RUN, folder, "--", *CAPPED).exit_code == 0
    only = ("--only", "waiting", "--only", "time", "--budget", "10m")
    result = typed("limits", *only, "--report", folder, "--", *CAPPED)
    assert result.exit_code == 1
    assert f"Limits: {folder / 'limits.json'}" in result.stderr
    return folder


@pytest.fixture(scope="module")
def whole(capped: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of the reference, which is asked for a little more than the other one holds."""
    folder = tmp_path_factory.mktemp("kept") / "whole"
    typed(*RUN, folder, "--", *REFERENCE)
    about = json.loads((folder / "report.json").read_text("utf-8"))["implementation"]
    data = json.loads((capped / "limits.json").read_text("utf-8"))
    data["implementation"] = {key: about[key] for key in data["implementation"]}
    alone = typed("limits", "--json", "--only", "waiting", "--at", "130", "--", *REFERENCE)
    data["rows"][0] = json.loads(alone.stdout)["rows"][0]
    (folder / "limits.json").write_text(json.dumps(data), "utf-8")
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


def test_the_pages_have_them_and_are_valid(
    capped: Path, whole: Path, altered: Callable[..., Path], tmp_path: Path
) -> None:
    pages = {name: tmp_path / f"{name}.html" for name in ("report", "certificate", "comparison", "without")}
    assert "Limits 1 finding, 0 warnings in 2 dimensions" in words(typed("report", capped).stdout)
    typed("report", capped, "--html", pages["report"])
    typed("compare", whole, capped, "--html", pages["comparison"])
    typed("certificate", "write", capped, "--out", tmp_path / "certificate.json", "--html", pages["certificate"])
    without = altered()
    (without / "limits.json").unlink()
    typed("report", without, "--html", pages["without"])
    texts = {name: page.read_text("utf-8") for name, page in pages.items()}
    assert complaints_about(tmp_path, **texts) == []
    assert "Limits: 1 finding, 0 warnings in 2 dimensions" in texts["report"]
    assert '<th scope="row">waiting messages</th><td>100</td><td>101</td>' in texts["report"]
    assert "limits --only waiting --at 101" in texts["report"]
    assert "How far it holds" not in texts["without"]


def test_a_new_report_has_no_limits_of_the_one_before(altered: Callable[..., Path]) -> None:
    folder = altered()
    typed(*RUN, folder, "--", *CAPPED)
    assert not (folder / "limits.json").exists()


def test_a_certificate_has_them_and_its_level_and_digest_cover_them(capped: Path, tmp_path: Path) -> None:
    file, page = tmp_path / "certificate.json", tmp_path / "certificate.html"
    assert typed("certificate", "write", capped, "--out", file, "--html", page).exit_code == 0
    data = json.loads(file.read_text("utf-8"))
    assert (data["limits"]["complete"], data["limits"]["budget_seconds"]) == (True, 600)
    row = data["limits"]["rows"][0]
    assert (row["held"], row["first_not"], row["verdict"], row["how"]) == (100, 101, "finding", "wrong")
    against = "the limits are smaller than declared or required: waiting messages (SDS-RECV-08)"
    assert against in data["level"]["against"]
    assert "waiting messages" in page.read_text("utf-8")
    shown = typed("certificate", "show", file)
    assert "Limits 1 finding, 0 warnings in 2 dimensions" in words(shown.stdout)
    assert "waiting messages 100 101 wrong, SDS-RECV-08" in words(shown.stdout)
    assert too_wide(shown.stdout) == []
    verified = typed("certificate", "verify", file, "--", *CAPPED)
    assert verified.exit_code == 0
    assert "Limits not measured again" in words(verified.stdout)


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"verdict": "warning"}, "the smallest size that failed gives another verdict"),
        ({"held": 101}, "does not fit the smallest size that failed"),
        ({"declared": 100}, "the declared limit differs from the declaration"),
        ({"dimension": "patience"}, "patience is not a dimension of the suite"),
        ({"dimension": "time"}, "described differently than in this suite"),
    ],
)
def test_what_does_not_follow_is_forged_whoever_computed_the_digest(
    capped: Path, tmp_path: Path, change: dict[str, Any], wrong: str
) -> None:
    file = tmp_path / "certificate.json"
    typed("certificate", "write", capped, "--out", file)
    data = json.loads(file.read_text("utf-8"))
    data["limits"]["rows"][0] |= change
    del data["digest"]
    file.write_text(json.dumps({**data, "digest": digest(data)}), "utf-8")
    verified = typed("certificate", "verify", file, "--", *CAPPED)
    assert verified.exit_code == 2
    assert wrong in words(verified.stdout)


def test_two_are_compared_side_by_side(capped: Path, whole: Path, tmp_path: Path) -> None:
    page, text = tmp_path / "page.html", tmp_path / "page.md"
    result = typed("compare", whole, capped, "--html", page, "--markdown", text)
    assert result.exit_code == 0
    assert "Limits differ in 1 of 2 dimensions." in result.stdout
    (line,) = [line.split() for line in result.stdout.splitlines() if line.startswith("waiting messages ")]
    assert line[2:] == ["130+", "100!"]
    assert "Broke waiting messages, B at 101: wrong, SDS-RECV-08" in words(result.stdout)
    assert too_wide(result.stdout) == []
    assert "100! <small>wrong, SDS-RECV-08</small>" in page.read_text("utf-8")
    assert "| 130+ | 100\\!: wrong, SDS-RECV-08 |" in text.read_text("utf-8")
    data = json.loads(typed("compare", "--json", whole, capped).stdout)
    schema = json.loads(files(comparing).joinpath("compare.schema.json").read_text("utf-8"))
    assert [error.message for error in Draft202012Validator(schema).iter_errors(data)] == []
    assert {reach["dimension"]: reach["differs"] for reach in data["limits"]} == {"waiting": True, "time": False}
    worse = typed("compare", "--fail-on-worse", whole, capped)
    assert worse.exit_code == 1
    other = "sds_reference mutant room-for-waiting-100 0.1.0 than in sds_reference 0.1.0"
    assert words(worse.stdout).startswith(f"1 limit that is smaller in {other}: waiting messages (130+ → 100!)")
    assert typed("compare", "--fail-on-worse", capped, whole).exit_code == 0


@pytest.mark.parametrize(
    ("command", "content", "said"),
    [
        ("report", '{"a":', "is not JSON, or was cut off"),
        ("certificate write", "[]", "is not an object"),
        ("compare", '{"schema": "sds-conformance/limits/9"}', "is sds-conformance/limits/9, but this version reads"),
        (
            "report",
            '{"schema": "sds-conformance/limits/2"}',
            "was not written by `sds-conformance limits --report DIR`",
        ),
        ("report", "[" * 100_000, "nested too deep"),
        ("report", {"revision": "forum-2024"}, "is about forum-2024, but the report is about sds-2026-01"),
        ("report", {"implementation": {"name": "x", "version": "0.1.0", "language": ""}}, "of the name 'x'"),
        ("report", {"rows": [{}]}, "is a required property"),
        ("certificate write", {"suite": {"name": "sds-conformance", "version": "0.0.1"}}, "measured by version 0.0.1 "),
    ],
)
def test_a_file_that_is_none_or_about_something_else_is_refused(
    altered: Callable[..., Path], capped: Path, command: str, content: str | dict[str, Any], said: str
) -> None:
    folder = altered(**(content if isinstance(content, dict) else {}))
    if isinstance(content, str):
        (folder / "limits.json").write_text(content, "utf-8")
    result = typed(*command.split(), folder, *([capped] if command == "compare" else []))
    assert result.exit_code == 2
    assert said in words(result.stderr)
    assert not Path("certificate.json").exists()


def test_what_a_stranger_wrote_is_escaped(altered: Callable[..., Path], capped: Path, tmp_path: Path) -> None:
    hostile = {"title": HOSTILE, "expected": HOSTILE, "seen": HOSTILE, "replay": HOSTILE, "requirement": HOSTILE}
    folder, page, compared = altered(hostile), tmp_path / "page.html", tmp_path / "compared.html"
    assert typed("report", folder, "--html", page).exit_code == 0
    output = typed("compare", folder, capped, "--html", compared)
    assert output.exit_code == 0
    assert controls(output.stdout) == set()
    for text in (page.read_text("utf-8"), compared.read_text("utf-8")):
        assert "&lt;script&gt;alert" in text
        assert [piece for piece in ("<script>alert", "\x1b", "\u202e") if piece in text] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--revision", "forum-2024"), "is about sds-2026-01: add --revision sds-2026-01"),
        (("--at", "7"), "with --at, no limit is measured that --report could add"),
        (("--", *REFERENCE), "this is sds_reference 0.1.0, and the report in"),
    ],
)
def test_it_is_said_before_anything_is_measured_that_it_fits_to_no_report(
    capped: Path, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    before = (capped / "limits.json").read_text("utf-8")
    result = typed("limits", "--only", "waiting", "--report", capped, *arguments)
    assert result.exit_code == 2
    assert said in words(result.stderr)
    assert (capped / "limits.json").read_text("utf-8") == before
    nothing = typed("limits", "--report", tmp_path)
    assert nothing.exit_code == 2
    assert "`sds-conformance run --report DIR` writes one" in words(nothing.stderr)
    assert list(tmp_path.iterdir()) == []
