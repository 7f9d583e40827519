"""`selftest --hunt` reports what it found, and goes on after an implementation that was given up."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from sds_conformance.exploration import hunt
from sds_conformance.exploration.casts import NotPlayedError
from suite_terminal import typed


def test_the_table_and_the_json_name_what_was_found_and_what_is_out_of_reach(tmp_path: Path) -> None:
    table = tmp_path / "hunt.md"
    options = ("--variant-schedules", "0", "--schedules", "30", "--jobs", "1", "--json", "--markdown", table)
    result = typed("selftest", "--hunt", "--only", "log-by-arrival", "--only", "answers-half*", *options)
    assert result.exit_code == 0
    rows = {row["mutant"]: row for row in json.loads(result.stdout)["mutants"]}
    assert 0 < rows["log-by-arrival"]["found_after"] <= 30
    assert not rows["answers-half-immediately"]["found_after"]
    text = table.read_text("utf-8")
    assert "**1 of 1 mutant that schedules can reveal were found within 30 schedules" in text
    assert rows["answers-half-immediately"]["out_of_reach"] in text


def test_who_is_given_up_gets_away_and_the_hunt_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def given_up(*_: object) -> None:
        # As it comes out of a process of its own.
        raise pickle.loads(pickle.dumps(NotPlayedError("under test", "broke down 4 times in a row and was given up")))

    assert hunt.hunt("sync-without-filter", 8).found_after
    monkeypatch.setattr(hunt, "play_one", given_up)
    assert not hunt.hunt("sync-without-filter", 8).found_after
    with pytest.raises(NotPlayedError, match="under test broke down 4 times"):
        given_up()
