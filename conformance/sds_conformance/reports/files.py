"""The folder of a report: ``report.json``, the same data in ``report.jsonl``, and the traces of its findings.

``report.jsonl`` has a header, a line for each row, and a footer with the summary. A file that was cut off can be read
up to its last complete line. Files that are read are untrusted.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sds_harness.declaration import printable
from sds_harness.files import (
    FileError,
    check_folder,
    check_whole,
    find_schema_error,
    make_folder,
    parse_json,
    read_text,
    write_whole,
)
from sds_harness.json_text import dumps

from ..judging.exits import Exit
from ..judging.verdict import Verdict
from .document import ROWS, SCHEMA_ID, load_schema, validator_of
from .report import TRACES, Report, ReportError, run_of

JSON, JSON_LINES = "report.json", "report.jsonl"
MAX_BYTES = 256 << 20
"""Maximum size of a report in bytes. The report of an implementation that fails everything has a few megabytes."""


def check_report(folder: Path) -> None:
    """Raise OSError if a link or a special file in the folder would make ``write_report`` fail."""
    for name in (JSON, JSON_LINES):
        check_whole(folder / name)
    check_folder(folder / TRACES)


def write_report(folder: Path, report: Report) -> list[Path]:
    """Write ``report.json``, ``report.jsonl``, and the traces of findings and breakdowns. Each file is written
    completely or not at all.

    Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    check_folder(folder / TRACES)
    data = report.data
    header = {key: value for key, value in data.items() if key not in (*ROWS, "summary")}
    lines = [{"type": "header", **header}]
    lines += [{"type": kind, **row} for key, kind in ROWS.items() for row in data[key]]
    lines += [{"type": "footer", "summary": data["summary"], "seconds": round(report.seconds, 3)}]
    written = [
        write_whole(folder / JSON, dumps(data, indent=2) + "\n"),
        write_whole(folder / JSON_LINES, "".join(dumps(line) + "\n" for line in lines)),
    ]
    found = {run_of(finding) for row in report.requirements() for finding in row["findings"]}
    surprised = {one.data["run"] for one in report.unmet}
    for run in sorted(found | surprised | {broken["where"] for broken in data["breakdowns"]}):
        if (trace := report.trace(run)) is not None:
            make_folder(folder / TRACES)
            text = "".join(line + "\n" for line in trace.to_json_lines())
            written.append(write_whole(folder / TRACES / f"{run}.jsonl", text))
    return written


def read_report(path: Path) -> Report:
    """Read the report in a folder, or in a file ``report.jsonl`` or ``report.json``. Raises ReportError."""
    file = path / JSON_LINES if path.is_dir() else path
    if not file.is_file():
        what = f"it contains no {JSON_LINES}" if path.is_dir() else "it does not exist, or is not a regular file"
        raise ReportError(f"{path} is not a report: {what}. `sds-conformance run --report DIR` writes one")
    try:
        text = read_text(file, MAX_BYTES)
    except FileError as error:
        raise ReportError(f"{file} is not a report: it {error}") from None
    seconds = 0.0
    if file.suffix == ".json":
        data, cut_off = _json(file, text), ""
    else:
        data, cut_off, seconds = _lines(file, text)
    _check_schema(file, data)
    if wrong := find_schema_error(validator_of(load_schema), data):
        raise ReportError(f"{file} is not a report: {wrong}")
    for verdict, count in _counts(data["requirements"]).items():
        if data["summary"][verdict] != count:
            message = (
                f"the summary counts {data['summary'][verdict]} {verdict}, but {count} requirements have this verdict"
            )
            raise ReportError(f"{file} contradicts itself: {message}. Repeat the run, with --report")
    return Report(data, cut_off, file.parent, seconds=seconds, written=file.with_name(JSON))


def _json(file: Path, text: str) -> dict[str, Any]:
    try:
        data = parse_json(text)
    except FileError:
        data = None
    if not isinstance(data, dict):
        raise ReportError(
            f"{file} is not JSON: was it cut off? {JSON_LINES} in the same folder can be read even if it was cut off"
        )
    return data


def _lines(file: Path, text: str) -> tuple[dict[str, Any], str, float]:
    """Parse the lines. Return the report, where it was cut off ("" if complete), and the seconds of the run."""
    data: dict[str, Any] = {}
    rows: dict[str, list[Any]] = {key: [] for key in ROWS}
    keys = {kind: key for key, kind in ROWS.items()}
    number, cut_off, seconds = 0, "", 0.0
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        try:
            row = parse_json(line)
        except FileError:
            cut_off = f"in line {number}"
            break
        if not isinstance(row, dict):
            raise ReportError(f"{file} is not a report: line {number} is not a JSON object")
        kind = row.pop("type", None)
        if not isinstance(kind, str) or kind not in ("header", "footer", *keys):
            raise ReportError(f"{file} is not a report: line {number} has the unknown type {printable(str(kind), 40)}")
        if "summary" in data or (number == 1) != (kind == "header"):
            raise ReportError(f"{file} is not a report: line {number} is out of order")
        if kind not in keys:
            took = row.pop("seconds", None)
            seconds = float(took) if isinstance(took, int | float) and 0 < took < 1e9 else seconds
        if number == 1:
            _check_schema(file, row)
        if wrong := _misshapen_row(kind, row):
            raise ReportError(f"{file} is not a report: line {number}, {wrong}")
        if kind in keys:
            rows[keys[kind]].append(row)
        else:
            data |= row
    if not data:
        raise ReportError(f"{file} is not a report: it has no header. Name a folder that `run --report` wrote")
    if "summary" not in data:
        cut_off = cut_off or f"after line {number}"
        data["summary"] = _partial_summary(rows["requirements"])
    return {**data, **rows}, cut_off, seconds


def _check_schema(file: Path, data: dict[str, Any]) -> None:
    if "schema" not in data:
        raise ReportError(
            f"{file} is not a report: it does not name its schema. Name a folder that `run --report` wrote"
        )
    if data["schema"] != SCHEMA_ID:
        found = printable(str(data.get("schema")), 60)
        raise ReportError(f"{file} is {found}, but this version reads {SCHEMA_ID}: repeat the run, with --report")


def _misshapen_row(kind: str, row: dict[str, Any]) -> str:
    """Return where and how a row does not match the schema; "" if it does."""
    schema = validator_of(load_schema).schema
    fields = schema["properties"]
    for key, row_kind in ROWS.items():
        if kind == row_kind:
            return find_schema_error(validator_of(load_schema), row, part=fields[key]["items"])
    known = fields.keys() - ROWS.keys() - _IN_FOOTER if kind == "header" else _IN_FOOTER
    required = sorted(known.intersection(schema["required"]))
    part = {"required": required, "properties": {key: fields[key] for key in known}, "additionalProperties": False}
    return find_schema_error(validator_of(load_schema), row, part=part)


_IN_FOOTER = frozenset({"summary"})
"""Fields in the footer. All other fields, except the lists of rows, are in the header."""


def _counts(rows: list[dict[str, Any]]) -> dict[str, int]:
    return {verdict.value: sum(row.get("verdict") == verdict.value for row in rows) for verdict in Verdict}


def _partial_summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the summary of a truncated report, computed from the requirements in it. It is marked as incomplete."""
    played = dict.fromkeys(("scenarios", "runs", "steps"), 0)
    rest = {"environments": [], "left_out": {}, "interrupted": True, "complete": False}
    return {**_counts(rows), **played, **rest, "exit_code": Exit.INTERRUPTED.value}
