"""What becomes of altered models: where a change is executed, what finds it, and what is excused."""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import patch

import pytest

from sds_conformance.judging.alterations import coverage
from sds_conformance.judging.alterations.coverage import (
    StatementCoverage,
    measure_coverage,
)
from sds_conformance.judging.alterations.examination import AlterationExaminer, OtherMethod
from sds_conformance.judging.alterations.places import AlterationPlace, find_places
from sds_conformance.judging.alterations.results import (
    EQUIVALENT,
    AlterationResult,
    End,
    find_stale_excuses,
    read_excuses,
)
from sds_conformance.judging.alterations.source import Configuration
from sds_conformance.judging.runner import Connect
from sds_conformance.protocols.sds.rules import RULES
from sds_conformance.protocols.sds.source import SOURCE

AS_IT_IS, OTHER = SOURCE.configurations[0], Configuration("sds-2026-01", "full", "creates-channels")
PLACES = {place.name: place for place in find_places(SOURCE)}


@pytest.fixture(scope="module")
def reached() -> StatementCoverage:
    """Of two configurations, a third of the runs, those of a few steps."""

    all_of_it = coverage.runs_of
    with patch.object(coverage, "runs_of", lambda rules, configuration: all_of_it(rules, configuration)[::3]):
        few = {c: [r for r in measure_coverage(RULES, SOURCE, c) if r.steps < 40] for c in (AS_IT_IS, OTHER)}
    return StatementCoverage.of_runs(SOURCE, few)


@pytest.fixture
def fate_of(reached: StatementCoverage) -> Callable[..., AlterationResult]:
    def examine(name: str, *means: tuple[str, OtherMethod]) -> AlterationResult:
        return AlterationExaminer(RULES, SOURCE, reached, means).examine(PLACES[name])

    return examine


def found_nothing(connect: Connect, configuration: Configuration) -> str:
    return ""


# ---- What finds it ---------------------------------------------------------------------------------------------------


def test_a_requirement_kills(fate_of: Callable[..., AlterationResult]) -> None:
    fate = fate_of("lamport_clock.LamportClock.next: one-more: 1")
    assert (fate.end, fate.configuration) == (End.FAILS, "the model, sds-2026-01")
    assert fate.by in RULES.catalogue.requirements
    assert fate.is_killed_by_run


UNCHANGED = "channel.Channel.review_bloom_filter: never: not len(self.outgoing)"


def test_what_changes_nothing_lives(fate_of: Callable[..., AlterationResult]) -> None:
    fate = fate_of(UNCHANGED, ("luck", found_nothing))
    assert (fate.end, fate.configurations, fate.reaching) == (End.LIVES, 2, 2)
    assert not fate.is_killed


# ---- What is excused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["equivalent a: b: c saves time", "odd\ta\tb", "legal\ta\t ", "legal\ta\tb\nequivalent\ta\tc"]
)
def test_an_excuse_that_is_none_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(ValueError, match=r"line [12] "):
        read_excuses(text)


def a_fate(place: AlterationPlace, end: End = End.FAILS) -> AlterationResult:
    return AlterationResult(place, end)


SOME = [*PLACES.values()][:10]


def test_an_excuse_without_place_or_of_what_is_killed_is_out_of_date() -> None:
    text = "\n".join(f"{EQUIVALENT}\t{name}\twhy" for name in ("gone", SOME[0].name, SOME[1].name, SOME[2].name))
    fates = [a_fate(SOME[0]), a_fate(SOME[1], End.LIVES)]
    assert find_stale_excuses(read_excuses(text), SOME, fates) == {
        "gone": "the source has no such place",
        SOME[0].name: "killed: fails",
    }


def test_the_excuses_of_the_model_name_places_and_are_few() -> None:
    excuses = read_excuses(SOURCE.excuses())
    assert find_stale_excuses(excuses, PLACES.values(), ()) == {}
    assert len(excuses) <= len(PLACES) / 5
