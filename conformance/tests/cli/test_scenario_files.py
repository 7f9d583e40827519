"""Scenario files: `run`, `replay`, `fuzz` and `interop` play them, and say what they expect and what was seen."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from run_helpers import odd_adapter, reference_command
from sds_conformance.cli import main
from sds_conformance.scenario_files.reader import name_of

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
MUTANT = reference_command("--mutant", "buffered-is-met")
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


def written(folder: Path, text: str, name: str = "waits.yaml") -> str:
    (folder / name).write_text(text, "utf-8")
    return str(folder / name)


def typed(*arguments: str, command: list[str] | None = None) -> Result:
    return CliRunner().invoke(main, [*arguments, *(["--", *command] if command else [])])


def run(*arguments: str, command: list[str] | None = None) -> tuple[int, dict[str, Any]]:
    result = typed("run", "--json", *arguments, command=command or reference_command())
    assert result.exit_code in (0, 1, 4), result.output
    return result.exit_code, json.loads(result.stdout)


def verdicts(data: dict[str, Any], verdict: str) -> list[str]:
    return [row["id"] for row in data["requirements"] if row["verdict"] == verdict]


# ---- run -------------------------------------------------------------------------------------------------------------


def test_a_file_finds_a_fault_and_the_reference_passes_it(tmp_path: Path) -> None:
    file = written(tmp_path, WAITS)
    code, data = run("--scenario-file", file)
    assert (code, verdicts(data, "fail")) == (0, [])
    assert data["summary"]["scenarios"] == data["summary"]["runs"] == 1
    assert data["summary"]["environments"] == ["plain"]
    assert not data["whole"]
    (row,) = data["scenario_files"]
    assert row["scenario"] == "waits.yaml"
    assert row["file"] == file
    assert [each["verdict"] for each in row["expectations"]] == ["met"]
    assert row["requirements"][0]["exercised"] > 0
    code, data = run("--scenario-file", file, command=MUTANT)
    assert (code, verdicts(data, "fail")) == (1, ["SDS-RECV-06"])
    (row,) = data["scenario_files"]
    assert row["expectations"] == [
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
    _, *again = shlex.split(finding["again"])
    assert typed(*again).exit_code == 1


@pytest.mark.parametrize(
    ("expected", "seen"),
    [
        ("who: alice, delivers: [one, two, acks]", ""),
        ("who: alice, delivers: [two]", ""),
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
    file = written(tmp_path, f"{EXPECTS}- {{{expected}}}\n")
    code, data = run("--scenario-file", file)
    (row,) = data["scenario_files"][0]["expectations"]
    assert row["line"] == 10
    assert row["seen"].startswith(seen)
    assert (row["verdict"], code) == (("unmet", 1) if seen else ("met", 0))
    assert verdicts(data, "fail") == []


def test_a_refused_message_is_seen(tmp_path: Path) -> None:
    text = WAITS.replace("does_not_deliver: [second, third]", "refuses: [second, third]")
    code, data = run(
        "--scenario-file", written(tmp_path, text), command=reference_command("--mutant", "refuses-the-unmet")
    )
    assert data["scenario_files"][0]["expectations"][0]["verdict"] == "met"
    assert (code, verdicts(data, "fail")[:1]) == (1, ["SDS-RECV-08"])


def test_what_cannot_be_signalled_is_not_expected(tmp_path: Path) -> None:
    file, silent = written(tmp_path, WAITS), reference_command("--without", "delivered")
    code, data = run("--scenario-file", file, command=silent)
    (row,) = data["scenario_files"][0]["expectations"]
    assert (row["verdict"], row["seen"]) == ("unchecked", "needs the capability delivered")
    assert code in (0, 4)
    output = " ".join(typed("run", "--scenario-file", file, command=silent).output.split())
    assert "its expectations were not checked: needs the capability delivered" in output


@pytest.mark.parametrize(
    ("lamport", "more", "why"),
    [
        ("1", "when: log_entries < 5", "more was not sent: its condition does not hold"),
        ("1", "when: log_entries > 5", ""),
        ("1", "may_be_refused: true", ""),
        (
            "18446744073709551615",
            "may_be_refused: true",
            "more was not sent: the implementation refused it, as the file allows",
        ),
    ],
)
def test_a_message_that_was_rightly_not_sent_is_not_expected(tmp_path: Path, lamport: str, more: str, why: str) -> None:
    text = f"""\
