"""``baseline`` and ``--baseline``: a CI goes red for what is new and for a list that is wrong, and says which it is."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from run_helpers import reference_command
from sds_conformance.cli.options import program
from sds_conformance.reports.document import load_schema
from suite_terminal import typed, words

pytestmark = pytest.mark.exhaustive
MUTANT, ANOTHER = "delivers-children-first", "ties-by-arrival"
SHORT = ("--environment", "plain", "--scenario", "a-d*", "--scenario", "ties")


REFERENCE = ["--", *reference_command()]


def driven(name: str) -> list[str]:
    return ["--", *reference_command("--mutant", name)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a report of the mutant, and the baseline that was written of it."""
    folder = tmp_path_factory.mktemp("baseline")
    assert typed("run", *SHORT, "--report", folder / "out", *driven(MUTANT)).exit_code == 1
    written = typed("baseline", "write", folder / "known.yaml", folder / "out", "--reason", "ours")
    assert written.exit_code == 0, written.output
    return folder


def test_known_failures_do_not_fail_a_run_and_are_reported(folder: Path) -> None:
    report = folder / "again"
    ended = typed("run", *SHORT, "--baseline", folder / "known.yaml", "--report", report, *driven(MUTANT))
    assert ended.exit_code == 0, ended.output
    assert "All failures are known" in ended.output
    assert "does not conform" in ended.output
    data = json.loads((report / "report.json").read_text("utf-8"))
    failed = {row["id"] for row in data["requirements"] if row["verdict"] == "fail"}
    assert failed
    assert {row["requirement"] for row in data["baseline"]["known"]} == failed
    assert data["summary"]["exit_code"] == 1


def test_a_new_failure_fails_it_and_is_named_first(folder: Path) -> None:
    ended = typed("run", *SHORT, "--baseline", folder / "known.yaml", *driven(ANOTHER))
    assert ended.exit_code == 1
    said = words(ended.stdout)
    head, _, rest = said.partition(" New in sds_reference mutant ties-by-arrival: ")
    assert "Section" not in head
    assert "SDS-CONFLICT-01" in rest.partition("Section")[0]


def test_a_failure_under_a_known_root_cause_is_not_called_new(tmp_path: Path) -> None:
    report, file = tmp_path / "my out", tmp_path / "known.yaml"
    typed("run", *SHORT, "--report", report, *driven(ANOTHER))
    typed("baseline", "write", file, report, "--reason", "ours")
    text = file.read_text("utf-8")
    file.write_text(text[: text.index("  - requirement: SDS-CONFLICT-01")], "utf-8")
    checked = typed("baseline", "check", file, report)
    assert checked.exit_code == 1
    said = words(checked.stdout)
    assert "New in" not in said
    assert re.match(r"SDS-CONFLICT-01/[a-z-]+ is new under the known root cause SDS-DELIVER-05; ", said)
    assert f"{file} does not list it.".replace(" ", "") in said.replace(" ", "")  # a long path is broken
    advised = shlex.split(said.partition(" Add ")[2])
    assert advised == [program(), "baseline", "update", str(file), str(report)]
    data = json.loads(typed("run", *SHORT, "--baseline", file, "--json", *driven(ANOTHER)).stdout)
    assert {row["requirement"]: row["under"] for row in data["baseline"]["new"]}["SDS-CONFLICT-01"] == "SDS-DELIVER-05"
    assert list(Draft202012Validator(load_schema()).iter_errors(data)) == []
    assert typed(*advised[1:], "--reason", "ours").exit_code == 0
    assert typed("baseline", "check", file, report).exit_code == 0


def marked_flaky(file: Path) -> Path:
    """A copy of a baseline whose entries are all marked flaky."""
    copy = file.with_name("flaky.yaml")
    copy.write_text(file.read_text("utf-8").replace("    reason:", "    flaky: true\n    reason:"), "utf-8")
    return copy


