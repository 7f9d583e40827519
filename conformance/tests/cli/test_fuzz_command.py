"""``fuzz`` and ``replay`` as they are typed: exit codes, what stands on stdout and stderr, and the files they leave."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import Result

from run_helpers import broken_adapter, odd_adapter, reference_command
from sds_conformance.protocols.sds.catalogue import CURRENT
from sds_conformance.protocols.sds.situations import SITUATIONS
from sds_conformance.scenario_files.reader import load_one
from sds_harness.schedules import Schedule, dumps
from sds_harness.sds.operations import Member
from suite_terminal import too_wide, typed, words

MUTANT = reference_command("--mutant", "sync-does-not-increase")
FEW = ("--jobs", "1", "--schedules", "6", "--participants", "3", "--passage", "syncs")
"""Options with which a campaign takes no time."""
KEYS = {
    "schema",
    "implementation",
    "revision",
    "profile",
    "cast",
    "seed",
    "schedules",
    "steps",
    "seconds",
    "interrupted",
    "out_of_time",
    "gave_up",
    "errors",
    "findings",
    "exercised",
    "not_exercised",
    "situations",
}
KEYS_OF_A_FINDING = {
    "id",
    "severity",
    "code",
    "position",
    "schedules",
    "first",
    "expected",
    "seen",
    "reproduced",
    "operations",
    "shrunk_from",
    "proof",
    "files",
}


@pytest.fixture(autouse=True)
def somewhere(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Counterexamples are kept where one is; here that is an empty place."""
    folder = tmp_path_factory.mktemp("somewhere")
    monkeypatch.chdir(folder)
    yield folder
    # A command that kept something did so because of --out, or because there was something to keep.
    assert {path.name for path in folder.iterdir()} <= {"kept", "counterexamples", "broken.json", "file"}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept") / "below"


@pytest.fixture(scope="module")
def printed(kept: Path) -> Result:
    """The output for a mutant."""
    return typed("fuzz", *FEW, "--out", kept, "--", *MUTANT)


@pytest.fixture(scope="module")
def schedule(printed: Result, kept: Path) -> Path:
    """The schedule that shows the fault of the mutant."""
    return kept / "SDS-SYNC-03.json"


# ---- fuzz ------------------------------------------------------------------------------------------------------------


def test_1_a_fault_is_reported_as_a_story(printed: Result, kept: Path) -> None:
    assert printed.exit_code == 1
    assert too_wide(printed.stdout) == []
    assert re.search(r"^FAIL  SDS-SYNC-03/[a-z-]+  MUST, section 'periodic-sync-message'", printed.stdout, re.MULTILINE)
    for label in ("Rule", "Found", "Story", "Proof", "Again", "Judged"):
        assert re.search(rf"^  {label} ", printed.stdout, re.MULTILINE)
    assert re.search(r"by seed 0, schedule \d+ of \d+ steps, shrunk to \d steps?;", words(printed.stdout))
    assert re.search(
        r"sync-does-not-increase \S+ does not conform: \d root causes?, \d failed \(6 schedules, ",
        words(printed.stdout),
    )
    assert "Seed 0: 6 schedules" in printed.stderr


def test_files_are_kept_of_each_finding(printed: Result, kept: Path, schedule: Path) -> None:
    ids = set(re.findall(r"^(?:FAIL|WARN)  ([^\s/]+)/", printed.stdout, re.MULTILINE))
    suffixes = (".json", ".svg", ".trace.jsonl", ".txt")
    assert {path.name for path in kept.iterdir()} == {what + suffix for what in ids for suffix in suffixes}
    assert dict(load_one(schedule).schedule.notes)["shows"] == "SDS-SYNC-03"


def test_the_line_that_shows_it_again_can_be_typed(printed: Result, schedule: Path) -> None:
    lines = [line.split("Again", 1)[1].split() for line in printed.stdout.splitlines() if line.startswith("  Again ")]
    line = next(line for line in lines if str(schedule) in line)
    assert line == ["sds-conformance", "replay", str(schedule), "--", *MUTANT]


def test_1_json_has_everything(somewhere: Path) -> None:
    result = typed("fuzz", *FEW, "--json", "--", *MUTANT)
    assert result.exit_code == 1
    data = json.loads(result.stdout)
    assert set(data) == KEYS
    assert (data["seed"], data["cast"], data["profile"], data["schedules"]) == (0, "together", "full", 6)
    assert (data["errors"], data["gave_up"], data["interrupted"]) == ({}, "", False)
    assert set(data["situations"]) == set(SITUATIONS)
    assert not set(data["not_exercised"]) & {what for what, count in data["exercised"].items() if count}
    findings = {finding["id"]: finding for finding in data["findings"]}
    assert set(findings["SDS-SYNC-03"]) == KEYS_OF_A_FINDING
    assert findings["SDS-SYNC-03"]["reproduced"] is True
    for finding in findings.values():
        for path in finding["files"].values():
            assert (somewhere / path).is_file()


