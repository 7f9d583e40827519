"""``exhaust`` as it is typed: exit codes, what stands on stdout and stderr, and the files it leaves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from run_helpers import reference_command
from sds_conformance.exploration import exhaustion_campaign
from sds_conformance.exploration.exhaustion import SCHEMA_ID
from sds_conformance.scenario_files.reader import load_one
from suite_terminal import too_wide, typed, words

FEW = ("--alphabet", "send,sync,time,arrive")
MUTANT = reference_command("--mutant", "sync-does-not-increase")


def test_what_passes_is_reported_with_its_bound() -> None:
    result = typed("exhaust", "--jobs", "1", "--events", "2", *FEW, "--", *reference_command())
    assert result.exit_code == 0
    assert too_wide(result.stdout) == []
    output = words(result.stdout)
    assert "against sds_reference 0.1.0 in all 22 schedules of up to 2 events of 2 participants" in output
    assert "%;" not in output
    assert "Up to 2 events of 2 participants: 22 schedules." in words(result.stderr)


def test_what_fails_is_a_counterexample_as_any_other(tmp_path: Path) -> None:
    options = ("--jobs", "1", "--events", "2", *FEW, "--out", tmp_path)
    result = typed("exhaust", *options, "--json", "--", *MUTANT)
    assert result.exit_code == 1
    output = json.loads(result.stdout)
    assert output["schema"] == SCHEMA_ID
    assert output["finished"] == 2
    assert output["proved_schedules"] == 22
    assert [bound["whole"] for bound in output["bounds"]] == [True, True]
    assert "seed" not in output
    assert {finding["id"] for finding in output["findings"]} == {"SDS-SYNC-03"}
    assert all(finding["reproduced"] and finding["operations"] <= 2 for finding in output["findings"])
    schedule = load_one(tmp_path / "SDS-SYNC-03.json").schedule
    assert dict(schedule.notes)["shrunk from"].startswith("schedule 6 (2 participants, 2 events)")
    assert typed("replay", tmp_path / "SDS-SYNC-03.json", "--", *MUTANT).exit_code == 1


@pytest.mark.exhaustive
def test_a_budget_that_is_over_proves_what_was_finished_and_no_more(tmp_path: Path) -> None:
    """And the file that is kept goes on from there."""
    covered = tmp_path / "covered.json"
    options = ("--jobs", "1", "--profile", "core", *FEW, "--resume", covered)
    result = typed("exhaust", *options, "--events", "5", "--budget", "2s", "--json", "--", *reference_command())
    assert result.exit_code == 0
    output = json.loads(result.stdout)
    assert output["out_of_time"]
    assert output["finished"] < 5
    assert not output["bounds"][-1]["whole"]
    before = json.loads(covered.read_text("utf-8"))["bounds"]
    again = json.loads(typed("exhaust", *options, "--events", "3", "--json", "--", *reference_command()).stdout)
    assert again["finished"] >= 3
    assert [bound["played"] for bound in again["bounds"]][: output["finished"]] == [
        bound["played"] for bound in before[: output["finished"]]
    ]
    other = typed("exhaust", *options, "--participants", "3", "--", *reference_command())
    assert other.exit_code == 2
    assert "its participants is not the one that is played now" in words(other.stderr)


def test_workers_share_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exhaustion_campaign, "SAMPLE", 10)
    output = []
    for jobs in ("1", "2"):
        options = ("--profile", "core", "--alphabet", "send,arrive", "--events", "5", "--jobs", jobs, "--json")
        output.append(json.loads(typed("exhaust", *options, "--", *reference_command()).stdout))
    one, two = ({key: value for key, value in each.items() if key != "seconds"} for each in output)
    assert one == two
    assert two["finished"] == 5
