"""The ledger of releases: the digests of every released version, and checks that the files still match them.

``released.json`` has an entry for each released version, with the SHA-256 of its manifest and of each test that was new
or corrected in it. ``vectors release`` adds entries, which never change: each has the digest of the previous one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from sds_harness.declaration import printable

from .canonical import digest, file_digest, format_document
from .changelog import CORRECTED, RETIRED, changelog_named, changelog_versions
from .folder import CHANGELOG, LEDGER, MANIFEST, VectorManifest, VectorsError, read_json
from .model import GENERATOR_VERSION
from .schemas import record

EXPLANATION = ("comment", "flags", "requirements")
"""Fields that may change without a new ID, because only inputs and outcomes define a test."""

_DIGEST = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_ID = {"type": "string", "maxLength": 200}
_ENTRY = {
    "version": {"type": "string", "pattern": "^[0-9]{1,6}\\.[0-9]{1,6}\\.[0-9]{1,6}$"},
    "generatorVersion": {"type": "string", "pattern": "^[0-9]{1,6}$"},
    "manifest": _DIGEST,
    "previous": {"type": "string", "pattern": "^([0-9a-f]{64})?$"},
    "retired": {"type": "array", "items": _ID},
    "tests": {
        "type": "object",
        "additionalProperties": {"type": "object", "propertyNames": _ID, "additionalProperties": _DIGEST},
    },
}
_SCHEMA = record({"releases": {"type": "array", "items": record(_ENTRY)}})

Tests = dict[str, dict[str, str]]
"""Maps revisions to IDs, and IDs to the digest of the content of the test."""


def content_digest(test: dict[str, Any]) -> str:
    """Return the SHA-256 of the inputs and outcomes of a test."""
    return digest({key: value for key, value in test.items() if key not in EXPLANATION})


def contents(documents: Iterable[dict[str, Any]]) -> Tests:
    """Return the digests of the tests in files, by revision."""
    out: Tests = {}
    for data in documents:
        digests = {test["id"]: content_digest(test) for test in data["tests"]}
        for revision in data["revisions"]:
            out.setdefault(revision, {}).update(digests)
    return out


@dataclass(frozen=True)
class Ledger:
    """All releases, the oldest first."""

    releases: tuple[dict[str, Any], ...]

    @property
    def last(self) -> dict[str, Any] | None:
        return self.releases[-1] if self.releases else None

    def release(self, version: str) -> dict[str, Any] | None:
        """Return the entry of a version; None if the version was not released."""
        return next((entry for entry in self.releases if entry["version"] == version), None)

    @property
    def retired_ids(self) -> set[str]:
        return {test_id for entry in self.releases for test_id in entry["retired"]}

    @property
    def current_tests(self) -> Tests:
        """The digests of all tests that were released and not retired, in their latest released form."""
        out: Tests = {}
        for entry in self.releases:
            for revision, tests in entry["tests"].items():
                out.setdefault(revision, {}).update(tests)
        return {
            revision: {test_id: digest for test_id, digest in tests.items() if test_id not in self.retired_ids}
            for revision, tests in out.items()
        }

    @property
    def ids(self) -> set[str]:
        return {test_id for tests in self.current_tests.values() for test_id in tests}


def read_ledger(folder: Path) -> Ledger:
    """Read the ledger of a folder. Raises VectorsError if it is invalid or if an entry was changed."""
    # Imported here, because `run` loads this module and needs no schemas.
    from jsonschema import Draft202012Validator

    data = read_json(folder / LEDGER)
    problem = next(Draft202012Validator(_SCHEMA).iter_errors(data), None)
    if problem is not None:
        where = "/".join(str(part) for part in problem.absolute_path) or "the ledger"
        raise VectorsError(printable(f"{LEDGER}: {where}: {problem.message}", 300))
    releases = data["releases"]
    for before, entry in zip([None, *releases], releases, strict=False):
        if before is not None and _numbers(entry["version"]) <= _numbers(before["version"]):
            raise VectorsError(f"{LEDGER}: {entry['version']} does not come after {before['version']}")
        if entry["previous"] != (digest(before) if before is not None else ""):
            if before is None:
                raise VectorsError(f"{LEDGER}: release {entry['version']} is the first, so its previous must be empty")
            changed, newer = before["version"], entry["version"]
            raise VectorsError(f"{LEDGER}: release {changed} was changed: release {newer} has another digest of it")
    return Ledger(tuple(releases))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


# ---- Checking ------------------------------------------------------------------------------------------------------


def find_breaches(folder: Path, manifest: VectorManifest, documents: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield a sentence for each promise of a release that the files of ``folder`` break."""
    try:
        ledger = read_ledger(folder)
        versions = changelog_versions(folder)
    except VectorsError as error:
        yield str(error)
        return
    texts = dict(versions)
    for (newer, _), (older, _) in pairwise(versions):
        if _numbers(newer) <= _numbers(older):
            yield f"{CHANGELOG}: {newer} is above {older}: the newest version must come first"
    for entry in ledger.releases:
        if texts.get(entry["version"]) != entry["manifest"]:
            yield (
                f"{CHANGELOG}: version {entry['version']} was released with the manifest {entry['manifest']}, but "
                "the changelog names a different manifest"
            )
    current = versions[0][0]
    if manifest.version != current:
        yield f"{MANIFEST}: the version is {printable(manifest.version)}, and the changelog is at {current}"
    yield from _check_manifest(folder, ledger, current)
    yield from _check_tests(folder, ledger, current, manifest, contents(documents))


