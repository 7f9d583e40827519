"""What fails in a run is played again in fresh processes: few scenarios, and what does not come back is flaky."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from io import StringIO
from itertools import chain
from itertools import repeat as forever

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from rich.console import Console

from run_helpers import plan, reference, verdict_on
from sds_conformance.cli import main
from sds_conformance.cli.implementation_options import DrivenImplementation
from sds_conformance.judging.certification import Certification, certify
from sds_conformance.judging.finding_replays import FindingReplays
from sds_conformance.judging.flakiness import replay_failures
from sds_conformance.judging.runner import Connect
from sds_conformance.judging.verdict import Verdict
from sds_conformance.presentation.invocation import Invocation
from sds_conformance.reports.document import document, load_schema
from sds_conformance.reports.html import html
from sds_conformance.reports.junit import junit
from sds_conformance.reports.markdown import markdown
from sds_conformance.reports.report import Report
from sds_conformance.reports.terminal import show_report
from sds_harness.link import Limits, Link, LocalLink
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config
from sds_reference.mutants import MUTANTS

FAULT, SCENARIO = "SDS-STATE-02", "clock-at-first-use"
HOW = Invocation(("./adapter",))


def faulty() -> Link:
    mutant = MUTANTS["starts-at-zero"]
    return LocalLink(reference(mutant.configure(Config()), participant=mutant.participant_class))


def broken() -> Link:
    right = reference()

    def handle(request: pb.Request) -> pb.Reply:
        if request.HasField("send"):
            raise RuntimeError("out of order")
        return right(request)

    return LocalLink(handle)


def one_after_the_other(*kinds: bool, fault: Callable[[], Link] = faulty, then: bool = False) -> Connect:
    """Processes of which some have a fault; ``then`` says whether those that follow have it, too."""
    left: Iterator[bool] = chain(kinds, forever(then))
    return lambda _: fault() if next(left) else LocalLink(reference())


def played(connect: Connect, environment: str = "plain") -> Certification:
    what = plan([FAULT], scenarios=[SCENARIO], environments=[environment])
    outcome = certify(connect, what, Limits())
    replay_failures(outcome, connect, Limits())
    return outcome


def printed(outcome: Certification) -> str:
    out = StringIO()
    console = Console(file=out, width=200)
    show_report(console, Report.from_outcome(outcome, HOW), "sds-conformance")
    return out.getvalue()


@pytest.mark.parametrize(
    ("later", "again"),
    [
        ((), FindingReplays(0, 5)),
        ((True, False, True), FindingReplays(2, 5)),
        ((True, True, True), FindingReplays(3, 3)),
    ],
    ids=["never", "sometimes", "as often as it takes"],
)
def test_what_does_not_come_back_each_time_fails_and_is_flaky(later: tuple[bool, ...], again: FindingReplays) -> None:
    outcome = played(one_after_the_other(True, *later))
    assert verdict_on(outcome, FAULT).replays == again
    assert outcome.exit_code == 1
    assert verdict_on(outcome, FAULT).verdict is Verdict.FAIL
    data = document(outcome, HOW)
    assert list(Draft202012Validator(load_schema()).iter_errors(data)) == []
    made = Report(data, traces=outcome.traces)
    assert "SDS-STATE-02" in printed(outcome)
    for text in (markdown(made), junit(made)):
        assert (f"flaky, {again.shown} of 5" in text) == again.flaky
    assert (f"Flaky     The finding showed in {again.shown} of 5 replays" in printed(outcome)) == again.flaky
    assert (f"{again.shown} of 5 replays, each in a new process" in html(made)) == again.flaky
    assert ("1 requirement failed (1 flaky)" in printed(outcome)) == again.flaky


def test_a_breakdown_that_does_not_come_back_is_flaky() -> None:
    outcome = played(one_after_the_other(True, fault=broken))
    (broke,) = outcome.breakdowns
    assert broke.replays == FindingReplays(0, 5)
    assert "Flaky     The finding showed in 0 of 5 replays" in printed(outcome)
    assert outcome.exit_code != 0
    assert list(Draft202012Validator(load_schema()).iter_errors(document(outcome, HOW))) == []
    stable = played(one_after_the_other(then=True, fault=broken))
    assert stable.breakdowns[0].replays == FindingReplays(1, 1)


def test_an_interrupt_ends_the_playing_and_keeps_what_was_found() -> None:
    outcome = certify(lambda _: faulty(), plan([FAULT], scenarios=[SCENARIO]), Limits())

    def interrupted(_: Mapping[str, str]) -> Link:
        raise KeyboardInterrupt

    replay_failures(outcome, interrupted, Limits())
    assert verdict_on(outcome, FAULT).replays is None
    assert outcome.exit_code == 1


@pytest.mark.parametrize("more", [(), ("--fail-fast",)], ids=str)
def test_the_command_plays_again_what_fails(monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]) -> None:
    connect = one_after_the_other(True)
    monkeypatch.setattr(DrivenImplementation, "connect", lambda _, variables: connect(variables))
    typed = ["run", "--scenario", SCENARIO, "--environment", "plain", *more, "--", "./adapter"]
    result = CliRunner().invoke(main, typed)
    assert result.exit_code == 1
    assert "Flaky     The finding showed in 0 of 5 replays" in result.stdout
