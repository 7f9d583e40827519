"""The peer of the ClearSkies database in JavaScript conforms: every scenario and every vector that it can be asked."""

from __future__ import annotations

import json
import shutil

import pytest

from run_helpers import REPOSITORY
from suite_terminal import typed

ADAPTER = REPOSITORY / "harness" / "adapters" / "clearskies-js" / "adapter.mjs"
REVISION = ("--revision", "clearskies-database")


@pytest.fixture
def command() -> list[str]:
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node")
    return [node, str(ADAPTER)]


def test_it_passes_every_requirement_that_it_exercises(command: list[str]) -> None:
    result = typed("run", *REVISION, "--environment", "plain", "--json", "--", *command)
    verdicts = {row["id"]: row["verdict"] for row in json.loads(result.stdout)["requirements"]}
    assert result.exit_code == 0
    assert set(verdicts.values()) <= {"pass", "skipped"}
    assert list(verdicts.values()).count("pass") == 56


def test_it_answers_every_vector_of_its_signature_profile(command: list[str]) -> None:
    result = typed("vectors", "run", *REVISION, "--json", "--", *command)
    statuses = [row["status"] for row in json.loads(result.stdout)["vectors"]]
    assert result.exit_code == 0
    assert {"fail", "broken", "error"}.isdisjoint(statuses)
    assert len(statuses) - statuses.count("skipped") > 280
