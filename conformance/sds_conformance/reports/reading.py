"""A report as it was written: `report.jsonl`, whole or cut off, and the traces beside it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from sds_harness.declaration import Declaration, printable
from sds_harness.files import FileError, misshapen, parse_json, read_text
from sds_harness.trace import Trace

from ..judging.certification import Certification
from ..judging.exits import Exit
from ..judging.registry import IN
from ..judging.verdict import Verdict
from ..protocols import protocol_of
from ..telling.kept import TraceFileError, load_trace
from ..telling.report import JSON, ROWS, SCHEMA_ID, TRACES, load_schema
from .findings import run_of

MAX_BYTES = 256 << 20
"""Of a report. That of an implementation that fails everything takes a few megabytes."""
NAME = "report.jsonl"


class ReportError(Exception):
    """There is no report that can be read, with the reason and what to do."""


@dataclass(frozen=True)
class Report:
    """A report, and the traces that it rests on."""

    data: dict[str, Any]
    """As `report.schema.json` describes it; of one that was cut off without what is missing."""
    cut_off: str = ""
    """Where it was cut off, "" for one that is whole."""
    folder: Path | None = None
    """Where it was read, None for one that was just made."""
    _traces: Mapping[str, Trace[Any]] = field(default_factory=dict, repr=False)
    seconds: float = 0.0
    """How long the run took, 0 where the report does not say it."""
    written: Path | None = None
    """The file of the report, None for one that was not written."""
    limits: dict[str, Any] | None = None
    """How far the implementation holds, None where nobody asked for that, or it was not measured: `limits`."""

    @classmethod
    def of(cls, outcome: Certification, data: dict[str, Any]) -> Report:
        """The report on a run, of which ``data`` is what `telling.report` says."""
        return cls(data, _traces=outcome.traces, seconds=outcome.seconds)

    def trace(self, run: str) -> Trace[Any] | None:
        """The trace of a run, None where none was kept, or it cannot be read."""
        if self.folder is None:
            return self._traces.get(run)
        # The name comes out of the file: it must not lead out of the folder.
        if not run or not set(run) <= _OF_A_RUN:
            return None
        try:
            return load_trace(self.folder / TRACES / f"{run}.jsonl")
        except TraceFileError:
            return None

    @cached_property
    def declaration(self) -> Declaration:
        """The declaration of the implementation, rebuilt from the report."""
        return declaration_of(self.data)

    @property
    def name(self) -> str:
        """The implementation, with its version."""
        about = self.data["implementation"]
        return printable(f"{about['name']} {about['version']}".strip())

    def requirements(self, *verdicts: str) -> Iterator[dict[str, Any]]:
        """The rows of requirements with one of these verdicts, all if none is named."""
        return (row for row in self.data["requirements"] if not verdicts or row["verdict"] in verdicts)


def declaration_of(data: Mapping[str, Any]) -> Declaration:
    """The declaration of the implementation, rebuilt from a report or a certificate."""
    about, language = data["implementation"], protocol_of(data["revision"]).rules.language
    numbers = (language.number_of(name) for name in about["capabilities"])
    return Declaration(
        about["name"],
        about["version"],
        about["language"],
        about["homepage"],
        tuple(about["revisions"]),
        frozenset(number for number in numbers if number is not None),
        {name: choice for name, choice in data["profiles"].items() if name != "dialect"},
        about["limits"],
        language,
    )


def failed_runs(report: Report, of: Collection[str] = ()) -> list[str]:
    """The runs in which something failed, or one ``of`` these requirements: those first that show what was told, and
    then whatever else may show it."""
    rows = [row for row in report.requirements("fail", "error", "warn") if not of or row["id"] in of]
    told = [run_of(finding) for row in rows for finding in row["findings"]]
    broken = [row["where"] for row in report.data["breakdowns"]]
    others = [scenario for row in rows for kind in row["kinds"] for scenario in kind["scenarios"]]
    return list(dict.fromkeys([*told, *broken, *others]))


_OF_A_RUN = frozenset(f"abcdefghijklmnopqrstuvwxyz0123456789-{IN}")


def read_report(path: Path) -> Report:
    """The report in a folder, or in a file ``report.jsonl`` or ``report.json``. Raises ReportError."""
    file = path / NAME if path.is_dir() else path
    if not file.is_file():
        what = f"there is no {NAME} in it" if path.is_dir() else "it is not there, or no file"
        raise ReportError(f"{path} is no report: {what}. `sds-conformance run --report DIR` writes one")
    try:
        text = read_text(file, MAX_BYTES)
    except FileError as error:
        raise ReportError(f"{file} is no report: it {error}") from None
    seconds = 0.0
    if file.suffix == ".json":
        data, cut_off = _json(file, text)
    else:
        data, cut_off, seconds = _lines(file, text)
    _check_schema(file, data)
    if wrong := misshapen(_validator(), data):
        raise ReportError(f"{file} is no report: {wrong}")
    for verdict, count in _counts(data["requirements"]).items():
        if data["summary"][verdict] != count:
            told = f"its summary counts {data['summary'][verdict]} {verdict}, and {count} of its requirements are that"
            raise ReportError(f"{file} contradicts itself: {told}. Run it again, with --report")
    return Report(data, cut_off, file.parent, seconds=seconds, written=file.with_name(JSON))


def _json(file: Path, text: str) -> tuple[dict[str, Any], str]:
    try:
        data = parse_json(text)
    except FileError:
        data = None
    if not isinstance(data, dict):
        raise ReportError(f"{file} is no JSON: was it cut off? {NAME} beside it can be read as far as it goes")
    return data, ""


def _lines(file: Path, text: str) -> tuple[dict[str, Any], str, float]:
    """The report, the place at which it was cut off ("" for none), and the seconds of the run."""
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
            raise ReportError(f"{file} is no report: line {number} is no JSON object")
        kind = row.pop("type", None)
        if not isinstance(kind, str) or kind not in ("header", "footer", *keys):
            raise ReportError(f"{file} is no report: line {number} is {printable(str(kind), 40)}")
        if "summary" in data or (number == 1) != (kind == "header"):
            raise ReportError(f"{file} is no report: line {number} has no place there")
        if kind not in keys:
            took = row.pop("seconds", None)
            seconds = float(took) if isinstance(took, int | float) and 0 < took < 1e9 else seconds
        if number == 1:
            _check_schema(file, row)
        if wrong := _misshapen_row(kind, row):
            raise ReportError(f"{file} is no report: line {number}, {wrong}")
        if kind in keys:
            rows[keys[kind]].append(row)
        else:
            data |= row
    if not data:
        raise ReportError(f"{file} is no report: it has no header")
    if "summary" not in data:
        cut_off = cut_off or f"after line {number}"
        data["summary"] = _so_far(rows["requirements"])
    return {**data, **rows}, cut_off, seconds


def _check_schema(file: Path, data: dict[str, Any]) -> None:
    if "schema" not in data:
        raise ReportError(f"{file} is no report: it does not name its schema")
    if data["schema"] != SCHEMA_ID:
        found = printable(str(data.get("schema")), 60)
        raise ReportError(f"{file} is {found}, this version reads {SCHEMA_ID}: run it again, with --report")


def _misshapen_row(kind: str, row: dict[str, Any]) -> str:
    """Where a line is not what the schema says of lines of its kind, and how; "" where it is."""
    schema = load_schema()
    fields = schema["properties"]
    for key, row_kind in ROWS.items():
        if kind == row_kind:
            return misshapen(_validator(), row, part=fields[key]["items"])
    known = fields.keys() - ROWS.keys() - _IN_FOOTER if kind == "header" else _IN_FOOTER
    part = {"required": sorted(known), "properties": {key: fields[key] for key in known}, "additionalProperties": False}
    return misshapen(_validator(), row, part=part)


_IN_FOOTER = frozenset({"summary"})
"""Fields of the footer, the last line. All others that are no rows are fields of the header."""


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(load_schema())


def _counts(rows: list[dict[str, Any]]) -> dict[str, int]:
    """How many requirements have each verdict."""
    return {verdict.value: sum(row.get("verdict") == verdict.value for row in rows) for verdict in Verdict}


def _so_far(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The summary of a report that was cut off, from the requirements that stand in it: nothing of it is complete."""
    played = dict.fromkeys(("scenarios", "runs", "steps"), 0)
    rest = {"environments": [], "left_out": {}, "interrupted": True, "complete": False}
    return {**_counts(rows), **played, **rest, "exit_code": Exit.INTERRUPTED.value}
