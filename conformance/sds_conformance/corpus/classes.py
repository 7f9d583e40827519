"""Classifies divergences of two corpora by judging both group traces: legal, or a fault of A, of B or of both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pyarrow as pa

from sds_harness.corpus.reader import Stored
from sds_harness.corpus.rows import Rebuilt
from sds_harness.corpus.schema import Row
from sds_harness.corpus.shards import DamagedFileError
from sds_harness.declaration import printable
from sds_harness.schedules import Schedule

from ..exploration.assessment import Assessment, Scope, assess, make_time_key
from ..exploration.text import failure_of
from ..judging.causes import Failure, roots
from ..judging.rules import Rules
from ..judging.verdict import Finding, Verdict
from ..protocols.freedoms import DivergentSide, DivergentSteps, Freedom, covering
from .divergences import DUPLICATE, EXTRA, MISSING, STALE, TRUNCATED, TWICE, Divergence
from .kinds import corpora_of


class Class(Enum):
    """Classes of divergent schedules, in the order of reports."""

    A_VIOLATES = "A violates", "#b3261e", "A violates a requirement in the schedule, B does not"
    B_VIOLATES = "B violates", "#c2590c", "B violates a requirement in the schedule, A does not"
    BOTH_VIOLATE = "both violate", "#7b1fa2", "both violate something in the schedule"
    UNEXPLAINED = (
        "unexplained",
        "#b08900",
        "neither violates a requirement, and no position explains the difference",
    )
    UNJUDGED = "unjudged", "#5b6470", "no checks were run"
    MISSING = "missing", "#00677d", "only A has the schedule"
    EXTRA = "extra", "#0b5fa5", "only B has the schedule"
    TRUNCATED = "truncated", "#6d4c41", "steps that were recorded are not in the corpus"
    DUPLICATE = "duplicate", "#455a64", "a schedule or a step is in the corpus twice"
    DAMAGED = "damaged", "#000000", "the stored data are inconsistent"
    ERROR = "error", "#ad1457", "a fault of this suite, so there is no verdict"
    LEGAL = "legal", "#2e7d4f", "neither violates a requirement, and the specification leaves the difference open"

    colour: str
    """Colour of the bars of the class in a chart, as #rrggbb."""
    words: str

    def __new__(cls, value: str, colour: str = "", words: str = "") -> Class:
        out = object.__new__(cls)
        out._value_, out.colour, out.words = value, colour, words
        return out


VIOLATIONS = (Class.A_VIOLATES, Class.B_VIOLATES, Class.BOTH_VIOLATE)
AND = " and "
"""Separates the violations of A from those of B."""
_OF_KIND = {
    MISSING: Class.MISSING,
    EXTRA: Class.EXTRA,
    TRUNCATED: Class.TRUNCATED,
    DUPLICATE: Class.DUPLICATE,
    TWICE: Class.DUPLICATE,
    STALE: Class.DAMAGED,
}


@dataclass
class Classified:
    """A divergence with its class and the violations of both sides."""

    divergence: Divergence
    kind: Class
    cause: str
    """The cause, by which divergences are grouped: the same text for all divergences of a group."""
    reason: str = ""
    """Why the difference is legal, or a description of the fault. Part of a sentence."""
    violated_a: tuple[str, ...] = ()
    """Requirements and properties that A violates in this schedule, the first violation first."""
    violated_b: tuple[str, ...] = ()
    finding_a: Finding | None = None
    """The first violation of A."""
    finding_b: Finding | None = None


def classify_by_kind(divergence: Divergence) -> Classified:
    """Classify a divergence whose kind alone gives its class, without checks."""
    kind = _OF_KIND.get(divergence.kind, Class.UNJUDGED)
    if kind is Class.UNJUDGED:
        return Classified(divergence, kind, describe_place(divergence))
    of = f" in {divergence.side}" if divergence.side else ""
    return Classified(divergence, kind, f"{divergence.kind}{of}", f"{divergence.kind}{of}")


