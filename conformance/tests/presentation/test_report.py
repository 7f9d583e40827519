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
from jsonschema import Draft202012Validator
from jsonschema_rs import ValidationError, validator_for

from run_helpers import SHORT, T, altered, broken_adapter, certified, plan, reference, reference_command
from sds_conformance.cli import main
from sds_conformance.judging.certification import Certification, certify
from sds_conformance.judging.verdict import Verdict
from sds_conformance.presentation.invocation import Invocation
from sds_conformance.reports.document import ROWS, document, load_schema, summary
from sds_conformance.reports.files import write_report
from sds_conformance.reports.report import Report
from sds_harness.faults import FaultKind
from sds_harness.link import Limits, StdioLink
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config
from sds_reference.mutants import MUTANTS
from sds_testee.framing import Framing
from suite_terminal import typed, words

COMMAND = ["./my adapter", "--flag"]
BREAKING = ("nobody-answers", "acknowledged-and-done")
VALIDATOR = validator_for(load_schema())


@cache
def mutant(name: str = "starts-at-zero") -> Certification:
    faulty = MUTANTS[name]
    return certified(lambda: reference(faulty.configure(Config()), participant=faulty.participant_class))


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


def noting() -> Certification:
    return mutant("long-histories")


@cache
def skipping() -> Certification:
    return certified(lambda: reference(without=[pb.CAPABILITY_OBSERVE, pb.CAPABILITY_DELIVERED]))


@pytest.fixture(scope="module")
def outcome() -> Certification:
    """The reference, judged on a part: the report on all is held to the schema in `judging`."""
    return certified(reference, select=["SDS-MSG-*", "SDS-SEND-*"])


def data_of(outcome: Certification) -> dict[str, Any]:
    return document(outcome, Invocation(tuple(COMMAND)))


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(load_schema())


@pytest.mark.parametrize("run", [mutant, noting, skipping, crashing, giving_up])
def test_the_report_of_any_run_keeps_to_the_schema(run: Callable[[], Certification]) -> None:
    VALIDATOR.validate(data_of(run()))


def test_the_report_of_the_reference_keeps_to_the_schema_and_says_that_it_passed(outcome: Certification) -> None:
    data = data_of(outcome)
    VALIDATOR.validate(data)
    assert data["summary"]["exit_code"] == 0
    assert {row["verdict"] for row in data["requirements"]} == {"pass"}
    assert data["implementation"]["command"] == COMMAND
    assert data["summary"]["complete"]


@pytest.mark.parametrize(
    "change",
    [
        {"verdict": "pass", "exercised": 0},
        {"verdict": "fail", "findings": []},
        {"verdict": "skipped", "reason": ""},
        {"verdict": "perfect"},
        {"id": "SDS-MSG-1"},
        {"surprise": 1},
    ],
)
def test_the_schema_refuses_what_makes_no_sense(outcome: Certification, change: dict[str, Any]) -> None:
    data = data_of(outcome)
    data["requirements"][0] |= change
    with pytest.raises(ValidationError):
        VALIDATOR.validate(data)


def test_every_requirement_that_was_judged_has_a_row_with_its_verdict(outcome: Certification) -> None:
    for row, verdict in zip(data_of(outcome)["requirements"], outcome.verdicts, strict=True):
        assert row["id"] == verdict.requirement.id
        assert (row["verdict"], row["exercised"]) == (verdict.verdict.value, verdict.exercised)
        assert row["runs"] == sorted(outcome.sightings[row["id"]])


def test_a_finding_has_rule_expectation_sight_and_the_command_that_shows_it_again() -> None:
    outcome = mutant()
    (row,) = [row for row in data_of(outcome)["requirements"] if row["id"] == "SDS-STATE-02"]
    finding = row["findings"][0]
    assert row["verdict"] == finding["severity"] == "fail"
    assert finding["rule"] == outcome.plan.catalogue.requirements["SDS-STATE-02"].statement
    assert finding["expected"].startswith("lamport_timestamp")
    again = f"sds-conformance run --select SDS-STATE-02 --scenario {finding['scenario']} -- './my adapter' --flag"
    assert finding["again"] == again
    step = outcome.traces[finding["scenario"]].steps[finding["step"] - 1]
    assert step.participant == finding["participant"]


def test_a_note_is_no_failure() -> None:
    (row,) = [row for row in data_of(noting())["requirements"] if row["id"] == "SDS-SEND-07"]
    assert row["verdict"] == "pass"
    assert {finding["severity"] for finding in row["findings"]} == {"note"}


def test_a_breakdown_says_what_where_and_what_to_ask() -> None:
    data = data_of(crashing())
    broken = data["breakdowns"][0]
    assert (broken["kind"], broken["command"]) == (FaultKind.CRASH.value, "tick")
    assert broken["stderr"] == ["panic: the log is inside out"]
    assert broken["where"] in BREAKING
    assert broken["advice"]
    assert data["summary"]["exit_code"] == 3


