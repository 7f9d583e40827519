"""A hunt is made part by part, and nothing of another hunt is taken for its own."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from sds_conformance.exploration import hunt
from sds_conformance.exploration.casts import NotPlayed
from sds_conformance.exploration.hunt import Peace, unhunted
from sds_conformance.exploration.hunted import Hunted, HuntedError
from suite_terminal import typed, words

CATCH = replace(unhunted("log-by-arrival"), found_after=3, found_by="SDS-LOG-01", operations=4, participants=2)
PEACE = Peace("echoes", 6, ("something",))


def test_what_is_kept_is_there_again(tmp_path: Path) -> None:
    file = tmp_path / "hunt.json"
    first = Hunted(file, seed=1)
    first.caught(CATCH)
    first.left_in_peace(PEACE)
    again = Hunted(file, seed=1)
    assert (again.catches, again.peaces) == ({CATCH.mutant: CATCH}, {PEACE.variant: PEACE})
    assert Hunted(seed=1).catches == {}


def test_what_is_of_another_hunt_is_not_taken(tmp_path: Path) -> None:
    file = tmp_path / "hunt.json"
    Hunted(file, seed=1).caught(CATCH)
    with pytest.raises(HuntedError, match="with other seed"):
        Hunted(file, seed=2)
    data = json.loads(file.read_text("utf-8"))
    for changed, told in (
        ({**data, "sources": "0" * 64}, "with other sources"),
        ({**data, "schema": "x"}, "is not of a hunt"),
        ({**data, "mutants": [{**data["mutants"][0], "found_after": "3"}]}, "not what a hunt writes"),
        ({**data, "mutants": 7}, "not what a hunt writes"),
        ({**data, "mutants": [{**data["mutants"][0], "mutant": "nobody"}]}, "not what a hunt writes"),
        ({**data, "variants": [{}]}, "not what a hunt writes"),
        ([], "is not of a hunt"),
    ):
        file.write_text(json.dumps(changed), "utf-8")
        with pytest.raises(HuntedError, match=told):
            Hunted(file, seed=1)
    file.write_text("{", "utf-8")
    with pytest.raises(HuntedError, match="cannot be read"):
        Hunted(file, seed=1)


def test_the_requirement_of_a_mutant_is_that_of_the_model(tmp_path: Path) -> None:
    file = tmp_path / "hunt.json"
    Hunted(file, seed=1).caught(replace(CATCH, requirement="SDS-NONE-99", summary="x"))
    assert Hunted(file, seed=1).catches == {CATCH.mutant: CATCH}


def test_a_second_part_hunts_what_the_first_has_not(tmp_path: Path) -> None:
    file, table = tmp_path / "hunt.json", tmp_path / "hunt.md"
    options = ("--peaceful", "0", "--examples", "30", "--jobs", "1", "--resume", str(file))
    assert typed("hunt", "--only", "log-by-arrival", *options).exit_code == 0
    kept = json.loads(file.read_text("utf-8"))
    kept["mutants"][0]["found_after"] = 29
    file.write_text(json.dumps(kept), "utf-8")
    both = ("--only", "log-by-arrival", "--only", "never-asks", *options, "--markdown", str(table))
    assert typed("hunt", *both).exit_code == 0
    rows = {row["mutant"]: row["found_after"] for row in json.loads(file.read_text("utf-8"))["mutants"]}
    assert rows["log-by-arrival"] == 29
    assert "never-asks" in rows
    assert "| 29 |" in table.read_text("utf-8")
    refused = typed("hunt", "--only", "never-asks", *options, "--seed", "5")
    assert refused.exit_code == 2
    assert "is of a hunt with other seed: delete it, or name another file" in words(refused.stderr)


def test_who_is_given_up_gets_away_and_the_hunt_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def given_up(*_: object) -> None:
        # As it comes out of a process of its own.
        raise pickle.loads(pickle.dumps(NotPlayed("under test", "broke down 4 times in a row and was given up")))

    assert hunt.hunt("sync-without-filter", 8).found_after
    monkeypatch.setattr(hunt, "play_one", given_up)
    assert not hunt.hunt("sync-without-filter", 8).found_after
    with pytest.raises(NotPlayed, match="under test broke down 4 times"):
        given_up()
