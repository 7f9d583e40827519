"""Counterexamples: a shrunk schedule, what it shows, and the files it is kept in."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from sds_harness.faults import TesteeFault
from sds_harness.schedules import Act, Performance, Schedule, ScheduleFileError, dumps
from sds_harness.schedules.files import read

from ..judging.verdict import RANK, Finding
from ..protocols import repertoire_of
from .campaign import Order
from .casting import Company
from .casts import NotPlayed
from .judging import BREAKDOWN, Assessment, assess, judged_revision
from .shrinking import MAX_ATTEMPTS, shrink

BROKEN_ATTEMPTS = 100
"""Of a breakdown: each that shows it costs a restart, and if it hangs the patience of a command."""


@dataclass(frozen=True)
class Counterexample:
    """What was found against one requirement or property, in the smallest schedule that shows it."""

    what: str
    finding: Finding
    schedule: Schedule
    performance: Performance
    original: Schedule
    attempts: int
    """Schedules that were played to shrink it."""

    @property
    def act(self) -> Act | None:
        """The act that is blamed."""
        trace = self.performance.cast.get(self.finding.participant)
        for candidate in [trace] if trace is not None else self.performance.traces:
            act = self.performance.act_of(candidate, self.finding.step)
            if act is not None:
                return act
        return None

    @property
    def slug(self) -> str:
        """Name for files."""
        return re.sub(r"[^A-Za-z0-9-]+", "-", self.what)


def counterexample(
    order: Order, company: Company, schedule: Schedule, found: Finding, max_attempts: int = MAX_ATTEMPTS
) -> Counterexample | None:
    """Shrink a schedule on which ``found`` was found; None if it is not found again, which is a finding of its own:
    the implementation does not do the same twice.

    Raises NotPlayed when the implementation was given up.
    """
    scope = order.scope.only(found.requirement)
    if found.requirement == BREAKDOWN:
        max_attempts = min(max_attempts, BROKEN_ATTEMPTS)
    twin = found.requirement in scope.properties and found.requirement not in {r.id for r in scope.requirements}

    def judged(candidate: Schedule) -> tuple[Performance, Assessment]:
        performance = _played(order, company, candidate)
        replay = company.play if twin and performance.breakdown is None else None
        return performance, assess(performance, scope, company.judged(candidate), replay)

    def matching(assessment: Assessment) -> Finding | None:
        return next(
            (
                f
                for f in assessment.findings
                if f.requirement == found.requirement
                and f.check == found.check
                and RANK[f.severity] >= RANK[found.severity]
            ),
            None,
        )

    def fails(candidate: Schedule) -> Performance | None:
        performance, assessment = judged(candidate)
        return performance if matching(assessment) is not None else None

    if fails(schedule) is None:
        return None
    shrunk = shrink(schedule, fails, order.scope.repertoire, max_attempts)
    small = replace(shrunk.schedule, notes=_notes(order, company, found, schedule))
    performance, assessment = judged(small)
    finding = matching(assessment)
    if finding is None:
        return None
    return Counterexample(found.requirement, finding, small, performance, schedule, shrunk.attempts)


def _played(order: Order, company: Company, schedule: Schedule) -> Performance:
    """Who breaks many times in a row is given up; but a breakdown that is shrunk does just that."""
    try:
        return company.play(schedule)
    except NotPlayed as given_up:
        company.kill()
        company.cast = order.company().cast
        try:
            company.start()
        except TesteeFault:
            raise given_up from None
        return company.play(schedule)


def counterexample_of(order: Order, company: Company, index: int, found: Finding) -> Counterexample | None:
    """Shrink the schedule of that number; None if its fault does not show again. Raises NotPlayed."""
    return counterexample(order, company, order.schedule(index), found)


def _notes(order: Order, company: Company, found: Finding, schedule: Schedule) -> tuple[tuple[str, str], ...]:
    """What a replay has to know, and whoever finds the file."""
    declared = company.declaration
    notes = {
        "shows": found.requirement,
        "check": found.check,
        "severity": found.severity.value,
        "cast": order.casting.value,
        "revision": order.revision,
        "implementation": f"{declared.name} {declared.version}".strip(),
        "shrunk from": schedule.name,
    }
    return tuple(sorted((key, value) for key, value in notes.items() if value))


def load(path: Path) -> Schedule:
    """The schedule in a file, of the protocol whose revision its notes name. Raises ScheduleFileError."""
    data = read(path)
    notes = data.get("notes") if isinstance(data, dict) else None
    noted = notes.get("revision") if isinstance(notes, dict) else None
    try:
        notation = repertoire_of(judged_revision(str(noted))).notation
    except ValueError as error:
        raise ScheduleFileError(str(error)) from None
    return notation.from_json(data)


def save(example: Counterexample, folder: Path, svg: str, story: str) -> dict[str, Path]:
    """Write the schedule, its trace, its picture and its story to ``folder``. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [line for trace in example.performance.traces for line in trace.to_json_lines()]
    texts = {
        "schedule": (".json", dumps(example.schedule)),
        "trace": (".trace.jsonl", "\n".join(lines) + "\n"),
        "picture": (".svg", svg),
        "story": (".txt", story),
    }
    out = {}
    for what, (suffix, text) in texts.items():
        path = folder / f"{example.slug}{suffix}"
        half = path.with_name(f"{path.name}.tmp")
        half.write_text(text, "utf-8", errors="backslashreplace")
        half.replace(path)
        out[what] = path
    return out


__all__ = ["Counterexample", "NotPlayed", "counterexample", "counterexample_of", "load", "save"]
