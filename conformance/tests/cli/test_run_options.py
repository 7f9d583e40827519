"""Options for the wire layout of an implementation."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from run_helpers import plan, reference, reference_command
from sds_conformance.cli.campaign_output import steps_bar
from sds_conformance.judging.certification import certify
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.sds.register import SCENARIOS
from sds_conformance.pytest_plugin.session_options import read_session_options
from sds_harness.link import Limits, LocalLink
from sds_reference import Config
from sds_reference.mutants import MUTANTS
from suite_terminal import MUTANT, typed, words

NIM_LIKE = ["--", *reference_command("--dialect", "nim-sds")]


def test_vectors_run_says_that_it_translates_and_names_the_layout_that_was_not_declared() -> None:
    asked = ("vectors", "run", "--group", "causal-history")
    declared = typed(*asked, *NIM_LIKE).stdout
    assert "  Dialect   nim-sds: all bytes are translated" in declared
    assert "Warning" not in declared
    plain = typed(*asked, "--dialect", "", *NIM_LIKE).stdout
    assert "Dialect" not in plain
    assert "Its messages are in the dialect nim-sds: try --dialect nim-sds" in words(plain)


@pytest.mark.parametrize(("option", "in_file", "spoken"), [(None, "", None), ("", "nim-sds", "")])
def test_in_pytest_none_can_be_asked_for_too(option: str | None, in_file: str, spoken: str | None) -> None:
    settings = {"sds_dialect": in_file, "sds_environment": []}
    config: Any = SimpleNamespace(
        getoption={"sds_testee": "adapter", "sds_dialect": option}.get,
        getini=lambda name: settings.get(name, ""),
        stash=pytest.Stash(),
    )
    assert read_session_options(config).dialect == spoken


def test_limits_are_those_of_the_layout_that_is_declared() -> None:
    result = typed("limits", "--only", "waiting", "--at", "5", "--json", *NIM_LIKE)
    output = json.loads(result.stdout)
    assert (result.exit_code, output["dialect"]) == (0, "nim-sds")
    assert [(row["held"], row["verdict"], row["why"]) for row in output["rows"]] == [(5, "held", "not tried beyond")]


def test_what_one_difference_violates_is_reported_for_all_transcripts_that_show_it() -> None:
    result = typed("vectors", "run", "--group", "transcripts", "--dialect", "", *NIM_LIKE)
    assert result.stdout.count("\nFAIL ") == 1
    printed = words(result.stdout)
    assert "the layout of messages (SDS-MSG-01)" in printed
    assert "FAIL SDS-MSG-01 40 vectors" in printed
    assert printed.partition(" With it ")[2].startswith(
        "SDS-RECV-07, SDS-RECV-08, SDS-SYNC-12: A message that is refused"
    )


def test_no_dialect_is_spoken_where_none_is_asked_for(tmp_path: Path) -> None:
    for command in (("run", "--scenario", "a-diamond"), ("smoke",), ("fuzz", "--schedules", "1", "--out", tmp_path)):
        assert "Dialect   nim-sds" in typed(*command, *NIM_LIKE).stdout
        assert "Dialect   nim-sds" not in typed(*command, "--dialect", "", *NIM_LIKE).stdout


# ---- --select --------------------------------------------------------------------------------------------------------


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
