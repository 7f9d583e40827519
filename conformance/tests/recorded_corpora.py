"""Corpora for tests, recorded in this process and without Spark: as its tasks would, one shard after the other."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sds_conformance.corpus.kinds import kind_of
from sds_conformance.corpus.restarting_cast import RestartingCast
from sds_conformance.exploration.campaign import CampaignOrder
from sds_conformance.exploration.cast_under_test import CastKind
from sds_harness.corpus.digests import join_hashes, schedule_digest
from sds_harness.corpus.manifest import MANIFEST, SUCCESS, Manifest, declaration_json, grammar_json, read_corpus
from sds_harness.corpus.place import Place
from sds_harness.corpus.reader import stored_in
from sds_harness.corpus.recorder import Recording, prepare, record_shard
from sds_harness.corpus.rows import Recorded
from sds_harness.corpus.shards import ShardWriter, file_name
from sds_harness.link import Link, LocalLink
from sds_harness.sds.corpora import KIND
from sds_harness.sds.generator import ANYTHING, Grammar
from sds_reference import Config, Participant
from sds_reference.mutants import MUTANTS
from sds_reference.testee.dialect import load_dialect
from sds_reference.testee.server import Testee, TesteeOptions
from sds_reference.variants import VARIANTS
from sds_testee.version import suite_version

PER_SHARD = 64


@dataclass(frozen=True)
class LocalModel:
    """The reference in this process: as it is, with a fault, or with another legal choice."""

    mutant: str = ""
    variant: str = ""
    without: frozenset[int] = frozenset()
    """Capabilities that it does not declare."""
    dialect: str = ""
    """In which it speaks, and says so."""

    def __call__(self, variables: Mapping[str, str]) -> Link:
        config = VARIANTS[self.variant].configure(Config()) if self.variant else Config()
        dialect = load_dialect(self.dialect) if self.dialect else None
        if self.mutant:
            mutant = MUTANTS[self.mutant]
            options = TesteeOptions(
                suite_version(),
                mutant.configure(config),
                mutant.participant_class,
                f"mutant {mutant.name}",
                dialect=dialect,
            )
        else:
            participant = VARIANTS[self.variant].participant_class if self.variant else Participant
            named = f"the reference {self.variant}".strip()
            options = TesteeOptions(suite_version(), config, participant, named, without=self.without, dialect=dialect)
        return LocalLink(Testee(options).handle)


def order_of(
    model: Callable[[Mapping[str, str]], Link] = LocalModel(),
    schedules: int = 24,
    *,
    seed: int = 0,
    casting: CastKind = CastKind.TOGETHER,
    grammar: Grammar = ANYTHING,
) -> CampaignOrder:
    return CampaignOrder(model, casting=casting, grammar=grammar, seed=seed, examples=schedules)


def recording_of(folder: Path, order: CampaignOrder, *, twins: bool = False, per_shard: int = PER_SHARD) -> Recording:
    cast_under_test, kind = order.cast_under_test(), kind_of(order.revision)
    manifest = Manifest(
        declaration_json(cast_under_test.start(), kind),
        order.seed,
        order.examples,
        grammar_json(order.grammar or ANYTHING),
        order.revision,
        order.casting.value,
        "",
        per_shard,
        ["it"],
        8 if twins else 0,
    )
    cast_under_test.kill()
    return Recording(Place.from_name(str(folder)), manifest, kind, partial(RestartingCast, order))


def record_here(
    folder: Path, order: CampaignOrder | None = None, *, twins: bool = False, per_shard: int = PER_SHARD
) -> Path:
    """A complete corpus."""
    recording = recording_of(folder, order or order_of(), twins=twins, per_shard=per_shard)
    place, manifest = recording.place, recording.manifest
    prepare(recording, overwrite=False)
    counts = [record_shard(recording, shard) for shard in range(manifest.shards)]
    steps, rows = sum(count.steps for count in counts), sum(count.rows for count in counts)
    (place / MANIFEST).write_text(manifest.completed(steps, rows).to_json())
    (place / SUCCESS).write_text("")
    return folder


Edit = Callable[[dict[str, Any], list[dict[str, Any]]], list[dict[str, Any]] | None]
"""Changes a row of the side table and the rows of the schedule, in place; what it returns are the new rows. A schedule
whose side row is emptied is left out."""


def edited(source: Path, target: Path, edits: Mapping[int, Edit], *, honest: bool = True) -> Path:
    """A copy of a corpus in which some schedules are changed; ``honest`` ones have the digests that belong to them."""
    shutil.copytree(source, target)
    place = Place.from_name(str(target))
    corpus = read_corpus(place, kind_of)
    for shard in {number // corpus.manifest.per_shard for number in edits}:
        known = list(stored_in(corpus, shard, None, None))
        (target / "schedules" / file_name(shard)).unlink()
        with ShardWriter(place, shard, corpus.kind.columns) as writer:
            for one in known:
                side, rows = one.side, one.rows
                if one.schedule in edits:
                    rows = edits[one.schedule](side, rows) or rows
                    if side and honest:
                        refresh(side, rows)
                if side:
                    writer.add(Recorded(side, rows))
    return target


def refresh(side: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    """Hashes and digest that are those of the rows."""
    for row in rows:
        row["row_hash"] = KIND.columns.hash_of(row)
    compared = sorted((row for row in rows if row["step"]), key=lambda row: row["step"])
    side["steps"] = len(compared)
    side["digest"] = schedule_digest(join_hashes(row["row_hash"] for row in compared))
