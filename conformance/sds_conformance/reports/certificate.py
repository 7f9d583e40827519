"""Certificates: the results of an implementation in a file that others can verify.

``certificate.schema.json`` describes the format. The digest shows that a file was not changed, and a signature shows
who wrote it. Only a replay shows whether the results are true, see ``certificate_replay``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from sds_harness.declaration import printable
from sds_harness.files import FileError, find_schema_error, packaged_schema, parse_json, read_bytes
from sds_testee.version import suite_version

from ..judging.verdict import Verdict
from ..protocols import all_vectors, protocol_of, revisions
from ..vectors.canonical import digest, format_document
from ..vectors.folder import VectorsError, default_folder, load_manifest
from .attachments import AttachedError, schedules_exhausted, schedules_played, vectors_asked
from .document import validator_of
from .levels import level
from .limits import contradictory_limits, limits_for_certificate
from .report import Report, run_of

SCHEMA_ID = "sds-conformance/certificate/2"
NAME = "certificate.json"
MAX_BYTES = 8 << 20
"""Maximum size of a certificate in bytes. A certificate with many failures has a few hundred kilobytes."""
_OF_THE_TEXT = ("section", "level", "statement")
"""Fields of a row that are copied from the catalogue."""
SHOWN = (Verdict.FAIL.value, Verdict.WARN.value)
"""Verdicts for which a certificate lists the runs that show them."""


class CertificateError(Exception):
    """A certificate cannot be made or read, or contradicts itself. The message has the reason."""


@dataclass(frozen=True)
class Certificate:
    """A certificate, and the bytes from which it was parsed."""

    data: dict[str, Any]
    raw: bytes

    @property
    def name(self) -> str:
        """Name and version of the implementation."""
        about = self.data["implementation"]
        return printable(f"{about['name']} {about['version']}".strip())

    @cached_property
    def current_level(self) -> dict[str, Any]:
        """Return the level of conformance with its parts, computed from the rows of the requirements, because the level
        in the file may be forged.
        """
        return level(self.data)

    @property
    def level(self) -> str:
        """The name of the level of conformance that follows from the verdicts."""
        return str(self.current_level["name"])


load_schema = partial(packaged_schema, __package__, "certificate.schema.json")
"""Returns the JSON Schema (2020-12) of a certificate."""


def certificate(
    report: Report, vectors: Path | None = None, fuzz: Path | None = None, exhaust: Path | None = None
) -> Certificate:
    """Certify a report and the outputs of `vectors run`, `fuzz` and `exhaust`. Raises CertificateError."""
    data = report.data
    _refuse(report)
    body: dict[str, Any] = {
        "schema": SCHEMA_ID,
        "suite": data["suite"],
        "implementation": data["implementation"],
        "profiles": data["profiles"],
        "carrier": data["framing"],
        "date": data["started"],
        "revision": data["revision"],
        "profile": data["profile"],
        "strict": data["strict"],
        "run": _run_data(data),
        "verdicts": {verdict.value: data["summary"][verdict.value] for verdict in Verdict},
        "breakdowns": dict(sorted(Counter(row["kind"] for row in data["breakdowns"]).items())),
        "doubts": data["doubts"],
        "causes": data["causes"],
        "requirements": [_row(row) for row in data["requirements"]],
        "untestable": untestable_requirements(data["revision"]),
        "catalogue": catalogue_digest(data["revision"]),
    }
    if data["baseline"] is not None:
        body["baseline"] = {key: data["baseline"][key] for key in ("file", "known", "complaints")}
    try:
        if (golden := golden_vectors(data["revision"])) is not None:
            asked = {"asked": vectors_asked(vectors, data, golden["manifest"])} if vectors is not None else {}
            body["vectors"] = {**golden, **asked}
        if fuzz is not None:
            body["fuzz"] = schedules_played(fuzz, data)
        if exhaust is not None:
            body["exhaust"] = schedules_exhausted(exhaust, data)
        if report.limits is not None:
            body["limits"] = _limits(report.limits, body)
        body["report"] = report_digest(data)
        body["level"] = level(body)
        body["digest"] = digest(body)
        raw = format_document(body)
    except (AttachedError, VectorsError) as error:
        raise CertificateError(str(error)) from None
    except ValueError as error:
        raise CertificateError(f"the report cannot be certified: {printable(str(error), 200)}") from None
    if (wrong := _describe_schema_error(body)) is not None:
        raise CertificateError(f"the report cannot be certified: {wrong}")
    return Certificate(body, raw)


def _refuse(report: Report) -> None:
    """Raise CertificateError for a report that this version cannot certify."""
    data = report.data
    again = "repeat the run, with --report"
    if report.cut_off:
        raise CertificateError(
            f"the report was cut off {report.cut_off}, and a certificate needs a complete report: {again}"
        )
    if data["suite"]["version"] != suite_version():
        version = printable(data["suite"]["version"], 40)
        raise CertificateError(
            f"the report is of version {version} of the suite, and this is {suite_version()}: {again}"
        )
    if wrong := next(rows_unlike_catalogue(data), ""):
        raise CertificateError(f"the report was made with another catalogue ({wrong}): {again}")
    counts = Counter(row["verdict"] for row in data["requirements"])
    if any(counts[verdict.value] != data["summary"][verdict.value] for verdict in Verdict):
        raise CertificateError(f"the counts in the summary of the report differ from its verdicts: {again}")


def _limits(limits: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    """Return the measured limits. Raises CertificateError if they were measured by another version or on another
    implementation."""
    again = "measure again, with `limits --report`"
    if limits["suite"]["version"] != suite_version():
        version = printable(limits["suite"]["version"], 40)
        raise CertificateError(
            f"the limits were measured by version {version} of the suite, and this is {suite_version()}: {again}"
        )
    found = limits_for_certificate(limits)
    if wrong := next(contradictory_limits({**body, "limits": found}), ""):
        raise CertificateError(f"the limits do not belong to the report: {wrong}: {again}")
    return found


def rows_unlike_catalogue(data: dict[str, Any]) -> Iterator[str]:
    """Yield a sentence for each requirement whose row differs from the catalogue."""
    known = protocol_of(data["revision"]).rules.catalogue.requirements
    seen: set[str] = set()
    for row in data["requirements"]:
        name = printable(row["id"], 40)
        requirement = known.get(row["id"])
        if requirement is None or not requirement.is_stated_in(data["revision"]):
            yield f"the catalogue of this version has no {name}"
        elif any(row[key] != getattr(requirement, key) for key in _OF_THE_TEXT):
            yield f"the catalogue of this version has other data about {name}"
        elif name in seen:
            yield f"{name} is listed more than once"
        seen.add(name)


def _run_data(data: dict[str, Any]) -> dict[str, Any]:
    summary = data["summary"]
    keys = ("scenarios", "environments", "left_out", "runs", "steps", "interrupted", "complete", "exit_code")
    return {"whole": data["whole"], "narrowed": data["narrowed"], **{key: summary[key] for key in keys}}


def _row(row: dict[str, Any]) -> dict[str, Any]:
    verdict = row["verdict"]
    out = {"id": row["id"], **{key: row[key] for key in _OF_THE_TEXT}, "verdict": verdict, "reason": row["reason"]}
    if verdict not in SHOWN:
        return out
    worst = [finding for finding in row["findings"] if finding["severity"] == verdict]
    positions = {finding["position"] for finding in worst} - {""}
    return {**out, "shown": list(dict.fromkeys(map(run_of, worst))), "positions": sorted(positions)}


def catalogue_digest(revision: str) -> str:
    """Return the digest of the positions and of the requirements of a revision."""
    catalogue = protocol_of(revision).rules.catalogue
    stated = [asdict(row) for row in catalogue.requirements.values() if row.is_stated_in(revision)]
    # Convert tuples to lists, as in a JSON file.
    whole = {"requirements": stated, "positions": [asdict(row) for row in catalogue.positions.values()]}
    return digest(json.loads(json.dumps(whole)))


def untestable_requirements(revision: str) -> dict[str, str]:
    """Return the requirements of a revision that cannot be tested from outside, each with the reason."""
    known = protocol_of(revision).rules.catalogue.requirements.values()
    return {one.id: one.untestable for one in known if one.untestable and one.is_stated_in(revision)}


def golden_vectors(revision: str) -> dict[str, Any] | None:
    """Return the version of the golden vectors of this suite and the digest of their manifest; None if the protocol has
    none. Raises VectorsError.
    """
    if protocol_of(revision).vectors is None:
        return None
    manifest = load_manifest(all_vectors(), default_folder())
    return {"version": manifest.version, "manifest": manifest.digest}


def report_digest(data: dict[str, Any]) -> str:
    """Return the digest of a report, without its null fields. Raises ValueError for data that is not a report."""
    return digest({key: value for key, value in data.items() if value is not None})


def read_certificate(path: Path) -> Certificate:
    """Read a certificate from a file without verifying it. Raises CertificateError."""
    try:
        raw = read_bytes(path, MAX_BYTES)
        data = parse_json(raw)
    except FileError as error:
        message = f"{path} {error}. Name a {NAME} that `sds-conformance certificate write` wrote"
        raise CertificateError(message) from None
    if not isinstance(data, dict) or "schema" not in data:
        what = "it does not name its schema" if isinstance(data, dict) else "it is not a JSON object"
        raise CertificateError(
            f"{path} is not a certificate: {what}. Name a {NAME} that `sds-conformance certificate write` wrote"
        )
    if data["schema"] != SCHEMA_ID:
        raise CertificateError(f"{path} is {printable(str(data['schema']), 60)}, but this version reads {SCHEMA_ID}")
    if (wrong := _describe_schema_error(data)) is not None:
        raise CertificateError(f"{path} is not a certificate: {wrong}")
    try:
        digest(data)
    except ValueError as error:
        raise CertificateError(f"{path} is not a certificate: {printable(str(error), 120)}") from None
    return Certificate(data, raw)


def _describe_schema_error(data: dict[str, Any]) -> str | None:
    """Return where the data does not match the schema, or which revision or profile is unknown; None if it is valid."""
    wrong = find_schema_error(validator_of(load_schema), data)
    if not wrong:
        if data["revision"] not in revisions():
            return f"this version has no revision {printable(data['revision'], 40)}"
        known = data["profile"] in protocol_of(data["revision"]).rules.profiles
        return None if known else f"{data['revision']} has no profile {printable(data['profile'], 40)}"
    return wrong
