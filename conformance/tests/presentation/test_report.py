"""Reports are for machines: they keep to their schema whatever was tested, and appear whole or not at all."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema_rs import ValidationError, validator_for

from run_helpers import altered, broken_adapter, certified, plan, reference, reference_command
from sds_conformance.cli import main
from sds_conformance.judging.certification import Certification, certify
from sds_conformance.presentation.invocation import Invocation
from sds_conformance.reports.document import document, load_schema
from sds_conformance.reports.files import write_report
from sds_conformance.reports.report import Report
from sds_harness.link import Limits, StdioLink
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config
from sds_reference.mutants import MUTANTS
from sds_testee.framing import Framing
from suite_terminal import typed, words

COMMAND = ["./my adapter", "--flag"]
SOME = ("clock-*", "every-kind-*", "named-*", "a-d*", "ties", "many-*")
BREAKING = ("nobody-answers", "acknowledged-and-done")
VALIDATOR = validator_for(load_schema())


@cache
def mutant(name: str = "starts-at-zero") -> Certification:
    faulty = MUTANTS[name]
    start = lambda: reference(faulty.configure(Config()), participant=faulty.participant_class)  # noqa: E731
    return certified(start, scenarios=SOME)


@cache
def crashing() -> Certification:
    """A real process that crashes on its first tick."""
    limits = Limits(start_s=20, command_s=5)
    command = broken_adapter("crashes")
    what = plan(["SDS-OUTSWEEP-*", "SDS-MSG-21"], scenarios=BREAKING)
    return certify(lambda _: StdioLink(command, Framing.JSON, limits), what, limits)


@cache
def giving_up() -> Certification:
    def breaks(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("open"):
            raise RuntimeError("no room")

    return certified(lambda: altered(breaks))


@cache
def skipping() -> Certification:
    return certified(lambda: reference(without=[pb.CAPABILITY_OBSERVE, pb.CAPABILITY_DELIVERED]), scenarios=SOME)


@pytest.fixture(scope="module")
def outcome() -> Certification:
    """The reference, judged on a part: the report on all is held to the schema in `judging`."""
    return certified(reference, select=["SDS-MSG-*", "SDS-SEND-*"])


def data_of(outcome: Certification) -> dict[str, Any]:
    return document(outcome, Invocation(tuple(COMMAND)))


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("run", [mutant, skipping, crashing, giving_up])
def test_the_report_of_any_run_keeps_to_the_schema(run: Callable[[], Certification]) -> None:
    VALIDATOR.validate(data_of(run()))


@pytest.mark.parametrize(
    "change",
    [
        {"verdict": "pass", "exercised": 0},
        {"verdict": "fail", "findings": []},
        {"verdict": "skipped", "reason": ""},
        {"surprise": 1},
    ],
)
def test_the_schema_refuses_what_makes_no_sense(outcome: Certification, change: dict[str, Any]) -> None:
    data = data_of(outcome)
    data["requirements"][0] |= change
    with pytest.raises(ValidationError):
        VALIDATOR.validate(data)


# ---- Files -------------------------------------------------------------------------------------------------------


def test_a_report_that_cannot_be_finished_leaves_the_one_before_whole(
    tmp_path: Path, outcome: Certification, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_report(tmp_path, Report(data_of(outcome), traces=outcome.traces, seconds=outcome.seconds))
    before = (tmp_path / "report.json").read_bytes()

    def disk_is_full(source: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", disk_is_full)
    with pytest.raises(OSError, match="No space left"):
        write_report(tmp_path, Report(data_of(mutant()), traces=mutant().traces, seconds=mutant().seconds))
    assert (tmp_path / "report.json").read_bytes() == before


def test_traces_are_not_written_through_a_link(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "traces").symlink_to(elsewhere)
    with pytest.raises(OSError, match="traces in it is a symbolic link"):
        write_report(folder, Report(data_of(mutant()), traces=mutant().traces, seconds=mutant().seconds))
    assert list(elsewhere.iterdir()) == []
    assert [path.name for path in folder.iterdir()] == ["traces"]
    result = typed("run", "--report", folder, "--scenario", "ties", "--", *reference_command())
    assert result.exit_code == 2
    assert "traces in it is a symbolic link" in words(result.stderr)


def test_a_report_is_harmless_to_show_and_reads_back_the_same(tmp_path: Path, outcome: Certification) -> None:
    odd = "\u202eabc\u2066 \x9b31m ##vso[task.setvariable variable=x]y \u2028 \ud800"
    data = data_of(outcome)
    data["implementation"]["homepage"] = odd
    write_report(tmp_path, Report(data, traces=outcome.traces, seconds=outcome.seconds))
    for name in ("report.json", "report.jsonl"):
        text = (tmp_path / name).read_text("utf-8")
        assert {character for character in text if not character.isprintable()} == {"\n"}
        assert "##" not in text
        assert json.loads(text.splitlines()[0] if name.endswith("l") else text)["implementation"]["homepage"] == odd


# ---- Hostile content ---------------------------------------------------------------------------------------------


def test_bytes_of_the_command_line_that_are_no_text_do_not_cost_the_report(
    tmp_path: Path, outcome: Certification
) -> None:
    data = document(outcome, Invocation(("./adapter", os.fsdecode(b"caf\xe9"))))
    command = ["./adapter", "caf\\udce9"]
    VALIDATOR.validate(data)
    write_report(tmp_path, Report(data, traces=outcome.traces, seconds=outcome.seconds))
    assert json.loads((tmp_path / "report.json").read_bytes())["implementation"]["command"] == command
    header, *_ = rows(tmp_path / "report.jsonl")
    assert header["implementation"]["command"] == command


def test_long_and_strange_declarations_are_cut_and_cleaned(outcome: Certification) -> None:
    def presents_itself(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("hello"):
            reply.hello.name = "\x1b[31m" + "n" * 1_000_000
            reply.hello.version = "1\n2\u202e3"
            reply.hello.revisions[:] = ["r" * 10_000] * 100

    data = data_of(certified(lambda: altered(presents_itself), select=["SDS-MSG-13"]))
    VALIDATOR.validate(data)
    implementation = data["implementation"]
    assert implementation["name"] == "n" * 200 + "…"
    assert implementation["version"].isprintable()
    assert len(json.dumps(implementation)) < 10_000


def test_an_implementation_that_does_not_get_through_the_handshake_has_a_report_too(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "raise SystemExit('no such protocol')"]
    folder = tmp_path / "report"
    result = CliRunner().invoke(main, ["run", "--json", "--report", str(folder), "--", *command])
    data = json.loads((folder / "report.json").read_text("utf-8"))
    VALIDATOR.validate(data)
    assert result.exit_code == data["summary"]["exit_code"] == 3
    assert json.loads(result.stdout) == data
    assert not data["summary"]["complete"]
    assert data["breakdowns"][0]["stderr"] == ["no such protocol"]
    assert {row["reason"].partition(": ")[2] for row in data["requirements"]} == {
        "not played: the implementation could not be tested"
    }
