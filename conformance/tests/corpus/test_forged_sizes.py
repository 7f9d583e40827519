"""Corpora that say that they are larger than they are: what is claimed is compared before it is believed."""

from __future__ import annotations

import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

pytest.importorskip("pyarrow")
import pyarrow as pa
from pyarrow import parquet as pq

from corpus_comparison import SCOPE, compared, corpus
from recorded_corpora import edited, order_of, record_here
from sds_conformance.corpus.verdicts import check
from sds_harness.corpus import shards
from sds_harness.corpus.digests import plan_digest
from sds_harness.corpus.errors import CorpusError
from sds_harness.corpus.manifest import MANIFEST
from sds_harness.corpus.reader import stored_in
from sds_harness.corpus.shards import file_name

pytestmark = pytest.mark.spark

NOBODY: Any = None
"""In the place of Spark, where it does not come to that."""


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record_here(tmp_path_factory.mktemp("corpora") / "reference", order_of(schedules=6), per_shard=3)


@contextmanager
def room(mebibytes: int) -> Iterator[None]:
    """So much memory more than there is now: a process that takes more gets an error instead."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (psutil.Process().memory_info().vms + (mebibytes << 20), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def test_rows_that_are_not_there_are_not_counted_out(reference: Path, tmp_path: Path) -> None:
    def more(side: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        side["rows"] = 2**31 - 1

    other = corpus(edited(reference, tmp_path / "b", {1: more}))
    (stored,) = stored_in(other, 0, [1])
    named = r"schedule 1 has \d+ rows, but not one row for each position from 1 to 2147483647"
    with room(512), pytest.raises(CorpusError, match=named):
        stored.group_trace()


@pytest.mark.parametrize(("schedules", "per_shard"), [(2**31, 1), (2**40, 2**12)])
def test_shards_that_are_not_there_are_not_listed(
    reference: Path, tmp_path: Path, schedules: int, per_shard: int
) -> None:
    other = edited(reference, tmp_path / "b", {})
    data = json.loads((other / MANIFEST).read_text())
    (other / MANIFEST).write_text(json.dumps(data | {"schedules": schedules, "per_shard": per_shard}))
    with (
        room(512),
        pytest.raises(CorpusError, match=r"shards are missing, .* schedules/part-000002\.parquet"),
    ):
        check(NOBODY, corpus(other), SCOPE)


def test_a_schedule_of_neither_corpus_is_missed_at_once(reference: Path, tmp_path: Path) -> None:
    both = [edited(reference, tmp_path / name, {}) for name in "ab"]
    for folder in both:
        data = json.loads((folder / MANIFEST).read_text())
        (folder / MANIFEST).write_text(json.dumps(data | {"schedules": 60_000, "per_shard": 60_000}))
    with pytest.raises(CorpusError, match="schedule 3 is missing, although the corpus is complete"):
        compared(*both)


@pytest.mark.parametrize("column", ["json", "judged", "traces"])
def test_a_text_is_not_spread_over_rows_before_it_is_weighed(
    reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, column: str
) -> None:
    """In the file it stands once, whatever is around it."""
    other = edited(reference, tmp_path / "b", {})
    file = other / "schedules" / file_name(0)
    table = pq.read_table(file)
    long = "x" * 100_000

    def swollen(value: Any) -> Any:
        if isinstance(value, str):
            return long
        return [long] if column == "judged" else [played_by | {"stderr": [long]} for played_by in value]

    place = table.schema.get_field_index(column)
    values = pa.array([swollen(value) for value in table[column].to_pylist()], table.schema.field(column).type)
    pq.write_table(table.set_column(place, table.schema.field(column), values), file, compression="zstd")
    monkeypatch.setattr(shards, "MOST_BYTES", 250_000)
    assert file.stat().st_size < 50_000
    with pytest.raises(CorpusError, match=r"part-000000\.parquet is damaged: it has 30\d,\d+ bytes in one part"):
        next(stored_in(corpus(other), 0))


def test_a_schedule_in_a_corpus_is_no_larger_than_one_in_a_file(reference: Path, tmp_path: Path) -> None:
    def long(side: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        side["json"] += " " * (4 << 20)
        side["plan"] = plan_digest(side["json"])

    (stored,) = stored_in(corpus(edited(reference, tmp_path / "b", {1: long})), 0, [1])
    with pytest.raises(CorpusError, match="has more than 4 MiB"):
        stored.group_trace()
