"""One item for each requirement that a scenario is for, and what it says when it does not pass."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_runs import ended, items_of, run
from run_helpers import broken_adapter, odd_adapter, plan, reference_command
from sds_conformance.judging.registry import Run, Scenario
from sds_conformance.judging.runner import PATIENCE
from sds_conformance.protocols.sds.catalogue import CURRENT
from sds_conformance.protocols.sds.register import SCENARIOS
from sds_conformance.pytest_plugin.engagement import Engagement
from sds_conformance.pytest_plugin.session_options import SessionOptions
from sds_harness.link import Limits
from sds_harness.sds.stage import Stage
from sds_testee.framing import Framing
from suite_terminal import too_wide

REAL_PROCESSES = True
BUFFERED_IS_MET = reference_command("--mutant", "buffered-is-met")
DIAMOND = "sds::a-diamond"


def engaged(mutant: str, *scenarios: str) -> Engagement:
    """A mutant, engaged for a suite that has these scenarios alone."""
    command = tuple(reference_command("--mutant", mutant))
    what = replace(plan(), scenarios=tuple(SCENARIOS[name] for name in scenarios))
    return Engagement(SessionOptions(command, Framing.JSON, "", Limits(), False, what))


def test_every_requirement_of_every_scenario_is_an_item_and_nothing_is_started(pytester: pytest.Pytester) -> None:
    result = run(pytester, ["no-such-command"], "--collect-only", "-q", "sds")
    found = [line for line in result.outlines if line.startswith("sds::")]
    what = plan(revision=CURRENT)
    for scenario in what.scenarios:
        wanted = [r for r in scenario.exercises if r in what.requirements]
        assert [f"sds::{scenario.name}::{name}" for name in (*wanted, "others")] == [
            item for item in found if item.startswith(f"sds::{scenario.name}::")
        ]
    assert found[0] == "sds::handshake"
    assert len(found) == len(set(found)) > len(what.requirements)


def test_a_mutant_fails_its_requirement_and_nothing_else_with_a_story(pytester: pytest.Pytester) -> None:
    names = ("a-dependent-of-the-buffered", "a-diamond", "every-kind-of-message", "received-syncs")
    result = run(pytester, BUFFERED_IS_MET, *(f"sds::{name}" for name in names))
    assert result.ret == 1
    assert ended(result, "FAILED") == ["sds::a-dependent-of-the-buffered::SDS-RECV-06"]
    result.stdout.fnmatch_lines(
        [
            "_* sds::a-dependent-of-the-buffered::SDS-RECV-06 _*",
            "FAIL  SDS-RECV-06/*  MUST, section 'receive-message'",
            "  Rule      A dependency counts as met *",
            "  Scenario  a-dependent-of-the-buffered: *",
            "  Expected  'bob-2' to wait for 'bob-1', *",
            "  Seen      delivered at step 3",
            "  Again     sds-conformance run --select SDS-RECV-06 --scenario a-dependent-of-the-buffered -- * "
            "--mutant buffered-is-met",
            "FAILED sds::a-dependent-of-the-buffered::SDS-RECV-06 - expected 'bob-2' to wa*",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    assert too_wide(result.stdout.str().split("= FAILURES =")[1]) == []


def test_a_fault_that_no_scenario_for_it_shows_is_reported_all_the_same() -> None:
    engagement = engaged("log-by-arrival", "received-syncs")
    output = engagement.unrelated_findings(Run(SCENARIOS["received-syncs"]))
    assert set(output) == {"SDS-DELIVER-04", "SDS-STATE-11"}
    assert output["SDS-DELIVER-04"].story.startswith("FAIL  SDS-DELIVER-04/")
    engagement.kill()


def test_a_warning_is_one_of_pytest_and_strictly_a_failure(pytester: pytest.Pytester) -> None:
    hasty = reference_command("--mutant", "updates-clock-on-reception")
    result = run(pytester, hasty, "sds::waiting-from-ahead")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*SdsWarning: SDS-DELIVER-03 expected *; seen: *"])
    strict = run(pytester, hasty, "--sds-strict", "sds::waiting-from-ahead")
    assert strict.ret == 1
    assert ended(strict, "FAILED") == ["sds::waiting-from-ahead::SDS-DELIVER-03"]
    strict.stdout.fnmatch_lines(["  Again     sds-conformance run * --strict -- *"])


def test_what_is_not_declared_is_skipped_with_the_reason(pytester: pytest.Pytester) -> None:
    result = run(pytester, reference_command("--without", "ephemeral"), "-k", "EPHEMERAL-01 or ties", "sds")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["SKIPPED * sds:*: not declared: ephemeral"])


def test_where_nothing_was_exercised_nothing_is_green(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_of_the_user(): pass")
    result = run(pytester, odd_adapter("opens-nothing"), "-k", "of_the_user or a-diamond")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert set(result.parseoutcomes()) == {"passed", "skipped", "deselected"}
    result.stdout.fnmatch_lines(["=* nothing was exercised =*", "No verdict on *, and no requirement was exercised."])


def test_a_crash_fails_every_item_of_its_scenario_and_no_other(pytester: pytest.Pytester) -> None:
    result = run(pytester, broken_adapter("crashes"), DIAMOND, "sds::ties")
    failed = ended(result, "FAILED")
    assert len(failed) == items_of("a-diamond")
    assert all(name.startswith(f"{DIAMOND}::") for name in failed)
    result.stdout.fnmatch_lines(["CRASH  in a-diamond", "  stderr    | panic: *", "  Hint      Does the library *"])
    result.stdout.fnmatch_lines(["  Again     sds-conformance run --scenario a-diamond -- *crashes"])


def test_a_hang_is_reported_and_the_next_scenario_is_played(pytester: pytest.Pytester) -> None:
    result = run(pytester, broken_adapter("hangs"), "--sds-timeout", "0.5", DIAMOND, "sds::ties::SDS-CONFLICT-01")
    assert result.parseoutcomes()["passed"] == 1
    result.stdout.fnmatch_lines(["  What      *no answer to tick within 0.5 s*", "* --timeout 0.5 -- *"])


def test_one_that_always_breaks_is_given_up(pytester: pytest.Pytester) -> None:
    """Breakdowns in a row count, and a scenario without a breakdown ends the row."""
    chosen = [
        f"sds::{scenario}::others"
        for scenario in (
            *("nobody-answers", "a-missing-dependency", "a-chain-in-reverse", "a-dependent-of-the-buffered"),
            *("a-long-chain-in-reverse", "a-diamond"),
        )
    ]
    result = run(pytester, broken_adapter("crashes"), *chosen)
    assert ended(result, "FAILED") == chosen[:PATIENCE]
    result.stdout.fnmatch_lines(["SKIPPED [[]2[]] sds:*: inconclusive: not played: too many breakdowns"])


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["no-such-command"], "*no-such-command*"),
        (reference_command("--mutant", "no-such-mutant"), "*no mutant 'no-such-mutant'*"),
        (
            odd_adapter("declares-a-dialect-in-colour"),
            "The implementation declares a dialect that is not known here: *",
        ),
    ],
    ids=["no start", "a crash at once", "an unknown dialect"],
)
def test_what_cannot_be_driven_is_one_error(pytester: pytest.Pytester, command: list[str], said: str) -> None:
    result = run(pytester, command, "-k", "ties or a-diamond", "sds")
    assert result.ret == 1
    outcomes = result.parseoutcomes()
    assert outcomes["errors"] == 1
    assert set(outcomes) <= {"errors", "skipped", "deselected", "warnings"}
    result.stdout.fnmatch_lines([said])
    result.stdout.fnmatch_lines(["SKIPPED * sds:*: the implementation could not be tested: the first error says why"])


def test_a_fault_of_ours_is_an_error(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(stage: Stage) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setitem(SCENARIOS, "a-broken-one", Scenario("a-broken-one", broken, ("SDS-RECV-06",)))
    result = run(pytester, reference_command(), "sds::a-broken-one", "sds::ties")
    assert ended(result, "ERROR") == ["sds::a-broken-one::SDS-RECV-06", "sds::a-broken-one::others"]
    result.stdout.fnmatch_lines(["Fault of the suite: a-broken-one: ZeroDivisionError: ours"])
