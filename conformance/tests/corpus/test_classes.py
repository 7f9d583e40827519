"""Whose fault a difference is: legal, a violation of one side or of both, or unexplained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")

from corpus_comparison import SCHEDULES, SCOPE, change, classified, corpus, flip
from recorded_corpora import LocalModel, edited, order_of, record_here
from sds_conformance.corpus import classes
from sds_conformance.corpus.classes import Class, classify_by_checks, describe_place
from sds_conformance.corpus.difference import read_stored
from sds_conformance.corpus.divergences import DIFFERENT, Divergence
from sds_conformance.exploration.assessment import Assessment, assess
from sds_reference.variants import VARIANTS

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record_here(tmp_path_factory.mktemp("corpora") / "reference", order_of(schedules=SCHEDULES), per_shard=10)


@pytest.mark.parametrize(
    "name", ["history-of-one", "newest-first", "nim-hash", "one-id-for-all-syncs", "last-channel-first"]
)
def test_legal_differences_are_legal(reference: Path, tmp_path: Path, name: str) -> None:
    assert name in VARIANTS
    other = record_here(tmp_path / "b", order_of(LocalModel(variant=name), SCHEDULES))
    found = classified(reference, other)
    assert {(one.kind, one.cause) for one in found if one.kind is not Class.LEGAL} == set()
    assert all(one.reason for one in found)


def test_a_dialect_is_not_blamed_for_what_else_differs(reference: Path, tmp_path: Path) -> None:
    """Its layout violates something in every schedule; what differs is what differs without it."""
    plain = record_here(tmp_path / "b", order_of(LocalModel(variant="sweep-only"), SCHEDULES))
    private = record_here(tmp_path / "c", order_of(LocalModel(variant="sweep-only", dialect="nim-sds"), SCHEDULES))
    output = [
        [(one.divergence.schedule, one.kind, one.cause) for one in classified(reference, b)] for b in (plain, private)
    ]
    assert output[0] == output[1]
    assert {kind for _, kind, _ in output[1]} == {Class.LEGAL}
    stored_as_it_was = next(read_stored(corpus(private), [output[1][0][0]])).group_trace()
    findings = assess(stored_as_it_was.group_trace, SCOPE, stored_as_it_was.judged).findings
    assert "SDS-MSG-01" in {finding.requirement for finding in findings}, "which `corpus check` tells"


@pytest.mark.parametrize(
    ("name", "requirement"),
    [
        ("sync-does-not-increase", "SDS-SYNC-03"),
        ("ties-by-arrival", "SDS-CONFLICT-03"),
        ("one-level-only", "SDS-INSWEEP-04"),
        ("restamped-copies", "SDS-MSG-21"),
    ],
)
def test_a_fault_is_found_under_its_requirement(reference: Path, tmp_path: Path, name: str, requirement: str) -> None:
    other = record_here(tmp_path / "b", order_of(LocalModel(mutant=name), SCHEDULES))
    found = classified(reference, other)
    blamed = [one for one in found if one.kind is Class.B_VIOLATES]
    assert requirement in {one.cause for one in blamed}
    assert not [one for one in found if one.kind in (Class.A_VIOLATES, Class.BOTH_VIOLATE)]
    turned = classified(other, reference)
    assert {one.kind for one in turned if one.violated_a} == {Class.A_VIOLATES}


@pytest.mark.parametrize("new", [{"lamport": flip}, {"acknowledged": ["alice#m1"]}])
def test_a_change_that_no_reply_shows_is_damage(reference: Path, tmp_path: Path, new: dict[str, Any]) -> None:
    """Whatever the digests say, and although a freedom would cover the second."""
    other = edited(reference, tmp_path / "b", {3: change(12, **new)})
    (one,) = classified(reference, other)
    assert (one.kind, one.cause) == (Class.DAMAGED, "damaged in B")
    assert "normative columns do not follow from the requests and replies" in one.reason


def test_what_nothing_explains_is_unexplained(reference: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = record_here(tmp_path / "b", order_of(LocalModel(variant="sweep-only"), SCHEDULES))
    monkeypatch.setattr(classes, "freedoms_of", lambda *_: ())
    monkeypatch.setattr(classes, "find_one_sided_warning", lambda *_: None)
    found = classified(reference, other)
    assert {one.kind for one in found} == {Class.UNEXPLAINED}
    assert all(one.cause == describe_place(one.divergence) for one in found)


def test_a_fault_of_ours_is_no_class_of_theirs(
    reference: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = edited(reference, tmp_path / "b", {})
    found = Divergence(3, DIFFERENT, 1)
    failed = Assessment(errors={"a check": "ValueError: zip()"})
    monkeypatch.setattr(classes, "assess", lambda *_: failed)
    a, b = (next(read_stored(corpus(folder), [3])) for folder in (reference, other))
    one = classify_by_checks(found, a, b, (SCOPE, SCOPE))
    assert (one.kind, one.reason) == (Class.ERROR, "A: ValueError: zip()")
