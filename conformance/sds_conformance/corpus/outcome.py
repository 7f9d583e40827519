"""What a diff leaves in its folder: a page for people, and the same numbers for programs."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
from pyarrow import parquet as pq

from sds_harness.corpus.errors import CorpusError
from sds_harness.corpus.manifest import Corpus
from sds_harness.corpus.place import TEMPORARY, Place
from sds_harness.corpus.shards import shard_of
from sds_harness.declaration import printable
from sds_harness.json_text import dumps

from .diffing import DIVERGENCES, Difference
from .page import page
from .samples import SAMPLES, Sample, of_cause
from .summing import most_common

SUMMARY, PAGE, CAUSES = "summary.json", "index.html", "causes.parquet"
FORMAT = "sds-corpus-diff-1"
"""Stands in the summary: only a folder with one is ever replaced, or what an interrupted diff left."""


_CAUSES: dict[str, pa.DataType] = {
    "class": pa.string(),
    "cause": pa.string(),
    "reason": pa.string(),
    "schedules": pa.int64(),
    "least_step": pa.int32(),
    "examples": pa.list_(pa.int64()),
}


def prepare_folder(place: Place, *, overwrite: bool) -> None:
    """Make the folder, or empty it. Raises CorpusError where anything else is in it."""
    found = place.names()
    if found:
        if not overwrite:
            raise CorpusError(f"{place.shown} is not empty: name another folder, or replace it with --overwrite.")
        known = {SUMMARY, PAGE, CAUSES, DIVERGENCES, SAMPLES}
        if strange := set(found) - known:
            raise CorpusError(f"{place.shown} has other files in it ({min(strange)}): name another folder.")
        if not _of_a_diff(place, found):
            raise CorpusError(f"{place.shown} has files in it that are of no diff: name another folder.")
        for name in found:
            (place / name).remove()
    place.make()


def _of_a_diff(place: Place, found: list[str]) -> bool:
    """Does the summary say so, or, where a diff was interrupted before there was one, are there nothing but its
    divergences?"""
    if SUMMARY in found:
        try:
            data = json.loads((place / SUMMARY).read_text())
        except (CorpusError, ValueError, RecursionError):
            return False
        return isinstance(data, dict) and data.get("format") == FORMAT
    return DIVERGENCES in found and all(
        name.startswith(TEMPORARY) or shard_of(name) is not None for name in (place / DIVERGENCES).names()
    )


def as_json(difference: Difference, samples: list[Sample]) -> dict[str, Any]:
    """The outcome as JSON values."""
    return {
        "format": FORMAT,
        "a": _told(difference.a),
        "b": _told(difference.b),
        "same": difference.same,
        "schedules": difference.identical + difference.divergent,
        "identical": difference.identical,
        "divergent": difference.divergent,
        "classes": {kind.value: count for kind, count in difference.classes.items()},
        "causes": [
            {
                "class": cause.kind.value,
                "cause": cause.cause,
                "reason": cause.reason,
                "schedules": cause.schedules,
                "least_step": cause.least_step,
                "examples": list(cause.samples),
                "samples": [sample.file for sample in of_cause(samples, cause)],
            }
            for cause in difference.causes
        ],
        "other_causes": difference.other_causes,
        "violated_a": most_common(difference.found.violated_a),
        "violated_b": most_common(difference.found.violated_b),
        "fields": most_common(difference.found.fields),
        "depths": {
            kind.value: {str(1 << depth): count for depth, count in sorted(known.items())}
            for kind, known in difference.depths.items()
        },
        "seconds": round(difference.seconds, 3),
    }


def finish(difference: Difference, samples: list[Sample], told: dict[str, Any], place: Place) -> None:
    """Write all but the divergences and the samples, which are there. Raises CorpusError."""
    causes = [{key: value for key, value in cause.items() if key != "samples"} for cause in told["causes"]]
    with (place / CAUSES).writing() as half:
        pq.write_table(
            pa.Table.from_pylist(causes, pa.schema(_CAUSES)), half.root, filesystem=half.system, compression="zstd"
        )
    (place / PAGE).write_text(page(difference, samples))
    (place / SUMMARY).write_text(dumps(told, indent=2) + "\n")


def _told(corpus: Corpus) -> dict[str, Any]:
    manifest = corpus.manifest
    return {
        "corpus": corpus.place.shown,
        "name": printable(str(manifest.implementation.get("name", ""))),
        "version": printable(str(manifest.implementation.get("version", ""))),
        "schedules": manifest.schedules,
        "steps": manifest.steps,
        "revision": printable(manifest.revision),
        "cast": printable(manifest.casting),
        "dialect": printable(manifest.dialect),
        "suite": printable(manifest.suite_version),
    }