def test_flaky_entries_may_fail_and_pass_and_are_listed_with_the_outcome(folder: Path) -> None:
    file = marked_flaky(folder / "known.yaml")
    for command, outcome in ((driven(MUTANT), "failed"), (REFERENCE, "passed")):
        report = folder / outcome
        ended = typed("run", *SHORT, "--baseline", file, "--report", report, *command)
        assert ended.exit_code == 0, ended.output
        assert f"flaky, {outcome} this time: ours" in words(ended.stdout)
        data = json.loads((report / "report.json").read_text("utf-8"))
        assert list(Draft202012Validator(load_schema()).iter_errors(data)) == []
        assert {row["outcome"] for row in data["baseline"]["flaky"]} == {outcome}
        assert {row["flaky"] for row in data["baseline"]["known"]} == ({True} if outcome == "failed" else set())
        before = file.read_text("utf-8")
        assert typed("baseline", "update", file, report).exit_code == 0
        assert file.read_text("utf-8") == before
        checked = typed("baseline", "check", file, report)
        assert checked.exit_code == 0
        assert f"flaky, {outcome} this time" in words(checked.stdout)
    assert typed("run", *SHORT, "--baseline", file, *driven(ANOTHER)).exit_code == 1


@pytest.mark.parametrize(
    ("command", "mutant"),
    [("fuzz --schedules 4 --jobs 1 --out kept", MUTANT), ("vectors run --group log-order", ANOTHER)],
)
def test_fuzz_and_vectors_take_flaky_entries(
    command: str, mutant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("out.json").write_text(typed(*command.split(), "--json", *driven(mutant)).stdout, "utf-8")
    typed("baseline", "write", "known.yaml", "out.json", "--reason", "a race")
    assert typed(*command.split(), "--baseline", "known.yaml", *REFERENCE).exit_code == 1  # stale
    judged = (*command.split(), "--baseline", str(marked_flaky(Path("known.yaml"))))
    for driven_by, outcome in ((driven(mutant), "failed"), (REFERENCE, "passed")):
        ended = typed(*judged, *driven_by)
        assert ended.exit_code == 0, ended.output
        assert f"flaky, {outcome} this time: a race" in words(ended.stdout)


def test_a_stale_list_fails_a_run_and_the_first_line_says_whose_fault_it_is(folder: Path) -> None:
    ended = typed("run", *SHORT, "--baseline", folder / "known.yaml", *REFERENCE)
    assert ended.exit_code == 1
    said = words(ended.stdout)
    assert "Section" not in said.partition(" The baseline ")[0]
    said = said[said.index("The baseline ") :]
    assert "is out of date (sds_reference" in said
    assert "known.yaml:" in said
    assert "passes: remove line" in said
    assert "conforms to what was tested" in said


def test_what_cannot_be_used_is_refused_before_anything_is_played(folder: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("known: [\n", "utf-8")
    known = folder / "known.yaml"
    for arguments, said in (
        (("run", "--baseline", bad), "bad.yaml"),
        (("run", "--baseline", tmp_path / "none.yaml"), "baseline write"),
        (("run", "--revision", "forum-2024", "--baseline", known), "sds-2026-01"),
        (("baseline", "write", known, folder / "out"), "baseline update"),
        (("baseline", "check", known, tmp_path), "run --report DIR"),
        (("baseline", "check", known, bad), "not JSON"),
        (("baseline", "write", tmp_path / "new", folder / "out", folder / "out"), "two reports"),
    ):
        ended = typed(*arguments)
        assert ended.exit_code == 2, ended.output
        assert said in words(ended.output)
    assert not (tmp_path / "new").exists()


def test_fail_fast_ends_at_the_first_failure_that_is_not_known(folder: Path) -> None:
    def runs(*options: str) -> int:
        report = folder / "fast"
        assert typed("run", *SHORT, "--report", report, *options, *driven(MUTANT)).exit_code in (0, 1)
        data = json.loads((report / "report.json").read_text("utf-8"))
        assert data["summary"]["complete"] == ("--fail-fast" not in options or "--baseline" in options)
        return int(data["summary"]["runs"])

    everything = runs()
    assert 0 < runs("--fail-fast") < everything
    assert runs("--fail-fast", "--baseline", str(folder / "known.yaml")) == everything


def test_since_plays_first_what_failed_last_time(folder: Path) -> None:
    failing = json.loads((folder / "out" / "report.json").read_text("utf-8"))["causes"][0]["scenarios"]
    ended = typed("run", *SHORT, "--fail-fast", "--since", folder / "out", "--json", *driven(MUTANT))
    data = json.loads(ended.stdout)
    assert data["summary"]["runs"] == 1
    assert data["causes"][0]["scenarios"][0] in failing
    reference = typed("run", *SHORT, "--since", folder / "out", *REFERENCE)
    assert "Fixed" in reference.stdout
    assert typed("run", "--since", str(folder / "nothing")).exit_code == 2
