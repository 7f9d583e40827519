"""``run --select`` plays what is for the requirements that were asked for, and says that this is not all."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from rich.console import Console

from run_helpers import plan, reference
from sds_conformance.cli.campaign_output import steps_bar
from sds_conformance.judging.certification import certify
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.sds.register import SCENARIOS
from sds_harness.link import Limits, LocalLink
from sds_reference import Config
from sds_reference.mutants import MUTANTS
from suite_terminal import MUTANT, typed, words

PLAIN = ("--environment", "plain")


def of(requirement: str) -> set[str]:
    """The scenarios that are for a requirement."""
    return {scenario.name for scenario in SCENARIOS.values() if requirement in scenario.exercises}


def played(*arguments: str | Path) -> dict[str, Any]:
    """The report of a run in the plain environment."""
    data: dict[str, Any] = json.loads(typed("run", "--json", *PLAIN, *arguments).stdout)
    return data


def test_a_selection_plays_what_is_for_it_and_says_that_this_is_a_part() -> None:
    data = played("--select", "SDS-STATE-02", "--", *MUTANT)
    assert data["summary"]["scenarios"] == len(of("SDS-STATE-02"))
    assert data["narrowed"] == ["environments", "requirements", "scenarios"]
    assert data["requirements"][0]["verdict"] == "fail"
    printed = words(typed("run", *PLAIN, "--select", "SDS-STATE-02", "--select", "SDS-MSG-13").stdout)
    number, there_are = len(of("SDS-STATE-02") | of("SDS-MSG-13")), len(plan().scenarios)
    assert (
        f"Only the {number} scenarios for the selected requirements: {there_are - number} other scenarios may"
        in printed
    )


# ---- How far it is -----------------------------------------------------------------------------------------------


def test_a_run_tells_how_many_fail_as_it_goes() -> None:
    printed: list[int] = []
    mutant = MUTANTS["starts-at-zero"]

    def start(variables: object) -> LocalLink:
        return LocalLink(reference(mutant.configure(Config()), participant=mutant.participant_class))

    what = plan(scenarios=["nobody-answers", "clock-at-first-use"])
    outcome = certify(start, what, Limits(), failing=printed.append)
    assert len(printed) == outcome.runs == 2
    assert max(printed) == outcome.count(Verdict.FAIL) > 0
    screen = io.StringIO()
    with steps_bar(Console(file=screen, force_terminal=True, color_system="standard", width=80), 30, 16) as bar:
        bar("clock-at-first-use", 1, 2)
        assert "failed" not in screen.getvalue()
        bar.set_failing(3)
        bar("nobody-answers", 2, 2)
    assert "nobody-answers                 3 failed" in screen.getvalue()
