"""A performance as rows of the corpus: one a step, and one for the side table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..schedules import Act, Performance
from ..trace import Step, Trace
from .digests import exact_digest, joined, plan_digest, schedule_digest
from .kind import Kind
from .schema import Row


@dataclass
class Recorded:
    """The rows of one performance."""

    side: Row
    """By the names in ``SIDE_COLUMNS``."""
    steps: list[Row] = field(default_factory=list)
    """By those of the columns that their kind has."""


def rows_of(kind: Kind, performance: Performance, schedule: int, judged: Sequence[str]) -> Recorded:
    """All that is stored of a performance; ``schedule`` is its index, ``judged`` are the members under test."""
    writer = _Writer(kind, performance)
    steps: list[Row] = []
    compared = 0
    for position, (step, trace, act) in enumerate(_in_order(performance), 1):
        counts = act is not None and kind.compares(act)
        compared += counts
        row = writer.row(step, trace, act)
        steps.append({"schedule": schedule, "position": position, "step": compared if counts else 0} | row)
    places = {id(trace): place for place, trace in enumerate(performance.traces)}
    plan = kind.dumps(performance.schedule)
    breakdown = performance.breakdown
    side = {
        "schedule": schedule,
        "steps": compared,
        "rows": len(steps),
        "digest": schedule_digest(joined(row["row_hash"] for row in steps if row["step"])),
        "exact": exact_digest(message for row in steps for message in (row["request"], row["reply"])),
        "plan": plan_digest(plan),
        "ending": breakdown.kind.value if breakdown is not None else "storm" if performance.storm else "played",
        "json": plan,
        "cast": [places[id(performance.cast[name])] for name in performance.schedule.names],
        "judged": list(judged),
        "traces": [_played_by(kind, trace) for trace in performance.traces],
    }
    return Recorded(side, steps)


def digest_of(kind: Kind, performance: Performance) -> bytes:
    """The digest of a performance that ``rows_of`` puts into the side table."""
    writer = _Writer(kind, performance)
    compared = (writer.compared(act.step, act.trace, act) for act in performance.acts if kind.compares(act))
    return schedule_digest(joined(map(kind.columns.hash_of, compared)))


def bare(message: Any) -> bytes:
    """The bytes of a request or reply without its id, which counts whatever a session did before."""
    number, message.id = message.id, 0
    try:
        out: bytes = message.SerializeToString(deterministic=True)
        return out
    finally:
        message.id = number


def _played_by(kind: Kind, trace: Trace[Any]) -> Row:
    breakdown = trace.breakdown
    return {
        "role": trace.declaration.name,
        "hello": trace.declaration.to_hello().SerializeToString(deterministic=True),
        "dialect": kind.write_dialect(trace.dialect) if trace.dialect is not None else "",
        "start_ms": trace.start_ms,
        "breakdown": breakdown.kind.value if breakdown is not None else "",
        "detail": breakdown.detail if breakdown is not None else "",
        "stderr": list(breakdown.stderr) if breakdown is not None else [],
    }


def _in_order(performance: Performance) -> Iterator[tuple[Step, Trace[Any], Act | None]]:
    """The steps of all traces in one order: that of the acts, with what the harness did for itself before the act that
    needed it."""
    done = {id(trace): 0 for trace in performance.traces}
    for act in performance.acts:
        first = done[id(act.trace)]
        for step in act.trace.steps[first : act.step.index - 1]:
            yield step, act.trace, None
        yield act.step, act.trace, act
        done[id(act.trace)] = act.step.index
    for trace in performance.traces:
        for step in trace.steps[done[id(trace)] :]:
            yield step, trace, None


class _Writer:
    """Writes the rows of one performance: what every corpus has, and what its protocol tells."""

    def __init__(self, kind: Kind, performance: Performance) -> None:
        self._columns, self._portable = kind.columns, kind.portable
        self._told = kind.facts(performance)
        self._places = {id(trace): place for place, trace in enumerate(performance.traces)}

    def row(self, step: Step, trace: Trace[Any], act: Act | None) -> Row:
        """All columns but the keys."""
        row, reply = self.compared(step, trace, act), step.whole_reply
        return {
            **row,
            **self._told.informative(step, trace),
            "trace": self._places[id(trace)],
            "request": bare(self._portable(step.whole_request)),
            "reply": bare(reply) if reply is not None else None,
            "row_hash": self._columns.hash_of(row),
        }

    def compared(self, step: Step, trace: Trace[Any], act: Act | None) -> Row:
        """The normative columns."""
        return {
            "participant": step.participant,
            "command": step.command,
            "at_ms": act.at_ms if act is not None else step.now_ms - trace.start_ms,
            "answer": step.answer,
            **self._told.compared(step, trace),
        }
