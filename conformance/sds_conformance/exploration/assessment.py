"""Judges one group trace: all checks on each trace, and the properties over all traces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from sds_harness.declaration import printable
from sds_harness.schedules import GroupTrace
from sds_harness.trace import Trace

from ..judging.catalogue import Requirement
from ..judging.garbage import garbage_collection_paused
from ..judging.judgement import Outcome
from ..judging.rules import Rules, View
from ..judging.run_summary import ApplicableChecks, CheckResult, ReportedObservation, apply_checks
from ..judging.runner import OUR_LIMITS
from ..judging.verdict import MAX_TEXT, RANK, Finding, Verdict, finding_of, severity_of
from ..protocols import default, protocol_of, repertoire_of, revisions
from ..protocols.properties import Replay
from ..protocols.schedules import Repertoire
from .casts import OutOfTimeError

BREAKDOWN = "breakdown"
"""Used in place of a requirement in findings about a hang, a crash or an invalid reply."""
STORM = "storm"
"""Used in place of a requirement in findings about participants that answer each other without end."""
ENDLESS = "endless"
"""The code of a finding about endless messages (`STORM`)."""


class UnknownRevisionError(ValueError):
    """A file names an unknown revision; the message quotes the revision."""


def judged_revision(recorded: str) -> str:
    """Return the revision for judging a stored schedule: the revision that it names, or else the current revision.

    Raises UnknownRevisionError for an unknown name, because judging by another revision would report false violations.
    """
    if recorded and recorded not in revisions():
        raise UnknownRevisionError(
            f"{printable(repr(recorded), 60)} is a revision that this suite does not know (known are "
            f"{', '.join(revisions())}): use the version of the suite that wrote the file, or a newer version"
        )
    return recorded or default().rules.current


@dataclass(frozen=True)
class Scope:
    """The requirements and properties that are judged."""

    revision: str
    requirements: tuple[Requirement, ...]
    properties: tuple[str, ...]
    strict: bool = False
    include_notes: bool = False
    """Notes (such as a deviation from a MAY) count as findings as well."""

    def __reduce__(self) -> tuple[type[Scope], tuple[object, ...]]:
        """Pickle without the cached properties, because they contain functions that cannot be pickled."""
        return Scope, (self.revision, self.requirements, self.properties, self.strict, self.include_notes)

    @classmethod
    def select(
        cls, profile: str = "", revision: str = "", *, strict: bool = False, include_notes: bool = False
    ) -> Scope:
        """Return a scope with all requirements that have checks, in a profile of a revision. Default: all of the
        current revision.
        """
        revision = revision or default().rules.current
        rules = protocol_of(revision).rules
        requirements = tuple(rules.judged_requirements(revision, profile or rules.full))
        return cls(revision, requirements, tuple(repertoire_of(revision).properties), strict, include_notes)

    @property
    def rules(self) -> Rules:
        return protocol_of(self.revision).rules

    @property
    def repertoire(self) -> Repertoire:
        return repertoire_of(self.revision)

    @cached_property
    def by_id(self) -> dict[str, Requirement]:
        return {requirement.id: requirement for requirement in self.requirements}

    @cached_property
    def checks(self) -> ApplicableChecks:
        return ApplicableChecks(self.rules.register, self.by_id)

    def restricted_to(self, what: str) -> Scope:
        """Restrict the scope to one requirement or property."""
        requirements = tuple(requirement for requirement in self.requirements if requirement.id == what)
        return replace(self, requirements=requirements, properties=tuple(p for p in self.properties if p == what))


@dataclass
class Assessment:
    """The result of judging one group trace."""

    findings: list[Finding] = field(default_factory=list)
    """The first finding of each severity, for each check on each view and for each property; also breakdowns."""
    exercised: Counter[str] = field(default_factory=Counter)
    """Maps requirements and properties to how often they were exercised."""
    situations: Counter[str] = field(default_factory=Counter)
    errors: dict[str, str] = field(default_factory=dict)
    """Errors of the suite: maps the check, or another part of the suite that failed, to the exception."""

    def worst(self, what: str) -> Verdict:
        """Return the worst severity among the findings of a requirement or property; PASS if there is no finding."""
        found = [f.severity for f in self.findings if f.requirement == what]
        return max(found, key=RANK.__getitem__, default=Verdict.PASS)


@garbage_collection_paused()
def assess(
    group_trace: GroupTrace,
    scope: Scope,
    judged: Collection[str] = (),
    replay: Replay | None = None,
    newest: Collection[str] | None = None,
) -> Assessment:
    """Judge a group trace.

    ``judged`` are the participants under test; all if empty. With ``replay``, properties that compare two group traces
    are examined as well. ``newest`` are the participants whose traces are new: the traces of all others have been
    judged in earlier schedules, so only checks that compare participants are applied to them. None: all are new.
    """
    judged = judged or group_trace.schedule.names
    out = Assessment()
    name = group_trace.schedule.name
    views: list[View] = []
    if scope.requirements:
        for trace in group_trace.traces:
            present = [view for view in _views(trace, scope, out) if view.party.name in judged]
            views += present
            for together in (False,) if newest is None else (False, True):
                some = [v for v in present if newest is None or (v.party.name not in newest) is together]
                applicable = scope.checks.select(trace.declaration, together=together)
                for result in apply_checks(applicable, [(view, None) for view in some]):
                    _add_result(result, scope, out)
    if scope.properties:
        _examine(group_trace, scope, judged, replay, out)
    beyond = group_trace.breakdown is not None and group_trace.breakdown.kind in OUR_LIMITS
    if group_trace.breakdown is not None and not beyond and (not group_trace.broken or group_trace.broken in judged):
        kind, detail = group_trace.breakdown.kind.value, group_trace.breakdown.detail
        out.findings.append(_breakdown_finding(group_trace, BREAKDOWN, kind, "an answer", f"{kind}: {detail}", name))
    if group_trace.storm:
        out.findings.append(
            _breakdown_finding(group_trace, STORM, ENDLESS, "an end of the messages", "no end of messages", name)
        )
    out.situations = scope.repertoire.counted(group_trace, views)
    return out


def make_time_key(group_trace: GroupTrace) -> Callable[[Finding], int]:
    """Return a sort key that orders findings by time. Step numbers do not give this order, because each implementation
    counts its own steps.
    """
    places = {(id(act.trace), act.step.index): place for place, act in enumerate(group_trace.acts)}

    def place_of(finding: Finding) -> int:
        trace = group_trace.cast.get(finding.participant)
        return places.get((id(trace), finding.step), len(places))

    return place_of


def _views(trace: Trace[Any], scope: Scope, out: Assessment) -> Iterable[View]:
    try:
        return scope.rules.views(trace)
    except Exception as error:  # an error of the suite must not become a verdict on the implementation
        out.errors[f"the reading of {trace.schedule}"] = f"{type(error).__name__}: {error}"
        return ()


def _add_result(result: CheckResult, scope: Scope, out: Assessment) -> None:
    requirement = scope.by_id[result.check.requirement]
    known: set[Verdict] = set()
    if result.places:
        out.exercised[requirement.id] += result.places
    for reported in result.reported:
        severity = severity_of(requirement, reported.observation, strict=scope.strict)
        if severity in known or (severity is Verdict.PASS and not scope.include_notes):
            continue
        known.add(severity)
        out.findings.append(finding_of(requirement.id, reported, severity, requirement.softened))
    if result.exception:
        out.errors[result.check.name] = result.exception


def _examine(
    group_trace: GroupTrace, scope: Scope, judged: Collection[str], replay: Replay | None, out: Assessment
) -> None:
    try:
        examined = scope.repertoire.properties.examine(group_trace, replay, scope.properties)
    except OutOfTimeError:
        raise
    except Exception as error:  # a fault of the suite must not look like one of the implementation
        out.errors["global properties"] = f"{type(error).__name__}: {error}"
        return
    for property_id, sightings in examined.items():
        reported: set[Verdict] = set()
        for sighting in sightings:
            if sighting.act.who not in judged:
                continue
            out.exercised[property_id] += 1
            if sighting.outcome is Outcome.HELD:
                continue
            severity = Verdict.WARN if sighting.position and not scope.strict else Verdict.FAIL
            if sighting.outcome is Outcome.NOTED or severity in reported:
                continue
            reported.add(severity)
            act, trace = sighting.act, sighting.act.trace
            place = trace.schedule, trace.environment, act.who, sighting.channel_id
            seen = ReportedObservation("", *place, sighting, act.step.stderr, trace.recorded)
            out.findings.append(finding_of(property_id, seen, severity))


def _breakdown_finding(group_trace: GroupTrace, what: str, code: str, expected: str, seen: str, name: str) -> Finding:
    last = group_trace.acts[-1] if group_trace.acts else None
    who, step, at = (last.who, last.step.index, last.trace.recorded) if last is not None else ("", 0, 0)
    seen = printable(seen, MAX_TEXT)
    return Finding(what, code, name, "plain", who, "", step, expected, seen, "", Verdict.FAIL, at)