def classify_by_checks(divergence: Divergence, a: Stored, b: Stored, scopes: tuple[Scope, Scope]) -> Classified:
    """Classify a divergence by judging both sides with the checks."""
    sides: list[tuple[Rebuilt, Assessment]] = []
    same_plan = a.side["json"] == b.side["json"]
    for name, stored, scope in zip("AB", (a, b), scopes, strict=True):
        try:
            rebuilt = rebuild_without_dialect(stored, sides[0][0].group_trace.schedule if sides and same_plan else None)
        except DamagedFileError as error:
            return Classified(divergence, Class.DAMAGED, f"damaged in {name}", str(error))
        sides.append((rebuilt, assess(rebuilt.group_trace, scope, rebuilt.judged)))
    (finding_a, violated_a), (finding_b, violated_b) = (
        _violations(*side, scope.rules) for side, scope in zip(sides, scopes, strict=True)
    )
    out = Classified(divergence, Class.LEGAL, "", "", violated_a, violated_b, finding_a, finding_b)
    for name, (_, assessment) in zip("AB", sides, strict=True):
        for ours in assessment.errors.values():
            out.kind, out.cause, out.reason = Class.ERROR, "a fault of the suite", f"{name}: {printable(ours)}"
            return out
    if finding_a is not None and finding_b is not None:
        # If both violate the same requirement, name it once.
        both = dict.fromkeys((finding_a.requirement, finding_b.requirement))
        out.kind, out.cause = Class.BOTH_VIOLATE, AND.join(both)
    elif finding_a is not None:
        out.kind, out.cause = Class.A_VIOLATES, finding_a.requirement
    elif finding_b is not None:
        out.kind, out.cause = Class.B_VIOLATES, finding_b.requirement
    elif freedoms := freedoms_of(divergence, a, sides[0][0], sides[1][0]):
        out.cause = ", ".join(freedom.name for freedom in freedoms)
        out.reason = "; ".join(_describe_freedom(freedom, scopes[0].rules) for freedom in freedoms)
    elif warning := find_one_sided_warning(sides[0][1], sides[1][1]):
        out.cause = f"warning of {warning.requirement}"
        out.reason = f"a deviation that is tolerated{warning.position and f': {warning.position}'}"
    else:
        out.kind, out.cause = Class.UNEXPLAINED, describe_place(divergence)
    return out


def rebuild_without_dialect(stored: Stored, plan: Schedule | None = None) -> Rebuilt:
    """Rebuild a group trace, translated from a dialect to the layout of the specification.

    A private layout violates the same requirements in every schedule, which would hide other differences. Raises
    DamagedFileError.
    """
    rebuilt = stored.group_trace(plan)
    stored.corpus.kind.translate(rebuilt.group_trace)
    return rebuilt


def freedoms_of(divergence: Divergence, stored: Stored, a: Rebuilt, b: Rebuilt) -> tuple[Freedom, ...]:
    """Return the permitted differences that explain all differences of a divergence; empty if one is unexplained."""
    corpora = corpora_of(stored.corpus.manifest.revision)
    fields = frozenset(divergence.fields)
    sides = [DivergentSide(one.group_trace, one.compared, row) for one, row in ((a, divergence.a), (b, divergence.b))]
    case = DivergentSteps(fields - corpora.following(fields, str(divergence.row.get("command", ""))), *sides)
    return covering(case, corpora.freedoms, stored.corpus.kind.columns.names)


def _describe_freedom(freedom: Freedom, rules: Rules) -> str:
    positions = [each.id for each in rules.catalogue.positions.values() if freedom.name in each.explains]
    return f"{freedom.words} ({', '.join(positions)})" if positions else freedom.words


def find_one_sided_warning(a: Assessment, b: Assessment) -> Finding | None:
    """Return a warning that only one side has; None if there is none."""
    for one, other in ((a, b), (b, a)):
        known = {finding.requirement for finding in other.findings}
        for finding in one.findings:
            if finding.severity is Verdict.WARN and finding.requirement not in known:
                return finding
    return None


