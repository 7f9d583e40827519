"""A machine that has no room for every process: what does not start is not a fault of the implementation."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from run_helpers import reference_command
from sds_conformance.exploration import exhaustion_campaign
from sds_conformance.exploration.assessment import Scope
from sds_conformance.exploration.campaign import CampaignOrder, CampaignTally, explore
from sds_conformance.exploration.text import last_line, roots_of
from sds_conformance.judging.exits import Exit
from sds_conformance.judging.verdict import Finding, Verdict
from sds_harness.declaration import Declaration
from sds_harness.sds.generator import Grammar
from sds_harness.sds.language import SDS
from shared_runs import without_room
from suite_terminal import typed, words

FUZZ = ("fuzz", "--schedules", "6", "--participants", "3")


def limited(folder: Path, *, at_once: int = 99, in_all: int = 99) -> list[str]:
    """An adapter of which only so many processes can run at once, and only so many can be started in all."""
    script = folder / "limited.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import fcntl, os, sys
            from sds_reference.testee.command import main
            with open({str(folder / "starts")!r}, "a") as starts:
                starts.write(".")
            if os.path.getsize({str(folder / "starts")!r}) > {in_all}:
                sys.exit("fork: Resource temporarily unavailable")
            for place in range({at_once}):
                kept = open({str(folder / "place")!r} + str(place), "w")
                try:
                    fcntl.flock(kept, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except OSError:
                    pass
            else:
                sys.exit("fork: Resource temporarily unavailable")
            main([])
            """
        ),
        "utf-8",
    )
    return [sys.executable, str(script)]


@pytest.mark.parametrize("command", ["fuzz", "exhaust"])
def test_what_an_additional_process_could_not_play_is_played_later(
    tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exhaustion_campaign, "SAMPLE", 1)  # all else is for the workers
    options = FUZZ if command == "fuzz" else ("exhaust", "--alphabet", "send,arrive", "--events", "3")
    adapter = limited(tmp_path, at_once=1)
    result = typed(*options, "--jobs", "2", "--out", tmp_path / "found", "--json", "--", *adapter)
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    alone = typed(*options, "--jobs", "1", "--out", tmp_path / "found", "--json", "--", *adapter)
    assert printed["schedules"] == json.loads(alone.stdout)["schedules"]
    assert printed["gave_up"] == ""


@pytest.mark.exhaustive
def test_a_run_plays_the_units_that_an_additional_process_could_not_begin(tmp_path: Path) -> None:
    result = typed(
        "run", "--jobs", "2", "--scenario", "a-*", "--scenario", "n*", "--json", "--", *limited(tmp_path, at_once=1)
    )
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["breakdowns"] == []


def test_what_does_not_start_again_is_not_driven_and_no_verdict(tmp_path: Path) -> None:
    result = typed(*FUZZ, "--jobs", "2", "--out", tmp_path / "found", "--", *limited(tmp_path, in_all=2))
    assert result.exit_code == Exit.NOT_DRIVEN, result.output
    assert "The remaining schedules were not played: " in words(result.stdout)
    assert "ended early: no verdict" in words(result.stdout)


def test_schedules_of_a_worker_without_room_for_a_thread_are_played_later() -> None:
    connect = partial(without_room, reference_command(), os.getpid())
    one = CampaignOrder(connect, examples=8, grammar=Grammar(most=3, passages=("burst",), longest=1))
    alone, together = explore(one), explore(replace(one, jobs=2))
    assert together.exit_code == alone.exit_code == Exit.CONFORMANT
    assert (together.schedules, together.exercised) == (8, alone.exercised)
    assert (together.errors, together.not_started) == ({}, "")


def tally(**changes: object) -> CampaignTally:
    out = CampaignTally(Declaration.for_unknown("x", SDS), schedules=3)
    for name, value in changes.items():
        setattr(out, name, value)
    out.found_at = dict.fromkeys(out.found, 0)
    return out


FAILED = Finding("SDS-MSG-01", "wrong", "a-run", "plain", "alice", "c1", 1, "this", "that", "", Verdict.FAIL)
SEEN = {"SDS-MSG-01": 1}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"exercised": SEEN}, Exit.CONFORMANT),
        ({}, Exit.NOTHING_EXERCISED),
        ({"found": {"SDS-MSG-01": FAILED}, "not_started": "why", "gave_up": "why"}, Exit.NON_CONFORMANT),
        ({"exercised": SEEN, "gave_up": "it ran out of time"}, Exit.NON_CONFORMANT),
        ({"exercised": SEEN, "not_started": "why"}, Exit.NOT_DRIVEN),
        ({"exercised": SEEN, "not_started": "why", "errors": {"worker": "x"}}, Exit.OURS),
        ({"gave_up": "why", "schedules": 0}, Exit.NOT_DRIVEN),
        ({"exercised": SEEN, "interrupted": True}, Exit.INTERRUPTED),
    ],
)
def test_the_last_line_and_the_exit_code_say_the_same(changes: dict[str, object], code: Exit) -> None:
    one = tally(**changes)
    said = last_line(one, roots_of(one, Scope.select().rules), "x").plain
    assert one.exit_code == code
    assert said.startswith("Nothing was found against") == (code in (Exit.CONFORMANT, Exit.INTERRUPTED))
    assert ("does not conform" in said) == (code == Exit.NON_CONFORMANT)