def test_a_run_that_was_given_up_is_not_complete() -> None:
    data = data_of(giving_up())
    assert not data["summary"]["complete"]
    assert data["summary"]["runs"] < len(SHORT)


def test_the_summary_counts_every_verdict(outcome: Certification) -> None:
    for run in (outcome, skipping()):
        counted = summary(run)
        assert sum(counted[verdict.value] for verdict in Verdict) == len(run.verdicts)
        assert counted["steps"] == sum(len(trace.steps) for trace in run.traces.values())


# ---- Files -------------------------------------------------------------------------------------------------------


def test_the_lines_are_a_header_the_same_rows_and_a_footer(tmp_path: Path) -> None:
    for number, outcome in enumerate((mutant(), crashing())):
        data = data_of(outcome)
        folder = tmp_path / str(number)
        write_report(folder, Report(data, traces=outcome.traces, seconds=outcome.seconds))
        assert json.loads((folder / "report.json").read_text("utf-8")) == data
        header, *middle, footer = rows(folder / "report.jsonl")
        assert header == {"type": "header"} | {
            key: value for key, value in data.items() if key not in ("summary", *ROWS)
        }
        expected = [{"type": "cause"} | row for row in data["causes"]]
        expected += [{"type": "requirement"} | row for row in data["requirements"]]
        expected += [{"type": "breakdown"} | row for row in data["breakdowns"]]
        expected += [{"type": "way"} | row for row in data["ways"]]
        assert middle == expected
        assert footer["type"] == "footer"
        assert footer["summary"] == data["summary"]
        assert footer["seconds"] >= 0


def test_the_trace_of_everything_that_was_found_is_written_step_by_step(tmp_path: Path) -> None:
    outcome = mutant()
    written = write_report(tmp_path, Report(data_of(outcome), traces=outcome.traces, seconds=outcome.seconds))
    found = {finding.scenario for verdict in outcome.verdicts for finding in verdict.findings}
    assert {path.stem for path in (tmp_path / "traces").iterdir()} == found
    assert set(written) == {path for path in tmp_path.rglob("*") if path.is_file()}
    for name in found:
        header, *steps = rows(tmp_path / "traces" / f"{name}.jsonl")
        assert header["schedule"] == name
        assert [row["step"] for row in steps] == [step.index for step in outcome.traces[name].steps]


def test_the_trace_of_a_breakdown_ends_with_what_broke(tmp_path: Path) -> None:
    outcome = crashing()
    write_report(tmp_path, Report(data_of(outcome), traces=outcome.traces, seconds=outcome.seconds))
    for path in (tmp_path / "traces").iterdir():
        *_, last_step, end = rows(path)
        assert "reply" not in last_step
        assert end["breakdown"] == "crash"
    assert {b.where for b in outcome.breakdowns} <= {path.stem for path in (tmp_path / "traces").iterdir()}


def test_a_conformant_run_writes_no_traces(tmp_path: Path, outcome: Certification) -> None:
    write_report(tmp_path, Report(data_of(outcome), traces=outcome.traces, seconds=outcome.seconds))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.json", "report.jsonl"]


def test_a_report_replaces_the_one_before_and_leaves_nothing_unfinished(tmp_path: Path, outcome: Certification) -> None:
    write_report(tmp_path, Report(data_of(mutant()), traces=mutant().traces, seconds=mutant().seconds))
    write_report(tmp_path, Report(data_of(outcome), traces=outcome.traces, seconds=outcome.seconds))
    assert list(tmp_path.rglob("*.tmp")) == []
    assert json.loads((tmp_path / "report.json").read_text("utf-8"))["summary"]["fail"] == 0


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
            reply.hello.revisions[:] = ["r" * 1_000_000] * 100

    data = data_of(certified(lambda: altered(presents_itself), select=["SDS-MSG-13"]))
    VALIDATOR.validate(data)
    implementation = data["implementation"]
    assert implementation["name"] == "n" * 200 + "…"
    assert implementation["version"].isprintable()
    assert len(json.dumps(implementation)) < 10_000


def test_what_is_found_of_the_longest_ids_stays_readable() -> None:
    def invents(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("state"):
            reply.state.log.entries.add(message_id="\x9b" * 30_000, lamport_timestamp=T)

    data = data_of(certified(lambda: altered(invents), select=["SDS-STATE-10"], scenarios=["named-*"]))
    VALIDATOR.validate(data)
    (row,) = data["requirements"]
    assert row["verdict"] == "fail"
    assert all(len(finding["seen"]) < 5_000 for finding in row["findings"])
    assert all(finding["seen"].isprintable() for finding in row["findings"])


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
        "not played: the implementation could not be driven"
    }
