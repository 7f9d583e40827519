"""@waku/sds, through its adapter: a real implementation is judged to the end, with the faults it is known to have."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from rich.cells import cell_len

from run_helpers import OF_SDS
from sds_conformance.cli import main
from sds_conformance.protocols.sds.catalogue import CURRENT, load_catalogue
from sds_conformance.protocols.sds.register import CHECKS
from sds_harness.environment import PLAIN
from suite_terminal import typed
from waku_adapter import FOLDER, waku_command

pytestmark = pytest.mark.exhaustive

AMENDED = "sds-2025-10-amended"

BOTH = {
    "fail": {
        "SDS-MSG-14",
        "SDS-STATE-09",
        "SDS-SEND-01",
        "SDS-RECV-04",
        "SDS-RECV-06",
        "SDS-RECV-07",
        "SDS-DELIVER-01",
        "SDS-DELIVER-07",
        "SDS-CONFLICT-01",
        "SDS-SYNC-09",
        "SDS-R-STATE-05",
        "SDS-R-RECV-02",
    },
    "warn": {
        "SDS-STATE-06",
        "SDS-DELIVER-06",
        "SDS-EPHEMERAL-04",
        "SDS-R-FIELDS-01",
        "SDS-R-FIELDS-03",
        "SDS-R-RECV-13",
        "SDS-R-GLOBAL-06",
    },
    "inconclusive": set(),
    "skipped": {
        "SDS-MSG-16",
        "SDS-OUTSWEEP-02",
        "SDS-OUTSWEEP-03",
        "SDS-OUTSWEEP-06",
        "SDS-SYNC-01",
        "SDS-R-SYNC-01",
        "SDS-R-SYNC-02",
    },
}
"""Known failures of the pinned version, in every revision."""

KNOWN: dict[str, dict[str, set[str]]] = {
    CURRENT: BOTH | {"warn": BOTH["warn"] | {"SDS-R-RECV-03"}},
    AMENDED: BOTH | {"warn": BOTH["warn"] | {"SDS-R-RECV-04"}},
}
"""Known failures by revision; all others pass."""


@pytest.fixture(scope="module")
def adapter() -> list[str]:
    """The command of the adapter."""
    return waku_command()


@pytest.fixture(scope="module", params=KNOWN)
def revision(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def result(adapter: list[str], revision: str) -> Result:
    """In one environment: the others find nothing else, and take their time."""
    options = ["--environment", PLAIN.name, "--revision", revision, "--json"]
    return CliRunner().invoke(main, ["run", *options, "--", *adapter])


@pytest.fixture(scope="module")
def data(result: Result) -> dict[str, Any]:
    out: dict[str, Any] = json.loads(result.stdout)
    return out


def with_verdict(data: dict[str, Any], verdict: str) -> set[str]:
    return {row["id"] for row in data["requirements"] if row["verdict"] == verdict}


def test_the_run_goes_through_to_its_end_and_does_not_conform(result: Result, data: dict[str, Any]) -> None:
    assert result.exit_code == 1
    assert data["summary"]["complete"]
    assert data["summary"]["scenarios"] == len(OF_SDS)
    assert data["breakdowns"] == []


def test_its_known_faults_are_found_and_everything_else_passes(data: dict[str, Any], revision: str) -> None:
    assert {verdict: with_verdict(data, verdict) for verdict in BOTH} == KNOWN[revision]
    requirements = load_catalogue().requirements
    judged = {requirement_id for requirement_id in CHECKS if requirements[requirement_id].is_stated_in(revision)}
    assert with_verdict(data, "pass") == judged - set().union(*KNOWN[revision].values())


def test_it_is_named_with_the_version_that_the_adapter_pins(data: dict[str, Any]) -> None:
    pinned = json.loads((FOLDER / "package.json").read_text("utf-8"))["dependencies"]["@waku/sds"]
    assert (data["implementation"]["name"], data["implementation"]["version"]) == ("@waku/sds", pinned)
    assert data["profiles"]["bloom"] == "waku-sds-js"


def test_the_adapter_does_not_need_the_folder_it_is_started_in(adapter: list[str], tmp_path: Path) -> None:
    hello = '{"id":"1","hello":{"protocolVersion":1,"revision":"sds-2026-01"}}\n'
    done = subprocess.run(adapter, input=hello, capture_output=True, text=True, timeout=30, cwd=tmp_path, check=True)
    assert json.loads(done.stdout)["hello"]["name"] == "@waku/sds"


LONGEST_REPORT = 250
"""Lines on a terminal of 80 columns for 7 root causes that fail and 6 that warn."""


def test_its_report_is_short_and_keeps_what_a_maintainer_needs(adapter: list[str]) -> None:
    result = typed("run", "--", *adapter, COLUMNS="80")
    lines = result.stdout.splitlines()
    assert result.exit_code == 1
    assert len(lines) <= LONGEST_REPORT
    heads = [line.split()[:2] for line in lines if re.match(r"(FAIL|WARN)  SDS-\S+/", line)]
    assert [verdict for verdict, _ in heads] == ["FAIL"] * 7 + ["WARN"] * 7
    for label, number in (("Rule", 14), ("Done", 7), ("Expected", 14), ("Seen", 14), ("Again", 14)):
        assert sum(line.startswith(f"  {label:<10}") for line in lines) == number
    assert [line for line in lines if cell_len(line) > 80 and "sds-conformance" not in line] == []
