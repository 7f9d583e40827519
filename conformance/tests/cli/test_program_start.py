"""How the program starts: with what it needs, and no more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import sds_conformance
from sds_conformance.judging.formats import format_count

SLOW_TO_IMPORT = ("jsonschema", "ruamel.yaml", "pyspark", "hypothesis", "grpc")


def test_what_only_some_need_is_not_imported_by_run_and_fuzz() -> None:
    imported = "import sds_conformance.cli.run, sds_conformance.cli.fuzz, sys"
    said = f"{imported}; print({{*{SLOW_TO_IMPORT}}} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "set()\n"


def test_the_program_starts_as_a_file_as_spark_submit_starts_it(tmp_path: Path) -> None:
    file = Path(sds_conformance.__path__[0]) / "__main__.py"
    done = subprocess.run([sys.executable, str(file), "--version"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("sds-conformance: ")


@pytest.mark.parametrize(
    ("number", "words", "output"),
    [
        (1, ("entry", "entries"), "1 entry"),
        (2, ("entry", "entries"), "2 entries"),
        (1, ("step",), "1 step"),
        (0, ("step",), "0 steps"),
    ],
)
def test_more_than_one_is_called_as_it_is(number: int, words: tuple[str, ...], output: str) -> None:
    assert format_count(number, *words) == output