def test_1_what_was_found_is_reported_if_the_implementation_does_not_start_again(
    somewhere: Path, tmp_path: Path
) -> None:
    result = typed("fuzz", *FEW, "--", *odd_adapter("starts-once", str(tmp_path / "started")))
    assert result.exit_code == 1
    assert "FAIL  SDS-SYNC-03" in result.stdout
    assert "Traceback" not in result.output


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
    assert "The rest was not played: under test broke down 4 times in a row" in words(result.stdout)
    assert load_one(somewhere / "kept" / "breakdown.json").schedule.operations[0].op == "tick"


@pytest.mark.parametrize(
    ("adapter", "said"),
    [(["no-such-adapter-anywhere"], "cannot start"), (["false"], "ended with exit code 1 in answer to hello")],
)
def test_3_what_cannot_be_driven_is_reported_on_stderr(adapter: list[str], said: str, schedule: Path) -> None:
    for command in (("fuzz", *FEW), ("replay", str(schedule))):
        result = typed(*command, "--", *adapter)
        assert result.exit_code == 3
        assert said in words(result.stderr)
        assert f"{adapter[0]} could not be driven." in words(result.stderr)
        assert result.stdout == ""


def test_4_nothing_exercised_is_not_green() -> None:
    result = typed("fuzz", *FEW, "--", *odd_adapter("opens-nothing"))
    assert result.exit_code == 4
    assert "Nothing was exercised: no verdict on opens-nothing" in words(result.stdout)
    assert "Nothing was found" not in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--participants", "2-9"], "between 1 and 8 are possible"),
        (["--participants", "5-4"], "between 1 and 8 are possible"),
        (["--participants", "many"], "write for example 3-8, or 4"),
        (["--seed", "sesame"], "neither a number nor random"),
        (["--seed", "-1"], "not between 0 and 2^63"),
        (["--seed", str(1 << 63)], "not between 0 and 2^63"),
        (["--schedules", "0"], "--schedules"),
        (["--jobs", "0"], "--jobs"),
        (["--budget", "0"], "--budget"),
        (["--passage", "no-such"], "there is no passage 'no-such'. `sds-conformance list passages` shows the names"),
        (["--cast", "nobody"], "'together'"),
        (["--revision", "sds-1999"], "--revision"),
        (["--dialect", "klingon"], "no dialect 'klingon'"),
    ],
)
def test_2_wrong_use_is_reported(arguments: list[str], said: str) -> None:
    result = typed("fuzz", *arguments, "--", "no-such-adapter-anywhere")
    assert result.exit_code == 2
    assert said in words(result.stderr)
    assert result.stdout == ""


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
    assert "SDS-SYNC-03 is violated here, too." in words(result.stdout)
    assert load_one(somewhere / "kept" / "SDS-SYNC-03.json").schedule == load_one(schedule).schedule


def test_0_a_replay_on_the_reference_says_that_it_does_better(schedule: Path, somewhere: Path) -> None:
    result = typed("replay", schedule, "--out", "kept")
    assert result.exit_code == 0
    assert too_wide(result.stdout) == []
    assert "No COMMAND given: driving the bundled reference" in words(result.stderr)
    assert "SDS-SYNC-03 is not violated in this run." in words(result.stdout)
    assert "Nothing was found" in result.stdout
    assert list(somewhere.iterdir()) == []


def test_a_replay_as_json_has_everything(schedule: Path) -> None:
    result = typed("replay", schedule, "--json", "--", *MUTANT)
    assert result.exit_code == 1
    data = json.loads(result.stdout)
    assert set(data) == {
        *("schedule", "implementation", "steps", "left_out", "findings", "exercised", "errors", "expectations")
    }
    finding = next(finding for finding in data["findings"] if finding["id"] == "SDS-SYNC-03")
    assert set(finding) == {"id", "severity", "code", "participant", "expected", "seen", "proof"}
    assert finding["id"] == data["findings"][0]["id"]
    assert "SDS-SYNC-03" in data["exercised"]


def test_a_replay_is_cast_as_noted_or_as_typed(somewhere: Path) -> None:
    lines = Schedule((Member("alice"),), notes=(("cast", "among"), ("revision", CURRENT), ("shows", "SDS-ACK-01")))
    (somewhere / "broken.json").write_text(dumps(lines))
    result = typed("replay", "broken.json")
    assert result.exit_code == 4  # nothing was exercised
    assert "SDS-ACK-01 is not violated in this run: the situation did not arise." in words(result.stdout)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "broken.json is not JSON"),
        ("[]", "[] is not of type 'object'"),
        ('{"version": 2}', "broken.json, line 1: version: this is version 2 of the format"),
        (dumps(Schedule((Member("alice"),))).replace("[]", '[{"op": "sync", "who": "bob"}]'), "no participant 'bob'"),
        ("\x00", "broken.json is not JSON"),
        ("", "broken.json is not JSON"),
    ],
)
def test_2_a_file_that_is_no_schedule_is_reported_in_a_sentence(text: str, said: str, somewhere: Path) -> None:
    (somewhere / "broken.json").write_text(text)
    result = typed("replay", "broken.json")
    assert result.exit_code == 2
    assert said in words(result.stderr)
    assert result.stdout == ""


# ---- The other protocol ----------------------------------------------------------------------------------------------
