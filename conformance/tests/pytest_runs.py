"""Runs pytest with the plugin of the suite, in this process, in the folder of a test."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from importlib.metadata import entry_points

import pytest

# All of it is loaded now: what pytest loads in a run in this process is gone when that is over.
import sds_conformance.pytest_plugin.suite  # noqa: F401
from run_helpers import plan
from sds_conformance.protocols import protocols
from sds_conformance.protocols.sds.register import SCENARIOS

INSTALLED = any(point.name == "sds" for point in entry_points(group="pytest11"))
LOADED = ["-W", "ignore::pytest.PytestAssertRewriteWarning", "-p", "no:hypothesispytest", "-ra"]
"""Options that are always typed. Only in these tests, modules of the suite were imported before."""
if not INSTALLED:
    LOADED += ["-p", "sds_conformance.pytest_plugin"]
protocols()


def run(pytester: pytest.Pytester, command: Sequence[str], *arguments: str) -> pytest.RunResult:
    """What pytest says and does with an implementation; the suite alone, unless other arguments say more."""
    return typed(pytester, "--sds-testee", shlex.join(command), *arguments)


def typed(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """The output of pytest at a terminal; nothing is shortened if CI is set."""
    with pytest.MonkeyPatch.context() as patch:
        for told_by in ("CI", "BUILD_NUMBER"):
            patch.delenv(told_by, raising=False)
        return pytester.runpytest_inprocess(*LOADED, *arguments)


def ended(result: pytest.RunResult, how: str) -> list[str]:
    """The node IDs that ended in one way, as the list at the end of a run has them: ``FAILED``, ``ERROR``."""
    return re.findall(rf"^{how} (\S+)", result.stdout.str(), re.MULTILINE)


def items_of(scenario: str) -> int:
    """How many items of a scenario there are."""
    what = plan()
    return sum(requirement in what.requirements for requirement in SCENARIOS[scenario].exercises) + 1
