"""The runner plays on after a break, with a fresh process, until nothing more is to be learnt."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psutil

from run_helpers import (
    Handle,
    altered,
    certified,
    odd_adapter,
    plan,
    reference,
    scenario,
    verdict_on,
)
from sds_conformance.judging.certification import certify
from sds_conformance.judging.exits import Exit
from sds_conformance.judging.plan import Plan
from sds_conformance.judging.registry import Run, Scenario
from sds_conformance.judging.runner import PATIENCE, SOFT_FAULTS, Connect, Runner, tolerated_breakdowns
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.sds.catalogue import CURRENT
from sds_conformance.protocols.sds.rules import RULES
from sds_harness import faults
from sds_harness.faults import FaultKind
from sds_harness.link import Limits, Link, LocalLink, StdioLink
from sds_harness.sds.stage import Stage
from sds_harness.trace import Trace
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_testee.framing import Framing

LIMITS = Limits(start_s=20, command_s=5, exit_s=5)
FATAL = b"the content that breaks it"


def breaks_on(fatal: bytes = FATAL) -> Handle:
    """The reference, which crashes when it has to send that content."""
    inner = reference()

    def handle(request: pb.Request) -> pb.Reply:
        if request.send.content == fatal:
            raise RuntimeError("out of paper")
        return inner(request)

    return handle


class Connections:
    """Connects to a fresh implementation each time, and keeps the links."""

    def __init__(self, start: Callable[[], Handle], link: type[LocalLink] = LocalLink) -> None:
        self._start = start
        self._link = link
        self.links: list[LocalLink] = []

    def __call__(self, _: Mapping[str, str]) -> Link:
        self.links.append(self._link(self._start()))
        return self.links[-1]


class NeverEnds(LocalLink):
    def close(self) -> None:
        raise faults.TesteeError(FaultKind.NEVER_EXITS, "still running")


def sends(content: bytes) -> Callable[[Stage], None]:
    def function(on: Stage) -> None:
        on.open().send(content)

    return function


GOOD = sends(b"an ordinary message")
BAD = sends(FATAL)


def scenarios(*functions: Callable[[Stage], None]) -> list[Scenario]:
    return [scenario(f"scenario-{number}", function) for number, function in enumerate(functions, 1)]


def played(runner: Runner, *functions: Callable[[Stage], None]) -> list[Trace[Any]]:
    runner.start()
    return [trace for _, trace in runner.play([Run(one) for one in scenarios(*functions)])]


def run(connect: Connect, *functions: Callable[[Stage], None]) -> tuple[Runner, list[Trace[Any]]]:
    runner = Runner(connect, LIMITS, RULES, CURRENT)
    return runner, played(runner, *functions)


def test_a_break_is_noted_with_the_scenario_the_step_and_the_command() -> None:
    runner, traces = run(Connections(breaks_on), GOOD, BAD, GOOD)
    (broken,) = runner.breakdowns
    assert (broken.where, broken.step, broken.command) == ("scenario-2", 2, "send")
    assert broken.breakdown.kind is FaultKind.CRASH
    assert broken.breakdown.detail == "RuntimeError: out of paper"
    assert [trace.breakdown for trace in traces] == [None, broken.breakdown, None]


def test_a_process_that_does_not_come_back_ends_the_run_as_well() -> None:
    def start() -> Handle:
        if len(connect.links) > 0:
            raise faults.TesteeError(FaultKind.NO_START, "gone for good")
        return breaks_on()

    connect = Connections(start)
    runner, traces = run(connect, BAD, *[GOOD] * 10)
    assert runner.gave_up
    assert len(traces) == 1
    assert [broken.where for broken in runner.breakdowns] == ["scenario-1"] + ["handshake"] * (PATIENCE - 1)


def test_a_certification_that_gave_up_says_so_and_does_not_conform() -> None:
    def mute(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("receive"):
            raise RuntimeError("deaf")

    outcome = certified(lambda: altered(mute), scenarios=["*"])
    assert outcome.gave_up
    assert len(outcome.traces) < len(outcome.plan.scenarios)
    assert outcome.exit_code == Exit.NON_CONFORMANT
    reasons = {v.reason for v in outcome.verdicts if v.verdict is Verdict.INCONCLUSIVE}
    assert reasons
    assert [reason for reason in reasons if "broke down" not in reason and "not played" not in reason] == []


def test_a_dishonest_implementation_is_noted_and_played_on_with() -> None:
    def knows_everything(request: pb.Request, reply: pb.Reply) -> None:
        if request.WhichOneof("command") is None:
            reply.effects.SetInParent()

    connect = Connections(lambda: altered(knows_everything))
    runner, traces = run(connect, GOOD)
    assert [(broken.where, broken.breakdown.kind) for broken in runner.breakdowns] == [
        ("honesty probe", FaultKind.DISHONEST)
    ]
    assert len(connect.links) == 2
    assert traces[0].breakdown is None


class SaysTooMuch(LocalLink):
    def call(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        if request.WhichOneof("command") == "tick":
            raise faults.TesteeError(FaultKind.TOO_LONG, "the answer to tick is a line of more than 67108864 bytes")
        return super().call(request, timeout_s, reply)


def test_a_reply_that_the_suite_has_no_room_for_is_inconclusive_and_fails_nobody() -> None:
    what = plan(
        scenarios=["two-channels", "nobody-answers", "idle-*", "two-resend-periods", "rebroadcasts-and-the-clock"]
    )
    outcome = certify(Connections(reference, SaysTooMuch), what, LIMITS)
    assert {broken.breakdown.kind for broken in outcome.breakdowns} == {FaultKind.TOO_LONG}
    assert len(outcome.breakdowns) >= PATIENCE
    assert outcome.exit_code == Exit.CONFORMANT
    silent = verdict_on(outcome, "SDS-SYNC-01")
    assert (silent.verdict, "too-long" in silent.reason) == (Verdict.INCONCLUSIVE, True)


def test_a_process_that_does_not_end_is_reported_and_counts_only_in_a_strict_run() -> None:
    assert SOFT_FAULTS == (FaultKind.NEVER_EXITS,)
    assert tolerated_breakdowns() == {"never-exits", "too-long"}
    assert tolerated_breakdowns(strict=True) == {"too-long"}
    for strict, code in ((False, Exit.CONFORMANT), (True, Exit.NON_CONFORMANT)):
        what = plan(["SDS-MSG-13"], scenarios=["two-channels"])
        outcome = certify(Connections(reference, NeverEnds), what, LIMITS, strict=strict)
        assert [broken.where for broken in outcome.breakdowns] == ["end of the session"]
        assert outcome.exit_code == code


def test_a_fault_of_ours_in_one_scenario_does_not_take_the_others_down() -> None:
    def falls_over(on: Stage) -> None:
        on.open()
        raise ZeroDivisionError("we cannot count")

    on_all = (scenario("ours", falls_over, "SDS-SEND-02"), *scenarios(GOOD))
    outcome = certify(
        Connections(reference), Plan(RULES, CURRENT, "full", ("SDS-SEND-02", "SDS-MSG-13"), on_all), LIMITS
    )
    ours = verdict_on(outcome, "SDS-SEND-02")
    assert ours.verdict is Verdict.ERROR
    assert "we cannot count" in ours.reason
    assert verdict_on(outcome, "SDS-MSG-13").verdict is Verdict.PASS
    assert outcome.breakdowns == []
    assert outcome.exit_code == Exit.OURS


def test_an_interrupt_ends_the_playing_and_what_was_played_is_judged() -> None:
    def interrupted(on: Stage) -> None:
        raise KeyboardInterrupt

    what = Plan(RULES, CURRENT, "full", ("SDS-MSG-13",), tuple(scenarios(GOOD, interrupted, GOOD)))
    outcome = certify(Connections(reference), what, LIMITS)
    assert outcome.interrupted
    assert list(outcome.traces) == ["scenario-1"]
    assert verdict_on(outcome, "SDS-MSG-13").verdict is Verdict.PASS


def test_killing_the_runner_leaves_no_process(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    runner = Runner(
        lambda _: StdioLink(odd_adapter("slow", "0", str(pids)), Framing.JSON, LIMITS), LIMITS, RULES, CURRENT
    )
    runner.start()
    pid = int(pids.read_text().split()[0])
    assert psutil.pid_exists(pid)
    runner.kill()
    deadline = time.monotonic() + 5
    while psutil.pid_exists(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not psutil.pid_exists(pid)
