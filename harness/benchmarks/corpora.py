"""Makes two large corpora for ``corpora_rivals.py``.

    python harness/benchmarks/corpora.py FOLDER [--rows N] [--divergent PERCENT]

The corpora repeat the rows of a few recorded schedules. Corpus B is a copy of corpus A in which one schedule in a
thousand is changed in one of ten known ways. A list of the changes is written to the same folder. Needs the extra
`spark`.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet as pq

from sds_conformance.corpus.restarting_cast import RestartingCast
from sds_conformance.exploration.campaign import CampaignOrder
from sds_harness.corpus.digests import join_hashes, schedule_digest
from sds_harness.corpus.manifest import MANIFEST, SIDE, STEPS, SUCCESS, Manifest, declaration_json
from sds_harness.corpus.place import Place
from sds_harness.corpus.recorder import Recording, prepare, record_shard
from sds_harness.corpus.schema import SIDE_COLUMNS, SIDE_SCHEMA
from sds_harness.corpus.shards import column_writer, file_name
from sds_harness.link import LocalLink
from sds_harness.sds.corpora import COLUMNS, KIND
from sds_reference.testee.server import Testee, TesteeOptions

SEEDS = 256
"""Number of recorded schedules, which the corpora repeat. The rows of these schedules fill four row groups."""
PER_SHARD = 4096
TOKEN = "benchmark"
TRUTH = "truth.json"
"""The file in the folder of the corpora that lists how they were made, and all changes. It is written last."""

WIRE = "one bit of the content"
Change = Callable[[dict[str, Any]], None]
CHANGES: dict[str, Change] = {
    "one bit of 64": lambda row: row.update(lamport=row["lamport"] ^ 1),
    "a delivery more": lambda row: row.update(delivered=[*row["delivered"], "nobody#m9"]),
    "another participant": lambda row: row.update(participant="mallory"),
    "another answer": lambda row: row.update(answer="rejected"),
    "a millisecond": lambda row: row.update(at_ms=row["at_ms"] + 1),
    WIRE: lambda row: row.update(wire=row["wire"] ^ 1),
    "an acknowledgement": lambda row: row.update(acknowledged=["alice#m1", "bob#m2"]),
    "another log": lambda row: row.update(log=row["log"] ^ (1 << 60)),
    "a loss": lambda row: row.update(lost=["alice#m1"]),
    "another buffer": lambda row: row.update(repairs=row["repairs"] ^ (1 << 62)),
}


def connect(variables: object) -> LocalLink:
    return LocalLink(Testee(TesteeOptions("1", name="the reference")).handle)


def recorded(folder: Path) -> tuple[Manifest, pa.Table, pa.Table]:
    """Record a few schedules. Returns the manifest, the rows, and the side table, which has a row per schedule."""
    order = CampaignOrder(connect, examples=SEEDS)
    cast_under_test = order.cast_under_test()
    manifest = Manifest(
        declaration_json(cast_under_test.start(), KIND), 0, SEEDS, {}, order.revision, "together", "", SEEDS
    )
    cast_under_test.kill()
    recording = Recording(Place.from_name(str(folder)), manifest, KIND, partial(RestartingCast, order))
    prepare(recording, overwrite=False)
    record_shard(recording, 0)
    return manifest, pq.read_table(folder / STEPS), pq.read_table(folder / SIDE)


def make(folder: Path, rows: int, percent: float) -> tuple[list[Path], list[dict[str, Any]]]:
    """Make two corpora of ``rows`` rows, in which ``percent`` of the schedules differ. Returns their folders and the
    list of changes.
    """
    manifest, steps, side = recorded(folder / "seeds")
    schedules = max(SEEDS, round(rows / steps.num_rows) * SEEDS)
    manifest = replace(manifest, schedules=schedules, per_shard=PER_SHARD)
    chance = random.Random(7)
    changed = sorted(chance.sample(range(schedules), max(10, round(schedules * percent / 100))))
    plain = steps.to_pylist()
    firsts = np.cumsum([0, *side["rows"].to_pylist()])
    truth, kinds = [], list(CHANGES)
    out = [folder / "a", folder / "b"]
    for place in out:
        for name in (STEPS, SIDE):
            (place / name).mkdir(parents=True)
    edits: dict[int, list[dict[str, Any]]] = {}
    for turn, number in enumerate(changed):
        seed, kind = number % SEEDS, kinds[turn % len(kinds)]
        block = [dict(row) for row in plain[firsts[seed] : firsts[seed + 1]]]
        # Do not change a 0: a tool that rounds the column to doubles misses one bit of other values, but sees 1 in
        # place of 0.
        step = chance.choice([row["step"] for row in block if row["step"] and (kind != WIRE or row["wire"])] or [1])
        row = next(row for row in block if row["step"] == step)
        CHANGES[kind](row)
        row["row_hash"] = COLUMNS.hash_of(row)
        edits[number] = block
        truth.append({"schedule": number, "step": step, "participant": row["participant"], "kind": kind})
    for shard in range(manifest.shards):
        _write_shard(out, manifest, shard, steps, side, firsts, edits)
    total = steps.num_rows * (schedules // SEEDS)
    for place in out:
        text = replace(manifest, rows=total, steps=total, complete=True).to_json()
        (place / MANIFEST).write_text(text)
        (place / SUCCESS).write_text("")
    return out, truth


def make_or_reuse(folder: Path, rows: int, percent: float) -> tuple[list[Path], list[dict[str, Any]]]:
    """Make the corpora in a folder that the user keeps. Existing corpora of the requested size are reused."""
    known = folder / TRUTH
    if not known.exists():
        if folder.exists() and any(folder.iterdir()):
            sys.exit(f"{folder} is not empty, and its corpora were never finished: remove it, or name another folder")
        folder.mkdir(parents=True, exist_ok=True)
        _, changes = make(folder, rows, percent)
        known.write_text(json.dumps({"rows": rows, "divergent": percent, "changes": changes}))
    found = json.loads(known.read_text())
    if (found["rows"], found["divergent"]) != (rows, percent):
        sys.exit(
            f"{folder} has corpora of other sizes: {found['rows']:,} rows, {found['divergent']} % of the schedules "
            "divergent. Give these sizes, or name another folder."
        )
    return load(folder)


def load(folder: Path) -> tuple[list[Path], list[dict[str, Any]]]:
    """The corpora that ``make_or_reuse`` made in a folder, and the list of changes."""
    try:
        changes: list[dict[str, Any]] = json.loads((folder / TRUTH).read_text())["changes"]
    except FileNotFoundError:
        sys.exit(f"{folder} has no {TRUTH}: make corpora there with corpora.py {folder}")
    return [folder / "a", folder / "b"], changes


def _write_shard(
    out: list[Path],
    manifest: Manifest,
    shard: int,
    steps: pa.Table,
    side: pa.Table,
    firsts: Any,
    edits: dict[int, list[dict[str, Any]]],
) -> None:
    kinds = ((STEPS, COLUMNS.all_columns), (SIDE, SIDE_COLUMNS))
    writers = [
        {
            name: column_writer(Place.from_name(str(folder / name / file_name(shard))), columns, TOKEN)
            for name, columns in kinds
        }
        for folder in out
    ]
    numbers = manifest.range_of(shard)
    all_sides: tuple[list[pa.Table], list[pa.Table]] = ([], [])
    for start in range(numbers.start, numbers.stop, 64):
        seed = start % SEEDS
        block = steps.slice(firsts[seed], firsts[seed + 64] - firsts[seed])
        sides = side.slice(seed, 64)
        block, sides = (_moved(table, start - seed) for table in (block, sides))
        writers[0][STEPS].write_table(block, row_group_size=block.num_rows)
        all_sides[0].append(sides)
        for number in (n for n in range(start, start + 64) if n in edits):
            block, sides = _edited(block, sides, number, edits[number])
        writers[1][STEPS].write_table(block, row_group_size=block.num_rows)
        all_sides[1].append(sides)
    for known, tables in zip(writers, all_sides, strict=True):
        known[SIDE].write_table(pa.concat_tables(tables))
        for writer in known.values():
            writer.close()


def _moved(table: pa.Table, by: int) -> pa.Table:
    return table.set_column(0, table.schema.field(0), pa.array(table["schedule"].to_numpy() + by))


def _edited(block: pa.Table, sides: pa.Table, number: int, rows: list[dict[str, Any]]) -> tuple[pa.Table, pa.Table]:
    at = np.flatnonzero(block["schedule"].to_numpy() == number)
    rows = [row | {"schedule": number} for row in rows]
    changed = pa.Table.from_pylist(rows, COLUMNS.schema)
    block = pa.concat_tables([block.slice(0, at[0]), changed.cast(block.schema), block.slice(at[-1] + 1)])
    known = sides.to_pylist()
    digest = schedule_digest(join_hashes(row["row_hash"] for row in rows if row["step"]))
    for row in known:
        if row["schedule"] == number:
            row["digest"] = digest
    return block, pa.Table.from_pylist(known, SIDE_SCHEMA).cast(sides.schema)


def main() -> None:
    parsing = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parsing.add_argument("folder", type=Path, help="folder for the corpora; existing ones are reused")
    parsing.add_argument("--rows", type=int, default=1_000_000, help="rows a side (default 1,000,000)")
    parsing.add_argument("--divergent", type=float, default=0.1, help="percent of schedules that differ (default 0.1)")
    asked = parsing.parse_args()
    corpora, truth = make_or_reuse(asked.folder, asked.rows, asked.divergent)
    size = sum(file.stat().st_size for place in corpora for file in place.rglob("*.parquet"))
    digests = sum(file.stat().st_size for place in corpora for file in (place / SIDE).rglob("*.parquet"))
    print(f"{len(truth):,} schedules differ; the corpora have {size:,} bytes, of which {digests:,} are in side tables")


if __name__ == "__main__":
    main()
