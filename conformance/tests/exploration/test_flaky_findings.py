"""Findings are replayed in fresh processes before they are reported as proven."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from itertools import count

import pytest
from rich.console import Console

from run_helpers import reference
from sds_conformance.exploration.campaign import CampaignOrder, CampaignTally, explore
from sds_conformance.exploration.counterexample import Counterexample, shrink_finding
from sds_conformance.exploration.hunt import order_for
from sds_conformance.exploration.text import as_json, last_line, roots_in, show_flaky
from sds_conformance.judging.finding_replays import FindingReplays
from sds_harness.link import Link, LocalLink
from sds_harness.sds.generator import Grammar
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference.mutants import MUTANTS

LIGHT = Grammar(most=3, passages=("burst",), longest=1)
FAULT = order_for(MUTANTS["increases-lamport-by-two"])
SHOWS = "SDS-SEND-01"


def some_processes(*faulty: bool) -> CampaignOrder:
    """A campaign against an implementation of which some processes have a fault; those after them have none."""
    kinds = iter(faulty)

    def connect(variables: Mapping[str, str]) -> Link:
        return FAULT.connect(variables) if next(kinds, False) else LocalLink(reference())

    return CampaignOrder(connect, examples=1, grammar=LIGHT)


def proven(order: CampaignOrder) -> tuple[CampaignTally, Counterexample | FindingReplays]:
    """The findings of a campaign, and the results of their replays."""
    tally, cast_under_test = explore(order), order.cast_under_test()
    cast_under_test.start()
    return tally, shrink_finding(order, cast_under_test, 0, tally.found[SHOWS])


def test_a_fault_that_comes_back_each_time_is_proven() -> None:
    assert isinstance(proven(some_processes(*[True] * 50))[1], Counterexample)


@pytest.mark.parametrize(
    ("later", "again"),
    [
        ((), FindingReplays(0, 5)),
        ((False, True, False, True), FindingReplays(2, 5)),
        ((True, False, True), FindingReplays(2, 5)),
        ((True, True, False, True, True, True), FindingReplays(4, 5)),
    ],
    ids=["never again", "not at first", "not when it was shrunk", "not when it was proven once"],
)
def test_a_fault_that_does_not_come_back_each_time_is_flaky(later: tuple[bool, ...], again: FindingReplays) -> None:
    # The first process is that of the campaign, the second one says hello.
    tally, got = proven(some_processes(True, True, *later))
    assert got == again
    tally.flaky[SHOWS] = again
    output = StringIO()
    show_flaky(Console(file=output, width=200), tally.found[SHOWS], "seed 0, schedule 0", again)
    assert f"Flaky     The finding showed in {again.shown} of 5 replays, " in output.getvalue()
    roots = roots_in(tally, some_processes())
    assert " failed, 1 of them flaky" in last_line(tally, roots, "it").plain
    (row,) = (row for row in as_json(tally, some_processes(), roots, {})["findings"] if row["id"] == SHOWS)
    assert row["again"] == {"shown": again.shown, "played": 5}


def test_what_takes_a_long_schedule_is_proven_by_that_and_not_by_a_short_one() -> None:
    """The fault begins with the 12th command: in a process that has played much already, every schedule shows it."""

    def connect(variables: Mapping[str, str]) -> Link:
        right, wrong, commands = reference(), FAULT.connect(variables), count()

        def handle(request: pb.Request) -> pb.Reply:
            expected, faulty = right(request), wrong.call(request, 1, pb.Reply)
            return faulty if next(commands) > 12 else expected

        return LocalLink(handle)

    order = CampaignOrder(connect, examples=1, grammar=Grammar(most=3, passages=("burst",), longest=4))
    _, example = proven(order)
    assert isinstance(example, Counterexample)
    assert example.schedule.operations == order.schedule(0).operations
    assert dict(example.schedule.notes)["shows"] == SHOWS
