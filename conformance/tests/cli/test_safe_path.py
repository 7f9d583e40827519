"""A folder of the user with modules named as some that the suite imports: only implementations import from it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

WRONG = ("random", "typing", "click", "json", "threading", "selectors", "psutil", "google/__init__", "rich/__init__")
FUZZ = ("fuzz", "--jobs", "2", "--schedules", "4", "--participants", "3", "--out", "found")
RUN = ("run", "--select", "SDS-RECV-06", "--environment", "plain")
ADAPTER = "import helper\nfrom sds_reference.testee.command import main\nmain([])\n"


def suite(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Without the current folder in its own path, as the installed command."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    return subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; sys.path.remove(''); from sds_conformance.cli import main; main()",
            *arguments,
        ],
        cwd=folder,
        env=variables,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    "command", [FUZZ, pytest.param(RUN, marks=pytest.mark.exhaustive)], ids=lambda command: str(command[0])
)
def test_no_process_of_ours_imports_from_the_folder_of_the_user(command: tuple[str, ...], tmp_path: Path) -> None:
    for name in WRONG:
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text("raise SystemExit('the wrong module')\n", "utf-8")
    ended = suite(tmp_path, *command)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "the wrong module" not in ended.stderr


def test_the_module_leaves_that_folder_out_as_well(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise SystemExit('the wrong module')\n", "utf-8")
    ended = subprocess.run([sys.executable, "-m", "sds_conformance", "--version"], cwd=tmp_path, check=False)
    assert ended.returncode == 0


def test_an_implementation_imports_from_its_folder(tmp_path: Path) -> None:
    (tmp_path / "my_adapter.py").write_text(ADAPTER, "utf-8")
    (tmp_path / "helper.py").write_text("", "utf-8")
    ended = suite(tmp_path, *FUZZ, "--", sys.executable, "-m", "my_adapter")
    assert ended.returncode == 0, ended.stdout + ended.stderr
