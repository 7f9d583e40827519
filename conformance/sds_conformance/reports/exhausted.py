"""What goes on a certificate of the schedules of a small world that were all played, as ``exhaust --json`` says it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sds_harness.schedules.worlds import Part

from ..exploration.exhaustion import SCHEMA_ID, Exhaustion
from ..judging.quoting import counted
from .attached import COUNT, FINDINGS, SUBJECT, TEXT, AttachedError, ids_by_severity, read_attached, record

_EXHAUST = record(
    schema={"const": SCHEMA_ID},
    implementation=SUBJECT,
    revision=TEXT,
    profile=TEXT,
    cast=TEXT,
    participants={"enum": [2, 3]},
    alphabet={"type": "array", "items": TEXT, "minItems": 1, "maxItems": 100},
    digest=TEXT,
    finished=COUNT,
    proved_schedules=COUNT,
    gave_up=TEXT,
    errors={"type": "object"},
    findings=FINDINGS,
)


def schedules_exhausted(file: Path, report: dict[str, Any]) -> dict[str, Any]:
    """Up to which bound all schedules were played, and what they have shown. Raises AttachedError."""
    data = read_attached(file, _EXHAUST, "exhaust", report)
    if not data["finished"]:
        raise AttachedError(f"{file} proves nothing: no bound was finished. Give `exhaust` more time, with --budget")
    if data["digest"] != _digest(data, report["revision"]):
        raise AttachedError(f"{file} is about other schedules than this version has: type `exhaust --json` again")
    return {
        **{key: data[key] for key in ("participants", "alphabet", "digest", "profile", "cast")},
        "events": data["finished"],
        "schedules": data["proved_schedules"],
        "complete": not (data["gave_up"] or data["errors"]),
        **ids_by_severity(data),
    }


def unfounded_schedules(data: dict[str, Any]) -> Iterator[str]:
    """What a certificate says of them and cannot be so, a sentence each."""
    told = data.get("exhaust")
    if told is not None and told["digest"] != _digest(told, data["revision"]):
        yield "the digest of all schedules of a small world is not that of its alphabet"


def exhausted_told(data: dict[str, Any]) -> str:
    """How far they were all played, in words."""
    told = data.get("exhaust")
    if told is None:
        return "not played one and all"
    found = [f"{verdict}: {', '.join(told[f'{verdict}ed'])}" for verdict in ("fail", "warn") if told[f"{verdict}ed"]]
    events = counted(told["events"], "event")
    among = f"all {told['schedules']:,} of up to {events} of {told['participants']} participants"
    ends = "" if told["complete"] else "; not to the end"
    return f"{among} ({'; '.join(told['alphabet'])}): {'; '.join(found) or 'nothing was found'}{ends}"


def _digest(told: dict[str, Any], revision: str) -> str:
    """Of the schedules that there are; "" if there are none of that."""
    try:
        parts = tuple(map(Part.read, told["alphabet"]))
        return Exhaustion(_nobody, revision=revision, participants=told["participants"], alphabet=parts).digest
    except ValueError:
        return ""


def _nobody(environment: Any) -> Any:
    raise NotImplementedError("nothing is played")
