"""Helpers for tests of the golden vectors: the files, copies of them, and implementations."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from run_helpers import REPOSITORY, Handle, reference
from sds_conformance.protocols import all_vectors
from sds_conformance.protocols.sds.catalogue import CURRENT
from sds_conformance.protocols.sds.vectors.material import MATERIAL
from sds_conformance.vectors.canonical import digest, file_digest, format_document
from sds_conformance.vectors.folder import CHANGELOG, LEDGER, MANIFEST, generated_folders, load_of
from sds_conformance.vectors.running.examination import Examination, VectorExaminer, select_files
from sds_conformance.vectors.running.subject import Status
from sds_harness.link import Limits, LocalLink

VECTORS = REPOSITORY / "vectors"
VECTOR_SET = all_vectors()
BAD = (Status.FAIL, Status.BROKEN, Status.ERROR)


@cache
def files() -> tuple[dict[str, Any], ...]:
    """Every file of vectors of SDS in the repository."""
    return tuple(load_of(VECTOR_SET, MATERIAL, VECTORS))


def every_test() -> list[dict[str, Any]]:
    return [test for file in files() for test in file["tests"]]


def asked(
    start: Callable[[], Handle] = reference,
    groups: Iterable[str] = (),
    revision: str = CURRENT,
    dialect: str | None = None,
) -> Examination:
    """The results of an implementation in this process with the vectors."""
    examiner = VectorExaminer(MATERIAL, lambda _: LocalLink(start()), Limits(), revision, dialect)
    return examiner.examine(select_files(files(), revision, groups))


def failed_groups(outcome: Examination) -> set[str]:
    return {a.group for a in outcome.answered if a.answer.status in BAD}


def failures(outcome: Examination) -> list[str]:
    return [f"{a.vector['id']}: {a.answer}" for a in outcome.answered if a.answer.status in BAD]


def copy_of_vectors(to: Path) -> Path:
    """A copy of the folder, to be spoilt: as if nothing had been released, and in order."""
    copy = Path(shutil.copytree(VECTORS, to / "vectors", ignore=shutil.ignore_patterns("consumers")))
    (copy / LEDGER).write_bytes(format_document({"releases": []}))
    seal(copy, retired=[])
    return copy


def edit(
    folder: Path, name: str, change: Callable[[dict[str, Any]], object], *, honest: bool = True, of: str = "sds"
) -> None:
    """Change a file of vectors; an ``honest`` change updates counts and digests in manifest and changelog as well."""
    path = folder / of / f"{name}.json"
    data = json.loads(path.read_text("utf-8"))
    change(data)
    if honest:
        data["numberOfTests"] = len(data["tests"])
        data["digest"] = digest(data["tests"])
    path.write_bytes(format_document(data))
    if honest:
        seal(folder)


def seal(folder: Path, **fields: object) -> None:
    """Make manifest and changelog fit the files, and give the manifest these fields."""
    manifest = json.loads((folder / MANIFEST).read_text("utf-8")) | fields
    manifest["files"] = {
        path.relative_to(folder).as_posix(): file_digest(path.read_bytes())
        for part in sorted(generated_folders(VECTOR_SET))
        for path in sorted((folder / part).glob("*.json"))
    }
    output = file_digest((folder / MANIFEST).read_bytes())
    (folder / MANIFEST).write_bytes(format_document(manifest))
    changelog = folder / CHANGELOG
    now = file_digest((folder / MANIFEST).read_bytes())
    changelog.write_text(changelog.read_text("utf-8").replace(output, now), "utf-8")
