"""How the program starts: with what it needs, and no more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import sds_conformance

SLOW_TO_IMPORT = ("jsonschema", "ruamel.yaml", "pyspark", "hypothesis", "grpc")


def test_the_program_starts_as_a_file_as_spark_submit_starts_it(tmp_path: Path) -> None:
    file = Path(sds_conformance.__path__[0]) / "__main__.py"
    done = subprocess.run([sys.executable, file, "--version"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("sds-conformance: ")


def test_what_only_some_need_is_not_imported_by_run_and_fuzz() -> None:
    imported = "import sds_conformance.cli.run, sds_conformance.cli.fuzz, sys"
    said = f"{imported}; print({{*{SLOW_TO_IMPORT}}} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "set()\n"
