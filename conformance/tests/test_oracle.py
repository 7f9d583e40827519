"""The script that compares what two states of the suite say."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
import oracle

FEW = [
    ("forum-2024", "reference", "reference"),
    ("forum-2024", "mutant", "restarts-at-zero-at-the-maximum"),
    ("clearskies-database", "reference", "reference"),
]


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(oracle, "implementations", lambda: FEW)
    monkeypatch.setattr(oracle, "SCHEDULES", {"forum-2024": 2, "clearskies-database": 1})
    schedules, out = tmp_path / "schedules.jsonl", tmp_path / "recorded.jsonl"
    assert oracle.main(["schedules", str(schedules)]) == 0
    assert oracle.main(["record", str(schedules), str(out), "--jobs", "2"]) == 0
    return out


@pytest.mark.exhaustive
def test_verdicts_are_recorded_of_every_implementation_and_schedule(recorded: Path) -> None:
    rows = [json.loads(line) for line in recorded.read_text("utf-8").splitlines()]
    assert [row["of"] for row in rows[:3]] == [["scenarios", *of] for of in FEW]
    assert [row["of"][1] for row in rows[3:]] == [0, 0, 1, 1, 2, 2]
    assert rows[0]["verdicts"]["FORUM-23"][0] == "pass"
    verdict, exercised, steps = rows[1]["verdicts"]["FORUM-23"]
    assert (verdict, bool(exercised), bool(steps)) == ("fail", True, True)
    assert all(row["exercised"] and not row["found"] for row in rows[3:] if row["of"][3] == "reference")


@pytest.mark.exhaustive
def test_what_two_states_say_otherwise_is_listed(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert oracle.main(["compare", str(recorded), str(recorded)]) == 0
    rows = [json.loads(line) for line in recorded.read_text("utf-8").splitlines()]
    rows[1]["verdicts"]["FORUM-23"][0] = "pass"
    changed = recorded.with_name("changed.jsonl")
    changed.write_text("".join(f"{json.dumps(row)}\n" for row in rows[1:]), "utf-8")
    capsys.readouterr()
    assert oracle.main(["compare", str(recorded), str(changed)]) == 1
    printed = capsys.readouterr().out
    assert 'scenarios forum-2024 mutant restarts-at-zero-at-the-maximum verdicts FORUM-23: ["fail", ' in printed
    assert f"scenarios forum-2024 reference reference: only in {recorded}" in printed
    assert printed.endswith("\n2 differences\n")
