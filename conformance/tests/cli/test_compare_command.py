"""``sds-conformance compare``: what is typed, what comes out, and how it ends."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from rich.cells import cell_len

from pages import ParsedPage
from sds_conformance.reports import comparing
from sds_conformance.reports.gfm import JOINER
from short_reports import kept, made
from suite_terminal import controls, too_wide, typed, words

EVIL = "<script>alert(1)</script>|`x`[a](javascript:alert(1))\x1b[31m\u202e\n# head"
SHOWN = {"count": 3, "run": "ties", "step": 7}
WAYS = [
    {
        "position": "AMB-29",
        "topic": "The order of a history",
        "ways": [{"way": way, "words": f"histories are {way}", **SHOWN} for way in several],
        "error": "",
    }
    for several in (["ascending"], ["descending"], ["ascending", "descending"], [])
]


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    return (
        kept(tmp_path / "old", made(version="1", RECV_01="pass", RECV_02="fail", RECV_03="pass", MSG_01="skipped")),
        kept(tmp_path / "new", made(version="2", RECV_01="fail", RECV_02="pass", RECV_03="pass", MSG_01="pass")),
    )


@pytest.fixture
def nightly(tmp_path: Path) -> Path:
    for day, verdict in ((1, "pass"), (2, "fail"), (3, "pass"), (4, "warn")):
        kept(tmp_path / "nightly" / str(day), made(version=f"1.{day}", day=day, RECV_01=verdict, RECV_02="pass"))
    return tmp_path / "nightly"


def schema(data: Any) -> None:
    text = files(comparing).joinpath("compare.schema.json").read_text("utf-8")
    Draft202012Validator(json.loads(text)).validate(data)


def test_what_differs_is_reported_and_the_rest_is_counted(two: tuple[Path, Path]) -> None:
    result = typed("compare", *two)
    assert result.exit_code == 0
    printed = words(result.output)
    assert "From A to B: 1 worse, 1 better, 1 now judged. Worse SDS-RECV-01 Better SDS-RECV-02 Now 1 pass" in printed
    assert re.search(r"SDS-RECV-01 +pass +fail ", result.output)
    assert "SDS-RECV-03" not in printed
    assert "No difference in 1 requirement: 1 pass. --all lists them." in printed
    assert re.search(r"SDS-RECV-03 +pass +pass ", typed("compare", "--all", *two).output)
    for several in (two, two * 5):
        for width in (60, 200):
            narrow = typed("compare", "--all", *several, COLUMNS=str(width)).output
            assert [line for line in narrow.splitlines() if cell_len(line) > width] == []
    assert "SDS-RECV-02" not in typed("compare", "--only", "recv-01", *two).output


def test_ways_that_changed_are_counted_and_the_command_that_shows_them_is_named(tmp_path: Path) -> None:
    """Two releases with the same verdicts are not the same where one goes another way."""
    old, new, page, text = (tmp_path / name for name in ("old", "new", "page.html", "page.md"))
    for folder, way in ((old, WAYS[0]), (new, WAYS[1])):
        kept(folder, made(version=folder.name, RECV_01="pass") | {"ways": [way]})
    result = typed("compare", old, new, "--markdown", text, "--html", page)
    assert "From A to B: no verdict changed, 1 position with a different way." in words(result.output)
    assert f"sds-conformance compare --ways {old} {new}" in result.output
    assert "- **1 position with a different way**" in text.read_text("utf-8")
    assert "<li>1 position with a different way</li>" in page.read_text("utf-8")
    assert "different way" not in typed("compare", new, new).output


def test_what_got_worse_can_fail_and_is_said_first(two: tuple[Path, Path]) -> None:
    result = typed("compare", "--fail-on-worse", *two)
    assert result.exit_code == 1
    assert result.output.startswith("1 requirement got worse from mine 1 to mine 2: SDS-RECV-01 (pass → fail).\n")
    assert typed("compare", "--fail-on-worse", "--only", "RECV-02", *two).exit_code == 0
    back = typed("compare", "--fail-on-worse", two[0], two[1], two[0])
    assert back.exit_code == 0, "from the first to the last nothing did"


def test_json_is_as_its_schema_says(two: tuple[Path, Path], nightly: Path) -> None:
    both = typed("compare", "--json", "--fail-on-worse", *two)
    data = json.loads(both.stdout)
    schema(data)
    assert both.stderr.startswith("1 requirement got worse")
    worse = {"id": "SDS-RECV-01", "before": "pass", "after": "fail", "change": "worse"}
    assert data["changes"][0]["requirements"][0] == worse
    history = json.loads(typed("compare", "--json", nightly).stdout)
    schema(history)
    assert [turn["after"] for turn in history["series"][0]["turns"]] == ["warn", "pass", "fail"]


def test_a_folder_tells_when_each_requirement_changed(nightly: Path, tmp_path: Path) -> None:
    page, text = tmp_path / "page.html", tmp_path / "text.md"
    result = typed("compare", nightly, "--html", page, "--markdown", text)
    assert result.exit_code == 0
    printed = words(result.output)
    assert "2026-01-04 12:00 1.4 SDS-RECV-01 pass → warn" in printed
    assert printed.index("2026-01-04 12:00 1.4 SDS") < printed.index("2026-01-02 12:00 1.2 SDS")
    assert "| 2026-01-03 12:00 | 1.3 | SDS-RECV-01 | fail | pass | better |" in text.read_text("utf-8")
    assert "2026-01-03 12:00" in page.read_text("utf-8")
    since = typed("compare", nightly, "--since", "2026-01-04").output
    assert "2026-01-04 12:00  1.4" in since
    assert "2026-01-02 12:00  1.2" not in since
    assert "Nothing changed since 2027-01-01." in typed("compare", nightly, "--since", "2027-01-01").output
    assert typed("compare", nightly, "--fail-on-worse").exit_code == 1
    assert typed("compare", nightly, "--only", "SDS-NO-*").exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Missing argument 'REPORT...'"),
        (["old"], "is only one report: name a second"),
        (["old", "nowhere"], "nowhere is not a report"),
        (["old", "empty"], "is not a report and contains no report"),
        (["old", "broken"], "report.jsonl is not a report"),
        (["old", "new", "--since", "2026-01-01"], "--since needs a folder of dated reports"),
        (["old", "new", "--only", "SDS-NO-*"], "nothing matches SDS-NO-*"),
        (["old", "new", "--html", "nowhere/page.html"], "there is no folder"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    two: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("empty", "broken"):
        (tmp_path / name).mkdir()
    (tmp_path / "broken" / "report.jsonl").write_text('{"type": "header"}\n', "utf-8")
    result = typed("compare", *arguments)
    assert result.exit_code == 2
    assert said in words(result.output)


def test_names_that_are_hostile_are_text_everywhere(tmp_path: Path) -> None:
    evil = made(EVIL, EVIL, RECV_01="fail")
    evil["implementation"]["language"] = evil["suite"]["version"] = evil["profiles"]["dialect"] = EVIL
    evil["requirements"][0]["statement"] = EVIL
    later = made(EVIL, EVIL, day=2, RECV_01="pass") | {"profiles": evil["profiles"]}
    reports = [kept(tmp_path / "all" / "a", evil), kept(tmp_path / "all" / "b", later)]
    page, text = tmp_path / "page.html", tmp_path / "text.md"
    for several in ([*reports, kept(tmp_path / "c", made(RECV_01="pass"))], [tmp_path / "all"]):
        result = typed("compare", *several, "--html", page, "--markdown", text)
        assert result.exit_code == 0
        assert controls(result.output) == set()
        assert too_wide(result.stdout) == []
        read = ParsedPage(page.read_text("utf-8"))
        assert len(read.of("script")) == (len(several) > 1), "its own script alone"
        assert not [e for e in read.elements if e.tag == "img" or {"src", "onclick", "onerror"} & set(e.attrs)]
        written = text.read_text("utf-8")
        assert controls(written) <= {JOINER}
        assert not re.search(r"(?<!\\)(<script|\]\()|^# head", written, re.MULTILINE)
        for line in re.findall(r"^\| A \|.*", written, re.MULTILINE):
            assert len(re.findall(r"(?<!\\)\|", line)) == 6, "no cell of a stranger makes two"


def test_ways_are_reported_where_a_report_has_them(tmp_path: Path) -> None:
    reports = [
        kept(tmp_path / str(number), made(f"impl{number}", RECV_01="pass") | {"ways": [ways]})
        for number, ways in enumerate(WAYS)
    ]
    reports.append(kept(tmp_path / "old", made("old", RECV_01="pass")))
    result = typed("compare", "--ways", *reports)
    assert result.exit_code == 0, result.output
    printed = words(result.output)
    assert "the reports differ in 1 of 1" in printed
    assert "A, C ascending: histories are ascending A in ties, step 7 (3 in all)" in printed
    assert "B, C descending: histories are descending" in printed
    assert "Mixed C Not shown D, E" in printed
    schema(json.loads(typed("compare", "--json", *reports).stdout))
    text = tmp_path / "text.md"
    typed("compare", "--ways", "--markdown", text, *reports)
    row = "| AMB-29 | The order of a history | ascending | descending | mixed: ascending, descending | not shown | ? |"
    assert row in text.read_text("utf-8")
    assert "AMB-29" not in typed("compare", *reports).output
