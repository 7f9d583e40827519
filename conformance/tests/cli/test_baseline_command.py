"""``baseline`` and ``--baseline``: a CI goes red for what is new and for a list that is wrong, and says which it is."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator

from sds_conformance.cli import main
from sds_conformance.cli.options import program
from sds_conformance.reports.document import load_schema

pytestmark = pytest.mark.exhaustive
MUTANT, ANOTHER = "delivers-children-first", "ties-by-arrival"
SHORT = ("--environment", "plain", "--scenario", "a-d*", "--scenario", "ties")


def driven(name: str) -> list[str]:
    return ["--", sys.executable, "-m", "sds_reference", "--mutant", name]


def typed(*words: str) -> Result:
    return CliRunner().invoke(main, words, env={"COLUMNS": "80"}, catch_exceptions=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a report of the mutant, and the baseline that was written of it."""
    folder = tmp_path_factory.mktemp("baseline")
    assert typed("run", *SHORT, "--report", str(folder / "out"), *driven(MUTANT)).exit_code == 1
    written = typed("baseline", "write", str(folder / "known.yaml"), str(folder / "out"), "--reason", "ours")
    assert written.exit_code == 0, written.output
    return folder


def test_known_failures_do_not_fail_a_run_and_are_reported(folder: Path) -> None:
    report = folder / "again"
    ended = typed("run", *SHORT, "--baseline", str(folder / "known.yaml"), "--report", str(report), *driven(MUTANT))
    assert ended.exit_code == 0, ended.output
    assert "All failures are known" in ended.output
    assert "does not conform" in ended.output
    data = json.loads((report / "report.json").read_text("utf-8"))
    failed = {row["id"] for row in data["requirements"] if row["verdict"] == "fail"}
    assert failed
    assert {row["requirement"] for row in data["baseline"]["known"]} == failed
    assert data["summary"]["exit_code"] == 1


def test_a_new_failure_fails_it_and_is_named_first(folder: Path) -> None:
    ended = typed("run", *SHORT, "--baseline", str(folder / "known.yaml"), *driven(ANOTHER))
    assert ended.exit_code == 1
    said = " ".join(ended.stdout.split())
    head, _, rest = said.partition(" New in sds_reference mutant ties-by-arrival: ")
    assert "Section" not in head
    assert "SDS-CONFLICT-01" in rest.partition("Section")[0]


def test_a_failure_under_a_known_root_cause_is_not_called_new(tmp_path: Path) -> None:
    report, file = tmp_path / "my out", tmp_path / "known.yaml"
    typed("run", *SHORT, "--report", str(report), *driven(ANOTHER))
    typed("baseline", "write", str(file), str(report), "--reason", "ours")
    text = file.read_text("utf-8")
    file.write_text(text[: text.index("  - requirement: SDS-CONFLICT-01")], "utf-8")
    checked = typed("baseline", "check", str(file), str(report))
    assert checked.exit_code == 1
    said = " ".join(checked.stdout.split())
    assert "New in" not in said
    assert re.match(r"SDS-CONFLICT-01/[a-z-]+ is new under the known root cause SDS-DELIVER-05; ", said)
    assert f"{file} does not list it.".replace(" ", "") in said.replace(" ", "")  # a long path is broken
    advised = shlex.split(said.partition(" Add ")[2])
    assert advised == [program(), "baseline", "update", str(file), str(report)]
    ended = typed("run", *SHORT, "--baseline", str(file), *driven(ANOTHER))
    assert ended.exit_code == 1
    assert "is new under the known root cause SDS-DELIVER-05" in " ".join(ended.stdout.split())
    assert "New in" not in ended.stdout
    data = json.loads(typed("run", *SHORT, "--baseline", str(file), "--json", *driven(ANOTHER)).stdout)
    assert {row["requirement"]: row["under"] for row in data["baseline"]["new"]}["SDS-CONFLICT-01"] == "SDS-DELIVER-05"
    assert list(Draft202012Validator(load_schema()).iter_errors(data)) == []
    assert typed(*advised[1:], "--reason", "ours").exit_code == 0
    assert typed("baseline", "check", str(file), str(report)).exit_code == 0


def marked_flaky(file: Path) -> Path:
    """A copy of a baseline whose entries are all marked flaky."""
    copy = file.with_name("flaky.yaml")
    copy.write_text(file.read_text("utf-8").replace("    reason:", "    flaky: true\n    reason:"), "utf-8")
    return copy


def test_flaky_entries_may_fail_and_pass_and_are_listed_with_the_outcome(folder: Path) -> None:
    file = marked_flaky(folder / "known.yaml")
    reference = ["--", sys.executable, "-m", "sds_reference"]
    for command, outcome in ((driven(MUTANT), "failed"), (reference, "passed")):
        report = folder / outcome
        ended = typed("run", *SHORT, "--baseline", str(file), "--report", str(report), *command)
        assert ended.exit_code == 0, ended.output
        assert f"flaky, {outcome} this time: ours" in " ".join(ended.stdout.split())
        data = json.loads((report / "report.json").read_text("utf-8"))
        assert list(Draft202012Validator(load_schema()).iter_errors(data)) == []
        assert {row["outcome"] for row in data["baseline"]["flaky"]} == {outcome}
        assert {row["flaky"] for row in data["baseline"]["known"]} == ({True} if outcome == "failed" else set())
        before = file.read_text("utf-8")
        assert typed("baseline", "update", str(file), str(report)).exit_code == 0
        assert file.read_text("utf-8") == before
        checked = typed("baseline", "check", str(file), str(report))
        assert checked.exit_code == 0
        assert f"flaky, {outcome} this time" in " ".join(checked.stdout.split())
    assert typed("run", *SHORT, "--baseline", str(file), *driven(ANOTHER)).exit_code == 1


