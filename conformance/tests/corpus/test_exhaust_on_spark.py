"""Every schedule of a small world on Spark: the same is said as by workers, a bound is whole or it is not."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from run_helpers import reference_command
from sds_conformance.exploration import exhaustion_campaign
from sds_conformance.exploration.campaign import CampaignTally
from sds_conformance.exploration.exhaustion import Exhaustion
from sds_conformance.exploration.exhaustion_campaign import Coverage, exhaust
from sds_harness.link import Limits, StdioLink
from sds_harness.schedules.worlds import AlphabetPart
from sds_testee.framing import Framing

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")
from sds_conformance.corpus import exhaustion as on_spark

pytestmark = pytest.mark.spark


def covered(session: Any, mutant: str = "", budget_s: float = 0.0) -> Coverage:
    command = reference_command(*(("--mutant", mutant) if mutant else ()))
    order = Exhaustion(
        partial(StdioLink, command, Framing.JSON, Limits()),
        profile="core",
        alphabet=(AlphabetPart(("send", "sync", "arrive")),),
        time_budget_s=budget_s,
    )
    cast_under_test = order.make_cast_under_test()
    coverage = Coverage(order, CampaignTally(cast_under_test.start()))
    exhaust(order, cast_under_test, coverage, 4, elsewhere=on_spark.spread(session) if session is not None else None)
    return coverage


def said(coverage: Coverage) -> list[Any]:
    tally = coverage.tally
    bounds = [(b.events, b.schedules, b.played, b.impossible, b.renamed, sorted(b.chunks)) for b in coverage.bounds]
    return [bounds, tally.found, tally.found_at, tally.found_in, tally.exercised, tally.situations, tally.steps]


@pytest.mark.parametrize("mutant", ["sync-does-not-increase", pytest.param("", marks=pytest.mark.exhaustive)])
def test_it_says_what_is_said_without_it(mutant: str, spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exhaustion_campaign, "SAMPLE", 10)
    monkeypatch.setattr(on_spark, "CHUNKS", 1)
    there, here = covered(spark, mutant), covered(None, mutant)
    assert all(bound.is_complete for bound in there.bounds)
    assert said(there) == said(here)
    assert bool(there.tally.found) is bool(mutant)


def test_what_is_not_finished_in_time_is_no_part_of_it(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exhaustion_campaign, "SAMPLE", 10)
    late = covered(spark, budget_s=0.05)
    assert late.tally.out_of_time
    assert not late.bounds[-1].is_complete
    assert late.bounds[-1].settled_count == 0 or late.bounds[-1].chunks
