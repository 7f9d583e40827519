"""Reads results of `vectors run --json`, `fuzz --json` and `exhaust --json` for a certificate."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from sds_harness.declaration import printable
from sds_harness.files import FileError, find_schema_error, parse_json, read_bytes
from sds_harness.schedules.worlds import AlphabetPart

from ..exploration.exhaustion import SCHEMA_ID, Exhaustion
from ..exploration.text import SCHEMA_ID as FUZZ_SCHEMA
from ..vectors.running.examination import SCHEMA_ID as VECTORS_SCHEMA
from ..vectors.running.subject import Status

MAX_BYTES = 32 << 20
COUNT = {"type": "integer", "minimum": 0}
TEXT = {"type": "string"}


def record(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "required": [*fields], "properties": fields}


SUBJECT = record(name=TEXT, version=TEXT)
FINDINGS = {"type": "array", "items": record(id=TEXT, severity={"enum": ["fail", "warn"]})}
_VECTORS = record(
    schema={"const": VECTORS_SCHEMA},
    implementation=SUBJECT,
    revision=TEXT,
    set=record(version=TEXT, manifest=TEXT),
    interrupted={"type": "boolean"},
    counts=record(**{status.value: COUNT for status in Status}),
    unasked=COUNT,
    vectors={"type": "array", "items": record(id=TEXT, status={"enum": [status.value for status in Status]})},
)
_PLAYED = {
    "implementation": SUBJECT,
    "revision": TEXT,
    "profile": TEXT,
    "cast": TEXT,
    "gave_up": TEXT,
    "errors": {"type": "object"},
    "findings": FINDINGS,
}
_FUZZ = record(
    schema={"const": FUZZ_SCHEMA}, **_PLAYED, seed=COUNT, schedules=COUNT, steps=COUNT, interrupted={"type": "boolean"}
)
_FUZZ_IN_FULL = record(
    out_of_time={"type": "boolean"},
    exercised={"type": "object"},
    findings={"type": "array", "items": record(code=TEXT)},
)
_EXHAUST = record(
    schema={"const": SCHEMA_ID},
    **_PLAYED,
    participants={"enum": [2, 3]},
    alphabet={"type": "array", "items": TEXT, "minItems": 1, "maxItems": 100},
    digest=TEXT,
    finished=COUNT,
    proved_schedules=COUNT,
)
SHAPES = {VECTORS_SCHEMA: ("vectors run", _VECTORS), FUZZ_SCHEMA: ("fuzz", {"allOf": [_FUZZ, _FUZZ_IN_FULL]})}
"""Maps a schema ID to the command, and to a schema of the fields that certificates and baselines read."""
_WRONG = (Status.FAIL.value, Status.BROKEN.value, Status.ERROR.value)


class AttachedError(Exception):
    """The file cannot be attached to the certificate; the message has the reason and advice."""


def vectors_asked(file: Path, report: dict[str, Any], manifest: str) -> dict[str, Any]:
    """Read the results of the golden vectors whose manifest has the digest ``manifest``. Raises AttachedError."""
    data = read_attached(file, _VECTORS, "vectors run", report)
    if data["set"]["manifest"] != manifest:
        version = printable(data["set"]["version"], 20)
        raise AttachedError(
            f"{file} has results of other vectors, version {version}: run the vectors of this suite, without --vectors"
        )
    return {
        "counts": {status.value: data["counts"][status.value] for status in Status},
        "complete": not data["interrupted"] and not data["unasked"],
        "failed": sorted({row["id"] for row in data["vectors"] if row["status"] in _WRONG}),
        "warned": sorted({row["id"] for row in data["vectors"] if row["status"] == Status.WARN.value}),
    }


def schedules_played(file: Path, report: dict[str, Any]) -> dict[str, Any]:
    """Read the results of generated schedules. Raises AttachedError."""
    data = read_attached(file, _FUZZ, "fuzz", report)
    return {
        **{key: data[key] for key in ("seed", "schedules", "steps", "profile", "cast")},
        "complete": not (data["interrupted"] or data["gave_up"] or data["errors"]) and data["schedules"] > 0,
        **ids_by_severity(data),
    }


def ids_by_severity(data: dict[str, Any]) -> dict[str, Any]:
    """Return the IDs of the requirements and properties that failed (``failed``) or have warnings (``warned``)."""
    return {
        f"{severity}ed": sorted({row["id"] for row in data["findings"] if row["severity"] == severity})
        for severity in ("fail", "warn")
    }


def read_attached(file: Path, schema: dict[str, Any], command: str, report: dict[str, Any]) -> dict[str, Any]:
    """Read the output of a command. Raises AttachedError unless implementation and revision match the report."""
    try:
        data = parse_json(read_bytes(file, MAX_BYTES))
    except FileError as error:
        raise AttachedError(f"{file} {error}. Name the output of `sds-conformance {command} --json`") from None
    if wrong := find_schema_error(Draft202012Validator(schema), data, 120):
        raise AttachedError(f"{file} is not the output of `sds-conformance {command} --json`: {wrong}")
    about, mine = data["implementation"], report["implementation"]
    if (about["name"], about["version"]) != (mine["name"], mine["version"]):
        theirs, ours = (printable(f"{one['name']} {one['version']}".strip(), 80) for one in (about, mine))
        raise AttachedError(
            f"{file} is about {theirs}, but the report is about {ours}: type `{command} --json` for {ours}"
        )
    if data["revision"] != report["revision"]:
        message = f"{printable(data['revision'], 40)}, but the report is about {report['revision']}"
        raise AttachedError(f"{file} is about {message}: add --revision {report['revision']}")
    return dict(data)


def schedules_exhausted(file: Path, report: dict[str, Any]) -> dict[str, Any]:
    """Read the bound up to which all schedules were played, and their findings. Raises AttachedError."""
    data = read_attached(file, _EXHAUST, "exhaust", report)
    if not data["finished"]:
        raise AttachedError(f"{file} proves nothing: no bound was completed. Give `exhaust` more time, with --budget")
    if data["digest"] != _digest(data, report["revision"]):
        raise AttachedError(f"{file} is about other schedules than this version generates: type `exhaust --json` again")
    return {
        **{key: data[key] for key in ("participants", "alphabet", "digest", "profile", "cast")},
        "events": data["finished"],
        "schedules": data["proved_schedules"],
        "complete": not (data["gave_up"] or data["errors"]),
        **ids_by_severity(data),
    }


def contradictory_schedules(data: dict[str, Any]) -> Iterator[str]:
    """Yield a sentence for each claim about schedules in a certificate that cannot be true."""
    exhaustion = data.get("exhaust")
    if exhaustion is not None and exhaustion["digest"] != _digest(exhaustion, data["revision"]):
        yield "the digest of the exhausted schedules does not match their alphabet"


def _digest(exhaustion: dict[str, Any], revision: str) -> str:
    """Return the digest of all schedules over the alphabet of ``exhaustion``; "" if the alphabet is invalid."""
    try:
        parts = tuple(map(AlphabetPart.read, exhaustion["alphabet"]))
        return Exhaustion(
            _play_nothing, revision=revision, participants=exhaustion["participants"], alphabet=parts
        ).digest
    except ValueError:
        return ""


def _play_nothing(environment: Any) -> Any:
    raise NotImplementedError("nothing is played")
