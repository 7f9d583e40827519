"""--sds-scenario-file: the items of files, and what an expectation that is not met says."""

from __future__ import annotations

import pytest

from pytest_runs import ended, run
from run_helpers import reference_command

WAITS = """
members: [alice]
requirements: [SDS-RECV-06]
operations:
- {op: say, peer: bob, label: second, after: [first]}
- {op: say, peer: bob, label: third, after: [second]}
expect:
- {who: alice, does_not_deliver: [third]}
"""
MUTANT = reference_command("--mutant", "buffered-is-met")


def test_a_file_takes_the_place_of_the_suite(pytester: pytest.Pytester) -> None:
    pytester.makefile(".yaml", waits=WAITS)
    given = ("--sds-scenario-file", "waits.yaml", "sds")
    run(pytester, reference_command(), *given).assert_outcomes(passed=4)
    result = run(pytester, MUTANT, *given)
    result.assert_outcomes(passed=2, failed=2)
    assert ended(result, "FAILED") == ["sds::waits.yaml::SDS-RECV-06", "sds::waits.yaml::expectations"]
    result.stdout.fnmatch_lines(
        ["waits.yaml, line 7: expected: alice does not deliver third; seen: delivered third at*"]
    )
    result.stdout.fnmatch_lines(["*--scenario-file waits.yaml*"])


def test_a_file_names_its_revision(pytester: pytest.Pytester) -> None:
    pytester.makefile(".yaml", waits=f"revision: forum-2024\n{WAITS.replace('SDS-RECV-06', 'FORUM-25')}")
    result = run(pytester, reference_command(), "--sds-scenario-file", "waits.yaml", "sds", "--collect-only", "-q")
    result.stdout.fnmatch_lines(["sds::waits.yaml::FORUM-25"])
    wrong = run(
        pytester, reference_command(), "--sds-scenario-file", "waits.yaml", "--sds-revision", "sds-2026-01", "sds"
    )
    wrong.stderr.fnmatch_lines(["*waits.yaml is about forum-2024, and not about sds-2026-01*"])


def test_a_wrong_file_is_a_usage_error(pytester: pytest.Pytester) -> None:
    pytester.makefile(".yaml", waits=WAITS.replace("op: say", "op: sayy"))
    result = run(pytester, reference_command(), "--sds-scenario-file", "waits.yaml")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*waits.yaml, line 4: operations?0?.op: there is no operation 'sayy'. Did you mean say?*"]
    )
