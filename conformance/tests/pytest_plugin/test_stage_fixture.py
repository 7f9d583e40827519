"""Tests of users on the stage: judged by the checks of the suite, beside their own asserts."""

from __future__ import annotations

import pytest

from pytest_runs import ended, run, typed
from run_helpers import broken_adapter, reference_command
from suite_terminal import controls

BUFFERED_IS_MET = reference_command("--mutant", "buffered-is-met")
OWN = """
import pytest

def plot(stage, alice):
    bob = stage.peer("bob")
    second = bob.content(stage.now_ms + 20, bob.content(stage.now_ms + 10))
    alice.receive(second, bob.content(stage.now_ms + 30, second))
    alice.settle()

@pytest.fixture
def alice(stage):
    return stage.open()
"""


@pytest.fixture
def own(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder in which tests can import ``plot`` and ``alice``."""
    pytester.makeconftest(OWN)
    return pytester


def write(pytester: pytest.Pytester, body: str, marker: str = "", arguments: str = "stage, alice") -> None:
    mark = f"@pytest.mark.sds({marker})\n" if marker else ""
    pytester.makepyfile(
        test_own=f"import pytest\nfrom conftest import plot\n\n{mark}def test_own({arguments}):\n    {body}\n"
    )


def test_a_fault_fails_the_test_with_the_story_and_what_to_type(own: pytest.Pytester) -> None:
    write(own, "plot(stage, alice)")
    run(own, reference_command(), "test_own.py").assert_outcomes(passed=1)
    result = run(own, BUFFERED_IS_MET, "test_own.py")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "_* test_own _*",
            "FAIL  SDS-RECV-06/*  MUST, section 'receive-message'",
            "  Seen      delivered at step 3",
            "  Again     pytest --sds-testee '* --mutant buffered-is-met' test_own.py::test_own",
            "FAILED test_own.py::test_own - SDS-R*",
        ]
    )
    result.stdout.no_fnmatch_line("*conformance/sds_conformance*")


def test_an_own_assertion_comes_first(own: pytest.Pytester) -> None:
    write(own, "plot(stage, alice); assert 1 == 2")
    result = run(own, BUFFERED_IS_MET, "test_own.py")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *assert 1 == 2", "-* Captured sds call -*", "FAIL  SDS-RECV-06/*"])
    right = run(own, reference_command(), "test_own.py")
    right.assert_outcomes(failed=1)
    right.stdout.no_fnmatch_line("*Captured sds call*")


def test_a_test_that_skips_itself_hides_no_fault(own: pytest.Pytester) -> None:
    write(own, "plot(stage, alice); pytest.skip('not today')")
    run(own, BUFFERED_IS_MET, "test_own.py").assert_outcomes(failed=1)
    run(own, reference_command(), "test_own.py").assert_outcomes(skipped=1)


@pytest.mark.parametrize(
    ("marker", "outcome"),
    [
        ("select=['SDS-RECV-06']", "failed"),
        ("select=['SDS-RECV-0[57]', 'SDS-DELIVER-*']", "passed"),
        ("select=['SDS-EPHEMERAL-*']", "skipped"),
        ("select='SDS-RECV-06'", "errors"),
    ],
)
def test_the_marker_selects_what_is_judged(own: pytest.Pytester, marker: str, outcome: str) -> None:
    write(own, "plot(stage, alice)", marker)
    result = run(own, BUFFERED_IS_MET, "test_own.py", "--strict-markers")
    result.assert_outcomes(**{outcome: 1})
    says = {
        "skipped": "SKIPPED * test_own.py:*: inconclusive: none of the selected requirements was exercised",
        "errors": "ERROR test_own.py::test_own - *",
    }
    result.stdout.fnmatch_lines([says.get(outcome, "*")])


def test_without_an_implementation_it_is_skipped_and_says_what_to_type(own: pytest.Pytester) -> None:
    write(own, "plot(stage, alice)", "select=['SDS-RECV-06']")
    result = typed(own, "--strict-markers")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(['SKIPPED * no implementation to test: pytest --sds-testee "COMMAND"'])


@pytest.mark.parametrize("where", ["test", "fixture"])
def test_what_the_implementation_lacks_is_a_skip(own: pytest.Pytester, where: str) -> None:
    own.makeconftest(f"{OWN}    \n@pytest.fixture\ndef typing(alice):\n    alice.send_ephemeral()\n")
    if where == "test":
        write(own, "alice.send_ephemeral()")
    else:
        write(own, "pass", arguments="typing")
    result = run(own, reference_command("--without", "ephemeral"), "test_own.py")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED * inconclusive: needs the capability ephemeral"])


@pytest.mark.parametrize("adapter", ["crashes", "crashes-in-colour"])
def test_a_crash_fails_the_test_and_the_next_one_gets_a_fresh_process(own: pytest.Pytester, adapter: str) -> None:
    own.makepyfile(
        test_own="def test_one(stage, alice): alice.tick()\n"
        "def test_two(stage, alice): alice.send()\n"
        "def test_three(alice): alice.tick()\n"
    )
    result = run(own, broken_adapter(adapter), "test_own.py")
    assert ended(result, "FAILED") == ["test_own.py::test_one", "test_own.py::test_three"]
    result.stdout.fnmatch_lines(["CRASH  in test_one", "  Again     pytest --sds-testee * test_own.py::test_one"])
    assert controls(result.stdout.str()) == set()
