"""The page for users: its example runs, and what it shows is what comes out."""

from __future__ import annotations

import re
import shlex
import sys
from fnmatch import fnmatch

import pytest

from pytest_runs import run, typed
from run_helpers import REPOSITORY, reference_command
from sds_conformance.pytest_plugin import OPTIONS

PAGE = (REPOSITORY / "docs" / "pytest.md").read_text("utf-8")
FILE = "test_catching_up.py"
CONFTEST, EXAMPLE = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
SESSIONS = [
    block.split("\n", 1)
    for block in re.findall(r"^```console\n\$ pytest (.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    if "\n...\n" in block
]
"""The typed command and the shown part of its output."""


def test_the_example_passes_on_the_reference(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(**{FILE.removesuffix(".py"): EXAMPLE})
    run(pytester, reference_command(), FILE).assert_outcomes(passed=2)


def test_what_is_known_to_fail_does_until_it_does_not(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(CONFTEST)
    names = ["sds::a-dependent-of-the-buffered::SDS-RECV-06", "sds::a-diamond::SDS-RECV-06"]
    run(pytester, reference_command("--mutant", "buffered-is-met"), *names).assert_outcomes(xfailed=1, passed=1)
    run(pytester, reference_command(), *names).assert_outcomes(failed=1, passed=1)


@pytest.mark.parametrize(("words", "shown"), SESSIONS, ids=["suite", "own"])
def test_what_is_shown_comes_out(pytester: pytest.Pytester, words: str, shown: str) -> None:
    pytester.makepyfile(**{FILE.removesuffix(".py"): EXAMPLE})
    arguments = [word.replace("python", sys.executable, 1) for word in shlex.split(words)]
    result = typed(pytester, *arguments)
    assert result.ret == 1
    said = iter(line.replace(sys.executable, "python") for line in result.outlines)
    for line in shown.splitlines():
        assert line == "..." or any(line == other for other in said), line


def test_all_options_are_reported() -> None:
    assert len(SESSIONS) == 2
    assert [name for name in OPTIONS if f"--sds-{name}" not in PAGE] == []
    assert not fnmatch(PAGE, "*/work/*")
