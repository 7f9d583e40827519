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


@pytest.mark.exhaustive
def test_what_two_states_say_otherwise_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(oracle, "implementations", lambda: FEW)
    monkeypatch.setattr(oracle, "SCHEDULES", {"forum-2024": 2, "clearskies-database": 1})
    schedules, recorded, changed = (tmp_path / f"{name}.jsonl" for name in ("schedules", "recorded", "changed"))
    assert oracle.main(["schedules", str(schedules)]) == 0
    assert oracle.main(["record", str(schedules), str(recorded), "--jobs", "2"]) == 0
    rows = [json.loads(line) for line in recorded.read_text("utf-8").splitlines()]
    assert [row["of"] for row in rows[:3]] == [["scenarios", *of] for of in FEW]
    assert rows[1]["verdicts"]["FORUM-23"][0] == "fail"
    assert oracle.main(["compare", str(recorded), str(recorded)]) == 0
    rows[1]["verdicts"]["FORUM-23"][0] = "pass"
    changed.write_text("".join(f"{json.dumps(row)}\n" for row in rows[1:]), "utf-8")
    capsys.readouterr()
    assert oracle.main(["compare", str(recorded), str(changed)]) == 1
    printed = capsys.readouterr().out
    assert 'scenarios forum-2024 mutant restarts-at-zero-at-the-maximum verdicts FORUM-23: ["fail", ' in printed
    assert f"scenarios forum-2024 reference reference: only in {recorded}" in printed
    assert printed.endswith("\n2 differences\n")
