"""An experimental requirement warns at most, and counts for no level, no certificate and no exit code."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from certificates import certified
from sds_conformance.judging.judgement import Observation, Outcome
from sds_conformance.judging.verdict import Verdict, severity_of
from sds_conformance.protocols.sds.catalogue import load_catalogue

TOYS = Path(__file__).parents[1] / "toys"
KNOWN = load_catalogue().requirements


@pytest.fixture
def experimental(monkeypatch: pytest.MonkeyPatch) -> str:
    """A MUST of SDS that was made experimental."""
    changed = replace(KNOWN["SDS-RECV-06"], experimental=True)
    monkeypatch.setitem(KNOWN, changed.id, changed)
    return changed.id


CHECK = """
@REGISTER.check("ECHO-X-01")
def says_it_in_capitals(view: Any) -> Iterator[Observation]:
    for step in view.trace.steps:
        heard = step.reply.said.text
        {}
        wrong = observe_violation(step, "low", "capitals", repr(heard))
        yield observe_met(step) if heard.isupper() else wrong


"""
ROW = {"id": "ECHO-X-01", "section": "X", "anchor": "experimental", "experimental": True}
ROW |= {"statement": "The echo is in capitals.", "codes": {"low": "it is not"}}


@pytest.mark.parametrize("strict", [False, True])
def test_a_violation_of_a_must_is_only_a_warning(experimental: str, strict: bool) -> None:
    violation = Observation(Outcome.VIOLATED, 1)
    assert severity_of(KNOWN[experimental], violation, strict=strict) is Verdict.WARN


@pytest.mark.parametrize("verdict", ["warn", "inconclusive", "skipped"])
def test_no_verdict_on_it_changes_a_level(experimental: str, verdict: str) -> None:
    assert certified({experimental: verdict}).level == "Core + SDS-R, strict"


@pytest.mark.parametrize(
    ("fault", "verdict"), [("", "warn"), ("raise ValueError('a fault of the check')", "inconclusive")]
)
def test_a_run_of_a_toy_exits_with_0_and_calls_it_experimental(fault: str, verdict: str, tmp_path: Path) -> None:
    shutil.copytree(TOYS, tmp_path / "toys", ignore=shutil.ignore_patterns("__pycache__"))
    catalogue, protocol = (tmp_path / "toys" / "echo" / name for name in ("catalogue.json", "protocol.py"))
    data = json.loads(catalogue.read_text("utf-8"))
    data["sections"].append({"id": "X", "title": "Experimental", "anchor": "experimental"})
    data["requirements"].append(data["requirements"][0] | ROW)
    catalogue.write_text(json.dumps(data), "utf-8")
    text, place = protocol.read_text("utf-8"), '@REGISTER.scenario("01")'
    protocol.write_text(text.replace(place, CHECK.format(fault) + place), "utf-8")
    suite = [sys.executable, str(tmp_path / "toys" / "main.py")]
    run = [*suite, "run", "--strict", "--revision", "echo-1", "--report", str(tmp_path)]
    done = subprocess.run(
        [*run, "--", *suite, "-m", "sds_conformance.protocols.echo.model"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "section 'experimental'" in done.stdout or fault
    rows = json.loads((tmp_path / "report.json").read_text("utf-8"))["requirements"]
    assert {row["id"]: row["verdict"] for row in rows} == {"ECHO-01": "pass", "ECHO-X-01": verdict}
    assert [row["anchor"] for row in rows] == ["echo", "experimental"]
