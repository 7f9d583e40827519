"""Options of `run` and other commands for the wire layout of an implementation and the requirements to judge."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from run_helpers import plan, reference_command
from sds_conformance.protocols.sds.register import SCENARIOS
from sds_conformance.pytest_plugin.session_options import read_session_options
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


def test_no_dialect_is_spoken_where_none_is_asked_for(tmp_path: Path) -> None:
    for command in (("run", "--scenario", "a-diamond"), ("smoke",), ("fuzz", "--schedules", "1", "--out", tmp_path)):
        assert "Dialect   nim-sds" in typed(*command, *NIM_LIKE).stdout
        assert "Dialect   nim-sds" not in typed(*command, "--dialect", "", *NIM_LIKE).stdout


# ---- --select --------------------------------------------------------------------------------------------------------


PLAIN = ("--environment", "plain")


def test_a_selection_plays_what_is_for_it_and_says_that_this_is_a_part() -> None:
    def for_it(requirement: str) -> set[str]:
        return {scenario.name for scenario in SCENARIOS.values() if requirement in scenario.exercises}

    data = json.loads(typed("run", "--json", *PLAIN, "--select", "SDS-STATE-02", "--", *MUTANT).stdout)
    assert (data["summary"]["scenarios"], data["requirements"][0]["verdict"]) == (len(for_it("SDS-STATE-02")), "fail")
    assert data["narrowed"] == ["environments", "requirements", "scenarios"]
    printed = words(typed("run", *PLAIN, "--select", "SDS-STATE-02", "--select", "SDS-MSG-13").stdout)
    number = len(for_it("SDS-STATE-02") | for_it("SDS-MSG-13"))
    others = len(plan().scenarios) - number
    assert f"Only the {number} scenarios for the selected requirements were played: {others} other" in printed
    assert " more requirements: not selected, so not judged." in printed