def describe_place(divergence: Divergence) -> str:
    """Describe where two sides differ: the columns and the command."""
    command = printable(str(divergence.row.get("command", "the end")), 40)
    return f"{', '.join(divergence.fields) or 'nothing'} at {command}"


def _violations(rebuilt: Rebuilt, assessment: Assessment, rules: Rules) -> tuple[Finding | None, tuple[str, ...]]:
    """Return the first violation, and all violated requirements in order of time. A later violation may be a
    consequence.

    At one step, root causes are first. Requirements come before properties, which depend on them.
    """
    when = make_time_key(rebuilt.group_trace)
    fails = [finding for finding in assessment.findings if finding.severity is Verdict.FAIL]
    met: dict[int, dict[str, Failure]] = {}
    for finding in fails:
        met.setdefault(when(finding), {})[finding.requirement] = failure_of(finding, 1, 1)
    order = {
        (step, root.id): number
        for step, failures in met.items()
        for number, root in enumerate(roots(rules, [*failures.values()]))
    }

    def place(finding: Finding) -> tuple[bool, int, int, str]:
        what, step = finding.requirement, when(finding)
        return what.startswith("G-"), step, order.get((step, what), len(fails)), what

    fails.sort(key=place)
    return (fails[0] if fails else None), tuple(dict.fromkeys(finding.requirement for finding in fails))


def as_row(one: Classified) -> dict[str, Any]:
    """The row of one divergence in the Parquet file of all divergences."""
    divergence, row = one.divergence, one.divergence.row
    return {name: value_of(one, divergence, row) for name, (_, value_of) in _COLUMNS.items()}


_STRINGS = pa.list_(pa.string())
_COLUMNS: dict[str, tuple[pa.DataType, Callable[[Classified, Divergence, Row], object]]] = {
    "schedule": (pa.int64(), lambda one, divergence, row: divergence.schedule),
    "class": (pa.string(), lambda one, divergence, row: one.kind.value),
    "cause": (pa.string(), lambda one, divergence, row: one.cause),
    "reason": (pa.string(), lambda one, divergence, row: printable(one.reason, 600)),
    "kind": (pa.string(), lambda one, divergence, row: divergence.kind),
    "side": (pa.string(), lambda one, divergence, row: divergence.side),
    "step": (pa.int32(), lambda one, divergence, row: divergence.step),
    "participant": (pa.string(), lambda one, divergence, row: row.get("participant", "")),
    "command": (pa.string(), lambda one, divergence, row: row.get("command", "")),
    "at_ms": (pa.int64(), lambda one, divergence, row: row.get("at_ms", 0)),
    "fields": (_STRINGS, lambda one, divergence, row: list(divergence.fields)),
    "values": (pa.string(), lambda one, divergence, row: _values(divergence)),
    "steps_a": (pa.int32(), lambda one, divergence, row: divergence.steps[0]),
    "steps_b": (pa.int32(), lambda one, divergence, row: divergence.steps[1]),
    "violated_a": (_STRINGS, lambda one, divergence, row: list(one.violated_a)),
    "violated_b": (_STRINGS, lambda one, divergence, row: list(one.violated_b)),
    "finding_a": (pa.string(), lambda one, divergence, row: _describe_finding(one.finding_a)),
    "finding_b": (pa.string(), lambda one, divergence, row: _describe_finding(one.finding_b)),
}
DIVERGENCE_SCHEMA = pa.schema({name: kind for name, (kind, _) in _COLUMNS.items()})
_LONGEST = 2_000


def _values(divergence: Divergence) -> str:
    return "; ".join(f"{name}: {a!r} | {b!r}" for name, (a, b) in divergence.values.items())[:_LONGEST]


def _describe_finding(finding: Finding | None) -> str:
    if finding is None:
        return ""
    place = f"step {finding.step} of {finding.participant}"
    return f"{finding.requirement} at {place}: expected {finding.expected}; seen {finding.seen}"
