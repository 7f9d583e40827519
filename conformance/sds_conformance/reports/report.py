"""The report on a run, from which every form (terminal, page, Markdown, JUnit, SARIF) is rendered.

``data`` is the document of ``report.json``, described by ``report.schema.json``. ``document`` builds it from the
verdicts, ``files`` writes and reads it. Files are untrusted, so each form shortens and escapes all texts. This module
computes data that several forms need and the document does not contain.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from string import ascii_letters, digits
from typing import Any

from sds_harness.declaration import Declaration, printable
from sds_harness.environment import PLAIN
from sds_harness.trace import Trace

from ..judging.certification import Certification
from ..judging.exits import Exit
from ..judging.finding_replays import FindingReplays
from ..judging.formats import format_count, make_times_relative
from ..judging.registry import IN
from ..judging.runner import tolerated_breakdowns
from ..judging.verdict import Finding, Verdict
from ..presentation.evidence import Story, story_of
from ..presentation.invocation import Invocation
from ..presentation.traces import TraceFileError, load_trace
from ..protocols import Protocol, protocol_of
from .document import document

Row = dict[str, Any]
"""A row of a list in the document, for example the data of a requirement, a finding or a breakdown."""
TRACES = "traces"
"""The folder of the traces, in the folder of a report."""
_OF_A_RUN = frozenset(f"{ascii_letters}{digits}-._{IN}")
"""The characters that the name of a run may have. The name of a scenario file contains a dot."""


class ReportError(Exception):
    """A report cannot be read. The message has the reason and advice."""


@dataclass(frozen=True)
class RootCause:
    """A root cause: a requirement that fails or warns, with the requirements that it explains."""

    data: Row
    """The row in ``causes`` of the document."""
    row: Row
    """The row of the requirement in ``requirements`` of the document."""
    known: bool
    """True if a baseline lists the cause and all failing requirements under it."""
    new_under: tuple[str, ...] = ()
    """Failing requirements under the cause that the baseline does not list, if it lists the cause itself."""

    @property
    def verdict(self) -> Verdict:
        return Verdict(self.data["verdict"])

    @property
    def rule(self) -> str:
        """Return the title of the root cause if it has one; otherwise the statement of the violated requirement."""
        return str(self.data.get("title") or self.row["statement"])

    @property
    def times(self) -> str:
        """Return how often the cause occurs: ``3 violations in 2 scenarios``."""
        violations, scenarios = self.data["violations"], len(self.data["scenarios"])
        return f"{format_count(violations, 'violation')} in {format_count(scenarios, 'scenario')}"


@dataclass(frozen=True)
class Unmet:
    """An expectation that was not met."""

    file: Row
    """The results of the scenario file, a row of the report."""
    data: Row
    """The result of the expectation, a row of those results."""

    @property
    def place(self) -> str:
        """File and line of the expectation."""
        return f"{self.file['file']}{f', line {line}' if (line := self.data['line']) else ''}"

    @property
    def sentence(self) -> str:
        """The expectation and the observation, as part of a sentence."""
        return f"expected: {self.data['text']}; seen: {self.data['seen']}"


@dataclass(frozen=True)
class Report:
    """A report, and its traces."""

    data: Row
    """The document. If it was read from a truncated file, rows are missing, and the summary counts only the others."""
    cut_off: str = ""
    """Where the file was cut off; "" for a complete file."""
    folder: Path | None = None
    """The folder from which the report was read; None for a new report."""
    traces: Mapping[str, Trace[Any]] = field(default_factory=dict, repr=False)
    seconds: float = 0.0
    """Duration of the run in seconds; 0 if unknown."""
    written: Path | None = None
    """The file of the report; None if it was not written."""
    limits: Row | None = None
    """The document of `limits --report`; None if limits were not measured."""

    @classmethod
    def from_outcome(cls, outcome: Certification, how: Invocation, left_out_scenarios: int = 0) -> Report:
        """Create the report of a run. ``left_out_scenarios`` is the number of scenarios that were not played because of
        the selection of requirements.
        """
        return cls(document(outcome, how, left_out_scenarios), traces=outcome.traces, seconds=outcome.seconds)

    def with_values(self, **values: Any) -> Report:
        """Return a copy with other values at the top level of its document."""
        return replace(self, data=self.data | values)

    @property
    def protocol(self) -> Protocol:
        return protocol_of(self.data["revision"])

    @cached_property
    def declaration(self) -> Declaration:
        return declaration_of(self.data)

    @property
    def name(self) -> str:
        """Name and version of the implementation."""
        about = self.data["implementation"]
        return printable(f"{about['name']} {about['version']}".strip())

    @property
    def start_time(self) -> datetime | None:
        """The start of the run; None if the report has no valid date."""
        try:
            return datetime.fromisoformat(self.data["started"])
        except ValueError:
            return None

    @property
    def why_incomplete(self) -> str:
        """Why the report is incomplete; "" if it is complete."""
        summary = self.data["summary"]
        if self.cut_off:
            return f"the report was cut off {self.cut_off}"
        if summary["interrupted"]:
            return "the run was interrupted"
        if not summary["complete"] and summary["exit_code"] != Exit.NOT_DRIVEN:
            return "the run ended before all scenarios were played"
        return ""

    def trace(self, run: str) -> Trace[Any] | None:
        """The trace of a run; None if it was not stored or cannot be read."""
        if self.folder is None:
            return self.traces.get(run)
        # The name comes from the file: it must not lead out of the folder.
        if not run or not set(run) <= _OF_A_RUN:
            return None
        try:
            return load_trace(self.folder / TRACES / f"{run}.jsonl")
        except TraceFileError:
            return None

    def story(self, requirement: str, row: Row) -> Story:
        """Return the story of a finding of a requirement, given its row."""
        finding = finding_of(requirement, row)
        return story_of(self.protocol, finding, self.trace(finding.run))

    # ---- Requirements ------------------------------------------------------------------------------------------------

    def requirements(self, *verdicts: str) -> Iterator[Row]:
        """The rows of requirements with one of these verdicts; all by default."""
        return (row for row in self.data["requirements"] if not verdicts or row["verdict"] in verdicts)

    def sort_by_severity(self) -> list[Row]:
        """The rows of requirements: failures, then warnings, both by severity; then all others."""
        rank = {"fail": 0, "warn": 1}

        def place(row: Row) -> tuple[int, int]:
            return rank.get(row["verdict"], 2), row["severity"] * (row["verdict"] in rank)

        return sorted(self.requirements(), key=place)

    def group_unjudged(self, *verdicts: str) -> dict[tuple[str, str], list[str]]:
        """Group the IDs of the requirements with one of these verdicts by (verdict, reason)."""
        out: dict[tuple[str, str], list[str]] = {}
        for row in self.requirements(*verdicts):
            out.setdefault((row["verdict"], row["reason"]), []).append(row["id"])
        return out

    def failed_runs(self, of: Collection[str] = ()) -> list[str]:
        """Return the runs in which one of the requirements ``of`` (default: any) fails, warns or has an error.

        Runs with breakdowns or unmet expectations are included. Runs with stored findings come first.
        """
        rows = [row for row in self.requirements("fail", "error", "warn") if not of or row["id"] in of]
        found = [run_of(finding) for row in rows for finding in row["findings"]]
        broken = [row["where"] for row in self.data["breakdowns"]]
        others = [scenario for row in rows for kind in row["kinds"] for scenario in kind["scenarios"]]
        surprised = [one.data["run"] for one in self.unmet]
        return list(dict.fromkeys([*found, *broken, *surprised, *others]))

    # ---- Scenario files ----------------------------------------------------------------------------------------------

    @property
    def scenario_files(self) -> list[Row]:
        """The rows of the scenario files that were played."""
        return list(self.data.get("scenario_files", ()))

    @property
    def unmet(self) -> list[Unmet]:
        return list(unmet(self.scenario_files))

    # ---- Root causes and breakdowns ----------------------------------------------------------------------------------

    @property
    def causes(self) -> list[RootCause]:
        """The root causes in the order of the document, known root causes last."""
        rows = {row["id"]: row for row in self.requirements()}
        found = [
            RootCause(cause, rows[cause["requirement"]], self._is_known(cause, rows), self._new_under(cause))
            for cause in self.data["causes"]
            if cause["requirement"] in rows
        ]
        return sorted(found, key=lambda cause: cause.known)

    @property
    def hard_breakdowns(self) -> list[Row]:
        """The breakdowns that make the implementation fail."""
        soft = tolerated_breakdowns(strict=self.data["strict"], narrowed=self.data["narrowed"])
        return [broken for broken in self.data["breakdowns"] if broken["kind"] not in soft]

    @property
    def breakdowns(self) -> list[tuple[Row, list[str]]]:
        """The breakdowns by kind, detail and command: the first of each group, and the runs of the others."""
        found: dict[tuple[str, str, str], list[Row]] = {}
        for broken in self.data["breakdowns"]:
            found.setdefault((broken["kind"], broken["detail"], broken["command"]), []).append(broken)
        return [(first, [other["where"] for other in others]) for first, *others in found.values()]

    # ---- The baseline ------------------------------------------------------------------------------------------------

    @property
    def complaints(self) -> list[Row]:
        """The errors in the baseline."""
        return list(self._baseline.get("complaints", ()))

    def known_failures(self, requirement: str) -> list[Row]:
        """Return the entries of the baseline for a failing requirement; none if the baseline has an error about it."""
        if any(row["requirement"] == requirement for row in self.complaints):
            return []
        return [row for row in self._baseline.get("known", ()) if row["requirement"] == requirement]

    def known_cause(self, requirement: str) -> str:
        """Return the root cause of a failing requirement if the baseline lists this root cause, but not the
        requirement; else "".
        """
        new = self._baseline.get("new", ())
        return next((str(row["under"]) for row in new if row["requirement"] == requirement), "")

    @property
    def flaky_entries(self) -> list[Row]:
        """The flaky entries of the baseline, with the outcome of each."""
        return list(self._baseline.get("flaky", ()))

    @property
    def _baseline(self) -> Row:
        return self.data["baseline"] or {}

    def _is_known(self, cause: Row, rows: Mapping[str, Row]) -> bool:
        under = [one["requirement"] for one in cause["under"]]
        failing = [
            requirement for requirement in under if requirement in rows and rows[requirement]["verdict"] == "fail"
        ]
        return all(self.known_failures(requirement) for requirement in [cause["requirement"], *failing])

    def _new_under(self, cause: Row) -> tuple[str, ...]:
        root = cause["requirement"]
        return tuple(one["requirement"] for one in cause["under"] if self.known_cause(one["requirement"]) == root)


# ---- Rows --------------------------------------------------------------------------------------------------------


def declaration_of(data: Mapping[str, Any]) -> Declaration:
    """The declaration in a report or a certificate."""
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


def worst(row: Row) -> Row | None:
    """Return the finding to show for a requirement; None if none was stored."""
    return next((finding for finding in row["findings"] if finding["severity"] == row["verdict"]), None)


def code_of(row: Row) -> str:
    """Return the full code of the worst finding of a requirement, or else the ID of the requirement."""
    finding = worst(row)
    return str(finding["code"] if finding is not None else row["id"])


def again_of(row: Mapping[str, Any]) -> FindingReplays | None:
    """Return how often replays reproduced a failure or a breakdown; None if it was not replayed."""
    return FindingReplays(**row["repeated"]) if "repeated" in row else None


def flaky(row: Row) -> str:
    """The label of a flaky failure or breakdown; "" if it is not flaky."""
    again = again_of(row)
    return again.word if again is not None else ""


def sides(finding: Row) -> tuple[str, str]:
    """Return what was expected and what was seen, with times relative to the start of virtual time."""
    return make_times_relative(finding["expected"]) or "nothing", make_times_relative(finding["seen"])


def run_of(finding: Mapping[str, Any]) -> str:
    """The name of the run in which a finding was seen: its scenario, and its environment unless that is `plain`."""
    plain = finding["environment"] in ("", PLAIN.name)
    return str(finding["scenario"]) if plain else f"{finding['scenario']}{IN}{finding['environment']}"


def finding_of(requirement: str, row: Mapping[str, Any]) -> Finding:
    """Create a finding from its row."""
    return Finding(
        requirement,
        row["code"].partition("/")[2],
        run_of(row),
        row["environment"],
        row["participant"],
        row["channel"],
        row["step"],
        row["expected"],
        row["seen"],
        row["position"],
        Verdict.PASS if row["severity"] == "note" else Verdict(row["severity"]),
        stderr_lines=tuple(row.get("stderr", ())),
    )


def unmet(files: Iterable[Row]) -> Iterator[Unmet]:
    """The expectations that were not met."""
    for file in files:
        yield from (Unmet(file, row) for row in file["expectations"] if row["verdict"] == "unmet")
