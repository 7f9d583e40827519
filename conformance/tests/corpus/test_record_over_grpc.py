"""``corpus record`` of a server that runs already: the same corpus as over pipes."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from run_helpers import reference_command
from suite_terminal import typed

pytest.importorskip("pyspark")

pytestmark = pytest.mark.spark

FEW = ("--schedules", "6", "--participants", "3")


def test_a_running_server_gives_the_corpus_that_its_command_gives(spark: Any, tmp_path: Path) -> None:
    over_pipes, over_grpc = tmp_path / "pipes", tmp_path / "grpc"
    command = reference_command()
    assert typed("corpus", "record", "--out", over_pipes, *FEW, "--", *command).exit_code == 0
    with tempfile.TemporaryDirectory() as folder:
        address = f"unix:{folder}/s"
        server = subprocess.Popen([*command, "--grpc", address])
        try:
            assert typed("corpus", "record", "--out", over_grpc, *FEW, "--grpc", address).exit_code == 0
        finally:
            server.terminate()
            server.wait(10)
    manifest = json.loads((over_grpc / "manifest.json").read_text())
    assert manifest["command"] == [f"grpc://{address}"]
    assert manifest["steps"] > 100
    result = typed("corpus", "diff", over_pipes, over_grpc, "--out", tmp_path / "difference", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["same"]
