"""Converts a group trace to rows of a corpus, one per step and one for the side table, and back.

A group trace is rebuilt without the implementation, so that the checks can judge it like a live one. The player plays
the stored schedule on stages whose links answer with the stored replies. A request is a function of the schedule and
the replies, so it must be equal to the stored one, byte for byte. If it differs, the corpus was changed, or
was recorded by a suite that plays differently; the corpus is then reported as unsound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import DecodeError

from ..declaration import printable
from ..faults import FaultKind, TesteeError
from ..language import HANDSHAKE
from ..link import Limits, Link
from ..schedules import Act, GroupTrace, Schedule, ScheduleFileError, dumps
from ..schedules.files import MAX_BYTES
from ..session import Session
from ..stage import Stage
from ..trace import Step, Trace
from .digests import exact_digest, join_hashes, plan_digest, schedule_digest
from .errors import CorpusError
from .kind import CorpusKind
from .schema import Row


@dataclass
class Recorded:
    """The rows of one group trace."""

    side: Row
    """The keys of the row are the names in ``SIDE_COLUMNS``."""
    steps: list[Row] = field(default_factory=list)
    """The keys of the rows are the column names of the kind."""


def rows_of(kind: CorpusKind, group_trace: GroupTrace, schedule: int, judged: Sequence[str]) -> Recorded:
    """Everything that is stored of a group trace; ``schedule`` is its index, ``judged`` are the members under test."""
    writer = _Writer(kind, group_trace)
    steps: list[Row] = []
    compared = 0
    for position, (step, trace, act) in enumerate(_in_order(group_trace), 1):
        counts = act is not None and kind.compares(act)
        compared += counts
        row = writer.row(step, trace, act)
        steps.append({"schedule": schedule, "position": position, "step": compared if counts else 0} | row)
    places = {id(trace): place for place, trace in enumerate(group_trace.traces)}
    plan = dumps(group_trace.schedule)
    breakdown = group_trace.breakdown
    side = {
        "schedule": schedule,
        "steps": compared,
        "rows": len(steps),
        "digest": schedule_digest(join_hashes(row["row_hash"] for row in steps if row["step"])),
        "exact": exact_digest(message for row in steps for message in (row["request"], row["reply"])),
        "plan": plan_digest(plan),
        "ending": breakdown.kind.value if breakdown is not None else "storm" if group_trace.storm else "played",
        "json": plan,
        "cast": [places[id(group_trace.cast[name])] for name in group_trace.schedule.names],
        "judged": list(judged),
        "traces": [_played_by(kind, trace) for trace in group_trace.traces],
    }
    return Recorded(side, steps)


def digest_of(kind: CorpusKind, group_trace: GroupTrace) -> bytes:
    """The digest of a group trace, as in the side table."""
    writer = _Writer(kind, group_trace)
    compared = (writer.compared(act.step, act.trace, act) for act in group_trace.acts if kind.compares(act))
    return schedule_digest(join_hashes(map(kind.columns.hash_of, compared)))


def bare(message: Any) -> bytes:
    """The bytes of a request or reply without its ID, which depends on what the session did before."""
    number, message.id = message.id, 0
    try:
        out: bytes = message.SerializeToString(deterministic=True)
        return out
    finally:
        message.id = number


def _played_by(kind: CorpusKind, trace: Trace[Any]) -> Row:
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


def _in_order(group_trace: GroupTrace) -> Iterator[tuple[Step, Trace[Any], Act | None]]:
    """The steps of all traces, in the order of the acts of the schedule.
    Requests that the harness sends for its own purposes come before the next act of the same participant.
    """
    done = {id(trace): 0 for trace in group_trace.traces}
    for act in group_trace.acts:
        first = done[id(act.trace)]
        for step in act.trace.steps[first : act.step.index - 1]:
            yield step, act.trace, None
        yield act.step, act.trace, act
        done[id(act.trace)] = act.step.index
    for trace in group_trace.traces:
        for step in trace.steps[done[id(trace)] :]:
            yield step, trace, None


class _Writer:
    """Writes the rows of one group trace: the columns of every corpus and those of its protocol."""

    def __init__(self, kind: CorpusKind, group_trace: GroupTrace) -> None:
        self._columns, self._portable = kind.columns, kind.portable
        self._reader = kind.facts(group_trace)
        self._places = {id(trace): place for place, trace in enumerate(group_trace.traces)}

    def row(self, step: Step, trace: Trace[Any], act: Act | None) -> Row:
        """All columns of the step's row except the ``KEYS``."""
        row, reply = self.compared(step, trace, act), step.whole_reply
        return {
            **row,
            **self._reader.informative(step, trace),
            "trace": self._places[id(trace)],
            "request": bare(self._portable(step.whole_request)),
            "reply": bare(reply) if reply is not None else None,
            "row_hash": self._columns.hash_of(row),
        }

    def compared(self, step: Step, trace: Trace[Any], act: Act | None) -> Row:
        """The normative columns of the step's row."""
        return {
            "participant": step.participant,
            "command": step.command,
            "at_ms": act.at_ms if act is not None else step.now_ms - trace.start_ms,
            "answer": step.answer,
            **self._reader.normative_columns(step, trace),
        }


