"""The benchmarks run as their README says, and the tables there are those of what was measured."""

from __future__ import annotations

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
    return [str(FOLDER / script), *given, *TINY[script]]


def test_every_script_is_documented_with_a_command_line() -> None:
    scripts = {path.name for path in FOLDER.glob("*.py")} - {"corpora_contestant.py", "units.py", "tables.py"}
    assert {line.split()[0] for line in DOCUMENTED} == scripts == set(TINY)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "line",
    [
        pytest.param(line, marks=pytest.mark.spark) if set(line.split()) & set(OF_SPARK) else line
        for line in DOCUMENTED
        if not line.startswith("corpora_rivals")  # it wants the corpora of another line
    ],
)
def test_a_documented_command_line_runs(line: str, tmp_path: Path) -> None:
    if line.startswith("against_waku"):
        waku_command()
    if "--svg" in line and find_spec("matplotlib") is None:
        pytest.skip("matplotlib is not installed: pip install --group benchmarks")
    done = subprocess.run(
        [sys.executable, *small(line, tmp_path)], cwd=tmp_path, capture_output=True, text=True, timeout=400, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


# ---- The README ------------------------------------------------------------------------------------------------------


def test_the_tables_are_made_of_what_was_measured() -> None:
    """`python harness/benchmarks/all.py --readme` makes them."""
    results = {name: unit["result"] for name, unit in everything.read(everything.MEASURED).items()}
    assert results
    assert rewritten(README, results) == README
    assert sorted(found["name"] for found in MARKED.finditer(README)) == sorted(TABLES)
