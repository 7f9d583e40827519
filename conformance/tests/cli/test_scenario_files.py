"""Scenario files: `run`, `replay`, `fuzz` and `interop` play them and compare what they expect with what was seen."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from run_helpers import reference_command
from sds_conformance.scenario_files.reader import name_of
from suite_terminal import typed, words

WAITS = """\
description: A message that depends on a waiting message must wait, too.
members: [alice]
requirements: [SDS-RECV-06]
operations:
- {op: say, peer: bob, label: second, after: [first]}
- {op: say, peer: bob, label: third, after: [second]}
- {op: look, who: alice}
expect:
- {who: alice, does_not_deliver: [second, third]}
"""
EXPECTS = """\
members: [alice, bob]
operations:
- {op: send, who: alice, label: own, route: {lost: [bob]}}
- {op: say, peer: xavier, label: one, to: alice}
- {op: say, peer: xavier, label: two, to: alice, after: [one]}
- {op: say, peer: xavier, label: acks, to: alice, after: [own]}
- {op: say, peer: xavier, label: late, to: bob, after: [never]}
- {op: say, peer: xavier, label: bad, to: bob, poses_as: bob, empty: [sender]}
expect:
"""
UNMET = f"{EXPECTS}- {{who: bob, delivers: [late]}}\n- {{who: alice, delivers: [one, two]}}\n"
"""Expectations of which no conforming implementation meets the first one."""
CLEARSKIES = """\
revision: clearskies-database
members: [alice, bob]
operations:
- {op: put, who: alice, label: first, key: a}
- {op: put, who: alice, label: other, key: b}
- {op: link, who: alice, to: bob}
- {op: calm, rounds: 3, period_ms: 1000}
expect:
- {who: bob, delivers: [first]}
- {who: bob, delivers: [other]}
"""
REFERENCE = ("--", *reference_command())
MUTANT = ("--", *reference_command("--mutant", "buffered-is-met"))
SILENT = ("--", *reference_command("--without", "delivered"))
UNCHECKED = "its expectations were not checked: needs the capability delivered"


def written(folder: Path, text: str, name: str = "waits.yaml") -> str:
    (folder / name).write_text(text, "utf-8")
    return str(folder / name)


def in_json(*arguments: str | Path) -> tuple[int, dict[str, Any]]:
    """Exit code and output of a command line with `--json`."""
    result = typed(arguments[0], "--json", *arguments[1:])
    assert result.exit_code in (0, 1, 4), result.output
    return result.exit_code, json.loads(result.stdout)


def run(*arguments: str | Path) -> tuple[int, dict[str, Any]]:
    return in_json("run", *arguments)


def failed(data: dict[str, Any]) -> list[str]:
    return [row["id"] for row in data["requirements"] if row["verdict"] == "fail"]


def met(rows: list[dict[str, Any]]) -> list[str]:
    return [row["verdict"] for row in rows]


def pairs(**commands: tuple[str, ...]) -> list[str]:
    """Implementations, as `interop` takes them."""
    return [f"{name}={shlex.join(command[1:])}" for name, command in commands.items()]


# ---- run -------------------------------------------------------------------------------------------------------------


def test_a_file_finds_a_fault_and_the_reference_passes_it(tmp_path: Path) -> None:
    file = written(tmp_path, WAITS)
    code, data = run("--scenario-file", file, *REFERENCE)
    assert (code, failed(data), data["whole"]) == (0, [], False)
    assert (data["summary"]["runs"], data["summary"]["environments"]) == (1, ["plain"])
    (row,) = data["scenario_files"]
    assert (row["scenario"], row["file"], met(row["expectations"])) == ("waits.yaml", file, ["met"])
    code, data = run("--scenario-file", file, *MUTANT)
    assert (code, failed(data)) == (1, ["SDS-RECV-06"])
    assert data["scenario_files"][0]["expectations"] == [
        {
            "line": 9,
            "text": "alice does not deliver second, third",
            "verdict": "unmet",
            "run": "waits.yaml",
            "seen": "delivered third at step 3",
        }
    ]
    (finding,) = next(r for r in data["requirements"] if r["id"] == "SDS-RECV-06")["findings"]
    assert f"--select SDS-RECV-06 --scenario-file {file}" in finding["again"]
    assert typed(*shlex.split(finding["again"])[1:]).exit_code == 1


@pytest.mark.parametrize(
    ("expected", "seen"),
    [
        ("who: alice, delivers: [one, two, acks]", ""),
        ("who: alice, delivers: [two, one]", "delivered: one, two"),
        ("who: bob, delivers: [late]", "delivered: none of them"),
        ("who: bob, does_not_deliver: [late]", ""),
        ("who: alice, does_not_deliver: [late, one]", "delivered one at step "),
        ("who: alice, acknowledged: [own]", ""),
        ("who: alice, not_acknowledged: [own]", "acknowledged own at step "),
        ("who: bob, acknowledged: [own]", "acknowledged: none of them"),
        ("who: bob, misses: [late]", "reported as missing: none of them"),
        ("who: alice, gives_up: [one]", "reported as lost: none of them"),
        ("who: alice, refuses: [one, own]", "accepted one, own"),
        ("who: bob, refuses: [one]", "one never arrived"),
    ],
)
def test_an_expectation_is_compared_with_what_was_seen(tmp_path: Path, expected: str, seen: str) -> None:
    code, data = run("--scenario-file", written(tmp_path, f"{EXPECTS}- {{{expected}}}\n"), *REFERENCE)
    (row,) = data["scenario_files"][0]["expectations"]
    assert (row["line"], row["verdict"], code) == (10, *(("unmet", 1) if seen else ("met", 0)))
    assert row["seen"].startswith(seen)
    assert failed(data) == []


@pytest.mark.parametrize("command", ["run", "fuzz", "replay"])
def test_what_cannot_be_signalled_is_not_expected(tmp_path: Path, command: str) -> None:
    file = written(tmp_path, WAITS)
    given = [file] if command == "replay" else ["--scenario-file", file]
    given += ["--schedules", "0"] if command == "fuzz" else []
    result = typed(command, *given, *SILENT)
    assert result.exit_code == 0
    assert UNCHECKED in words(result.output)


FIRST = "- {{op: say, peer: zoe, label: first, lamport: {}}}\n- {{op: send, who: alice, label: more, {}}}\n"
REFUSED = "the implementation refused it, as the file allows"


@pytest.mark.parametrize(
    ("bob", "operations", "why"),
    [
        ("bob", FIRST.format(1, "when: log_entries < 5"), "more was not sent: its condition does not hold"),
        ("bob", FIRST.format(1, "may_be_refused: true"), ""),
        ("bob", FIRST.format((1 << 64) - 1, "may_be_refused: true"), f"more was not sent: {REFUSED}"),
        (
            "{name: bob, may_be_refused: true, configuration: {sds_r: true, num_response_groups: 0}}",
            "- {op: send, who: alice, label: more}\n",
            f"bob was not opened: {REFUSED}",
        ),
    ],
)
def test_what_was_rightly_not_done_is_not_expected(tmp_path: Path, bob: str, operations: str, why: str) -> None:
    text = f"members:\n- alice\n- {bob}\noperations:\n{operations}expect:\n- {{who: bob, delivers: [more]}}\n"
    code, data = run("--scenario-file", written(tmp_path, text), *REFERENCE)
    (found,) = data["scenario_files"][0]["expectations"]
    assert (code, found["verdict"], found["seen"]) == (0, "unchecked" if why else "met", why)


def test_a_file_that_does_not_exercise_what_it_is_for_says_so(tmp_path: Path) -> None:
    file = written(tmp_path, WAITS.replace("[SDS-RECV-06]", "[SDS-RECV-06, SDS-SYNC-01, FORUM-25]"))
    code, data = run("--scenario-file", file, *REFERENCE)
    rows = {row["id"]: row["why"] for row in data["scenario_files"][0]["requirements"]}
    assert code == 0
    assert rows == {"SDS-RECV-06": "", "SDS-SYNC-01": "not exercised", "FORUM-25": "it is not stated in sds-2026-01"}
    output = words(typed("run", "--scenario-file", file, *REFERENCE).output)
    assert "is for SDS-SYNC-01 but does not exercise it: not exercised" in output


def test_a_clearskies_file_is_played_by_the_revision_that_it_names(tmp_path: Path) -> None:
    file = written(tmp_path, CLEARSKIES)
    code, data = run("--scenario-file", file)
    assert (code, data["revision"]) == (0, "clearskies-database")
    assert met(data["scenario_files"][0]["expectations"]) == ["met", "met"]
    wrong = typed("run", "--scenario-file", file, "--revision", "sds-2026-01")
    assert wrong.exit_code == 2
    assert "was made for clearskies-database, not for sds-2026-01" in wrong.output


def test_a_report_is_kept_shown_and_compared_in_every_form(tmp_path: Path) -> None:
    file, folder, known = written(tmp_path, WAITS), tmp_path / "r", tmp_path / "known.yaml"
    wanted = [word for kind in ("html", "junit", "sarif", "markdown") for word in (f"--{kind}", str(tmp_path / kind))]
    result = typed("run", "--scenario-file", file, "--report", folder, *wanted, *MUTANT)
    assert result.exit_code == 1, result.output
    assert (folder / "traces" / "waits.yaml.jsonl").is_file()
    assert "Seen      delivered third at step 3" in typed("report", folder, "--stories", "all").output
    assert "delivered third at step 3" in (tmp_path / "html").read_text("utf-8")
    assert "**Expectation not met**" in (tmp_path / "markdown").read_text("utf-8")
    cases = ElementTree.parse(tmp_path / "junit").findall(".//testsuite[@name='scenario files']/testcase")
    assert [len(case.findall("failure")) for case in cases] == [1, 0]
    results = json.loads((tmp_path / "sarif").read_text("utf-8"))["runs"][0]["results"]
    (place,) = [each["locations"][0]["physicalLocation"] for each in results if each["ruleId"] == "scenario files"]
    assert place["region"] == {"startLine": 9}
    assert typed("compare", folder, folder).exit_code == 0
    assert typed("run", "--scenario-file", file, "--since", folder, *MUTANT).exit_code == 1
    assert typed("baseline", "write", known, folder).exit_code == 0
    judged = ("run", "--scenario-file", file, "--baseline", str(known), *MUTANT)
    assert typed(*judged).exit_code == 1, "a baseline lists no expectations"
    Path(file).write_text(WAITS.partition("expect")[0])
    assert typed(*judged).exit_code == 0


# ---- What is no scenario ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("after: [first]", "atfer: [first]", ", line 5: operations[0].atfer: this field does not exist. Did"),
        ("op: look", "op: lok", ", line 7: operations[2].op: there is no operation 'lok'. Did you mean look?"),
        ("who: alice}", "who: alice, when: max_lamprt > 5}", ", line 7: operations[2] (look): when: there is no "),
        ("RECV-06", "RECV-6", ", line 3: requirements[0]: there is no 'SDS-RECV-6'. Did you mean SDS-RECV-06?"),
        ("who: alice, does", "who: alcie, does", ", line 9: expect[0].who: there is no participant 'alcie'."),
        ("description", "revision: sds-2026\ndescription", ", line 1: revision: there is no 'sds-2026'."),
        ("description", "version: 7\ndescription", ", line 1: version: this is version 7 of the format, and "),
        (WAITS, "a: [", ", line 1: the text is not the YAML of a schedule: "),
        (WAITS, "", ": the file: None is not of type 'object'"),
    ],
)
def test_an_error_has_the_file_the_line_and_the_field(tmp_path: Path, old: str, new: str, said: str) -> None:
    file = written(tmp_path, WAITS.replace(old, new, 1))
    for command in (["run", "--scenario-file"], ["scenarios", "validate"], ["fuzz", "--scenario-file"], ["replay"]):
        result = typed(*command, file)
        assert result.exit_code == 2
        assert f"{file}{said}".replace(" ", "") in words(result.output).replace(" ", "")  # a long path is broken


def test_files_of_one_name_of_two_revisions_or_of_nothing_are_refused(tmp_path: Path) -> None:
    for name in ("a", "b", "empty"):
        (tmp_path / name).mkdir()
    one, two = (written(tmp_path / name, WAITS) for name in ("a", "b"))
    other = written(tmp_path, CLEARSKIES, "c.yaml")
    named = written(tmp_path, f"revision: sds-2026-01\n{WAITS}", "d.yaml")
    for files, said in (
        ([one, two], "would both be the scenario waits.yaml"),
        ([other, named], "play them in two runs"),
        ([tmp_path / "empty"], "has no scenario file"),
        ([tmp_path / "none.yaml"], "cannot be read: No such file"),
    ):
        result = typed("run", *(word for file in files for word in ("--scenario-file", file)))
        assert (result.exit_code, said in words(result.output)) == (2, True)


def test_the_name_of_a_scenario_is_safe() -> None:
    assert name_of(Path("x/Waits 字@plain.yaml")) == "Waits-plain.yaml"
    assert len(name_of(Path("a" * 300 + ".json"))) == 100


def test_all_errors_of_all_files_are_listed(tmp_path: Path) -> None:
    written(tmp_path, WAITS.replace("label:", "lable:"), "a.yaml")
    written(tmp_path, WAITS, "b.yaml")
    result = typed("scenarios", "validate", tmp_path)
    assert result.exit_code == 2
    places = [line.split(str(tmp_path))[1][:15] for line in result.output.splitlines()]
    assert places == [*["/a.yaml, line 5"] * 2, *["/a.yaml, line 6"] * 2, "/b.yaml: ok"]


# ---- Other commands --------------------------------------------------------------------------------------------------


def test_what_fuzz_exhaust_and_replay_save_is_a_scenario_file(tmp_path: Path) -> None:
    saved, again = tmp_path / "saved", tmp_path / "again"
    mutant = ("--", *reference_command("--mutant", "drops-the-unmet"))
    exhaust = ("exhaust", "--events", "4", "--alphabet", "send,arrive", "--jobs", "1", "--out", saved)
    assert typed(*exhaust, *mutant).exit_code == 1
    assert typed("replay", "--out", again, saved / "SDS-STATE-09.json", *mutant).exit_code == 1
    fuzz = ("--scenario-file", written(tmp_path, WAITS), "--schedules", "0", "--out", tmp_path / "fuzz", "--jobs", "1")
    code, data = in_json("fuzz", *fuzz, *MUTANT)
    assert (code, data["schedules"]) == (1, 1)
    assert typed("scenarios", "validate", tmp_path / "fuzz" / "SDS-RECV-06.json").exit_code == 0
    for folder, command in ((saved, mutant), (again, mutant), (tmp_path / "fuzz", MUTANT)):
        assert run("--scenario-file", folder, *command)[0] == 1


def test_fuzz_plays_files_first_and_checks_their_expectations_as_they_are_written(tmp_path: Path) -> None:
    file, saved = written(tmp_path, WAITS), tmp_path / "saved"
    given = ["--schedules", "1", "--scenario-file", file, "--out", str(saved)]
    _, data = in_json("fuzz", *given, "--jobs", "2", *REFERENCE)
    assert data["schedules"] == 2
    assert met(data["scenario_files"][0]["expectations"]) == ["met"]
    result = typed("fuzz", *given, "--cast", "among", *MUTANT)
    assert result.exit_code == 1
    output = words(result.output)
    for said in (
        "FAIL expectation",
        "Seen delivered third at step 3",
        "1 failed, 1 expectation not met (",
        "the shrunk schedule lacks the expectations of the file, which are about all steps",
        f"Again sds-conformance replay {file} --cast among -- ",
    ):
        assert said in output
    small = json.loads((saved / "SDS-RECV-06.json").read_text("utf-8"))
    assert ("expect" in small, len(small["operations"])) == (False, 2)


def test_fuzz_fails_for_an_expectation_alone_and_a_baseline_does_not_excuse_it(tmp_path: Path) -> None:
    file, known = written(tmp_path, UNMET), tmp_path / "known.yaml"
    given = ["--schedules", "0", "--scenario-file", file, "--out", str(tmp_path / "s")]
    known.write_text("schema: sds-conformance/baseline/2\nrevision: sds-2026-01\nknown: []\n", "utf-8")
    for more in ([], ["--baseline", str(known)]):
        result = typed("fuzz", *given, *more, *REFERENCE)
        assert result.exit_code == 1
        assert "1 expectation not met (1 schedule" in words(result.output)
    assert f"sds-conformance replay {file} -- " in words(typed("fuzz", *given, *REFERENCE).output)


def test_interop_lets_each_implementation_play_each_participant(tmp_path: Path) -> None:
    given = ("--schedules", "0", "--scenario-file", written(tmp_path, WAITS), "--out", tmp_path / "s")
    _, data = in_json("interop", *pairs(good=REFERENCE, bad=MUTANT), *given)
    mixed = data["mixed_groups"]
    found = {row["name"]: [each["id"] for each in row["findings"]] for row in mixed["implementations"]}
    assert (mixed["schedules"], found) == (2, {"good": [], "bad": ["SDS-RECV-06"]})
    (row,) = mixed["scenario_files"]
    (expectation,) = row["expectations"]
    assert (expectation["verdict"], expectation["run"]) == ("unmet", "alice: bad")
    assert expectation["seen"] == "delivered third at step 3 (alice: bad; in 1 of 2 casts)"
    assert typed(*shlex.split(row["again"])[1:], "--quiet", "--out", tmp_path).exit_code == 1


def test_replay_checks_expectations(tmp_path: Path) -> None:
    file = written(tmp_path, WAITS)
    passing = typed("replay", file, *REFERENCE)
    assert (passing.exit_code, "and 1 expectation met." in words(passing.output)) == (0, True)
    failing = typed("replay", file, *MUTANT)
    assert failing.exit_code == 1
    assert "line 9 Summary A message that depends on a waiting message must wait, too." in words(failing.output)
    assert "Expected alice does not deliver second, third" in words(failing.output)


def test_scenarios_are_listed_shown_and_drawn(tmp_path: Path) -> None:
    rows = json.loads(typed("scenarios", "list", "tie*", "--json").stdout)
    assert "ties" in [row["name"] for row in rows]
    assert all({"name", "summary", "requirements"} == {*row} for row in rows)
    file, picture = written(tmp_path, WAITS), tmp_path / "p.svg"
    shown = typed("scenarios", "show", file, "--svg", picture)
    again = written(tmp_path, shown.stdout, "again.yaml")
    assert picture.read_text("utf-8").startswith("<svg")
    assert run("--scenario-file", again, *MUTANT)[0] == 1
    json_file = written(tmp_path, typed("scenarios", "show", file, "--json").stdout, "in.json")
    assert typed("scenarios", "validate", json_file, again).output.count(": ok") == 2
    assert typed("scenarios", "show", written(tmp_path, CLEARSKIES, "c.yaml"), "--svg", picture).exit_code == 0


def test_a_scenario_of_the_suite_is_saved_as_a_file_and_played_from_it(tmp_path: Path) -> None:
    shown = typed("scenarios", "show", "a-dependent-of-the-buffered")
    assert "requirements: [SDS-RECV-06, SDS-RECV-09]\n" in shown.stdout
    file = written(tmp_path, shown.stdout, "mine.yaml")
    assert run("--scenario-file", file, *REFERENCE)[0] == 0
    assert run("--scenario-file", file, *MUTANT)[0] == 1
