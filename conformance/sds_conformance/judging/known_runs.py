"""Results of runs that were played before. A mutant behaves like the reference model in most runs.

A schedule decides each request from the replies before it, and checks see only requests and replies. So the requests
of known runs are sent without a stage. If each reply equals the reply in a known run, the result of that run
is used. At the first other reply the run is played and judged as usual.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from sds_harness.declaration import VIRTUAL_CLOCK, Declaration
from sds_harness.faults import TesteeError
from sds_harness.session import Session
from sds_harness.trace import Step, Trace

from .registry import Run
from .run_summary import RunSummary
from .runner import Runner

_NO_PARTICIPANT = -1
"""The participant of a request that has no handle."""


class _Point:
    """A node in the tree of known runs. The runs through it have the same requests and replies up to it."""

    __slots__ = ("before", "next_points", "participant", "reply", "request", "result")

    def __init__(self, before: _Point | None = None, reply: bytes = b"") -> None:
        self.before = before
        self.reply = reply
        """The digest of the reply between the point before and this one."""
        self.request: bytes | None = None
        """The next request, without its number and handle; None at the end of a run."""
        self.participant = _NO_PARTICIPANT
        """The participant that gets the request: its place in the order of opening."""
        self.next_points: dict[bytes, _Point] = {}
        """The points after it, by the digest of the reply."""
        self.result: RunSummary | None = None
        """The result, only at the end of a run."""


class KnownRuns:
    """The results of recent runs, for implementations in this process that are deterministic and use virtual time."""

    def __init__(self, size: int = 1_500) -> None:
        """``size`` is the number of runs."""
        self._size = size
        self._first: dict[Hashable, _Point] = {}
        self._ends: OrderedDict[_Point, None] = OrderedDict()
        """The ends of all known runs. The run that was not used for the longest time is the first."""
        self._declared: tuple[Declaration, bytes] | None = None
        self.recalled = 0
        """Number of runs whose result was known."""

    def recall(self, runner: Runner, run: Run, requirements: tuple[str, ...]) -> RunSummary | None:
        """Return the result of a run for these requirements; None if it must be played."""
        try:
            session = runner.session(run)
            first = self._first.get(self._key(session, runner, run.name, requirements))
            if first is None:
                return None
            session.link.note("part", name=run.name)  # as a stage does; a model may draw the same random numbers again
            end = _follow(session, first)
        except TesteeError:
            runner.kill()  # it breaks down again when it is played
            return None
        if end is None or end.result is None:
            return None
        self.recalled += 1
        self._ends.move_to_end(end)
        return replace(end.result, declaration=session.declaration)

    def add(self, runner: Runner, trace: Trace[Any], requirements: tuple[str, ...], summary: RunSummary) -> None:
        """Store the result of a run, unless the implementation broke down or the suite made an error.

        Runs with violations are not stored: other implementations seldom have the same ones, and their evidence is
        large.
        """
        if trace.breakdown is not None or trace.suite_error or summary.has_reports:
            return
        if not trace.declaration.can_by_name(VIRTUAL_CLOCK):
            return
        with suppress(TesteeError):
            session = runner.session()
            at = self._first.setdefault(self._key(session, runner, summary.run, requirements), _Point())
            places: dict[int, int] = {}
            for step in trace.steps:
                request, participant, reply = _normalize_step(step, places)
                if at.request is None:
                    at.request, at.participant = request, participant
                if (at.request, at.participant) != (request, participant):
                    return  # the requests do not depend on the replies alone
                at = at.next_points.setdefault(reply, _Point(at, reply))
            at.result = summary
            self._ends[at] = None
            if len(self._ends) > self._size:
                self._forget(self._ends.popitem(last=False)[0])

    @staticmethod
    def _forget(end: _Point) -> None:
        """Remove a run, up to the last point that it has in common with another one."""
        end.result = None
        while end.before is not None and not end.next_points and end.result is None:
            before, end.before = end.before, None  # no cycle is left for the garbage collector, which runs rarely
            del before.next_points[end.reply]
            end = before

    def _key(self, session: Session, runner: Runner, run: str, requirements: tuple[str, ...]) -> Hashable:
        """Everything that a result depends on, except requests and replies."""
        declared = session.declaration
        if self._declared is None or self._declared[0] is not declared:
            hello = declared.to_hello()
            hello.name = hello.version = hello.language = hello.homepage = ""
            self._declared = declared, hello.SerializeToString(deterministic=True)
        dialect = runner.dialect
        setting = session.revision, dialect.name if dialect is not None else "", declared.outside_clock
        return run, requirements, setting, self._declared[1]


def _follow(session: Session, at: _Point) -> _Point | None:
    """Send the requests of known runs. Return the end of the run with the same replies; None if no run has them. Raises
    TesteeError."""
    handles: list[int] = []
    request: Any = None
    found: _Point | None = at
    while found is not None and found.request is not None:
        request = session.language.request.FromString(found.request)
        if found.participant != _NO_PARTICIPANT:
            getattr(request, request.WhichOneof("command")).handle = handles[found.participant]
        reply = session.call(request)
        opened = reply.WhichOneof("answer") == "opened"
        if opened:
            handles.append(reply.opened.handle)
            reply.opened.handle = 0
        reply.id = 0
        found = found.next_points.get(_digest(reply))
    for handle in handles:
        close = session.language.request()
        close.close.handle = handle
        close.close.now_ms = getattr(getattr(request, request.WhichOneof("command")), "now_ms", 1)
        session.call(close)
    return found


def _normalize_step(step: Step, places: dict[int, int]) -> tuple[bytes, int, bytes]:
    """Return request, place of the participant and digest of the reply of a step, without running numbers.

    ``places`` are the places of all participants by handle; a new one is added.
    """
    answered = step.whole_reply
    assert answered is not None, "it did not break down"
    request, reply = type(step.request)(), type(answered)()
    request.CopyFrom(step.whole_request)
    reply.CopyFrom(answered)
    request.id = reply.id = 0
    command, participant = getattr(request, step.command), _NO_PARTICIPANT
    if "handle" in command.DESCRIPTOR.fields_by_name:
        participant = places[command.handle]
        command.handle = 0
    if step.answer == "opened":
        places[reply.opened.handle] = len(places)
        reply.opened.handle = 0
    return request.SerializeToString(deterministic=True), participant, _digest(reply)


def _digest(reply: Any) -> bytes:
    """Replies are compared and not needed, and some are large."""
    return hashlib.blake2b(reply.SerializeToString(deterministic=True), digest_size=16).digest()