members: [alice, bob]
operations:
- {{op: say, peer: zoe, label: first, lamport: {lamport}}}
- {{op: send, who: alice, label: more, {more}}}
expect:
- {{who: bob, delivers: [more]}}
"""
    code, data = run("--scenario-file", written(tmp_path, text))
    (found,) = data["scenario_files"][0]["expectations"]
    assert (code, found["verdict"], found["seen"]) == (0, "unchecked" if why else "met", why)


def test_nothing_is_expected_of_a_participant_that_was_rightly_not_opened(tmp_path: Path) -> None:
    text = """\
members:
- alice
- {name: bob, may_be_refused: true, configuration: {sds_r: true, num_response_groups: 0}}
operations:
- {op: send, who: alice, label: more}
expect:
- {who: bob, delivers: [more]}
"""
    code, data = run("--scenario-file", written(tmp_path, text))
    (found,) = data["scenario_files"][0]["expectations"]
    assert (code, found["verdict"]) == (0, "unchecked")
    assert found["seen"] == "bob was not opened: the implementation refused it, as the file allows"


def test_a_file_that_does_not_exercise_what_it_is_for_says_so(tmp_path: Path) -> None:
    file = written(tmp_path, WAITS.replace("[SDS-RECV-06]", "[SDS-RECV-06, SDS-SYNC-01, FORUM-25]"))
    code, data = run("--scenario-file", file)
    rows = {row["id"]: row["why"] for row in data["scenario_files"][0]["requirements"]}
    assert code == 0
    assert rows == {"SDS-RECV-06": "", "SDS-SYNC-01": "not exercised", "FORUM-25": "it is not stated in sds-2026-01"}
    output = " ".join(typed("run", "--scenario-file", file, command=reference_command()).output.split())
    assert "is for SDS-SYNC-01 but does not exercise it: not exercised" in output


def test_a_clearskies_file_is_played_by_the_revision_that_it_names(tmp_path: Path) -> None:
    file = written(tmp_path, CLEARSKIES)
    result = typed("run", "--json", "--scenario-file", file)
    data = json.loads(result.stdout)
    assert (result.exit_code, data["revision"]) == (0, "clearskies-database")
    assert [row["verdict"] for row in data["scenario_files"][0]["expectations"]] == ["met", "met"]
    wrong = typed("run", "--scenario-file", file, "--revision", "sds-2026-01")
    assert wrong.exit_code == 2
    assert "was made for clearskies-database, not for sds-2026-01" in wrong.output


def test_environments_and_scenarios_of_the_suite_are_played_where_they_are_selected(tmp_path: Path) -> None:
    file = written(tmp_path, WAITS)
    _, data = run("--scenario-file", file, "--environment", "*")
    assert len(data["summary"]["environments"]) == data["summary"]["runs"] > 5
    assert data["scenario_files"][0]["expectations"][0]["verdict"] == "met"
    code, data = run("--scenario-file", file, "--environment", "*", command=MUTANT)
    runs = next(row["runs"] for row in data["requirements"] if row["id"] == "SDS-RECV-06")
    assert (code, len(runs)) == (1, data["summary"]["runs"]), "it is exercised in each environment"
    everywhere = ("--environment", "*", "--json")
    result = typed("run", "--scenario-file", written(tmp_path, CLEARSKIES, "c.yaml"), *everywhere)
    data = json.loads(result.stdout)
    assert (result.exit_code, data["summary"]["runs"] > 3) == (0, True)
    assert [row["verdict"] for row in data["scenario_files"][0]["expectations"]] == ["met", "met"]
    _, data = run("--scenario-file", file, "--scenario", "ties", "--environment", "plain")
    assert data["summary"]["scenarios"] == 2
    assert typed("run", "--scenario-file", file, "--scenario", "no-such").exit_code == 2


def test_many_files_are_played_by_several_processes_with_the_same_report(tmp_path: Path) -> None:
    for number in range(70):
        written(tmp_path, WAITS, f"waits-{number:03}.yaml")
    reports = [run("--scenario-file", str(tmp_path), "--jobs", jobs, command=MUTANT) for jobs in ("1", "2")]
    assert [code for code, _ in reports] == [1, 1]
    alone, shared = (data for _, data in reports)
    assert len(shared["scenario_files"]) == shared["summary"]["runs"] == 70
    assert {row["expectations"][0]["verdict"] for row in shared["scenario_files"]} == {"unmet"}
    assert alone | {"started": ""} == shared | {"started": ""}


def test_a_report_is_kept_shown_and_compared_in_every_form(tmp_path: Path) -> None:
    file, folder = written(tmp_path, WAITS), tmp_path / "r"
    wanted = [word for kind in ("html", "junit", "sarif", "markdown") for word in (f"--{kind}", str(tmp_path / kind))]
    result = typed("run", "--scenario-file", file, "--report", str(folder), *wanted, command=MUTANT)
    assert result.exit_code == 1, result.output
    assert (folder / "traces" / "waits.yaml.jsonl").is_file()
    shown = typed("report", str(folder), "--stories", "all")
    assert "Seen      delivered third at step 3" in shown.output
    assert "delivered third at step 3" in (tmp_path / "html").read_text("utf-8")
    assert "**Expectation not met**" in (tmp_path / "markdown").read_text("utf-8")
    cases = ElementTree.parse(tmp_path / "junit").findall(".//testsuite[@name='scenario files']/testcase")
    assert [len(case.findall("failure")) for case in cases] == [1, 0]
    results = json.loads((tmp_path / "sarif").read_text("utf-8"))["runs"][0]["results"]
    (place,) = [each["locations"][0]["physicalLocation"] for each in results if each["ruleId"] == "scenario files"]
    assert place["region"] == {"startLine": 9}
    for arguments in (
        ("compare", str(folder), str(folder)),
        ("baseline", "write", str(tmp_path / "known.yaml"), str(folder)),
        ("run", "--scenario-file", file, "--since", str(folder), "--", *MUTANT),
    ):
        assert typed(*arguments).exit_code in (0, 1), arguments
    known = typed("run", "--scenario-file", file, "--baseline", str(tmp_path / "known.yaml"), command=MUTANT)
    assert known.exit_code == 1, "a baseline lists no expectations"
    (tmp_path / "waits.yaml").write_text(WAITS.partition("expect")[0])
    known = typed("run", "--scenario-file", file, "--baseline", str(tmp_path / "known.yaml"), command=MUTANT)
    assert known.exit_code == 0, known.output


def test_a_transcript_of_a_file_is_explained(tmp_path: Path) -> None:
    file, talk = written(tmp_path, WAITS), str(tmp_path / "talk.jsonl")
    typed("run", "--scenario-file", file, "--transcript", talk, command=MUTANT)
    result = typed("explain", talk, "--requirement", "SDS-RECV-06")
    assert result.exit_code == 0, result.output
    assert "waits.yaml" in result.output


def test_fail_fast_ends_at_an_expectation(tmp_path: Path) -> None:
    text = f"{EXPECTS}- {{who: alice, delivers: [late]}}\n".replace("to: bob, after: [never]", "to: bob")
    files = [written(tmp_path, text, f"{number}.yaml") for number in range(3)]
    given = [word for file in files for word in ("--scenario-file", file)]
    _, data = run(*given, "--fail-fast", "--jobs", "1")
    assert data["summary"]["runs"] == 1
    assert data["scenario_files"][2]["expectations"][0]["seen"] == "it was not played"


# ---- What is no scenario ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            WAITS.replace("after: [first]", "atfer: [first]"),
            ", line 5: operations[0].atfer: this field does not exist. Did",
        ),
        (
            WAITS.replace("op: look", "op: lok"),
            ", line 7: operations[2].op: there is no operation 'lok'. Did you mean look?",
        ),
        (
            WAITS.replace("who: alice}\n", "who: alice, when: max_lamprt > 5}\n", 1),
            ", line 7: operations[2] (look): when: there is no setting or limit 'max_lamprt'. Did you mean max_lamp",
        ),
        (
            WAITS.replace("RECV-06", "RECV-6"),
            ", line 3: requirements[0]: there is no 'SDS-RECV-6'. Did you mean SDS-RECV-06?",
        ),
        (
            WAITS.replace("who: alice, does", "who: alcie, does"),
            ", line 9: expect[0].who: there is no participant 'alcie'.",
        ),
        (f"revision: sds-2026\n{WAITS}", ", line 1: revision: there is no 'sds-2026'."),
        (f"revision: sds-2026-1\n{WAITS}", "Did you mean sds-2026-01?"),
        (
            f"version: 7\n{WAITS}",
            ", line 1: version: this is version 7 of the format, and this suite reads version 1: rec",
        ),
        ("a: [", ", line 1: it is not YAML of a schedule: "),
        ("", ": the file: None is not of type 'object'"),
    ],
)
def test_an_error_has_the_file_the_line_and_the_field(tmp_path: Path, text: str, said: str) -> None:
    file = written(tmp_path, text)
    result = typed("run", "--scenario-file", file)
    output = " ".join(result.output.split())
    assert result.exit_code == 2
    assert f"{file}{said}" in output or said in output
    assert typed("scenarios", "validate", file).exit_code == 2
    assert typed("fuzz", "--scenario-file", file).exit_code == 2


def test_files_of_one_name_of_two_texts_or_of_nothing_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "empty").mkdir()
    one, two = written(tmp_path / "a", WAITS), written(tmp_path / "b", WAITS)
    assert (
        "would both be the scenario waits.yaml" in typed("run", "--scenario-file", one, "--scenario-file", two).output
    )
    mixed = [written(tmp_path, CLEARSKIES, "c.yaml"), written(tmp_path, f"revision: sds-2026-01\n{WAITS}", "d.yaml")]
    result = typed("run", "--scenario-file", mixed[0], "--scenario-file", mixed[1])
    assert "play them in two runs" in " ".join(result.output.split())
    assert "has no scenario file" in typed("run", "--scenario-file", str(tmp_path / "empty")).output
    assert "cannot be read: No such file" in typed("run", "--scenario-file", str(tmp_path / "none.yaml")).output


def test_the_name_of_a_scenario_is_safe() -> None:
    assert name_of(Path("x/Waits 字@plain.yaml")) == "Waits-plain.yaml"
    assert len(name_of(Path("a" * 300 + ".json"))) == 100


# ---- Other commands --------------------------------------------------------------------------------------------------


def test_fuzz_plays_files_first_and_its_counterexample_is_a_scenario_file(tmp_path: Path) -> None:
    file, saved = written(tmp_path, WAITS), str(tmp_path / "saved")
    given = ["fuzz", "--scenario-file", file, "--schedules", "0", "--out", saved, "--jobs", "1"]
    result = typed(*given, "--json", command=MUTANT)
    data = json.loads(result.stdout)
    assert (result.exit_code, data["schedules"]) == (1, 1)
    counterexample = str(tmp_path / "saved" / "SDS-RECV-06.json")
    assert typed("scenarios", "validate", counterexample).exit_code == 0
    code, report = run("--scenario-file", counterexample, command=MUTANT)
    assert (code, verdicts(report, "fail")) == (1, ["SDS-RECV-06"])
    assert run("--scenario-file", saved)[0] == 0
    result = typed(*given[:4], "2", "--jobs", "2", "--json", command=reference_command())
    assert json.loads(result.stdout)["schedules"] == 3
    assert typed("fuzz", "--schedules", "0").exit_code == 2


def test_what_exhaust_and_replay_save_is_a_scenario_file(tmp_path: Path) -> None:
    saved, mutant = str(tmp_path / "saved"), reference_command("--mutant", "drops-the-unmet")
    exhaust = ("exhaust", "--events", "4", "--alphabet", "send,arrive", "--jobs", "1", "--out", saved)
    assert typed(*exhaust, command=mutant).exit_code == 1
    counterexample = str(tmp_path / "saved" / "SDS-STATE-09.json")
    assert typed("replay", "--out", str(tmp_path / "again"), counterexample, command=mutant).exit_code == 1
    for folder in (saved, str(tmp_path / "again")):
        code, report = run("--scenario-file", folder, command=mutant)
        assert code == 1
        assert "SDS-STATE-09" in verdicts(report, "fail")


def words_of(result: Result) -> str:
    return " ".join(result.output.split())


def test_fuzz_checks_the_expectations_of_files_as_they_are_written(tmp_path: Path) -> None:
    file, saved = written(tmp_path, WAITS), tmp_path / "saved"
    given = ["fuzz", "--schedules", "1", "--scenario-file", file, "--out", str(saved)]
    data = json.loads(typed(*given, "--jobs", "2", "--json", command=reference_command()).stdout)
    assert [each["verdict"] for each in data["scenario_files"][0]["expectations"]] == ["met"]
    result = typed(*given, "--cast", "among", command=MUTANT)
    assert result.exit_code == 1
    output = words_of(result)
    assert "FAIL expectation" in output
    assert "Seen delivered third at step 3" in output
    assert "1 failed, 1 expectation not met (" in output
    assert "without the expectations of its file, which are about all of its steps" in output
    assert f"Again sds-conformance replay {file} --cast among -- " in output
    small = json.loads((saved / "SDS-RECV-06.json").read_text("utf-8"))
    assert "expect" not in small
    assert len(small["operations"]) == 2


def test_fuzz_fails_for_an_expectation_alone_and_a_baseline_does_not_excuse_it(tmp_path: Path) -> None:
    file, known = written(tmp_path, UNMET), tmp_path / "known.yaml"
    given = ["fuzz", "--schedules", "0", "--scenario-file", file, "--out", str(tmp_path / "s")]
    result = typed(*given, "--json", command=reference_command())
    data = json.loads(result.stdout)
    assert (result.exit_code, data["findings"]) == (1, [])
    assert [each["verdict"] for each in data["scenario_files"][0]["expectations"]] == ["unmet", "met"]
    output = words_of(typed(*given, command=reference_command()))
    assert "does not conform: 1 expectation not met (1 schedule" in output
    assert f"Next sds-conformance replay {file} -- " in output
    assert "plays the scenario file again" in output
    known.write_text("schema: sds-conformance/baseline/2\nrevision: sds-2026-01\nknown: []\n", "utf-8")
    with_baseline = typed(*given, "--baseline", str(known), command=reference_command())
    assert with_baseline.exit_code == 1, with_baseline.output


def test_fuzz_says_which_expectations_were_not_checked(tmp_path: Path) -> None:
    file = written(tmp_path, WAITS)
    given = ("fuzz", "--schedules", "0", "--scenario-file", file, "--out", str(tmp_path / "s"))
    result = typed(*given, command=reference_command("--without", "delivered"))
    assert result.exit_code == 0
    assert "its expectations were not checked: needs the capability delivered" in words_of(result)
    broken = typed(*given, "--json", command=odd_adapter("breaks-at", "2", "crashes"))
    (row,) = json.loads(broken.stdout)["scenario_files"]
    assert row["expectations"][0]["seen"].startswith("the implementation broke down first ("), broken.output


def test_interop_lets_each_implementation_play_each_participant(tmp_path: Path) -> None:
    file = written(tmp_path, WAITS)
    pairs = [f"{name}={shlex.join(command)}" for name, command in (("good", reference_command()), ("bad", MUTANT))]
    given = ("interop", *pairs, "--schedules", "0", "--scenario-file", file, "--out", str(tmp_path / "s"), "--json")
    data = json.loads(typed(*given).stdout)
    mixed = data["mixed_groups"]
    assert mixed["schedules"] == 2
    found = {row["name"]: [each["id"] for each in row["findings"]] for row in mixed["implementations"]}
    assert found == {"good": [], "bad": ["SDS-RECV-06"]}
    (row,) = mixed["scenario_files"]
    (expectation,) = row["expectations"]
    assert (expectation["verdict"], expectation["run"]) == ("unmet", "alice: bad")
    assert expectation["seen"] == "delivered third at step 3 (alice: bad; in 1 of 2 casts)"
    _, *again = shlex.split(row["again"])
    assert typed(*again, "--quiet").exit_code == 1


@pytest.mark.parametrize(("text", "code", "printed"), [(WAITS, 0, ""), (UNMET, 1, "FAIL expectation")])
def test_interop_fails_for_an_expectation_alone(tmp_path: Path, text: str, code: int, printed: str) -> None:
    pairs = [f"{name}={shlex.join(reference_command())}" for name in ("one", "two")]
    given = ("--schedules", "0", "--scenario-file", written(tmp_path, text), "--out", str(tmp_path / "s"))
    result = typed("interop", *given, *pairs)
    assert result.exit_code == code, result.output
    output = words_of(result)
    assert printed in output
    assert ("2 schedules in mixed groups, nothing found, 1 expectation not met" in output) == bool(code)


def test_interop_replays_the_expectations_of_a_file_that_assigns_roles(tmp_path: Path) -> None:
    roles = "notes: {cast: mixed, plays alice: one, plays bob: two}\n"
    pairs = [f"{name}={shlex.join(reference_command())}" for name in ("one", "two")]
    result = typed("interop", "--replay", written(tmp_path, roles + UNMET), *pairs)
    assert result.exit_code == 1
    assert "line 11 Expected bob delivers late Seen delivered: none of them" in words_of(result)
    data = json.loads(typed("interop", "--replay", str(tmp_path / "waits.yaml"), "--json", *pairs).stdout)
    assert [each["verdict"] for each in data["expectations"]] == ["unmet", "met"]
    met = written(tmp_path, f"{roles}{EXPECTS}- {{who: alice, delivers: [one]}}\n")
    assert typed("interop", "--replay", met, *pairs).exit_code == 0


def test_replay_checks_expectations(tmp_path: Path) -> None:
    file = written(tmp_path, WAITS)
    passing = typed("replay", file, command=reference_command())
    assert passing.exit_code == 0
    assert "and 1 expectation met." in words_of(passing)
    failing = typed("replay", file, command=MUTANT)
    assert failing.exit_code == 1
    assert "line 9 Plot A message that depends on a waiting message must wait, too." in words_of(failing)
    assert "Expected alice does not deliver second, third" in words_of(failing)
    silent = typed("replay", file, command=reference_command("--without", "delivered"))
    assert silent.exit_code == 0
    assert "its expectations were not checked: needs the capability delivered" in words_of(silent)
    assert (
        "line 5: operations[0].atfer" in typed("replay", written(tmp_path, WAITS.replace("after", "atfer", 1))).output
    )


def test_replay_checks_the_expectations_of_a_counterexample(tmp_path: Path) -> None:
    shown = json.loads(typed("scenarios", "show", written(tmp_path, UNMET), "--json").stdout)
    file = written(tmp_path, json.dumps(shown | {"notes": {"shows": "SDS-RECV-06"}}, indent=1), "SDS-RECV-06.json")
    result = typed("replay", file, "--json", command=reference_command())
    data = json.loads(result.stdout)
    assert (result.exit_code, data["findings"]) == (1, [])
    assert [each["verdict"] for each in data["expectations"]] == ["unmet", "met"]
    output = words_of(typed("replay", file, command=reference_command()))
    assert "Expected bob delivers late Seen delivered: none of them" in output
    assert "Nothing was found" not in output


def test_scenarios_are_listed_shown_and_drawn(tmp_path: Path) -> None:
    rows = json.loads(typed("scenarios", "list", "tie*", "--json").stdout)
    assert "ties" in [row["name"] for row in rows]
    assert all({"name", "summary", "requirements"} == {*row} for row in rows)
    assert "Did you mean ties?" in typed("scenarios", "list", "tiess").output
    assert "Did you mean ties?" in typed("scenarios", "show", "tiess").output
    file, picture = written(tmp_path, WAITS), tmp_path / "p.svg"
    shown = typed("scenarios", "show", file, "--svg", str(picture))
    again = written(tmp_path, shown.stdout, "again.yaml")
    assert "name:" not in shown.stdout
    assert picture.read_text("utf-8").startswith("<svg")
    assert run("--scenario-file", again, command=MUTANT)[0] == 1
    in_json = written(tmp_path, typed("scenarios", "show", file, "--json").stdout, "in.json")
    assert typed("scenarios", "validate", in_json, again).output.count(": ok") == 2
    assert typed("scenarios", "show", written(tmp_path, CLEARSKIES, "c.yaml"), "--svg", str(picture)).exit_code == 0


def test_a_scenario_of_the_suite_is_saved_as_a_file_and_played_from_it(tmp_path: Path) -> None:
    shown = typed("scenarios", "show", "a-dependent-of-the-buffered")
    assert "requirements: [SDS-RECV-06, SDS-RECV-09]\n" in shown.stdout
    file = written(tmp_path, shown.stdout, "mine.yaml")
    assert run("--scenario-file", file)[0] == 0
    assert run("--scenario-file", file, command=MUTANT)[0] == 1


def test_all_errors_of_all_files_are_listed(tmp_path: Path) -> None:
    written(tmp_path, WAITS.replace("label:", "lable:"), "a.yaml")
    written(tmp_path, WAITS, "b.yaml")
    result = typed("scenarios", "validate", str(tmp_path))
    assert result.exit_code == 2
    assert [line.split(str(tmp_path))[1][:15] for line in result.output.splitlines()] == [
        *["/a.yaml, line 5", "/a.yaml, line 5", "/a.yaml, line 6", "/a.yaml, line 6"],
        "/b.yaml: ok",
    ]
