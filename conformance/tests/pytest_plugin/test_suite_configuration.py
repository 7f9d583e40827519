"""The configuration file of the suite supplies the options that were not given to pytest."""

from __future__ import annotations

import json
import shlex

import pytest

from pytest_runs import ended, items_of, typed
from run_helpers import REPOSITORY, reference_command
from sds_conformance.cli.configuration import KEYS
from sds_conformance.pytest_plugin.session_options import OF_FILE

BUFFERED_IS_MET = shlex.join(reference_command("--mutant", "buffered-is-met"))
BLAMED = "sds::a-dependent-of-the-buffered::SDS-RECV-06"
BASELINE = """\
schema: sds-conformance/baseline/2
revision: sds-2026-01
environments: [plain]
known:
- {requirement: SDS-RECV-06, reason: mended with the new buffer}
"""


def configure(pytester: pytest.Pytester, **values: object) -> None:
    lines = [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    (pytester.path / "sds-conformance.toml").write_text("\n".join(lines) + "\n", "utf-8")


@pytest.fixture(autouse=True)
def _here(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(pytester.path)


def test_the_command_of_the_file_is_tested_and_the_file_is_named(pytester: pytest.Pytester) -> None:
    configure(pytester, command=BUFFERED_IS_MET, timeout=7, strict=True)
    result = typed(pytester, BLAMED)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["sds: configuration: sds-conformance.toml (command, strict, timeout)"])
    assert "--timeout 7 --strict -- " in " ".join(result.stdout.str().split())


def test_options_of_pytest_win(pytester: pytest.Pytester) -> None:
    configure(pytester, command="no-such-command", timeout=7, framing="json")
    command = shlex.join(reference_command())
    result = typed(pytester, "--sds-testee", command, "--sds-timeout", "8", "sds::a-diamond")
    result.assert_outcomes(passed=items_of("a-diamond"))
    result.stdout.fnmatch_lines(["sds: configuration: sds-conformance.toml (framing)"])
    pytester.makeini(f"[pytest]\nsds_testee = {command}\nsds_timeout = 8\n")
    typed(pytester, "sds::a-diamond").assert_outcomes(passed=items_of("a-diamond"))


def test_the_suite_does_not_come_beside_other_tests_unless_it_is_named(pytester: pytest.Pytester) -> None:
    configure(pytester, command=shlex.join(reference_command()))
    pytester.makepyfile(test_mine="def test_mine(stage):\n    stage.open('alice').send(b'x')\n    assert True")
    typed(pytester).assert_outcomes(passed=1)
    typed(pytester, "test_mine.py", "sds::a-diamond").assert_outcomes(passed=1 + items_of("a-diamond"))


def test_a_failure_of_the_baseline_is_expected_and_others_are_not(pytester: pytest.Pytester) -> None:
    (pytester.path / "known.yaml").write_text(BASELINE, "utf-8")
    configure(pytester, command=BUFFERED_IS_MET, baseline="known.yaml")
    result = typed(pytester, BLAMED, "sds::a-dependent-of-the-buffered::others")
    assert result.parseoutcomes()["xfailed"] == 1
    assert ended(result, "FAILED") == []
    result.stdout.fnmatch_lines([f"XFAIL {BLAMED} - mended with the new buffer*"])
    configure(pytester, command=shlex.join(reference_command("--mutant", "starts-at-zero")), baseline="known.yaml")
    assert ended(typed(pytester, "sds::clock-at-first-use"), "FAILED")


def test_a_wrong_value_is_named_with_its_place(pytester: pytest.Pytester) -> None:
    command = shlex.join(reference_command())
    for values, output in (
        ({"dialect": "nim-sdx"}, "sds-conformance.toml: `dialect`: no dialect 'nim-sdx'*Did you mean nim-sds?"),
        ({"baseline": "none.yaml"}, "sds-conformance.toml: `baseline`: none.yaml is not a file*"),
        ({"clock": "faketime"}, "sds-conformance.toml: `clock` is not for pytest*"),
        ({"comand": "x"}, "sds-conformance.toml: there is no key 'comand'. Did you mean command?"),
    ):
        configure(pytester, command=command, **values)
        result = typed(pytester, "sds::ties")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"ERROR: {output}"])


def test_a_file_without_a_command_or_of_others_does_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_mine(): pass")
    configure(pytester, timeout=7)
    typed(pytester).assert_outcomes(passed=1)
    assert typed(pytester, "sds::ties").ret == pytest.ExitCode.USAGE_ERROR
    (pytester.path / "sds-conformance.toml").unlink()
    pytester.makepyprojecttoml('[project]\nname = "mine"\nversion = "1"\ndependencies = ["sds-conformance"]\n')
    result = typed(pytester)
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*sds: *")


def test_the_page_says_which_keys_pytest_reads() -> None:
    text = (REPOSITORY / "docs" / "pytest.md").read_text("utf-8")
    section = text.split("## The configuration file of the suite", 1)[1].split("\n## ", 1)[0]
    read = {"command", "baseline", *(name for name in OF_FILE if name not in ("testee", "baseline"))}
    assert read <= set(KEYS)
    assert [key for key in read if f"`{key}`" not in section] == []
