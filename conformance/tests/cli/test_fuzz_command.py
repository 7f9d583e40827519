"""``fuzz``, ``replay`` and ``exhaust``: exit codes, what stands on stdout and stderr, and the files they leave."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import Result

from run_helpers import broken_adapter, odd_adapter, reference_command
from sds_conformance.exploration.exhaustion import SCHEMA_ID
from sds_conformance.protocols.sds.situations import SITUATIONS
from sds_conformance.scenario_files.reader import load_one
from sds_harness.schedules import Schedule, dumps
from sds_harness.sds.operations import Member
from suite_terminal import too_wide, typed, words

MUTANT = reference_command("--mutant", "sync-does-not-increase")
FEW = ("--jobs", "1", "--schedules", "6", "--participants", "3", "--passage", "syncs")
"""Options with which a campaign takes no time."""
KEYS = (
    "schema implementation revision profile cast seed schedules steps seconds interrupted out_of_time gave_up errors "
    "findings exercised not_exercised situations"
)
KEYS_OF_A_FINDING = (
    "id severity code position schedules first expected seen reproduced operations shrunk_from proof files"
)


@pytest.fixture(autouse=True)
def somewhere(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Counterexamples are kept where one is; here that is an empty place."""
    folder = tmp_path_factory.mktemp("somewhere")
    monkeypatch.chdir(folder)
    yield folder
    # A command that kept something did so because of --out, or because there was something to keep.
    assert {path.name for path in folder.iterdir()} <= {"kept", "counterexamples", "broken.json", "file"}


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    """The output for a mutant, and the folder of its counterexamples."""
    kept = tmp_path_factory.mktemp("kept") / "below"
    return typed("fuzz", *FEW, "--out", kept, "--", *MUTANT), kept


@pytest.fixture(scope="module")
def schedule(printed: tuple[Result, Path]) -> Path:
    """The schedule that shows the fault of the mutant."""
    return printed[1] / "SDS-SYNC-03.json"


# ---- fuzz ------------------------------------------------------------------------------------------------------------


def test_1_a_fault_is_reported_as_a_story_with_files_and_a_line_that_can_be_typed(
    printed: tuple[Result, Path], schedule: Path
) -> None:
    result, kept = printed
    assert result.exit_code == 1
    assert too_wide(result.stdout) == []
    assert re.search(r"^FAIL  SDS-SYNC-03/[a-z-]+  MUST, section 'periodic-sync-message'", result.stdout, re.MULTILINE)
    for label in ("Rule", "Found", "Story", "Proof", "Judged"):
        assert re.search(rf"^  {label} ", result.stdout, re.MULTILINE)
    output = words(result.stdout)
    assert re.search(r"by seed 0, schedule \d+ of \d+ steps, shrunk to \d steps?;", output)
    assert re.search(r"sync-does-not-increase \S+ does not conform: \d root causes?, \d failed \(6 schedules, ", output)
    assert "Seed 0: 6 schedules" in result.stderr
    assert f"Again {shlex.join(['sds-conformance', 'replay', str(schedule), '--', *MUTANT])}" in output
    ids = set(re.findall(r"^(?:FAIL|WARN)  ([^\s/]+)/", result.stdout, re.MULTILINE))
    suffixes = (".json", ".svg", ".trace.jsonl", ".txt")
    assert {path.name for path in kept.iterdir()} == {what + suffix for what in ids for suffix in suffixes}
    assert dict(load_one(schedule).schedule.notes)["shows"] == "SDS-SYNC-03"


def test_json_has_everything(schedule: Path, somewhere: Path) -> None:
    data = json.loads(typed("fuzz", *FEW, "--json", "--", *MUTANT).stdout)
    assert sorted(data) == sorted(KEYS.split())
    assert (data["seed"], data["cast"], data["profile"], data["schedules"]) == (0, "together", "full", 6)
    assert set(data["situations"]) == set(SITUATIONS)
    findings = {finding["id"]: finding for finding in data["findings"]}
    assert sorted(findings["SDS-SYNC-03"]) == sorted(KEYS_OF_A_FINDING.split())
    assert findings["SDS-SYNC-03"]["reproduced"] is True
    assert all((somewhere / path).is_file() for path in findings["SDS-SYNC-03"]["files"].values())
    replay = json.loads(typed("replay", schedule, "--json", "--", *MUTANT).stdout)
    keys = "schedule implementation steps left_out findings exercised errors expectations"
    assert sorted(replay) == sorted(keys.split())
    finding = next(finding for finding in replay["findings"] if finding["id"] == "SDS-SYNC-03")
    assert set(finding) == {"id", "severity", "code", "participant", "expected", "seen", "proof"}


def test_0_nothing_found_leaves_no_files(somewhere: Path) -> None:
    result = typed("fuzz", *FEW, "--cast", "among", "--seed", "41", "--", *reference_command())
    assert result.exit_code == 0
    assert too_wide(result.stdout) == []
    assert re.search(r"Nothing was found against sds_reference \S+ \(6 schedules, ", words(result.stdout))
    assert "Seed 41: 6 schedules" in result.stderr
    assert list(somewhere.iterdir()) == []


