"""``corpus diff`` and ``corpus show`` as they are typed: exit codes, what they print, and the files they leave."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from run_helpers import reference_command
from suite_terminal import typed, words

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")
from pyarrow import parquet as pq

from recorded_corpora import LocalModel, order_of, record_here
from sds_conformance.corpus import verdicts

pytestmark = pytest.mark.spark

MUTANT = "sync-does-not-increase"


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("corpora")
    models = {
        "reference": LocalModel(),
        "variant": LocalModel(variant="sweep-only"),
        "mutant": LocalModel(mutant=MUTANT),
    }
    return {name: record_here(folder / name, order_of(model, 24), per_shard=10) for name, model in models.items()}


def test_legal_differences_are_no_failure(corpora: dict[str, Path], tmp_path: Path) -> None:
    same = typed("corpus", "diff", *[corpora["reference"]] * 2, "--verify-digests", "--out", tmp_path / "same")
    assert same.exit_code == 0, same.output
    assert "Nothing differs (24 schedules" in same.stdout
    done = typed("corpus", "diff", corpora["reference"], corpora["variant"], "--out", tmp_path / "d")
    assert done.exit_code == 0, done.output
    assert "Only legal differences" in done.stdout
    assert "AMB-94" in done.stdout
    summary = json.loads((tmp_path / "d" / "summary.json").read_text())
    assert summary["same"]
    assert set(summary["classes"]) == {"legal"}
    assert [cause["cause"] for cause in summary["causes"]] == ["sweeps"]


def test_a_fault_is_reported_with_all_that_belongs_to_it(corpora: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "d"
    done = typed("corpus", "diff", corpora["reference"], corpora["mutant"], "--out", out)
    assert done.exit_code == 1, done.output
    assert "B violates: SDS-SYNC-03" in done.stdout
    printed = json.loads((out / "summary.json").read_text())
    rows = pq.read_table(out / "divergences").to_pylist()
    assert len(rows) == printed["divergent"] == sum(printed["classes"].values()) == 24 - printed["identical"]
    assert {row["class"] for row in rows} == set(printed["classes"]) == {"B violates"}
    assert printed["violated_b"]["SDS-SYNC-03"] == len(rows)
    assert sum(printed["depths"]["B violates"].values()) == len(rows)
    assert all(row["participant"] and row["step"] and row["fields"] for row in rows)
    assert pq.read_table(out / "causes.parquet")["schedules"].to_pylist() == [len(rows)]
    (cause,) = printed["causes"]
    assert len(cause["samples"]) == len(cause["examples"]) == 3
    sample = out / cause["samples"][0]
    assert typed("replay", sample, "--", *reference_command()).exit_code == 0
    assert typed("replay", sample, "--", *reference_command("--mutant", MUTANT)).exit_code == 1
    html = (out / "index.html").read_text()
    assert re.findall(r'class="picture" data-side="(.)"', html) == ["A", "B"], "A's picture stands before B's"
    assert html.count("<svg") == 2
    assert len([*(out / "samples").glob("*-schedule-*-[AB].svg")]) == 2
    assert "<script" not in html
    for picture in re.findall(r"<svg.*?</svg>", html, re.DOTALL):
        ElementTree.fromstring(picture)


def test_small_corpora_are_compared_without_spark_and_the_result_is_the_same(
    spark: Any, corpora: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both, printed, rows = (corpora["reference"], corpora["mutant"]), [], []
    for most in (verdicts.MOST_HERE, 0):
        monkeypatch.setattr(verdicts, "MOST_HERE", most)
        out = tmp_path / str(most)
        done = typed("corpus", "diff", "--json", *both, "--out", out)
        assert done.exit_code == 1, done.output
        assert ("Starting Spark" in done.stderr) == (most == 0)
        printed.append(json.loads(done.stdout.replace(str(out), "OUT")) | {"seconds": 0})
        rows.append(pq.read_table(out / "divergences").sort_by("schedule"))
    assert printed[0] == printed[1]
    assert rows[0].num_rows
    assert rows[0].equals(rows[1])


def test_nothing_is_overwritten_unless_asked_for(corpora: dict[str, Path], tmp_path: Path) -> None:
    both = (corpora["reference"], corpora["variant"])
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "thesis.txt").write_text("years of work")
    for options in ((), ("--overwrite",)):
        done = typed("corpus", "diff", *both, "--out", tmp_path / "d", *options)
        assert done.exit_code == 2, done.output
    assert (tmp_path / "d" / "thesis.txt").read_text() == "years of work"
    assert typed("corpus", "diff", *both, "--out", tmp_path / "e").exit_code == 0
    assert typed("corpus", "diff", *both, "--out", tmp_path / "e").exit_code == 2
    assert typed("corpus", "diff", *both, "--out", tmp_path / "e", "--overwrite").exit_code == 0


def test_show(corpora: dict[str, Path], tmp_path: Path) -> None:
    saved = tmp_path / "shown; rm -r"
    done = typed("corpus", "show", corpora["mutant"], "3", "--out", saved)
    assert done.exit_code == 0, done.output
    assert "FAIL SDS-SYNC-03" in done.stdout
    (line,) = [line for line in done.stdout.splitlines() if line.strip().startswith("Replay")]
    again = shlex.split(line.partition("Replay")[2])
    assert again[-4:] == ["replay", str(saved / "schedule-3.json"), "--", "COMMAND"]
    ElementTree.fromstring((saved / "schedule-3.svg").read_text())
    assert typed("replay", saved / "schedule-3.json", "--", *reference_command()).exit_code == 0
    rows = json.loads(typed("corpus", "show", corpora["mutant"], "3", "--steps", "2-4", "--json").stdout)["rows"]
    assert [row["step"] for row in rows] == [2, 3, 4]
    none = typed("corpus", "show", corpora["mutant"], "24")
    assert (none.exit_code, "has the schedules 0 to 23; there is no schedule 24" in words(none.stderr)) == (2, True)
