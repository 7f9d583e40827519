"""``corpus check --everything``: whatever is changed in a corpus, what was recorded is read, or that it was not."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet as pq

from corpus_comparison import SCOPE, change, corpus, flip
from recorded_corpora import Edit, LocalModel, edited, order_of, record_here
from sds_conformance.corpus import verdicts
from sds_conformance.corpus.verdicts import COUNTED, Checker
from sds_conformance.exploration.cast_under_test import CastKind
from sds_harness.corpus.errors import CorpusError
from sds_harness.corpus.manifest import MANIFEST
from sds_harness.corpus.reader import verify_folders
from sds_harness.corpus.shards import file_name

pytestmark = pytest.mark.spark

FLIPS = 20


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpora") / "reference"
    return record_here(folder, order_of(schedules=10), twins=True, per_shard=6)


def checked(folder: Path, *, everything: bool) -> dict[str, int]:
    """The counts of the tasks of a check. Raises their errors."""
    read = corpus(folder)
    counted = {"steps": 0, "rows": 0}
    if everything:
        verify_folders(read)
    for shard in range(read.manifest.shards):
        for batch in Checker(read, SCOPE, everything)(shard):
            for row in batch.to_pylist():
                if row["kind"] == COUNTED:
                    counted[row["what"]] += row["schedules"]
    return counted


@pytest.mark.parametrize("casting", CastKind)
def test_what_was_recorded_is_verified(tmp_path: Path, casting: CastKind) -> None:
    folder = record_here(
        tmp_path / "c", order_of(LocalModel(dialect="nim-sds"), 9, casting=casting), twins=True, per_shard=6
    )
    manifest = corpus(folder).manifest
    assert checked(folder, everything=True) == {"steps": manifest.steps, "rows": manifest.rows}
    assert manifest.rows


def in_row(**values: Any) -> Edit:
    return change(5, **values)


def in_side(**values: Any) -> Edit:
    def edit(side: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        side |= values

    return edit


@pytest.mark.parametrize(
    ("edit", "column", "always"),
    [
        (in_row(participant="mallory"), "participant", False),
        (in_row(delivered=["nobody#m9"]), "delivered", False),
        (in_row(row_hash=flip), "row_hash", False),
        (in_row(message_id="x"), "message_id", False),
        (in_row(filter=flip), "filter", False),
        (in_side(ending="storm"), "ending", False),
        (in_side(steps=-1), "-1", True),
        (in_side(steps=2**31 - 1), "2147483647", True),
    ],
)
def test_what_digests_do_not_show_is_found(
    reference: Path, tmp_path: Path, edit: Edit, column: str, always: bool
) -> None:
    """Everything, in a mode that reads everything; steps that there are not, always."""
    other = edited(reference, tmp_path / "b", {7: edit}, honest=False)
    with pytest.raises(CorpusError, match=rf"schedule 7.*{column}"):
        checked(other, everything=True)
    if always:
        with pytest.raises(CorpusError, match=rf"schedule 7.*{column}"):
            checked(other, everything=False)
    else:
        checked(other, everything=False)


def without_twins(folder: Path) -> None:
    rewrite(folder, twins_every=0)


def with_a_shard_too_many(folder: Path) -> None:
    for name in ("steps", "schedules"):
        shutil.copy(folder / name / file_name(0), folder / name / file_name(2))


def with_a_row_of_no_schedule(folder: Path) -> None:
    file = folder / "steps" / file_name(1)
    table = pq.read_table(file)
    stranger = pa.Table.from_pylist([table.slice(0, 1).to_pylist()[0] | {"schedule": 99}], table.schema)
    pq.write_table(pa.concat_tables([table, stranger]), file)


def with_half_of_the_twins(folder: Path) -> None:
    for name in ("steps", "schedules"):
        file = folder / "twins" / name / file_name(0)
        table = pq.read_table(file)
        pq.write_table(table.filter(pc.field("schedule") != 1), file)


def rewrite(folder: Path, **values: Any) -> None:
    data = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps(data | values))


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (without_twins, r"twins/steps/part-000000\.parquet does not belong there"),
        (with_a_shard_too_many, r"steps/part-000002\.parquet does not belong there"),
        (with_a_row_of_no_schedule, r"part-000001\.parquet has 4 schedules and \d+ rows, of which 4 and \d+"),
        (with_half_of_the_twins, r"is compared with"),
    ],
)
def test_nothing_stands_there_that_no_schedule_accounts_for(
    reference: Path, tmp_path: Path, damage: Callable[[Path], None], why: str
) -> None:
    other = edited(reference, tmp_path / "b", {})
    damage(other)
    with pytest.raises(CorpusError, match=why):
        checked(other, everything=True)


@pytest.mark.parametrize("what", ["steps", "rows"])
def test_counts_in_the_manifest_are_held_to_what_there_is(reference: Path, tmp_path: Path, what: str) -> None:
    other = edited(reference, tmp_path / "b", {})
    rewrite(other, **{what: 1})
    read = corpus(other)
    with pytest.raises(CorpusError, match=rf"has [\d,]+ {what}, and the manifest says 1\."):
        verdicts.hold_counts(read, checked(other, everything=True))
    verdicts.hold_counts(read, {})


def everything_in(folder: Path) -> dict[str, Any]:
    """All that any reader reads of a corpus."""
    tables = {str(file.relative_to(folder)): pq.read_table(file) for file in sorted(folder.rglob("*.parquet"))}
    return {**tables, MANIFEST: json.loads((folder / MANIFEST).read_text())}


def test_a_bit_that_is_flipped_is_found_or_changes_nothing(reference: Path, tmp_path: Path) -> None:
    chance, before = random.Random(7), everything_in(reference)
    files = sorted(reference.rglob("*.parquet"))
    found = 0
    for number in range(FLIPS):
        other = shutil.copytree(reference, tmp_path / str(number))
        file = other / chance.choice(files).relative_to(reference)
        raw = bytearray(file.read_bytes())
        raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
        file.write_bytes(raw)
        try:
            checked(other, everything=True)
        except CorpusError:
            found += 1
        else:
            assert everything_in(other) == before, f"flip {number}, in {file}"
    assert found > FLIPS / 2
