"""Corpora of the proposal of 2024: recorded and judged by its own properties, compared by what it leaves open."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sds_conformance.exploration.assessment import Scope

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")
from corpus_comparison import compared, corpus
from recorded_corpora import LocalModel, order_of, record_here
from sds_conformance.corpus.classes import Class, Classified, classify_by_checks
from sds_conformance.corpus.difference import read_stored, require_comparable
from sds_conformance.corpus.kinds import corpora_of
from sds_conformance.corpus.verdicts import Checker
from sds_conformance.exploration.campaign import CampaignOrder, CampaignTally
from sds_harness.corpus.errors import CorpusError
from sds_harness.corpus.reader import stored_in
from sds_harness.sds.generator import Grammar
from sds_reference import FORUM_2024

pytestmark = pytest.mark.spark

FORUM = FORUM_2024.name
SCOPE = Scope.select(revision=FORUM)
SCHEDULES = 12
GRAMMAR = Grammar(most=4, sds_r=False)


def proposed(model: object = LocalModel(), schedules: int = SCHEDULES, seed: int = 5) -> CampaignOrder:
    return replace(order_of(model, schedules, grammar=GRAMMAR, seed=seed), revision=FORUM)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record_here(tmp_path_factory.mktemp("corpora") / "reference", proposed(), twins=True)


def found_in(folder: Path) -> CampaignTally:
    """What `corpus check` says, in this process."""
    it = corpus(folder)
    tally = CampaignTally(proposed().cast_under_test().start())
    for each in stored_in(it, 0):
        tally.add(Checker(it, SCOPE).judge(0, each))
    return tally


def classified(a: Path, b: Path) -> list[Classified]:
    one, other = corpus(a), corpus(b)
    out = []
    for number, divergence in sorted(compared(a, b).items()):
        mine, theirs = (next(read_stored(c, [number])) for c in (one, other))
        out.append(classify_by_checks(divergence, mine, theirs, (SCOPE, SCOPE)))
    return out


# ---- Judged ----------------------------------------------------------------------------------------------------------


def test_the_reference_is_accused_of_nothing_and_judged_by_the_properties_of_the_proposal(reference: Path) -> None:
    """Recorded as if it were SDS, it was accused of nine things: peers spoke the layout of SDS, content was not text,
    and the properties were those of SDS, which forbid naming or logging a sync message."""
    tally = found_in(reference)
    assert (tally.found, tally.errors) == ({}, {})
    properties = {what for what in tally.exercised if what.startswith("G-")}
    assert properties
    assert properties <= set(SCOPE.properties)
    assert corpus(reference).manifest.revision == FORUM


# ---- Compared --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["history-of-three", "slow-sweep", "syncs-only-in-quiet-channels"])
def test_legal_differences_are_legal(reference: Path, tmp_path: Path, name: str) -> None:
    other = record_here(tmp_path / "b", proposed(LocalModel(variant=f"forum-{name}")))
    found = classified(reference, other)
    assert {(one.kind, one.cause) for one in found if one.kind is not Class.LEGAL} == set()


def test_what_is_open_in_sds_alone_is_not_asked() -> None:
    names = {freedom.name for freedom in corpora_of(FORUM).freedoms}
    assert {"steps-of-timestamps", "swept-syncs"} <= names
    assert not {"repair-requests", "buffered-syncs", "first-timestamps"} & names
    assert "steps-of-timestamps" not in {freedom.name for freedom in corpora_of("sds-2026-01").freedoms}


# ---- Of another text -------------------------------------------------------------------------------------------------


def test_corpora_of_two_texts_are_not_compared(reference: Path, tmp_path: Path) -> None:
    sds = record_here(tmp_path / "sds", order_of(schedules=2, grammar=GRAMMAR, seed=5))
    with pytest.raises(CorpusError, match=rf"is of {FORUM} and .* of sds-2026-01, which are different specifications"):
        require_comparable(corpus(reference), corpus(sds))
