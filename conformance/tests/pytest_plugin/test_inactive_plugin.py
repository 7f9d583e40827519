"""Without an implementation the plugin is as good as not there: pytest loads it in every run of everybody."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import pytest

from pytest_runs import LOADED, typed
from run_helpers import REPOSITORY

HEAVY = ("sds_proto", "sds_harness", "sds_reference", "sds_conformance.judging", "google", "rich", "jinja2", "click")


def test_it_is_an_entry_point_of_pytest() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"sds": "sds_conformance.pytest_plugin"}
    assert not any(dependency.startswith("pytest") for dependency in project["dependencies"])


def test_it_imports_nothing_but_pytest() -> None:
    look = (
        "import sys, pytest; before = set(sys.modules); import sds_conformance.pytest_plugin; "
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["sds_conformance", "sds_conformance.pytest_plugin"]


def test_a_run_of_others_loads_nothing_of_the_suite(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        f"import sys\n\ndef test_mine():\n    assert not set({HEAVY!r}) & set(sys.modules)\n", conftest=""
    )
    done = pytester.runpytest_subprocess(*LOADED)
    done.assert_outcomes(passed=1)
    done.stdout.no_fnmatch_line("*sds: *")


def test_options_that_want_an_implementation_say_so(pytester: pytest.Pytester) -> None:
    for options in (["--sds-strict"], ["--sds-environment", "plain"], ["sds::ties"]):
        result = typed(pytester, *options)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f'ERROR: {options[0]} needs an implementation: add --sds-testee "COMMAND"'])


def test_a_configuration_file_alone_does_nothing(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nsds_strict = true\nsds_revision = 1999")
    pytester.makepyfile("def test_mine(): pass")
    typed(pytester).assert_outcomes(passed=1)
