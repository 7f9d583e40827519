"""The measured limits, as `limits --report DIR` wrote them next to the report in DIR.

``exploration/limits/limits.schema.json`` describes the file. The file is untrusted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from sds_harness.declaration import printable
from sds_harness.files import FileError, find_schema_error, parse_json, read_bytes

from ..exploration.limits.case import SizeOutcome
from ..exploration.limits.measurement import SCHEMA_ID, load_schema
from ..exploration.limits.row import Weight, weight
from ..exploration.limits.words import cell, has_details, headline, sentences_about_failure
from ..judging.verdict import Verdict
from ..protocols import protocol_of
from ..protocols.dimensions import Dimension
from .document import validator_of
from .report import Report, ReportError

NAME = "limits.json"
MAX_BYTES = 8 << 20
"""Maximum size of the file in bytes. A file with twenty rows has twenty kilobytes."""

TONES = {
    Weight.HELD.value: Verdict.PASS.value,
    Weight.WARNING.value: Verdict.WARN.value,
    Weight.FINDING.value: Verdict.FAIL.value,
    Weight.NOT_EXERCISED.value: Verdict.INCONCLUSIVE.value,
    Weight.ERROR.value: Verdict.ERROR.value,
}
"""Maps each weight to the verdict whose colour is used for it."""

_CERTIFIED = ("dimension", "title", "timed", "verdict", "exact", "demanded", "position", "why")
_IF_THERE = ("held", "first_not", "how", "requirement", "severity", "declared", "replay")
_NOT_CERTIFIED = ("expected", "seen", "said", "step", "exponent", "again")


WORDS = {
    "size_cell": cell,
    "headline": headline,
    "has_details": has_details,
    "sentences_about_failure": sentences_about_failure,
    "tones": TONES,
}
"""What templates need to show rows of limits."""


def with_limits(report: Report) -> Report:
    """Return the report with the limits from its folder, if there are any. Raises ReportError."""
    file = report.folder / NAME if report.folder is not None else None
    if file is None or not file.exists():
        return report
    again = f"measure again, with `sds-conformance limits --report {report.folder} -- COMMAND`, or delete the file"
    try:
        data = parse_json(read_bytes(file, MAX_BYTES))
    except FileError as error:
        raise ReportError(f"{file} {error}: {again}") from None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA_ID:
        found = printable(str(data.get("schema")) if isinstance(data, dict) else "not an object", 60)
        raise ReportError(f"{file} is {found}, but this version reads {SCHEMA_ID}: {again}")
    if wrong := find_schema_error(validator_of(load_schema), data, 120):
        raise ReportError(f"{file} was not written by `sds-conformance limits --report DIR`: {wrong}: {again}")
    for key in ("name", "version"):
        if (theirs := data["implementation"][key]) != (ours := report.data["implementation"][key]):
            message = f"{printable(theirs, 60)!r}, but the report is about {printable(ours, 60)!r}"
            raise ReportError(f"{file} is about an implementation of the {key} {message}: {again}")
    if data["revision"] != report.data["revision"]:
        message = f"{printable(data['revision'], 40)}, but the report is about {printable(report.data['revision'], 40)}"
        raise ReportError(f"{file} is about {message}: {again}")
    return replace(report, limits=data)


def limits_for_certificate(limits: Mapping[str, Any]) -> dict[str, Any]:
    """Convert limits to the form of a certificate, which contains neither null nor fractions."""
    rows = limits["rows"]
    return {
        "date": limits["started"],
        "profile": limits["profile"],
        "strict": limits["strict"],
        "budget_seconds": math.ceil(limits["budget_seconds"]),
        "complete": not limits["interrupted"] and all(row["verdict"] != Weight.ERROR.value for row in rows),
        "rows": [
            {
                **{key: row[key] for key in _CERTIFIED},
                **{key: row[key] for key in _IF_THERE if row[key] is not None},
            }
            for row in rows
        ],
    }


def certified_rows(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of limits on a certificate, in the format of `limits --json`; empty if it has none."""
    nothing = dict.fromkeys((*_IF_THERE, *_NOT_CERTIFIED))
    return [{**nothing, **row} for row in data["limits"]["rows"]] if "limits" in data else []


def findings(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the dimensions whose limit is below the declared or demanded size, each with the failure."""
    bad = (row for row in rows if row["verdict"] == Weight.FINDING.value)
    return [f"{row['title']} ({row.get('requirement') or row.get('how')})" for row in bad]


def contradictory_limits(data: dict[str, Any]) -> Iterator[str]:
    """Yield a sentence for each result about limits in a certificate that cannot be true.

    The profile or the dimension does not exist in this version of the suite, or the result contradicts its own sizes or
    the declared limit.
    """
    if "limits" not in data:
        return
    protocol, profile = protocol_of(data["revision"]), data["limits"]["profile"]
    if profile not in protocol.rules.profiles:
        yield (
            f"the limits were measured for the profile {printable(profile, 40)}, which is not a profile of "
            f"{data['revision']}"
        )
        return
    seen: set[str] = set()
    for row in data["limits"]["rows"]:
        name = row["dimension"]
        known = protocol.dimensions.get(name)
        dimension = known.of_text(protocol.rules, data["revision"], profile) if known is not None else None
        if dimension is None or name in seen:
            yield f"{printable(name, 40)} is {'measured twice' if name in seen else 'not a dimension of the suite'}"
        elif wrong := _inconsistency(row, dimension, dimension.bound(data["implementation"]["limits"].get)):
            yield f"the result for {printable(dimension.title, 40)} contradicts itself or the suite: {wrong}"
        seen.add(name)


def _inconsistency(row: dict[str, Any], dimension: Dimension, bound: int | None) -> str:
    """Return a clause that says what is wrong in a row; "" if nothing is."""
    about = (dimension.title, dimension.timed, dimension.demanded, dimension.position)
    if (row["title"], row["timed"], row["demanded"], row["position"]) != about:
        return "the dimension is described differently than in this suite"
    if row.get("declared") != bound:
        return "the declared limit differs from the declaration"
    first = row.get("first_not")
    if first is None or row["verdict"] == Weight.ERROR.value:
        return "it is a finding, but no size failed" if row["verdict"] == Weight.FINDING.value else ""
    true = weight(dimension, first, SizeOutcome(row["how"]), bound, failed=row.get("severity") == Verdict.FAIL.value)
    held = row["held"]
    if first <= held or row["exact"] != (first == held + 1):
        return "the largest size that held does not fit the smallest size that failed"
    return "" if row["verdict"] == true.value else "the smallest size that failed gives another verdict"
