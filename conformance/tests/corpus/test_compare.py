"""Comparing corpora: every difference is found, at its place, and nothing else is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")
from pyarrow import parquet as pq

from corpus_comparison import SCHEDULES, change, compared, flip, gone
from recorded_corpora import Edit, edited, order_of, record_here
from sds_conformance.corpus.classes import Class, classify_by_kind
from sds_harness.corpus import shards
from sds_harness.corpus.errors import CorpusError
from sds_harness.sds.generator import Grammar

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record_here(tmp_path_factory.mktemp("corpora") / "reference", order_of(schedules=SCHEDULES), per_shard=10)


CHANGES: list[tuple[int, int, dict[str, Any]]] = [
    (0, 9, {"lamport": flip}),
    (1, 5, {"delivered": lambda names: [*names, "nobody#m9"]}),
    (2, 1, {"participant": "mallory"}),
    (3, 12, {"answer": "rejected"}),
    (9, 7, {"at_ms": lambda ms: ms + 1}),
    (10, 20, {"wire": flip, "contents": flip}),
    (11, 3, {"acknowledged": ["a", "b"]}),
    (19, 8, {"log": 2**63 - 1}),
    (20, 4, {"missing": ["x"], "lost": ["y"]}),
    (23, 6, {"repairs": -(2**63)}),
]


@pytest.mark.parametrize("read_all", [False, True])
def test_every_change_is_found_at_its_place(reference: Path, tmp_path: Path, read_all: bool) -> None:
    other = edited(reference, tmp_path / "b", {number: change(step, **new) for number, step, new in CHANGES})
    found = compared(reference, other, read_all=read_all)
    assert {number: (one.step, set(one.fields)) for number, one in found.items()} == {
        number: (step, set(new)) for number, step, new in CHANGES
    }
    assert found[0].row["participant"] in ["alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi"]
    mine, theirs = found[0].values["lamport"]
    assert mine == theirs ^ 1
    assert found[2].b is not None
    assert found[2].b["participant"] == "mallory"


@pytest.mark.parametrize("read_all", [False, True])
def test_what_differs_in_many_row_groups_of_a_shard_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read_all: bool
) -> None:
    """Arrow does not read lists of texts out of several at once; and together they may have more than one can have."""
    with monkeypatch.context() as patched:
        patched.setattr(shards, "SCHEDULES_PER_ROW_GROUP", 2)
        a = record_here(tmp_path / "a", order_of(schedules=12, grammar=Grammar(most=3, longest=1)))
        b = edited(a, tmp_path / "b", {number: change(3, missing=["x"]) for number in (0, 3, 7, 8, 11)})
    metadata = pq.read_metadata(a / "steps" / shards.file_name(0))
    assert metadata.num_row_groups == 6
    most = max(metadata.row_group(number).num_rows for number in range(6))
    monkeypatch.setattr(shards, "MOST_ROWS", most * (6 if read_all else 2))
    found = compared(a, b, read_all=read_all)
    assert {number: (one.step, one.fields) for number, one in found.items()} == dict.fromkeys(
        (0, 3, 7, 8, 11), (3, ("missing",))
    )


def test_what_is_informative_makes_no_difference(reference: Path, tmp_path: Path) -> None:
    other = edited(reference, tmp_path / "b", {3: change(4, filter=1, history=2, message_id="x", due=3)})
    assert compared(reference, other) == {}


def test_shards_of_another_size_are_aligned(reference: Path, tmp_path: Path) -> None:
    whole = record_here(tmp_path / "whole", order_of(schedules=SCHEDULES), per_shard=SCHEDULES)
    assert compared(reference, whole) == {}
    other = edited(whole, tmp_path / "b", {number: change(step, **new) for number, step, new in CHANGES})
    for read_all in (False, True):
        found = compared(reference, other, read_all=read_all)
        assert {number: one.step for number, one in found.items()} == {n: s for n, s, _ in CHANGES}


def fewer(side: dict[str, Any], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return rows[:-2]


def with_gap(side: dict[str, Any], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    side["digest"] = b"x" * 16
    return [row for row in rows if row["step"] != 6]


def twice(side: dict[str, Any], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    side["digest"] = b"x" * 16
    return [*rows[:4], rows[3], *rows[4:]]


def test_missing_and_extra_schedules(reference: Path, tmp_path: Path) -> None:
    fewer_b = edited(reference, tmp_path / "b", {4: gone, 12: gone})
    kinds = {number: classify_by_kind(one).kind for number, one in compared(reference, fewer_b).items()}
    assert kinds == {4: Class.MISSING, 12: Class.MISSING}
    kinds = {number: classify_by_kind(one).kind for number, one in compared(fewer_b, reference).items()}
    assert kinds == {4: Class.EXTRA, 12: Class.EXTRA}
    with pytest.raises(CorpusError, match="schedule 4 is missing, although the corpus is complete"):
        compared(fewer_b, fewer_b)


@pytest.mark.parametrize(
    ("edit", "kind", "step"), [(with_gap, Class.TRUNCATED, 6), (twice, Class.DUPLICATE, 4), (fewer, Class.TRUNCATED, 0)]
)
def test_steps_that_are_not_all_there_are_damage(
    reference: Path, tmp_path: Path, edit: Edit, kind: Class, step: int
) -> None:
    def dishonest(side: dict[str, Any], rows: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
        side["digest"] = b"x" * 16
        return edit(side, rows)

    other = edited(reference, tmp_path / "b", {7: dishonest}, honest=False)
    for read_all in (False, True):
        found = compared(reference, other, read_all=read_all)[7]
        assert (classify_by_kind(found).kind, found.side) == (kind, "B")
        assert found.step == (step or found.steps[1] - 1)


def test_only_digests_that_are_computed_again_see_what_was_changed_behind_them(reference: Path, tmp_path: Path) -> None:
    other = edited(reference, tmp_path / "b", {7: change(5, lamport=flip)}, honest=False)
    assert compared(reference, other) == {}
    found = compared(reference, other, verify=True)
    assert [(one.schedule, one.kind, one.step, one.side) for one in found.values()] == [(7, "stale digest", 5, "B")]
    assert compared(reference, reference, verify=True) == {}
