"""A performance made again from its rows, without the implementation: whatever judges a live one can judge it.

The player plays the stored schedule on stages whose other end answers with the stored replies. What is played is a
function of the schedule and of the replies, so each request has to be, byte for byte, the one that is stored: a corpus
that was changed, or recorded by a suite that plays otherwise, cannot pass for a sound one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from google.protobuf.message import DecodeError

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference.testee.dialect import Dialect, parse_dialect

from ..declaration import printable
from ..faults import FaultKind, TesteeFault
from ..link import Limits
from ..schedules import Schedule, ScheduleFileError
from ..sds.language import open_session
from ..sds.notation import NOTATION
from ..sds.performance import Act, Performance
from ..sds.player import play
from ..sds.stage import Stage
from .errors import CorpusError
from .rows import NOT_COMPARED, bare

Row = Mapping[str, Any]


class Unsound(CorpusError):
    """What is stored of a schedule does not fit together."""


@dataclass(frozen=True)
class Rebuilt:
    """A stored performance."""

    performance: Performance
    judged: tuple[str, ...]
    """The members under test."""

    @property
    def compared(self) -> list[Act]:
        """The acts that are compared: the first of them is step 1."""
        return [act for act in self.performance.acts if act.step.command not in NOT_COMPARED]


class _StoredLink:
    """The other end of a conversation: the replies of one trace, in order."""

    def __init__(self, played_by: Row, rows: Iterable[Row]) -> None:
        self._hello: bytes = played_by["hello"]
        self._fault = (played_by["breakdown"], played_by["detail"], tuple(played_by["stderr"]))
        self._rows = list(rows)
        self._next = 0

    def call(self, request: pb.Request, timeout_s: float, reply: type[pb.Reply]) -> pb.Reply:
        command = request.WhichOneof("command")
        if command == "hello":
            return _parsed(self._hello, request.id, hello=True)
        asked = bare(request)
        row = self._rows[self._next] if self._next < len(self._rows) else None
        if command == "close" and (row is None or row["request"] != asked):
            return pb.Reply(id=request.id, effects=pb.Effects())  # of the end of a session only what broke is stored
        if row is None:
            raise Unsound(f"it ends before a request {command}")
        if row["request"] != asked:
            raise Unsound(f"at row {row['position']} another request is stored than this suite makes ({command})")
        self._next += 1
        if row["reply"] is None:
            raise self._broke()
        return _parsed(row["reply"], request.id)

    def _broke(self) -> Exception:
        kind, detail, stderr = self._fault
        if kind not in {known.value for known in FaultKind}:
            return Unsound("it broke in a way that has no name")
        return TesteeFault(FaultKind(kind), detail, stderr)

    @property
    def left(self) -> int:
        """Rows that were not played."""
        return len(self._rows) - self._next

    def call_unknown(self, request: pb.Request, timeout_s: float, reply: type[pb.Reply]) -> pb.Reply:
        return pb.Reply(id=request.id, unsupported=pb.Unsupported())

    def stderr_lines(self) -> tuple[str, ...]:
        return ()

    def close(self) -> None:
        """Nothing to end."""

    def kill(self) -> None:
        """Nothing to end."""


def rebuild(side: Row, rows: Sequence[Row], revision: str, plan: Schedule | None = None) -> Rebuilt:
    """The performance of a schedule, from its row in the side table and its rows in order of position.

    ``plan`` is the schedule, if it is not to be read from the side table. Raises Unsound if they do not fit together.
    """
    try:
        schedule = plan or NOTATION.loads(side["json"])
    except ScheduleFileError as error:
        raise Unsound(f"its schedule cannot be read: {printable(str(error))}") from None
    cast, traces = side["cast"], side["traces"]
    if len(cast) != len(schedule.members) or not all(0 <= number < len(traces) for number in cast):
        raise Unsound("its cast does not fit its schedule")
    links = [
        _StoredLink(played_by, [row for row in rows if row["trace"] == number])
        for number, played_by in enumerate(traces)
    ]
    try:
        stages = [_stage(links[n], traces[n], schedule, revision) for n in range(len(traces))]
    except TesteeFault as fault:  # whoever shook hands like that never came to play
        raise Unsound(f"a stored handshake is none: {fault.breakdown.detail}") from None
    performance = _play(schedule, stages, cast)
    if left := sum(link.left for link in links):
        raise Unsound(f"{left} of its {len(rows)} rows are not reached")
    return Rebuilt(performance, tuple(side["judged"]))


def _play(schedule: Schedule, stages: list[Stage], cast: Sequence[int]) -> Performance:
    # The player lists traces in the order in which their first members come; so it did when this was recorded.
    return play(schedule, {name: stages[number] for name, number in zip(schedule.names, cast, strict=True)})


def _stage(link: _StoredLink, played_by: Row, schedule: Schedule, revision: str) -> Stage:
    stage = Stage(open_session(lambda: link, Limits(), revision), schedule.name, _dialect(played_by["dialect"]))
    stage.now_ms = stage.trace.start_ms = played_by["start_ms"]
    return stage


def _parsed(stored: bytes, number: int, *, hello: bool = False) -> pb.Reply:
    try:
        reply = pb.Reply(hello=pb.HelloReply.FromString(stored)) if hello else pb.Reply.FromString(stored)
    except DecodeError:
        raise Unsound("a stored reply is no reply") from None
    reply.id = number
    return reply


@cache
def _dialect(stored: str) -> Dialect | None:
    if not stored:
        return None
    try:
        return parse_dialect(stored)
    except (ValueError, RecursionError):
        raise Unsound("its dialect cannot be read") from None
