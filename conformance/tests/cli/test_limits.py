"""Options for the resources and the wire layout of an implementation."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace
from typing import Any

import pytest

from run_helpers import reference_command
from sds_conformance.cli.options import DrivenImplementation
from sds_conformance.pytest_plugin.session_options import read_session_options
from sds_harness.link import Limits
from sds_testee.framing import Framing
from suite_terminal import typed, words

NIM_LIKE = ["--", *reference_command("--dialect", "nim-sds")]


def test_what_was_typed_is_typed_again_and_defaults_are_not() -> None:
    limits = Limits(command_s=5, total_s=60, memory_bytes=1 << 30)
    driven = DrivenImplementation(("x",), Framing.BINARY, "", limits)
    assert driven.options == [
        *("--framing", "binary", "--dialect", ""),
        *("--timeout", "5", "--total-timeout", "60", "--memory", "1024m"),
    ]
    assert DrivenImplementation(("x",), Framing.JSON, None, Limits()).options == []
    assert Limits().total_s == math.inf


def test_vectors_run_says_that_it_translates_and_can_be_disabled() -> None:
    declared = typed("vectors", "run", "--group", "lamport", *NIM_LIKE)
    assert "  Dialect   nim-sds: all bytes are translated" in declared.stdout
    plain = typed("vectors", "run", "--group", "lamport", "--dialect", "", *NIM_LIKE)
    assert "Dialect" not in plain.stdout


def test_vectors_run_names_the_layout_that_was_not_declared() -> None:
    asked_for, declared = (
        words(typed("vectors", "run", "--group", "causal-history", *options, *NIM_LIKE).stdout)
        for options in (("--dialect", ""), ())
    )
    assert "Its messages are in the dialect nim-sds: try --dialect nim-sds" in asked_for
    assert "Warning" not in declared


@pytest.mark.parametrize(
    ("typed_one", "in_file", "spoken"),
    [(None, "", None), ("", "", ""), ("", "nim-sds", ""), (None, "nim-sds", "nim-sds")],
)
def test_in_pytest_none_can_be_asked_for_too(typed_one: str | None, in_file: str, spoken: str | None) -> None:
    options: dict[str, Any] = {"sds_testee": "adapter", "sds_dialect": typed_one}
    config: Any = SimpleNamespace(
        getoption=options.get,
        getini=lambda name: {"sds_dialect": in_file, "sds_environment": []}.get(name, ""),
        stash=pytest.Stash(),
    )
    found = read_session_options(config)
    assert found.dialect == spoken
    assert ("--dialect" in found.invocation.options) == (spoken is not None)


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


@pytest.mark.parametrize(
    "command",
    [
        ["run", "--scenario", "a-diamond"],
        pytest.param(["smoke"], marks=pytest.mark.exhaustive),
        pytest.param(["fuzz", "--schedules", "1"], marks=pytest.mark.exhaustive),
    ],
)
def test_no_dialect_is_spoken_where_none_is_asked_for(command: list[str]) -> None:
    assert "Dialect   nim-sds" in typed(*command, *NIM_LIKE).stdout
    assert "Dialect   nim-sds" not in typed(*command, "--dialect", "", *NIM_LIKE).stdout
