"""The benchmarks run as their README says, and the tables there are those of what was measured."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from run_helpers import REPOSITORY
from waku_adapter import waku_command

sys.path.append(str(REPOSITORY / "harness"))

from benchmarks import all as everything
from benchmarks.tables import MARKED, TABLES, rewritten

FOLDER = REPOSITORY / "harness" / "benchmarks"
README = (FOLDER / "README.md").read_text("utf-8")
DOCUMENTED = list(dict.fromkeys(re.findall(r"^python harness/benchmarks/(.+)$", README, re.MULTILINE)))
TINY = {
    "all.py": ["--only", "model_throughput", "--quick"],
    "model_throughput.py": ["--sizes", "10", "--rounds", "1", "--at-least", "1"],
    "against_waku_sds.py": ["--sizes", "10"],
    "harness_steps.py": ["--steps", "10", "--rounds", "1", "--cores", "1", "--carrier", "binary"],
    "schedules.py": ["--schedules", "1"],
    "report_forms.py": ["--scenario", "two-channels"],
    "corpora.py": ["--rows", "2000"],
    "corpora_rivals.py": ["--repeats", "0", "--memory", "512m"],
    "whole_commands.py": ["--only", "requirements", "--quick", "--rounds", "1"],
    "small_worlds.py": ["--events", "1", "--only", "sync-does-not-increase", "--alphabet", "send,sync", "--jobs", "1"],
    "repair_storms.py": ["--trials", "2", "--sizes", "1", "5"],
}
"""By script: what makes a documented command line small."""
OF_SPARK = ("corpora.py", "corpora_rivals.py", "--record")


def started(script: str, *arguments: str, into: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(FOLDER / script), *arguments]
    return subprocess.run(command, cwd=into, capture_output=True, text=True, timeout=400, check=False)


def small(line: str, into: Path) -> list[str]:
    """A documented command line, with tiny sizes and with everything written below a folder."""
    script, *given = shlex.split(line)
    if "--svg" in given:
        given[given.index("--svg") + 1] = str(into / "storms.svg")
    if "--before" in given:
        given[given.index("--before") + 1] = str(REPOSITORY)
    given = [
        str(into / "made") if word == "FOLDER" else word.replace("harness/benchmarks", str(FOLDER)) for word in given
    ]
    return [script, *given, *TINY[script]]


def ran(line: str, into: Path) -> str:
    done = started(*small(line, into), into=into)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_script_is_documented_with_a_command_line() -> None:
    scripts = {path.name for path in FOLDER.glob("*.py")} - {"corpora_contestant.py", "units.py", "tables.py"}
    assert {line.split()[0] for line in DOCUMENTED} == scripts == set(TINY)


@pytest.mark.exhaustive
@pytest.mark.parametrize("line", [line for line in DOCUMENTED if not set(line.split()) & set(OF_SPARK)])
def test_a_documented_command_line_runs(line: str, tmp_path: Path) -> None:
    if line.startswith("against_waku"):
        waku_command()
    if "--svg" in line and find_spec("matplotlib") is None:
        pytest.skip("matplotlib is not installed: pip install --group benchmarks")
    assert len(ran(line, tmp_path).splitlines()) > 1


@pytest.mark.spark
def test_schedules_are_recorded_as_documented(tmp_path: Path) -> None:
    (line,) = [line for line in DOCUMENTED if line.endswith("--record")]
    assert "recording" in ran(line, tmp_path)


@pytest.mark.spark
@pytest.mark.exhaustive
def test_the_rivals_start_as_documented(tmp_path: Path) -> None:
    making, comparing = [line for line in DOCUMENTED if line.startswith("corpora")]
    assert "schedules differ" in ran(making, tmp_path)
    output = ran(f"{comparing} --only ours --json", tmp_path)
    ours = json.loads(output)["contestants"]["ours"]
    assert ours["start_s"] > 0
    assert "pyspark" in ours["versions"]
    assert ours["exact"] is True


@pytest.mark.exhaustive
def test_whole_commands_are_measured_side_by_side(tmp_path: Path) -> None:
    before = ["--before", str(REPOSITORY), "--only", "run-plain", "--quick", "--rounds", "1", "--json"]
    done = started("whole_commands.py", *before, into=tmp_path)
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["rows"]
    assert row["ratio"]["cpu_s"] == pytest.approx(row["after"]["cpu_s"] / row["before"]["cpu_s"], abs=0.01)
    for side in ("before", "after"):
        # Ours has imported the suite; the reference is another process.
        assert row[side]["own_cpu_s"] > 0.1
        assert row[side]["other_cpu_s"] > 0.05
        assert row[side]["own_peak_mib"] > 20 < row[side]["other_peak_mib"] + 10
    refused = started("whole_commands.py", "--before", str(tmp_path), into=tmp_path)
    assert (refused.returncode, "is not a checkout" in refused.stderr) == (2, True)


# ---- The README ------------------------------------------------------------------------------------------------------


def test_the_tables_are_made_of_what_was_measured() -> None:
    """`python harness/benchmarks/all.py --readme` makes them."""
    results = {name: unit["result"] for name, unit in everything.read(everything.MEASURED).items()}
    assert results
    assert rewritten(README, results) == README
    assert sorted(found["name"] for found in MARKED.finditer(README)) == sorted(TABLES)
