"""A performance made again from its rows, without the implementation: whatever judges a live one can judge it.

The player plays the stored schedule on stages whose other end answers with the stored replies. What is played is a
function of the schedule and of the replies, so each request has to be, byte for byte, the one that is stored: a corpus
that was changed, or recorded by a suite that plays otherwise, cannot pass for a sound one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import DecodeError

from ..declaration import printable
from ..faults import FaultKind, TesteeFault
from ..language import HANDSHAKE
from ..link import Limits, Link
from ..schedules import Act, Performance, Schedule, ScheduleFileError
from ..schedules.files import MAX_BYTES
from ..session import Session
from ..stage import Stage
from .errors import CorpusError
from .kind import Kind
from .rows import bare
from .schema import Row


class Unsound(CorpusError):
    """What is stored of a schedule does not fit together."""


@dataclass(frozen=True)
class Rebuilt:
    """A stored performance."""

    performance: Performance
    judged: tuple[str, ...]
    """The members under test."""
    compared: tuple[Act, ...]
    """The acts that are compared: the first of them is step 1."""


class _StoredLink(Link):
    """The other end of a conversation: the replies of one trace, in order."""

    def __init__(self, kind: Kind, played_by: Row, rows: Iterable[Row]) -> None:
        self._portable = kind.portable
        self._hello: bytes = played_by["hello"]
        self._fault = (played_by["breakdown"], played_by["detail"], tuple(played_by["stderr"]))
        self._rows = list(rows)
        self._next = 0

    def call(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        command = request.WhichOneof("command")
        if command == HANDSHAKE:
            answer = reply()
            return _parsed(answer, answer.hello, self._hello, request.id)
        asked = bare(self._portable(request))
        row = self._rows[self._next] if self._next < len(self._rows) else None
        if command == "close" and (row is None or row["request"] != asked):
            return reply(id=request.id, effects={})  # of the end of a session only what broke is stored
        if row is None:
            raise Unsound(f"it ends before a request {command}")
        if row["request"] != asked:
            raise Unsound(f"at row {row['position']} another request is stored than this suite makes ({command})")
        self._next += 1
        if row["reply"] is None:
            raise self._broke()
        answer = reply()
        return _parsed(answer, answer, row["reply"], request.id)

    def _broke(self) -> Exception:
        kind, detail, stderr = self._fault
        if kind not in {known.value for known in FaultKind}:
            return Unsound("it broke in a way that has no name")
        return TesteeFault(FaultKind(kind), detail, stderr)

    @property
    def left(self) -> int:
        """Rows that were not played."""
        return len(self._rows) - self._next

    def call_unknown(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        return reply(id=request.id, unsupported={})


def rebuild(kind: Kind, revision: str, side: Row, rows: Sequence[Row], plan: Schedule | None = None) -> Rebuilt:
    """The performance of a schedule, from its row in the side table and its rows in order of position.

    ``plan`` is the schedule, if it is not to be read from the side table. Raises Unsound if they do not fit together.
    """
    if any(len(text) > MAX_BYTES for text in (side["json"], *(each["dialect"] for each in side["traces"]))):
        raise Unsound(f"its schedule, or a dialect, has more than {MAX_BYTES >> 20} MiB")
    try:
        schedule = plan or kind.loads(side["json"])
    except ScheduleFileError as error:
        raise Unsound(f"its schedule cannot be read: {printable(str(error))}") from None
    cast, traces = side["cast"], side["traces"]
    if len(cast) != len(schedule.members) or not all(0 <= number < len(traces) for number in cast):
        raise Unsound("its cast does not fit its schedule")
    links = [
        _StoredLink(kind, played_by, [row for row in rows if row["trace"] == number])
        for number, played_by in enumerate(traces)
    ]
    try:
        stages = [_stage(kind, revision, link, of, schedule) for link, of in zip(links, traces, strict=True)]
    except TesteeFault as fault:  # whoever shook hands like that never came to play
        raise Unsound(f"a stored handshake is none: {fault.breakdown.detail}") from None
    # The player lists traces in the order in which their first members come; so it did when this was recorded.
    performance = kind.play(schedule, {name: stages[n] for name, n in zip(schedule.names, cast, strict=True)})
    if left := sum(link.left for link in links):
        raise Unsound(f"{left} of its {len(rows)} rows are not reached")
    return Rebuilt(performance, tuple(side["judged"]), tuple(filter(kind.compares, performance.acts)))


def _stage(kind: Kind, revision: str, link: _StoredLink, played_by: Row, schedule: Schedule) -> Stage[Any]:
    session = Session(lambda: link, Limits(), revision, kind.language)
    try:
        dialect = kind.read_dialect(played_by["dialect"]) if played_by["dialect"] else None
    except (ValueError, RecursionError):
        raise Unsound("its dialect cannot be read") from None
    stage = kind.stage(session, schedule.name, dialect)
    stage.now_ms = stage.trace.start_ms = played_by["start_ms"]
    return stage


def _parsed(reply: Any, part: Any, stored: bytes, number: int) -> Any:
    """A reply of which a part, or all, is stored."""
    try:
        part.MergeFromString(stored)
    except DecodeError:
        raise Unsound("a stored reply is no reply") from None
    reply.id = number
    return reply
