"""``--transcript`` and ``explain``: all that was said, and what of it a finding rests on."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from run_helpers import broken_adapter, reference_command
from suite_terminal import MUTANT, controls, too_wide, typed, words

pytestmark = pytest.mark.exhaustive

FIRST_USE = ["--environment", "plain", "--scenario", "clock-at-first-use", "--scenario", "ties"]
"""What shows the fault of the mutant, and what does not."""


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    return tmp_path / "talk.jsonl"


def rows(talk: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in talk.read_bytes().splitlines()]


def test_a_finding_is_kept_with_its_place_and_the_step_is_marked(talk: Path) -> None:
    result = typed("run", *FIRST_USE, "--transcript", talk, "--", *MUTANT)
    assert result.exit_code == 1
    assert f"Transcript: {talk}. See it: sds-conformance explain {talk}" in result.stderr.replace("\n", "")
    (finding,) = [row["finding"] for row in rows(talk) if row.get("finding", {}).get("requirement") == "SDS-STATE-02"]
    part = rows(talk)[finding["part"] - 1]
    assert part["part"]["name"] == finding["run"] == "clock-at-first-use"

    shown = typed("explain", "--requirement", "STATE-02", talk)
    assert shown.exit_code == 0
    lines = shown.stdout.splitlines()
    (marked,) = [line for line in lines if line.startswith("> ")]
    assert int(marked[1:6]) == finding["step"]
    assert "alice sends 'message 1 of alice'" in marked
    assert f"FAIL {finding['code']} at this step" in shown.stdout
    assert finding["code"].startswith("SDS-STATE-02/")
    assert shown.stdout.endswith(typed("explain", "--requirement", finding["code"], talk).stdout)
    assert typed("explain", "--requirement", "N*", talk).exit_code == 4
    assert "= max(now T-60000, previous T + 1)" in words(shown.stdout)
    assert "ties, sds-2026-01" not in shown.stdout
    assert too_wide(shown.stdout) == []
    passed = typed("explain", "--requirement", "SDS-CONFLICT-01", talk).stdout
    assert passed.startswith("SDS-CONFLICT-01  pass\n")
    assert "ties, sds-2026-01" in passed


def test_without_a_filter_everything_is_shown(talk: Path) -> None:
    assert typed("smoke", "--transcript", talk, "--", *reference_command()).exit_code == 0
    shown = typed("explain", talk)
    assert shown.exit_code == 0
    text = words(shown.stdout)
    for said in (
        "> hello {",
        "> a command that does not exist {}",
        '< unsupported {"what": "unknown command"}',
        "every-kind-of-message, sds-2026-01, from line",
        "alice receives content 'bob-1' of bob (Lamport T+15, after",
        "0a03626f 62120562",
        "alicé is freed",
    ):
        assert said in text
    assert too_wide(shown.stdout) == []


def test_filters_by_participant_and_channel(talk: Path) -> None:
    typed("run", "--environment", "plain", "--scenario", "two-*", "--transcript", talk, "--", *reference_command())
    everything = typed("explain", talk).stdout
    for option, name, others in (("--channel", "c2", "joins c1 at"), ("--participant", "carol", " alice ")):
        shown = typed("explain", option, name, talk)
        assert shown.exit_code == 0
        steps = [line for line in shown.stdout.splitlines() if re.match(r" +\d+ ", line)]
        assert 0 < len(steps) < len(everything.splitlines())
        assert not any(others in line for line in steps)
        assert "in this part" in shown.stdout
    missing = typed("explain", "--participant", "zoe", talk)
    assert missing.exit_code == 4
    assert words(missing.stderr) == "The transcript has no participant 'zoe', only alice, carol."


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("crashes", "crash", "stderr | panic: the log is inside out"),
        ("logs-to-stdout", "garbage", 'bytes: "DEBUG: 1 message in the log'),
        ("answers-with-another-id", "wrong-id", "was answered with id"),
    ],
)
def test_a_run_that_broke_is_kept_up_to_what_broke_it(talk: Path, name: str, kind: str, said: str) -> None:
    scenario = ["--scenario", "nobody-answers", "--environment", "plain"]
    typed("run", *scenario, "--transcript", talk, "--", *broken_adapter(name))
    shown = typed("explain", talk)
    assert f"{kind.upper()}  line" in shown.stdout
    assert said in words(shown.stdout)
    assert too_wide(shown.stdout) == []


def test_fuzz_with_several_workers_and_replay_and_vectors_keep_their_findings(talk: Path, tmp_path: Path) -> None:
    mutant = reference_command("--mutant", "buffered-is-met")
    fuzz = ("fuzz", "--schedules", "16", "--jobs", "2", "--out", tmp_path, "--passage", "gap")
    typed(*fuzz, "--transcript", talk, "--", *mutant)
    kept = rows(talk)
    assert [row["n"] for row in kept] == list(range(1, len(kept) + 1))
    assert len({row["begins"]["process"] for row in kept if "begins" in row}) >= 3
    (schedule, *_) = sorted(tmp_path.glob("SDS-*.json"))
    other = tmp_path / "other.jsonl"
    typed("replay", "--transcript", other, schedule, "--", *mutant)
    for file in (talk, other):
        shown = typed("explain", "--requirement", schedule.stem, file).stdout
        assert re.search(rf"{schedule.stem}/[a-z-]+ at this step", shown)
    asked = ("vectors", "run", "--group", "ack-reviews", "--transcript", tmp_path / "asked.jsonl")
    typed(*asked, "--", *reference_command("--mutant", "ignores-filters"))
    shown = typed("explain", "--requirement", "SDS-ACK-02", tmp_path / "asked.jsonl").stdout
    assert "\nack-reviews/in-a-filter, sds-2026-01, from line " in shown
    assert "FAIL SDS-ACK-02 in this part" in shown


# ---- Files -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"", b"\x00\xff", b'{"n":1,"transcript":9}\n'])
def test_another_file_is_refused_with_what_to_type_instead(talk: Path, content: bytes) -> None:
    talk.write_bytes(content)
    result = typed("explain", talk)
    assert result.exit_code == 2
    assert "is not a transcript" in words(result.stderr)
    assert "run --transcript FILE -- COMMAND" in words(result.stderr)


def test_lines_that_cannot_be_read_are_named_and_the_rest_is_shown(talk: Path) -> None:
    typed("smoke", "--transcript", talk, "--", *reference_command())
    lines = talk.read_bytes().splitlines(keepends=True)
    lines[9:9] = [b"\xff\n", b"\x1b[31m\n", b"[]\n"]
    talk.write_bytes(b"".join(lines)[:-30])
    result = typed("explain", talk)
    assert result.exit_code == 1
    assert "Not read: line 10: byte 1 is not UTF-8" in result.stderr
    assert "Not read: line 12: the line is not a JSON object" in result.stderr
    assert "the line is cut off" in result.stderr
    assert "alice sends 'message 1 of alice'" in words(result.stdout)
    assert controls(result.stdout + result.stderr) == set()
