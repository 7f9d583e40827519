"""The seam: a protocol is a folder. Echo is run, judged, told and gated without a line of the suite about it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

TOYS = Path(__file__).with_name("toys")
SUITE = [sys.executable, str(TOYS / "main.py")]
ECHO = [*SUITE, "-m", "sds_conformance.protocols.echo.model"]


def typed(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The output of the suite with the toy protocols in addition to its own."""
    return subprocess.run([*SUITE, *arguments], capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(("fault", "code"), [([], 0), (["--shouts"], 1)])
def test_a_toy_is_run_and_gated(fault: list[str], code: int, tmp_path: Path) -> None:
    done = typed("run", "--revision", "echo-1", "--report", str(tmp_path), "--", *ECHO, *fault)
    assert done.returncode == code, done.stderr
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    (verdict,) = report["requirements"]
    assert (verdict["id"], verdict["verdict"]) == ("ECHO-01", "fail" if code else "pass")
    assert verdict["exercised"] == 2


def test_a_fault_of_a_toy_is_reported_as_a_story() -> None:
    printed = typed("run", "--revision", "echo-1", "--", *ECHO, "--shouts").stdout
    for line in (
        "Against   echo-1: Echo, first edition",
        "FAIL  ECHO-01/changed  MUST, section 'echo'",
        "2 somebody says 'hello'",
        "Expected  'hello'",
        "Seen      'HELLO'",
        "--select ECHO-01 --scenario a-shout-and-a-whisper --revision echo-1",
    ):
        assert line in printed


def test_a_toy_stands_in_the_catalogue_and_leaves_the_others_alone() -> None:
    rows = json.loads(typed("requirements", "--no-run", "--json").stdout)
    ids = [row["id"] for row in rows]
    assert "ECHO-01" in ids
    assert {"SDS-RECV-06", "FORUM-01"} <= set(ids)
    assert typed("requirements", "--no-run", "ECHO-01").stdout.startswith("ECHO-01  MUST")
