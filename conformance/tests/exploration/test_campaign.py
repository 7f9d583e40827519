"""Campaigns: what they find does not depend on who plays what, and whatever an implementation does, they end."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from run_helpers import Handle, reference, reference_command
from sds_conformance.cli.implementation_options import DrivenImplementation
from sds_conformance.exploration import campaign
from sds_conformance.exploration.assessment import BREAKDOWN
from sds_conformance.exploration.campaign import CampaignOrder, CampaignTally, explore
from sds_conformance.exploration.cast_under_test import CastKind
from sds_conformance.judging.runner import PATIENCE
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.sds.situations import SITUATIONS
from sds_harness.link import Limits, LocalLink
from sds_harness.sds.generator import Grammar
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_testee.framing import Framing

pytestmark = pytest.mark.exhaustive

LIGHT = Grammar(most=3, passages=("burst", "diamond"), longest=1)
"""Short schedules, each with at least one message."""


def order(handle: Handle | None = None, **rest: Any) -> CampaignOrder:
    """A campaign against the reference, or against what ``handle`` is."""
    return CampaignOrder(lambda _: LocalLink(handle or reference()), **({"examples": 10} | rest))


def raising(error: type[BaseException], command: str, times: int = 1_000_000) -> Handle:
    """The reference, which raises something so many times when it gets a command."""
    inner, left = reference(), iter(range(times))

    def handle(request: pb.Request) -> pb.Reply:
        if request.WhichOneof("command") == command and next(left, None) is not None:
            raise error("out of order")
        return inner(request)

    return handle


def summary(tally: CampaignTally) -> dict[str, Any]:
    """The result of a campaign, without its duration."""
    return {f.name: getattr(tally, f.name) for f in fields(tally) if f.name != "seconds"}


# ---- The reference ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("casting", CastKind)
def test_nothing_is_found_against_the_reference(casting: CastKind) -> None:
    tally = explore(order(examples=40, casting=casting, seed=5))
    assert (tally.found, tally.errors, tally.gave_up) == ({}, {}, "")
    assert (tally.schedules, tally.interrupted, tally.out_of_time) == (40, False, False)
    assert tally.steps > 1_000
    assert len(+tally.exercised) > 100
    assert {"waits", "lost", "acknowledged"} <= set(+tally.situations) <= set(SITUATIONS)


# ---- Processes -------------------------------------------------------------------------------------------------------


def test_two_workers_say_what_one_says() -> None:
    command = reference_command("--mutant", "sync-does-not-increase")
    driven = DrivenImplementation(tuple(command), Framing.JSON, "", Limits())
    one = CampaignOrder(driven.connect, examples=30, seed=2, grammar=Grammar(most=3, longest=1))
    alone, together = explore(one), explore(replace(one, jobs=2))
    assert summary(together) == summary(alone)
    assert alone.schedules == 30
    assert "SDS-SYNC-03" in alone.found


# ---- Ends ------------------------------------------------------------------------------------------------------------


def test_no_schedule_is_begun_after_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = count()
    monkeypatch.setattr(campaign, "time", SimpleNamespace(monotonic=lambda: float(next(seconds))))
    tally = explore(order(examples=50, time_budget_s=5.0, grammar=LIGHT))
    # The clock is read once at the start and once before each schedule; at the fifth reading the time is up.
    assert (tally.schedules, tally.out_of_time, tally.interrupted) == (4, True, False)


def test_who_breaks_now_and_then_is_found_out_and_the_rest_is_played() -> None:
    now_and_then = Grammar(passages=("ephemerals", "burst", "diamond"), longest=1)
    tally = explore(order(raising(RuntimeError, "send_ephemeral"), grammar=now_and_then, examples=20))
    assert (tally.schedules, tally.gave_up) == (20, "")
    assert 0 < tally.found_in[BREAKDOWN] < 20
    assert tally.found[BREAKDOWN].seen == "crash: RuntimeError: out of order"
    assert tally.found[BREAKDOWN].severity is Verdict.FAIL


def test_who_always_breaks_is_given_up_with_a_reason() -> None:
    tally = explore(order(raising(RuntimeError, "send"), grammar=Grammar(passages=("burst",))))
    assert tally.schedules == tally.found_in[BREAKDOWN] == PATIENCE
    assert tally.gave_up == f"under test broke down {PATIENCE} times in a row and was given up"


def test_an_interrupt_keeps_what_was_played() -> None:
    def progress(tally: CampaignTally) -> None:
        if tally.schedules == 3:
            raise KeyboardInterrupt

    tally = explore(order(examples=50, grammar=LIGHT), progress)
    assert (tally.schedules, tally.interrupted) == (3, True)
    assert summary(tally) == summary(explore(order(examples=3, grammar=LIGHT))) | {"interrupted": True}
