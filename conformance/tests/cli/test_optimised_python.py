"""PYTHONOPTIMIZE=2 drops docstrings and asserts: the commands say and do the same without them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from run_helpers import reference_command

TYPED = textwrap.dedent(
    """
    import json, sys
    from sds_conformance.cli import main
    for arguments in json.loads(sys.argv[1]):
        print("$", *arguments)
        try:
            main(arguments)
        except SystemExit as end:
            print("exit", end.code)
    """
)


def python(program: str, *arguments: str, optimised: bool) -> str:
    """The output of a program on both streams, without the parts that differ between runs."""
    ended = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        env={**os.environ, "PYTHONOPTIMIZE": "2" if optimised else "", "PYTHONUTF8": "1"},
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout
    return re.sub(r", for about \d+ s\b|\d+\.\d+ s\b|\d{4}-\d\d-\d\d[T ]?[\d:]*Z?", "", ended.stdout)


@pytest.mark.exhaustive
def test_commands_print_the_same_without_docstrings_and_asserts(tmp_path: Path) -> None:
    folder, page = str(tmp_path / "report"), str(tmp_path / "page.md")
    mutant = reference_command("--mutant", "starts-at-zero")
    commands = [
        ["requirements", "SDS-RECV-06", "--no-run"],
        ["requirements", "a-diamond", "--no-run"],
        ["requirements", "G-01", "--no-run"],
        ["run", "--environment", "plain", "--select", "SDS-STATE-02", "--report", folder, "--", *mutant],
        ["report", folder, "--markdown", page],
        ["report", folder],
        ["fuzz", "--schedules", "2", "--jobs", "1", "--out", str(tmp_path), "--", *reference_command()],
        ["fuzz", "--help"],
        ["list", "passages"],
    ]
    printed, pages = [], []
    for optimised in (False, True):
        printed.append(python(TYPED, json.dumps(commands), optimised=optimised))
        pages.append(re.sub(r"\d+\.\d+ s\b|\d{4}-\d\d-\d\d[T ]?[\d:]*Z?", "?", Path(page).read_text("utf-8")))
    assert "exit 1" in printed[0]
    assert "exit 70" not in printed[0]
    assert printed[0] == printed[1]
    assert pages[0] == pages[1]
