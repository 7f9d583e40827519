"""Every finding ends with a command, and that command shows the finding again."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from run_helpers import Handle, certified, odd_adapter, reference, reference_command
from sds_reference import Config
from sds_reference.mutants import MUTANTS
from sds_reference.testee import dialect
from suite_terminal import typed

STARTING = ("--select", "SDS-STATE-02", "--scenario", "clock-*")
WAITING = ("--select", "SDS-DELIVER-03", "--scenario", "waiting-*")
MOVING = reference_command("--mutant", "updates-clock-on-reception")
NAMING = ("--select", "SDS-MSG-03", "--scenario", "every-*")


def report_of(arguments: list[str]) -> dict[str, Any]:
    """The report of a command line of the suite."""
    data: dict[str, Any] = json.loads(typed(arguments[0], "--json", *arguments[1:]).stdout)
    return data


def replayed(*arguments: str) -> dict[str, str]:
    """The verdicts that the commands at the end of the findings of a run give, by requirement."""
    out: dict[str, str] = {}
    for row in report_of(list(arguments))["requirements"]:
        for finding in row["findings"][:1]:
            _, *again = shlex.split(finding["again"])
            out |= {judged["id"]: judged["verdict"] for judged in report_of(again)["requirements"]}
    return out


def test_every_finding_is_made_again_by_its_requirement_and_its_scenario_alone() -> None:
    mutant = MUTANTS["rebroadcasts-advance-the-clock"]

    def start() -> Handle:
        return reference(mutant.configure(Config()), participant=mutant.participant_class)

    found = [finding for verdict in certified(start).verdicts for finding in verdict.findings]
    assert mutant.requirement in {finding.requirement for finding in found}
    for finding in found:
        alone = certified(start, select=[finding.requirement], scenarios=[finding.scenario])
        assert finding in alone.verdicts[0].findings


TYPED_AGAIN = {
    "plain": (STARTING, reference_command("--mutant", "starts-at-zero"), "SDS-STATE-02", "fail"),
    "strict": (("--strict", *WAITING), MOVING, "SDS-DELIVER-03", "fail"),
    "lenient": (WAITING, MOVING, "SDS-DELIVER-03", "warn"),
    "framing": (("--framing", "binary", *STARTING), odd_adapter("speaks-binary-only"), "SDS-STATE-02", "fail"),
    "dialect": (("--dialect", "nim-sds", *NAMING), reference_command("--dialect", "nim-sds"), "SDS-MSG-03", "fail"),
}


@pytest.mark.parametrize("name", TYPED_AGAIN)
def test_the_command_at_the_end_of_a_finding_judges_as_the_run_did(name: str) -> None:
    options, command, requirement, verdict = TYPED_AGAIN[name]
    assert replayed("run", *options, "--", *command) == {requirement: verdict}


def test_a_dialect_in_a_file_is_named_by_its_file(tmp_path: Path) -> None:
    shipped = Path(dialect.__file__).parent / "dialects" / "nim-sds.json"
    file = tmp_path / "mine.json"
    file.write_text(shipped.read_text("utf-8").replace('"nim-sds"', '"mine"'), "utf-8")
    command = reference_command("--dialect", "nim-sds")
    assert replayed("run", "--dialect", str(file), *NAMING, "--", *command) == {"SDS-MSG-03": "fail"}


def test_it_gives_the_implementation_the_same_limits() -> None:
    command = reference_command("--mutant", "starts-at-zero")
    arguments = ["run", "--timeout", "77", "--start-timeout", "78", "--memory", "3g", *STARTING]
    (row,) = report_of([*arguments, "--", *command])["requirements"]
    again = row["findings"][0]["again"]
    for option in (r"--timeout 77(\.0)? ", r"--start-timeout 78(\.0)? ", "--memory 3"):
        assert re.search(option, again)
