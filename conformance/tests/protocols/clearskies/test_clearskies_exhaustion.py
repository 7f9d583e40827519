"""Every schedule of a small world of ClearSkies: the reference and legal variants pass, and mutants are found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clearskies_reference.testee.server import Testee, TesteeOptions
from sds_conformance.exploration.campaign import CampaignTally
from sds_conformance.exploration.cast_under_test import CastKind
from sds_conformance.exploration.exhaustion import Exhaustion
from sds_conformance.exploration.exhaustion_campaign import Coverage, exhaust
from sds_conformance.judging.exercise import NOTHING
from sds_conformance.protocols import protocol_of
from sds_harness.clearskies.alphabet import CLEARSKIES
from sds_harness.link import Link, LocalLink
from sds_harness.schedules.worlds import AlphabetPart
from suite_terminal import typed, words

REVISION = "clearskies-database"
MODEL = protocol_of(REVISION).model
CHANGES = (AlphabetPart(("write", "delete", "arrive", "uuids")),)
COMMAND = ("python", "-m", "clearskies_reference")


def exhausted(last: int, mutant: str = "", variant: str = "", *, random: bool = False, **rest: object) -> Coverage:
    def connect(_: object) -> Link:
        if random:
            return LocalLink(Testee(TesteeOptions("1")).handle)
        if mutant:
            return MODEL.mutant(mutant, NOTHING)
        return MODEL.variant(variant, NOTHING) if variant else MODEL.reference(NOTHING)

    order = Exhaustion(connect, revision=REVISION, **{"alphabet": CHANGES} | rest)  # type: ignore[arg-type]
    cast_under_test = order.make_cast_under_test()
    order = order.restrict_to(cast_under_test.start())
    coverage = Coverage(order, CampaignTally(cast_under_test.declaration))
    exhaust(order, cast_under_test, coverage, last)
    return coverage


@pytest.mark.parametrize("casting", list(CastKind))
def test_the_reference_passes(casting: CastKind) -> None:
    coverage = exhausted(3, casting=casting)
    assert not coverage.tally.found
    assert not coverage.tally.errors
    assert not coverage.otherwise, "its answers are cached"
    assert [bound.schedules for bound in coverage.bounds] == [4, 16, 68]
    assert all(bound.is_complete for bound in coverage.bounds)
    assert (coverage.bounds[1].renamed > 0) is (casting is not CastKind.AMONG)
    assert coverage.tally.exercised["CSDB-14"]


def test_every_event_passes_alone() -> None:
    """Of three participants, too; the second one may be a reader."""
    for readers in ((), ("reader",)):
        names = tuple(name for name in CLEARSKIES.names if name != "reader") + readers
        coverage = exhausted(1, alphabet=(AlphabetPart(names),), participants=3)
        assert not coverage.tally.found
        assert not coverage.tally.errors
        kinds = {kind.name for kind in coverage.order.world.kinds}
        assert kinds == {*CLEARSKIES.names} - {"reader", "uuids"}


@pytest.mark.exhaustive
def test_a_fault_that_needs_an_order_is_found_and_its_counterexample_replays(tmp_path: Path) -> None:
    """A deletion and a write that do not know of each other, and the earlier write wins."""
    mutant = (*COMMAND, "--mutant", "deletion-loses")
    alphabet = ("--alphabet", "write,delete,arrive,uuids", "--jobs", "1", "--revision", REVISION)
    result = typed("exhaust", *alphabet, "--events", "5", "--out", tmp_path, "--json", "--", *mutant)
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert {finding["id"] for finding in found["findings"]} == {"CSDB-54"}
    assert all(finding["reproduced"] for finding in found["findings"])
    file = tmp_path / "CSDB-54.json"
    assert typed("replay", file, "--", *mutant).exit_code == 1
    assert typed("replay", file, "--", *COMMAND).exit_code == 0
    judged = typed("run", "--scenario-file", file, "--", *mutant)
    assert judged.exit_code == 1
    assert "CSDB-54" in judged.stdout
    assert typed("run", "--scenario-file", file, "--", *COMMAND).exit_code == 0


def test_the_events_of_another_protocol_are_refused() -> None:
    result = typed("exhaust", "--revision", REVISION, "--alphabet", "send,arrive", "--", *COMMAND)
    assert result.exit_code == 2
    assert "clearskies-database has no event 'send'" in words(result.stderr)
    result = typed("exhaust", "--revision", REVISION, "--alphabet", "arrive", "--", *COMMAND)
    assert result.exit_code == 2
    assert "--alphabet write,arrive" in words(result.stderr)
