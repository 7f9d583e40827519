"""``corpus record`` and ``corpus check``: what is recorded is judged as if it had been played."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from run_helpers import broken_adapter, reference_command
from sds_conformance.exploration.campaign import CampaignOrder, explore
from sds_conformance.exploration.cast_under_test import CastKind
from suite_terminal import too_wide, typed, words

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")
from pyarrow import parquet as pq

from recorded_corpora import LocalModel, edited, order_of, record_here, recording_of
from sds_conformance.corpus.kinds import kind_of
from sds_conformance.corpus.restarting_cast import RestartingCast
from sds_conformance.corpus.verdicts import check, check_here
from sds_harness.corpus.errors import CorpusError, NotDrivenError
from sds_harness.corpus.manifest import Corpus, read_complete
from sds_harness.corpus.place import Place
from sds_harness.corpus.recorder import prepare, record, record_shard
from sds_harness.corpus.shards import file_name
from sds_proto.testee.v1 import testee_pb2 as pb

pytestmark = pytest.mark.spark

REFERENCE = reference_command()
FAULTY = LocalModel(mutant="sync-does-not-increase")


def corpus(folder: Path) -> Corpus:
    return read_complete(Place.from_name(str(folder)), kind_of)


@pytest.mark.parametrize("casting", CastKind)
def test_the_verdicts_are_those_of_a_campaign_with_the_same_schedules(tmp_path: Path, casting: CastKind) -> None:
    order = order_of(FAULTY, 9, casting=casting)
    stored = check_here(corpus(record_here(tmp_path / "c", order, twins=True, per_shard=4)), order.scope)
    live = explore(order)
    assert live.found
    assert live.exercised["G-35"], "a property that compares group traces"
    assert stored == replace(live, seconds=0.0)


def test_spark_gives_the_verdicts_of_this_process(spark: Any, tmp_path: Path) -> None:
    order = order_of(FAULTY, 6, seed=5)
    stored = corpus(record_here(tmp_path / "c", order, twins=True, per_shard=4))
    printed: list[tuple[int, int]] = []
    here = check_here(stored, order.scope, lambda done, of: printed.append((done, of)), everything=True)
    assert printed == [(4, 6), (6, 6)]
    assert here.found
    assert here == check(spark, stored, order.scope, everything=True)


def connect_reference() -> Any:
    from sds_conformance.cli.implementation_options import DrivenImplementation
    from sds_harness.link import Limits
    from sds_testee.framing import Framing

    return DrivenImplementation(tuple(REFERENCE), Framing.BINARY, "", Limits()).connect


def test_only_what_is_missing_is_recorded_again(spark: Any, tmp_path: Path) -> None:
    order, folder = CampaignOrder(connect_reference(), examples=10), tmp_path / "c"
    recording = recording_of(folder, order, per_shard=4)
    assert prepare(recording, overwrite=False) == set()
    outcome = record(spark, recording)
    assert (outcome.recorded, outcome.known, outcome.troubles) == (10, 0, ())
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["complete"]
    assert manifest["rows"] == pq.read_table(folder / "steps").num_rows == outcome.rows
    for name in ("schedules", "steps"):
        (folder / name / file_name(1)).unlink()
    (folder / "_SUCCESS").unlink()
    (folder / "steps" / f".tmp-1-{file_name(1)}").write_bytes(b"half a file")
    kept = (folder / "steps" / file_name(0)).stat().st_mtime_ns
    assert prepare(recording, overwrite=False) == {0, 2}
    outcome = record(spark, recording)
    assert (outcome.recorded, outcome.known) == (4, 6)
    assert (folder / "_SUCCESS").exists()
    assert (folder / "steps" / file_name(0)).stat().st_mtime_ns == kept
    assert not list((folder / "steps").glob(".tmp-*"))
    without_spark = record_here(tmp_path / "without Spark", order, per_shard=4)
    for name in ("steps", "schedules"):
        assert pq.read_table(folder / name).equals(pq.read_table(without_spark / name))


def test_a_corpus_of_something_else_is_not_touched(tmp_path: Path) -> None:
    record_here(tmp_path / "c", order_of(schedules=2))
    other = recording_of(tmp_path / "c", order_of(schedules=2, seed=1))
    with pytest.raises(CorpusError, match="seed is 0, not 1: name another folder, or replace it with --overwrite"):
        prepare(other, overwrite=False)
    assert prepare(other, overwrite=True) == set()


@pytest.mark.parametrize("name", ["steps", "schedules", "twins", "twins/steps"])
def test_a_corpus_is_not_continued_through_a_link(name: str, tmp_path: Path) -> None:
    order = order_of(schedules=2)
    recording = recording_of(record_here(tmp_path / "c", order, twins=True), order, twins=True)
    assert prepare(recording, overwrite=False) == {0}
    (tmp_path / "c" / name).rename(tmp_path / "elsewhere")
    (tmp_path / "c" / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CorpusError, match=f"has a symbolic link in it, {name}: name another folder"):
        prepare(recording, overwrite=False)


def test_nothing_is_removed_from_a_folder_that_is_not_replaced(tmp_path: Path) -> None:
    """A corpus in a folder with notes, and a project that has a manifest.json and steps/ of its own."""
    record_here(tmp_path / "c", order_of(schedules=2))
    (tmp_path / "c" / "notes.txt").write_text("years of work")
    (tmp_path / "d" / "steps").mkdir(parents=True)
    (tmp_path / "d" / "steps" / "one.py").write_text("years of work")
    (tmp_path / "d" / "manifest.json").write_text('{"name": "my web application"}')
    for name, why in (("c", r"other files in it \(notes\.txt\)"), ("d", "does not belong to a corpus")):
        before = sorted((tmp_path / name).rglob("*"))
        recording = recording_of(tmp_path / name, order_of(schedules=2))
        with pytest.raises(CorpusError, match=why):
            prepare(recording, overwrite=True)
        assert sorted((tmp_path / name).rglob("*")) == before


def test_shards_of_another_corpus_are_damage(tmp_path: Path) -> None:
    """No digest is over all shards; but seed, players and cast are in each."""
    mine = record_here(tmp_path / "mine", order_of(FAULTY, 12), twins=True, per_shard=6)
    model = record_here(tmp_path / "model", order_of(LocalModel(), 12), twins=True, per_shard=6)
    seed = record_here(tmp_path / "seed", order_of(FAULTY, 12, seed=1), twins=True, per_shard=6)

    def judge(folder: Path) -> None:
        check_here(corpus(folder), order_of().scope)

    judge(mine)
    for source, why in ((model, "was played by the reference"), (seed, "belongs to another corpus")):
        copied = shutil.copytree(mine, tmp_path / f"of {source.name}")
        for name in ("steps", "schedules"):
            shutil.copy(source / name / file_name(1), copied / name / file_name(1))
        with pytest.raises(CorpusError, match=why):
            judge(copied)

    def nobody(side: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        side["judged"] = ["nobody"]

    with pytest.raises(CorpusError, match="other participants under test"):
        judge(edited(mine, tmp_path / "nobody", {3: nobody}))


def test_the_commands(spark: Any, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    options = ("--schedules", "9", "--participants", "3", "--passage", "syncs", "--framing", "binary")
    mutant = reference_command("--mutant", "sync-does-not-increase")
    done = typed("corpus", "record", "--out", folder, *options, "--", *mutant)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("9 schedules of sds_reference mutant sync-does-not-increase")
    again = typed("corpus", "record", "--out", folder, *options, "--json", "--", *mutant)
    assert (json.loads(again.stdout)["recorded"], json.loads(again.stdout)["known"]) == (0, 9)
    judged = typed("corpus", "check", folder)
    assert judged.exit_code == 1, judged.output
    assert "Starting Spark" not in judged.stderr, "a small corpus is judged without the slow start of Spark"
    assert "FAIL  SDS-SYNC-03" in judged.stdout
    assert f"corpus show {folder}" in words(judged.stdout)
    assert not [line for line in too_wide(judged.stdout) if str(folder) not in line]
    printed = json.loads(typed("corpus", "check", folder, "--json").stdout)
    few = ("--schedules", "9", "--participants", "3", "--passage", "syncs", "--jobs", "1", "--framing", "binary")
    fuzzed = json.loads(typed("fuzz", *few, "--json", "--out", tmp_path / "x", "--", *mutant).stdout)
    assert {f["id"]: f["schedules"] for f in printed["findings"]} == {
        f["id"]: f["schedules"] for f in fuzzed["findings"]
    }
    assert (printed["exercised"], printed["steps"]) == (fuzzed["exercised"], fuzzed["steps"])


def test_another_release_in_the_middle_ends_a_recording(tmp_path: Path) -> None:
    recording = recording_of(tmp_path / "c", order_of(LocalModel(), 6))
    prepare(recording, overwrite=False)
    for other in (LocalModel(mutant="sync-does-not-increase"), LocalModel(without=frozenset({pb.CAPABILITY_OBSERVE}))):
        with pytest.raises(NotDrivenError, match=r"is of the reference .* but the process for seed 0, schedule 0"):
            record_shard(replace(recording, cast_under_test=partial(RestartingCast, order_of(other, 6))), 0)
    assert not list((tmp_path / "c" / "steps").glob("part-*"))
    record_shard(recording, 0)


def test_who_cannot_be_driven_is_reported_before_anything_is_written(tmp_path: Path) -> None:
    done = typed(
        "corpus", "record", "--out", tmp_path / "c", "--start-timeout", "0.3", "--", *broken_adapter("hangs-at-start")
    )
    assert done.exit_code == 3
    assert "could not be tested" in done.output
    assert not (tmp_path / "c").exists()


def test_a_running_server_gives_the_corpus_that_its_command_gives(spark: Any, tmp_path: Path) -> None:
    few = ("--schedules", "6", "--participants", "3")
    over_pipes, over_grpc = tmp_path / "pipes", tmp_path / "grpc"
    command = reference_command()
    assert typed("corpus", "record", "--out", over_pipes, *few, "--", *command).exit_code == 0
    with tempfile.TemporaryDirectory() as folder:
        address = f"unix:{folder}/s"
        server = subprocess.Popen([*command, "--grpc", address])
        try:
            assert typed("corpus", "record", "--out", over_grpc, *few, "--grpc", address).exit_code == 0
        finally:
            server.terminate()
            server.wait(10)
    manifest = json.loads((over_grpc / "manifest.json").read_text())
    assert manifest["command"] == [f"grpc://{address}"]
    assert manifest["steps"] > 100
    result = typed("corpus", "diff", over_pipes, over_grpc, "--out", tmp_path / "difference", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["same"]
