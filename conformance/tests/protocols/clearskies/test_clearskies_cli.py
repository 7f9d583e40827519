"""The database extension on the command line: tried, judged, explained, and proven like the first protocol."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from run_helpers import REPOSITORY
from suite_terminal import too_wide, typed, words

REVISION = ("--revision", "clearskies-database")
MODEL = ("--", sys.executable, "-m", "clearskies_reference")
FAULTY = (*MODEL, "--mutant", "sends-changes-to-one-peer")


def test_smoke_shows_a_conversation_and_says_what_to_type_next() -> None:
    result = typed("smoke", *REVISION, *MODEL)
    assert result.exit_code == 0
    assert too_wide(result.stdout) == []
    text = words(result.stdout)
    assert "alice gets link 1 to bob, a read-write peer" in text
    assert "sends on link 1 an update of 'photo-1'" in text
    assert "a deletion of 'photo-2'" in text
    assert "sds-conformance run --revision clearskies-database --" in text


def test_a_fault_is_reported_as_a_story_and_left_in_the_report(tmp_path: Path) -> None:
    report = tmp_path / "report"
    page = tmp_path / "page.html"
    result = typed(
        "run", *REVISION, "--select", "CSDB-14", "--environment", "plain", "--report", report, "--html", page, *FAULTY
    )
    assert result.exit_code == 1
    assert too_wide(result.stdout) == []
    text = words(result.stdout)
    assert "FAIL CSDB-14" in text
    assert "for carol" in text
    assert "--revision clearskies-database" in text
    found = json.loads((report / "report.json").read_text("utf-8"))
    assert [row["id"] for row in found["requirements"] if row["verdict"] == "fail"] == ["CSDB-14"]
    assert "photo-1" in page.read_text("utf-8")
    again = typed("report", report)
    assert "FAIL CSDB-14" in words(again.stdout)


def test_a_requirement_and_a_position_are_explained() -> None:
    text = words(typed("requirements", "CSDB-14").stdout)
    for said in (
        "Position CA-1: ",
        "Check changes_are_sent_to_all_who_have_asked: ",
        "Mutant sends-changes-to-one-peer: ",
        "changes-spread",
    ):
        assert said in text
    assert "Concerns CSDB-20: " in words(typed("requirements", "CA-1").stdout)
    rows = json.loads(typed("requirements", "CA-*", "--json").stdout)
    assert [row["id"] for row in rows][:3] == ["CA-1", "CA-2", "CA-3"]


# ---- The peer in JavaScript ------------------------------------------------------------------------------------------

ADAPTER = REPOSITORY / "harness" / "adapters" / "clearskies-js" / "adapter.mjs"


@pytest.fixture
def command() -> list[str]:
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node")
    return [node, str(ADAPTER)]


def test_the_peer_in_javascript_passes_every_requirement_that_it_exercises(command: list[str]) -> None:
    result = typed("run", *REVISION, "--environment", "plain", "--json", "--", *command)
    verdicts = {row["id"]: row["verdict"] for row in json.loads(result.stdout)["requirements"]}
    assert result.exit_code == 0
    assert set(verdicts.values()) <= {"pass", "skipped"}
    assert list(verdicts.values()).count("pass") == 56


def test_the_peer_in_javascript_answers_every_vector_of_its_signature_profile(command: list[str]) -> None:
    result = typed("vectors", "run", *REVISION, "--json", "--", *command)
    statuses = [row["status"] for row in json.loads(result.stdout)["vectors"]]
    assert result.exit_code == 0
    assert {"fail", "broken", "error"}.isdisjoint(statuses)
    assert len(statuses) - statuses.count("skipped") > 280
