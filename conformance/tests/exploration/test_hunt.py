"""`selftest --hunt`: the mutants that generated schedules find, and the report on them."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from sds_conformance.exploration import hunt
from sds_conformance.exploration.casts import NotPlayedError
from sds_reference.mutants import MUTANTS
from suite_terminal import typed


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "name", ["log-by-arrival", "does-not-buffer-outgoing", "requests-received-messages", "never-requests"]
)
def test_a_mutant_is_found_by_its_requirement_and_made_small(name: str) -> None:
    catch = hunt.hunt(name, 100)
    assert catch.found_after
    assert catch.found_by == MUTANTS[name].requirement
    assert 0 < catch.operations <= 12
    assert catch.schedule is not None


@pytest.mark.exhaustive
def test_a_mutant_that_is_not_found_is_a_failure() -> None:
    options = ("--only", "gives-up-although-not-configured", "--schedules", "1", "--variant-schedules", "0")
    result = typed("selftest", "--hunt", *options, "--jobs", "1")
    assert result.exit_code == 1
    assert "NOT FOUND" in result.stdout


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


def test_the_hunt_goes_on_after_an_implementation_that_was_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def given_up(*_: object) -> None:
        # As it comes out of a process of its own.
        raise pickle.loads(pickle.dumps(NotPlayedError("under test", "broke down 4 times in a row and was given up")))

    assert hunt.hunt("sync-without-filter", 8).found_after
    monkeypatch.setattr(hunt, "play_one", given_up)
    assert not hunt.hunt("sync-without-filter", 8).found_after