def _check_manifest(folder: Path, ledger: Ledger, current: str) -> Iterator[str]:
    released = ledger.release(current)
    if released is not None and released["manifest"] != file_digest((folder / MANIFEST).read_bytes()):
        yield f"{MANIFEST} is not that of version {current}, which is released: begin a new version"
    if released is None and ledger.last is not None and _numbers(current) < _numbers(ledger.last["version"]):
        yield f"{CHANGELOG}: {ledger.last['version']} is released, and {current} comes before it"


def _check_tests(folder: Path, ledger: Ledger, current: str, manifest: VectorManifest, now: Tests) -> Iterator[str]:
    open_version = ledger.release(current) is None
    corrected = changelog_named(folder, current, CORRECTED) if open_version else set()
    retiring = changelog_named(folder, current, RETIRED) if open_version else set()
    retired = set(manifest.retired)
    for test_id in sorted(retired - ledger.retired_ids - retiring):
        yield (
            f"{test_id} is retired, but {CHANGELOG} does not mention it: `{RETIRED}: `{test_id}`` in version {current}"
        )
    for test_id in sorted(ledger.retired_ids - retired):
        yield f"{test_id} was retired by a release, and {MANIFEST} does not name it any more"
    gone: dict[str, list[str]] = {}
    changed: dict[str, list[str]] = {}
    for revision, tests in ledger.current_tests.items():
        for test_id, was in tests.items():
            found = now.get(revision, {}).get(test_id)
            if found is None and test_id not in retired:
                gone.setdefault(test_id, []).append(revision)
            elif found is not None and found != was and test_id not in corrected:
                changed.setdefault(test_id, []).append(revision)
    for revisions, ids in _by_revisions(changed):
        yield (
            f"{first_of(ids)}: differs from its released form in {revisions}: use another ID for the new test, or "
            f"write in a new version `{CORRECTED}: `{ids[0]}`` if it was wrong"
        )
    for revisions, ids in _by_revisions(gone):
        yield f"{first_of(ids)}: released for {revisions}, but missing there without being retired"
    if open_version and ledger.last is not None:
        yield from _check_version_number(ledger, current, {i for tests in now.values() for i in tests}, retired)


def _by_revisions(tests: dict[str, list[str]]) -> Iterator[tuple[str, list[str]]]:
    """Group tests by their revisions: yield the revisions as text, and the IDs of the tests with exactly these
    revisions.
    """
    grouped: dict[str, list[str]] = {}
    for test_id, revisions in tests.items():
        grouped.setdefault(", ".join(revisions), []).append(test_id)
    yield from grouped.items()


def first_of(test_ids: list[str]) -> str:
    """Format the first of these IDs, and the number of further IDs."""
    return f"{test_ids[0]} and {len(test_ids) - 1} more" if len(test_ids) > 1 else test_ids[0]


def _check_version_number(ledger: Ledger, current: str, now: set[str], retired: set[str]) -> Iterator[str]:
    """Yield an error if the version number does not increase as the changes require: the first number if the format
    changed, the second if tests were added or retired.
    """
    assert ledger.last is not None
    last, new = _numbers(ledger.last["version"]), _numbers(current)
    if ledger.last["generatorVersion"] != GENERATOR_VERSION and new[0] <= last[0]:
        yield f"{CHANGELOG}: the format changed since {ledger.last['version']}: the first number of {current} must grow"
    elif (now - ledger.ids or retired - ledger.retired_ids) and new[:2] <= last[:2]:
        yield f"{CHANGELOG}: the tests differ from those of {ledger.last['version']}: increase the middle number"


# ---- Releasing -----------------------------------------------------------------------------------------------------


def add_release(folder: Path, version: str, documents: Iterable[dict[str, Any]]) -> bytes:
    """Return the ledger with a new entry for the current version of a valid folder. Raises VectorsError."""
    ledger = read_ledger(folder)
    current = changelog_versions(folder)[0][0]
    if ledger.release(version) is not None:
        raise VectorsError(f"version {version} is released already")
    if version != current:
        raise VectorsError(f"the files are those of version {current}, and not of {printable(version)}")
    manifest = folder / MANIFEST
    standing = ledger.current_tests
    new = {
        revision: {
            test_id: test_digest
            for test_id, test_digest in tests.items()
            if standing.get(revision, {}).get(test_id) != test_digest
        }
        for revision, tests in sorted(contents(documents).items())
    }
    entry = {
        "version": version,
        "generatorVersion": GENERATOR_VERSION,
        "manifest": file_digest(manifest.read_bytes()),
        "previous": digest(ledger.last) if ledger.last is not None else "",
        "retired": sorted(set(read_json(manifest)["retired"]) - ledger.retired_ids),
        "tests": {revision: dict(sorted(tests.items())) for revision, tests in new.items() if tests},
    }
    return format_document({"releases": [*ledger.releases, entry]})
