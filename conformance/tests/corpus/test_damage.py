"""Corpora that are damaged, forged, or none: reported in a sentence, and never taken for the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")
import pyarrow as pa
from pyarrow import parquet as pq

from corpus_comparison import SCHEDULES, change, compared, corpus
from recorded_corpora import Edit, edited, order_of, record_here
from sds_conformance.corpus.difference import read_stored
from sds_conformance.exploration.assessment import Scope, judged_revision
from sds_harness.corpus.errors import CorpusError
from sds_harness.corpus.manifest import MANIFEST, SUCCESS
from sds_harness.corpus.shards import file_name

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record_here(tmp_path_factory.mktemp("corpora") / "reference", order_of(schedules=SCHEDULES), per_shard=10)


def cut_short(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-200])


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def removed(file: Path) -> None:
    file.unlink()


def other_columns(file: Path) -> None:
    pq.write_table(pa.table({"schedule": [1]}), file)


def garbled(file: Path) -> None:
    """A few bits, in a column that is read."""
    metadata = pq.read_metadata(file)
    group = metadata.row_group(0)
    columns = [group.column(number) for number in range(group.num_columns)]
    column = next(c for c in columns if c.path_in_schema in ("row_hash", "digest"))
    raw = bytearray(file.read_bytes())
    raw[column.data_page_offset + column.total_compressed_size - 3] ^= 0x5A
    file.write_bytes(raw)


@pytest.mark.parametrize("folder", ["steps", "schedules"])
@pytest.mark.parametrize("damage", [cut_short, emptied, removed, other_columns, garbled])
def test_a_damaged_file_is_named(reference: Path, tmp_path: Path, folder: str, damage: Callable[[Path], None]) -> None:
    other = edited(reference, tmp_path / "b", {number: change(5, at_ms=-1) for number in range(10, 20)})
    damage(other / folder / file_name(1))
    with pytest.raises(CorpusError, match=rf"{folder}/{file_name(1)}|shard"):
        compared(reference, other, verify=True)


def test_files_of_two_attempts_are_no_pair(reference: Path, tmp_path: Path) -> None:
    other = edited(reference, tmp_path / "b", {})
    again = edited(reference, tmp_path / "c", {11: change(5, at_ms=1)})
    (again / "steps" / file_name(1)).replace(other / "steps" / file_name(1))
    with pytest.raises(CorpusError, match="were not written together"):
        compared(reference, other)


def rewritten(folder: Path, old: str, new: str) -> None:
    file = folder / MANIFEST
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('"schema_version": 2', '"schema_version": 3', "is of schema version 3, and this suite reads versions 1 and 2"),
        ('"seed": 0', '"seed": 5', r"have different schedules.*seed: 0 and 5"),
        ('"most": 8', '"most": 4', r"have different schedules.*grammar"),
        ('"complete": true', '"complete": false', "is not complete"),
        ('"per_shard": 10', '"per_shard": 0', "0 is not a possible number of schedules in a shard"),
        ('"seed": 0', '"seed": "0"', "seed is not of type int"),
        ('"seed": 0', '"mood": 0', "has a field 'mood'"),
        ("{", "[", "is not JSON"),
    ],
)
def test_a_manifest_that_does_not_do_is_reported(reference: Path, tmp_path: Path, old: str, new: str, why: str) -> None:
    other = edited(reference, tmp_path / "b", {})
    rewritten(other, old, new)
    with pytest.raises(CorpusError, match=why):
        compared(reference, other)


def test_what_is_no_corpus_is_reported(reference: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(CorpusError, match=r"is not a corpus: it has no manifest\.json"):
        compared(reference, tmp_path / "empty")
    with pytest.raises(CorpusError, match="is not there"):
        compared(reference, tmp_path / "nowhere")
    other = edited(reference, tmp_path / "b", {})
    (other / SUCCESS).unlink()
    with pytest.raises(CorpusError, match="is not complete"):
        compared(reference, other)


def test_schedules_that_are_others_are_not_compared(reference: Path, tmp_path: Path) -> None:
    def other_plan(side: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        side["plan"] = b"y" * 16

    with pytest.raises(CorpusError, match="different schedules under number 13"):
        compared(reference, edited(reference, tmp_path / "b", {13: other_plan}))


def test_schedules_outside_of_their_shard_are_damage(reference: Path, tmp_path: Path) -> None:
    """The task that compares the shard would leave them to another one, which does not look there."""

    def moved(number: int) -> Edit:
        def edit(side: dict[str, Any], rows: list[dict[str, Any]]) -> None:
            side["schedule"] = number
            for row in rows:
                row["schedule"] = number

        return edit

    for number in (3, 9999):
        other = edited(reference, tmp_path / str(number), {19: moved(number)})
        with pytest.raises(CorpusError, match=r"part-000001\.parquet has schedules .* but should only have 10 to 19"):
            compared(reference, other)


@pytest.mark.parametrize("column", ["reply", "json", "rows"])
def test_all_digests_are_computed_again(reference: Path, tmp_path: Path, column: str) -> None:
    """Those of requests, replies and schedules, too."""

    def edit(side: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        if column == "reply":
            rows[5]["reply"], rows[6]["reply"] = b"x", rows[5]["reply"]
        else:
            side[column] = side[column].replace("0", "1") if column == "json" else side[column] + 1

    other = edited(reference, tmp_path / "b", {7: edit}, honest=False)
    assert compared(reference, other) == {}
    found = compared(reference, other, verify=True)
    assert [(one.schedule, one.kind, one.side) for one in found.values()] == [(7, "stale digest", "B")]


def test_a_revision_that_nobody_knows_is_not_judged_as_another(reference: Path, tmp_path: Path) -> None:
    assert judged_revision("forum-2024") == "forum-2024"
    assert judged_revision("") == Scope.select().revision
    other = edited(reference, tmp_path / "b", {})
    rewritten(other, '"revision": "sds-2026-01"', '"revision": "sds-2027-01"')
    with pytest.raises(CorpusError, match=r"manifest\.json: 'sds-2027-01' is a revision that this suite does not know"):
        corpus(other)


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("hello", b"", "a stored handshake is invalid"),
        ("dialect", '{"dialect": "x", "message": {"nothing": 1}}', "a dialect cannot be read"),
        ("dialect", '{"dialect": "x", "message": {"sender_id": -1}}', "a dialect cannot be read"),
        ("dialect", "[" * 100_000, "a dialect cannot be read"),
    ],
)
def test_what_cannot_have_played_is_damage(reference: Path, tmp_path: Path, name: str, value: object, why: str) -> None:
    def edit(side: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        side["traces"] = [played_by | {name: value} for played_by in side["traces"]]

    other = corpus(edited(reference, tmp_path / "b", {3: edit}))
    with pytest.raises(CorpusError, match=why):
        next(read_stored(other, [3])).group_trace()