def test_fuzz_and_vectors_take_flaky_entries(tmp_path: Path) -> None:
    reference = ["--", sys.executable, "-m", "sds_reference"]
    for words, mutant in (
        (("fuzz", "--schedules", "4", "--jobs", "1", "--out", str(tmp_path / "kept")), MUTANT),
        (("vectors", "run", "--group", "log-order"), ANOTHER),
    ):
        (tmp_path / "out.json").write_text(typed(*words, "--json", *driven(mutant)).stdout, "utf-8")
        known = tmp_path / f"{words[0]}.yaml"
        typed("baseline", "write", str(known), str(tmp_path / "out.json"), "--reason", "a race")
        assert typed(*words, "--baseline", str(known), *reference).exit_code == 1  # stale
        file = marked_flaky(known)
        for command, outcome in ((driven(mutant), "failed"), (reference, "passed")):
            ended = typed(*words, "--baseline", str(file), *command)
            assert ended.exit_code == 0, ended.output
            assert f"flaky, {outcome} this time: a race" in " ".join(ended.stdout.split())
        data = json.loads(typed(*words, "--baseline", str(file), "--json", *reference).stdout)
        assert {row["outcome"] for row in data["baseline"]["flaky"]} == {"passed"}
        assert (data["baseline"]["new"], data["baseline"]["complaints"]) == ([], [])


def test_update_leaves_a_wrong_code_of_a_flaky_entry_to_the_user(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "known.yaml"
    text = marked_flaky(folder / "known.yaml").read_text("utf-8")
    file.write_text(text.replace("codes: [", "codes: [nonsense, "), "utf-8")
    ended = typed("baseline", "update", str(file), str(folder / "out"))
    assert ended.exit_code == 1
    assert "keeps every entry that is marked flaky" in " ".join(ended.stdout.split())
    assert "has no code 'nonsense'" in " ".join(ended.stdout.split())
    assert file.read_text("utf-8").count("nonsense") == text.count("codes: [")


def test_a_stale_list_fails_a_run_and_the_first_line_says_whose_fault_it_is(folder: Path) -> None:
    ended = typed("run", *SHORT, "--baseline", str(folder / "known.yaml"), "--", sys.executable, "-m", "sds_reference")
    assert ended.exit_code == 1
    said = " ".join(ended.stdout.split())
    assert "Section" not in said.partition(" The baseline ")[0]
    said = said[said.index("The baseline ") :]
    assert "is out of date, not sds_reference" in said
    assert "known.yaml:" in said
    assert "passes: remove line" in said
    assert "conforms to what was tested" in said


def test_check_and_update_bring_it_up_to_date(folder: Path, tmp_path: Path) -> None:
    file, other = tmp_path / "known.yaml", tmp_path / "out"
    file.write_text((folder / "known.yaml").read_text("utf-8") + "# mine\n", "utf-8")
    typed("run", *SHORT, "--report", str(other), *driven(ANOTHER))
    assert typed("baseline", "check", str(file), str(folder / "out")).exit_code == 0
    checked = typed("baseline", "check", str(file), str(other))
    assert checked.exit_code == 1
    assert "baseline update" in checked.output
    updated = typed("baseline", "update", str(file), str(other), "--reason", "found", "--link", "https://example.org")
    assert updated.exit_code == 0, updated.output
    assert typed("baseline", "check", str(file), str(other)).exit_code == 0
    assert file.read_text("utf-8").endswith("# mine\n")
    assert "reason: found" in file.read_text("utf-8")


def test_what_cannot_be_used_is_refused_before_anything_is_played(folder: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("known: [\n", "utf-8")
    known = str(folder / "known.yaml")
    for words, said in (
        (("run", "--baseline", str(bad)), "bad.yaml"),
        (("run", "--baseline", str(tmp_path / "none.yaml")), "baseline write"),
        (("run", "--revision", "forum-2024", "--baseline", known), "sds-2026-01"),
        (("baseline", "write", known, str(folder / "out")), "baseline update"),
        (("baseline", "check", known, str(tmp_path)), "run --report DIR"),
        (("baseline", "check", known, str(bad)), "not JSON"),
        (("baseline", "write", str(tmp_path / "new"), str(folder / "out"), str(folder / "out")), "two reports"),
    ):
        ended = typed(*words)
        assert ended.exit_code == 2, ended.output
        assert said in " ".join(ended.output.split())
    assert not (tmp_path / "new").exists()


def test_fail_fast_ends_at_the_first_failure_that_is_not_known(folder: Path) -> None:
    def runs(*options: str) -> int:
        report = folder / "fast"
        assert typed("run", *SHORT, "--report", str(report), *options, *driven(MUTANT)).exit_code in (0, 1)
        data = json.loads((report / "report.json").read_text("utf-8"))
        assert data["summary"]["complete"] == ("--fail-fast" not in options or "--baseline" in options)
        return int(data["summary"]["runs"])

    everything = runs()
    assert 0 < runs("--fail-fast") < everything
    assert runs("--fail-fast", "--baseline", str(folder / "known.yaml")) == everything


def test_since_plays_first_what_failed_last_time(folder: Path) -> None:
    failing = json.loads((folder / "out" / "report.json").read_text("utf-8"))["causes"][0]["scenarios"]
    ended = typed("run", *SHORT, "--fail-fast", "--since", str(folder / "out"), "--json", *driven(MUTANT))
    data = json.loads(ended.stdout)
    assert data["summary"]["runs"] == 1
    assert data["causes"][0]["scenarios"][0] in failing
    reference = typed("run", *SHORT, "--since", str(folder / "out"), "--", sys.executable, "-m", "sds_reference")
    assert "Mended" in reference.stdout
    assert typed("run", "--since", str(folder / "nothing")).exit_code == 2