def test_a_random_seed_is_printed_and_gives_the_same_again(somewhere: Path) -> None:
    result = typed("fuzz", *FEW, "--schedules", "2", "--seed", "random", "--json", "--", *reference_command())
    seed = re.search(r"^Seed (\d+): 2 schedules$", result.stderr, re.MULTILINE)
    assert seed is not None
    data = json.loads(result.stdout)
    again = typed("fuzz", *FEW, "--schedules", "2", "--seed", seed[1], "--json", "--", *reference_command())
    assert data["seed"] == int(seed[1]) > 0
    assert {**json.loads(again.stdout), "seconds": 0} == {**data, "seconds": 0}


def test_1_a_breakdown_is_reported_and_shrunk(somewhere: Path) -> None:
    passages = ("--passage", "quiet-time", "--jobs", "1", "--schedules", "10")
    result = typed("fuzz", *passages, "--out", "kept", "--", *broken_adapter("crashes"))
    assert result.exit_code == 1
    assert too_wide(result.stdout) == []
    assert re.search(r"^FAIL  breakdown/(crash|exit)  testee protocol", result.stdout, re.MULTILINE)
    assert "shrunk to 1 step;" in words(result.stdout)
    assert "The remaining schedules were not played: under test broke down 4 times in a row" in words(result.stdout)
    assert load_one(somewhere / "kept" / "breakdown.json").schedule.operations[0].op == "tick"


def test_4_nothing_exercised_is_not_green() -> None:
    result = typed("fuzz", *FEW, "--", *odd_adapter("opens-nothing"))
    assert result.exit_code == 4
    assert "Nothing was exercised: no verdict on opens-nothing" in words(result.stdout)
    assert "Nothing was found" not in result.stdout


def test_2_a_place_that_cannot_be_written_to_is_reported(somewhere: Path) -> None:
    (somewhere / "file").write_text("I am no folder")
    result = typed("fuzz", *FEW, "--out", "file/below", "--", *MUTANT)
    assert result.exit_code == 2
    printed = words(result.stderr)
    assert printed.count("Nothing can be written to file/below: Not a directory. Name another DIR with --out.") == 1
    assert "FAIL  SDS-SYNC-03" in result.stdout
    assert "Proof" in result.stdout
    assert "Picture" not in result.stdout
    assert "does not conform" in result.stdout
    assert [path.name for path in somewhere.iterdir()] == ["file"]


# ---- replay ----------------------------------------------------------------------------------------------------------


def test_1_a_replay_on_the_mutant_shows_it_again(schedule: Path, somewhere: Path) -> None:
    result = typed("replay", schedule, "--out", "kept", "--", *MUTANT)
    assert result.exit_code == 1
    assert too_wide(result.stdout) == []
    assert re.search(r"^FAIL  SDS-SYNC-03/[a-z-]+  MUST, section 'periodic-sync-message'", result.stdout, re.MULTILINE)
    assert "SDS-SYNC-03 is violated in this run as well." in words(result.stdout)
    assert load_one(somewhere / "kept" / "SDS-SYNC-03.json").schedule == load_one(schedule).schedule


def test_0_a_replay_on_the_reference_says_that_it_does_better(schedule: Path, somewhere: Path) -> None:
    result = typed("replay", schedule, "--out", "kept")
    assert result.exit_code == 0
    assert too_wide(result.stdout) == []
    assert "No COMMAND given: driving the bundled reference" in words(result.stderr)
    assert "SDS-SYNC-03 is not violated in this run." in words(result.stdout)
    assert "Nothing was found" in result.stdout
    assert list(somewhere.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "broken.json: the text is not JSON"),
        ('{"version": 2}', "broken.json, line 1: version: this is version 2 of the format"),
        (dumps(Schedule((Member("alice"),))).replace("[]", '[{"op": "sync", "who": "bob"}]'), "no participant 'bob'"),
    ],
)
def test_2_a_file_that_is_no_schedule_is_reported_in_a_sentence(text: str, said: str, somewhere: Path) -> None:
    (somewhere / "broken.json").write_text(text)
    result = typed("replay", "broken.json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in words(result.stderr)


# ---- exhaust ---------------------------------------------------------------------------------------------------------


ALPHABET = ("--alphabet", "send,sync,time,arrive")


def test_what_passes_is_reported_with_its_bound() -> None:
    result = typed("exhaust", "--jobs", "1", "--events", "2", *ALPHABET, "--", *reference_command())
    assert result.exit_code == 0
    assert too_wide(result.stdout) == []
    output = words(result.stdout)
    assert "against sds_reference 0.1.0 in all 22 schedules of up to 2 events of 2 participants" in output
    assert "%;" not in output
    assert "Up to 2 events of 2 participants: 22 schedules." in words(result.stderr)


def test_what_fails_is_a_counterexample_as_any_other(tmp_path: Path) -> None:
    options = ("--jobs", "1", "--events", "2", *ALPHABET, "--out", tmp_path)
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
    options = ("--jobs", "1", "--profile", "core", *ALPHABET, "--resume", covered)
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
    assert "the participants in the file and in this command differ" in words(other.stderr)