class ContradictoryRowsError(CorpusError):
    """The stored data of a schedule contradict each other."""


@dataclass(frozen=True)
class Rebuilt:
    """A group trace that was rebuilt from stored rows."""

    group_trace: GroupTrace
    judged: tuple[str, ...]
    """The members under test."""
    compared: tuple[Act, ...]
    """The acts whose rows a comparison of corpora compares. Their numbers in the column ``step`` begin at 1."""


class _StoredLink(Link):
    """A link that answers with the stored replies of one trace, in order."""

    def __init__(self, kind: CorpusKind, played_by: Row, rows: Iterable[Row]) -> None:
        self._portable = kind.portable
        self._hello: bytes = played_by["hello"]
        self._fault = (played_by["breakdown"], played_by["detail"], tuple(played_by["stderr"]))
        self._rows = list(rows)
        self._next = 0

    def call(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        command = request.WhichOneof("command")
        if command == HANDSHAKE:
            answer = reply()
            return _parse_stored(answer, answer.hello, self._hello, request.id)
        bare_request = bare(self._portable(request))
        row = self._rows[self._next] if self._next < len(self._rows) else None
        if command == "close" and (row is None or row["request"] != bare_request):
            return reply(id=request.id, effects={})  # a `close` at the end of a session was stored only if it failed
        if row is None:
            raise ContradictoryRowsError(f"there is no row for a request of this suite ({command})")
        if row["request"] != bare_request:
            raise ContradictoryRowsError(
                f"at row {row['position']} the stored request differs from that of this suite ({command})"
            )
        self._next += 1
        if row["reply"] is None:
            raise self._breakdown_error()
        answer = reply()
        return _parse_stored(answer, answer, row["reply"], request.id)

    def _breakdown_error(self) -> Exception:
        kind, detail, stderr = self._fault
        if kind not in {known.value for known in FaultKind}:
            return ContradictoryRowsError("the kind of a breakdown is unknown")
        return TesteeError(FaultKind(kind), detail, stderr)

    @property
    def remaining_rows(self) -> int:
        """The number of stored rows that no request has used."""
        return len(self._rows) - self._next

    def call_unknown(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        return reply(id=request.id, unsupported={})


def rebuild(kind: CorpusKind, revision: str, side: Row, rows: Sequence[Row], plan: Schedule | None = None) -> Rebuilt:
    """Rebuild the group trace of a schedule from its row in the side table and its rows, ordered by position.

    ``plan`` replaces the schedule in the side table, if given. Raises ContradictoryRowsError if the data contradict
    each other.
    """
    if any(len(text) > MAX_BYTES for text in (side["json"], *(each["dialect"] for each in side["traces"]))):
        raise ContradictoryRowsError(f"the schedule, or a dialect, has more than {MAX_BYTES >> 20} MiB")
    try:
        schedule = plan or kind.loads(side["json"])
    except ScheduleFileError as error:
        raise ContradictoryRowsError(f"the schedule cannot be read: {printable(str(error))}") from None
    cast, traces = side["cast"], side["traces"]
    if len(cast) != len(schedule.members) or not all(0 <= number < len(traces) for number in cast):
        raise ContradictoryRowsError("the cast does not fit the schedule")
    links = [
        _StoredLink(kind, played_by, [row for row in rows if row["trace"] == number])
        for number, played_by in enumerate(traces)
    ]
    try:
        stages = [_stage(kind, revision, link, of, schedule) for link, of in zip(links, traces, strict=True)]
    except TesteeError as fault:  # a schedule is recorded only after a valid handshake
        raise ContradictoryRowsError(f"a stored handshake is invalid: {fault.breakdown.detail}") from None
    # The player orders traces by their first members, as it did during the recording.
    group_trace = kind.play(schedule, {name: stages[n] for name, n in zip(schedule.names, cast, strict=True)})
    if left := sum(link.remaining_rows for link in links):
        raise ContradictoryRowsError(f"{left} of {len(rows)} stored rows were not used")
    return Rebuilt(group_trace, tuple(side["judged"]), tuple(filter(kind.compares, group_trace.acts)))


def _stage(kind: CorpusKind, revision: str, link: _StoredLink, played_by: Row, schedule: Schedule) -> Stage[Any]:
    session = Session(lambda: link, Limits(), revision, kind.language)
    try:
        dialect = kind.read_dialect(played_by["dialect"]) if played_by["dialect"] else None
    except (ValueError, RecursionError):
        raise ContradictoryRowsError("a dialect cannot be read") from None
    stage = kind.stage(session, schedule.name, dialect)
    stage.now_ms = stage.trace.start_ms = played_by["start_ms"]
    return stage


def _parse_stored(reply: Any, part: Any, stored: bytes, number: int) -> Any:
    """Parse stored bytes into a reply or into a part of it."""
    try:
        part.MergeFromString(stored)
    except DecodeError:
        raise ContradictoryRowsError("a stored reply cannot be parsed") from None
    reply.id = number
    return reply
