"""``exhaust`` plays every schedule of a small world of ClearSkies."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from suite_terminal import typed, words

MODEL = (sys.executable, "-m", "clearskies_reference")
REVISION = ("--revision", "clearskies-database")
SMALL = ("--alphabet", "write,delete,arrive,uuids", "--participants", "2")


def exhausted(*words: str | Path, model: tuple[str, ...] = ()) -> tuple[int, dict[str, Any]]:
    """The exit code and the JSON of the command against a model."""
    options = ("--jobs", "1", *SMALL, *words, "--json")
    result = typed("exhaust", *REVISION, *options, "--", *MODEL, *model)
    return result.exit_code, json.loads(result.stdout)


def test_the_reference_passes_every_schedule_of_a_small_world() -> None:
    code, told = exhausted("--events", "4")
    assert code == 0
    assert told["finished"] == 4
    assert all(bound["whole"] for bound in told["bounds"])
    assert told["findings"] == []


def test_a_fault_that_needs_an_order_is_found_and_its_counterexample_is_played_again(tmp_path: Path) -> None:
    """The deletion of a record that was received meets a write that its writer made without it: five events."""
    mutant = ("--mutant", "deletion-loses")
    code, told = exhausted("--events", "5", "--save", tmp_path, model=mutant)
    assert code == 1
    assert [root["id"] for root in told["findings"]] == ["CSDB-54"]
    kept = tmp_path / "CSDB-54.json"
    assert typed("replay", kept, "--", *MODEL, *mutant).exit_code == 1
    again = ("--scenario-file", kept, "--environment", "plain")
    failed = typed("run", *REVISION, *again, "--", *MODEL, *mutant)
    assert failed.exit_code == 1
    assert "CSDB-54" in words(failed.stdout)
    assert typed("run", *REVISION, *again, "--", *MODEL).exit_code == 0


@pytest.mark.parametrize(
    "variant",
    [
        pytest.param("sends-in-intervals", id="updates are sent in intervals"),
        pytest.param("writes-resolutions", id="a resolution is a change of its own"),
        pytest.param("echoes", id="updates are repeated to their sender"),
        pytest.param("shows-no-deletions", id="an observed state has no deleted records"),
    ],
)
def test_legal_choices_pass(variant: str) -> None:
    """With a scripted peer, which also deletes a record that no participant had."""
    alphabets = ("--alphabet", "write,ask,stranger,arrive,uuids")
    code, told = exhausted("--events", "2", *alphabets, model=("--variant", variant))
    assert (code, told["findings"]) == (0, [])


def test_an_alphabet_needs_an_event_that_sends() -> None:
    result = typed("exhaust", *REVISION, "--alphabet", "arrive,uuids", "--", *MODEL)
    assert result.exit_code == 2
    assert "--alphabet write,arrive" in words(result.stderr)
