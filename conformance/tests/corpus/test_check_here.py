"""``corpus check`` without Spark: who judges makes no difference, nor does who is the first to see what is damaged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import waiting

pytest.importorskip("pyarrow")

from compared import SCOPE, corpus
from sds_conformance.corpus import here
from sds_conformance.corpus.here import MOST_HERE, check_here, small
from sds_harness.corpus.errors import CorpusError, SuiteFault
from sds_harness.corpus.manifest import Corpus
from sds_harness.corpus.shards import file_name
from stored import Model, order_of, record_here

pytestmark = pytest.mark.spark

PER_SHARD = 4


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpora") / "faulty"
    return record_here(folder, order_of(Model(mutant="sync-does-not-increase"), 14), twins=True, per_shard=PER_SHARD)


def damage(read: Corpus, shard: int) -> None:
    (Path(read.place.root) / "steps" / file_name(shard)).write_bytes(b"PAR1, and nothing else")


@pytest.mark.parametrize("everything", [False, True])
def test_the_same_however_many_judge(faulty: Path, everything: bool) -> None:
    read = corpus(faulty)
    told: list[tuple[int, int]] = []
    alone = check_here(read, SCOPE, lambda done, of: told.append((done, of)), everything=everything, jobs=1)
    assert alone.schedules == 14
    assert alone.found
    assert told == [(4, 14), (8, 14), (12, 14), (14, 14)]
    told.clear()
    shared = check_here(read, SCOPE, lambda done, of: told.append((done, of)), everything=everything, jobs=3)
    assert shared == alone
    assert told[-1] == (14, 14)
    assert len(told) == 4


@pytest.mark.parametrize("jobs", [1, 3])
def test_of_several_damaged_files_the_first_is_named(tmp_path: Path, jobs: int) -> None:
    read = corpus(record_here(tmp_path / "c", order_of(schedules=14), per_shard=PER_SHARD))
    for shard in (1, 2, 3):
        damage(read, shard)
    with pytest.raises(CorpusError, match=file_name(1)):
        check_here(read, SCOPE, jobs=jobs)


def test_a_large_corpus_is_left_to_spark(faulty: Path) -> None:
    read = corpus(faulty)
    assert small(read)
    assert not small(replace(read, manifest=replace(read.manifest, steps=MOST_HERE + 1)))


def test_a_process_that_is_gone_is_a_fault_of_ours(faulty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(here, "_work", waiting.end_at_once)
    with pytest.raises(SuiteFault, match="ended before its work was done: 7"):
        check_here(corpus(faulty), SCOPE, jobs=2)
