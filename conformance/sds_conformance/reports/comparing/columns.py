"""The part of a report that is compared: verdicts, codes of violations, and ways (choices at positions)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

from sds_harness.declaration import printable

from ...judging.verdict import Verdict
from ...protocols import protocols, stating
from ..files import JSON_LINES, read_report
from ..limits import with_limits
from ..report import Report, ReportError
from .limits import Extent, extents

UNSTATED = "not stated"
"""Stands for a verdict if the revision of the report does not state the requirement."""
NOT_ASKED = "not asked"
"""Stands for a verdict if an option or the profile excluded the requirement, or an older suite did not have it."""
UNKNOWN = "unknown"
"""Stands for a verdict if the report was cut off before the requirement."""
ABSENT = {UNSTATED: "·", NOT_ASKED: "-", UNKNOWN: "?"}
"""Maps the values of requirements without a verdict to their marks in tables."""
LONGEST_NAME = 60
LONGEST_TEXT = 400


@dataclass(frozen=True)
class Way:
    """A way that the implementation showed at a position, with the number of times and the first place."""

    way: str
    words: str
    count: int
    run: str
    step: int


@dataclass(frozen=True)
class RequirementData:
    """Data of a requirement that do not depend on the implementation."""

    id: str
    level: str
    section: str
    statement: str


@dataclass(frozen=True)
class ReportColumn:
    """The comparable part of one report. All strings are printable."""

    name: str
    version: str
    language: str
    started: datetime
    revision: str
    profile: str
    dialect: str
    strict: bool
    narrowed: tuple[str, ...]
    """Names of what the user restricted with options: ``requirements``, ``scenarios``, ``environments``."""
    environments: tuple[str, ...]
    suite: str
    cut_off: str
    """Where the report was cut off; "" for a complete report."""
    complete: bool
    """True if all selected runs were played."""
    verdicts: Mapping[str, str]
    codes: Mapping[str, frozenset[str]] = field(repr=False)
    """Maps a requirement to the codes of its violations."""
    requirements: Mapping[str, RequirementData] = field(repr=False)
    ways: Mapping[str, tuple[Way, ...]] = field(default_factory=dict, repr=False)
    """Maps a position to the ways that the implementation showed; empty if no run showed a way. The mapping is empty if
    the report has no ways.
    """
    topics: Mapping[str, str] = field(default_factory=dict, repr=False)
    limits: Mapping[str, Extent] = field(default_factory=dict, repr=False)
    """Measured limits by dimension; empty if they were not measured."""
    title: str = ""
    page: str = ""
    """The address of the page of the run, relative to the page of the history; "" if there is none."""

    @classmethod
    def from_report(cls, report: Report) -> ReportColumn:
        """Extract the comparable part of a report. Raises ReportError if the report has no date."""
        data = report.data
        about, rows = data["implementation"], data["requirements"]
        return cls(
            _printable_name(about["name"]) or "?",
            _printable_name(about["version"]),
            _printable_name(about["language"]),
            _date(report, data["started"]),
            data["revision"],
            data["profile"],
            _printable_name(data["profiles"]["dialect"]),
            data["strict"],
            tuple(data["narrowed"]),
            tuple(_printable_name(name) for name in data["summary"]["environments"]),
            _printable_name(data["suite"]["version"]),
            report.cut_off,
            data["summary"]["complete"],
            {row["id"]: row["verdict"] for row in rows},
            {row["id"]: _codes(row) for row in rows if row["kinds"]},
            {
                row["id"]: RequirementData(
                    row["id"], row["level"], _printable_name(row["section"]), _text(row["statement"])
                )
                for row in rows
            },
            {_printable_name(row["position"]): tuple(map(_way, row["ways"])) for row in data["ways"]},
            {_printable_name(row["position"]): _text(row["topic"]) for row in data["ways"]},
            extents(report.limits),
        )

    @property
    def date(self) -> str:
        """The start of the run, to the minute, in UTC."""
        return f"{self.started:%Y-%m-%d %H:%M}"

    @property
    def about(self) -> str:
        """Revision, profile and dialect, as text."""
        return ", ".join(part for part in (self.revision, self.profile, self.dialect) if part)

    def verdict(self, requirement: str) -> str:
        """Return the verdict on a requirement, or a key of `ABSENT` if the report has no verdict on it."""
        if found := self.verdicts.get(requirement):
            return found
        if not _is_stated(requirement, self.revision):
            return UNSTATED
        return UNKNOWN if self.cut_off else NOT_ASKED

    @property
    def counts(self) -> dict[str, int]:
        """Number of requirements by verdict, without verdicts that do not occur."""
        counted = Counter(self.verdicts.values())
        return {verdict.value: counted[verdict.value] for verdict in Verdict if counted[verdict.value]}

    @property
    def counts_text(self) -> str:
        """Number of requirements by verdict, as text."""
        return ", ".join(f"{number} {verdict}" for verdict, number in self.counts.items()) or "nothing judged"


def add_titles(columns: Sequence[ReportColumn]) -> list[ReportColumn]:
    """Add unique titles: name, version, and revision, profile and dialect if these differ between columns.

    Equal titles are distinguished by the language, the date or a number.
    """
    parts = [f"{column.name} {column.version}".strip() for column in columns]
    for key in ("revision", "profile", "dialect"):
        values = [str(getattr(column, key)) for column in columns]
        if len(set(values)) > 1:
            parts = [f"{part}, {value}" if value else part for part, value in zip(parts, values, strict=True)]
    if len({(part, column.language) for part, column in zip(parts, columns, strict=True)}) > len(set(parts)):
        parts = _add_suffixes_to_duplicates(parts, [column.language for column in columns])
    parts = _add_suffixes_to_duplicates(parts, [column.date for column in columns])
    seen: Counter[str] = Counter()
    out = []
    for column, part in zip(columns, parts, strict=True):
        seen[part] += 1
        out.append(replace(column, title=f"{part} #{seen[part]}" if seen[part] > 1 else part))
    return out


def sort_ids(ids: Iterable[str]) -> list[str]:
    """Sort IDs of requirements and positions in the order of the specifications, with unknown IDs last."""
    catalogues = [protocol.rules.catalogue for protocol in protocols()]
    known = chain(*(one.requirements for one in catalogues), *(one.positions for one in catalogues))
    order = {id_: number for number, id_ in enumerate(known)}
    return sorted(set(ids), key=lambda id_: (order.get(id_, len(order)), id_))


def _add_suffixes_to_duplicates(parts: list[str], suffixes: list[str]) -> list[str]:
    counted = Counter(parts)
    pairs = zip(parts, suffixes, strict=True)
    return [f"{part}, {suffix}" if counted[part] > 1 else part for part, suffix in pairs]


def _is_stated(requirement: str, revision: str) -> bool:
    """Return whether the revision states a requirement. True for IDs that no catalogue has."""
    protocol = stating(requirement)
    return protocol is None or protocol.rules.catalogue.requirements[requirement].is_stated_in(revision)


def _codes(row: dict[str, Any]) -> frozenset[str]:
    """Return the codes of the violations that decide the verdict of a row: of failures if it is `fail`, of warnings if
    it is `warn`.
    """
    return frozenset(kind["code"] for kind in row["kinds"] if kind["severity"] == row["verdict"])


def _way(row: dict[str, Any]) -> Way:
    return Way(_printable_name(row["way"]), _text(row["words"]), row["count"], _printable_name(row["run"]), row["step"])


def _date(report: Report, text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        where = report.folder or "the report"
        message = f"started {printable(text, 40)!r}, which is not a date: repeat the run, with --report"
        raise ReportError(f"{where} says that it {message}") from None


def _printable_name(text: str) -> str:
    return printable(" ".join(text.split()), LONGEST_NAME)


def _text(text: str) -> str:
    return printable(" ".join(text.split()), LONGEST_TEXT)


MAX_REPORTS = 1000
"""Maximum number of reports in one comparison: nearly three years of nightly runs."""
_SUFFIXES = (".jsonl", ".json")


def is_folder_of_reports(path: Path) -> bool:
    """Return whether a path is a folder that may contain reports: a folder that is not a report itself."""
    return path.is_dir() and not (path / JSON_LINES).is_file()


def gather(paths: Iterable[Path]) -> list[ReportColumn]:
    """Read the reports. Reports of a folder are sorted by date. Raises ReportError with the path and what to do."""
    out: list[ReportColumn] = []
    for path in paths:
        if is_folder_of_reports(path):
            out += sorted(map(_column, reports_within(path)), key=lambda column: column.started)
        else:
            out.append(_column(path))
        if len(out) > MAX_REPORTS:
            raise ReportError(f"there are more than {MAX_REPORTS} reports: name fewer")
    return out


def _column(path: Path) -> ReportColumn:
    # Keep only the comparable part, so that a year of reports fits into memory.
    return ReportColumn.from_report(with_limits(read_report(path)))


def reports_within(folder: Path) -> list[Path]:
    """Return the reports in a folder: subfolders or files. If a report exists as .jsonl and .json, the .jsonl file is
    used.

    Raises ReportError.
    """
    try:
        inside = sorted(folder.iterdir())
    except OSError as error:
        raise ReportError(f"{folder} cannot be read: {error.strerror}") from None
    found = [path for path in inside if (path / JSON_LINES).is_file()]
    files = {path.stem: path for suffix in reversed(_SUFFIXES) for path in inside if path.suffix == suffix}
    found += [path for path in files.values() if path.is_file()]
    if not found:
        raise ReportError(
            f"{folder} is not a report and contains no report: `sds-conformance run --report DIR` writes one"
        )
    if len(found) > MAX_REPORTS:
        raise ReportError(f"{folder} has {len(found)} reports, more than {MAX_REPORTS}: name some of them")
    return found
