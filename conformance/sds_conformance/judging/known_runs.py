"""Cached results of runs, which save time because a mutant behaves like the reference model in most runs.

The requests of a schedule depend only on the replies so far, and checks see only requests and replies. So the requests
of known runs are sent without a stage. If each reply equals the reply in a known run, the result of that run is used.
At the first reply that differs from all known runs, the run is played and judged as usual.
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
"""Stands for the participant in a request that has no handle."""


class _Node:
    """A node in the tree of known runs. All runs through a node have the same requests and replies up to this node."""

    __slots__ = ("before", "next_nodes", "participant", "reply", "request", "result")

    def __init__(self, before: _Node | None = None, reply: bytes = b"") -> None:
        self.before = before
        self.reply = reply
        """Digest of the reply between the previous node and this one."""
        self.request: bytes | None = None
        """The next request, without its number and handle; None at the end of a run."""
        self.participant = _NO_PARTICIPANT
        """Index, in the order of opening, of the participant that gets the request."""
        self.next_nodes: dict[bytes, _Node] = {}
        """Maps the digest of the reply to ``request`` to the next node."""
        self.result: RunSummary | None = None
        """The result of the run; None except at the end of a run."""


class KnownRuns:
    """The results of recent runs, for implementations in this process that are deterministic and use virtual time."""

    def __init__(self, size: int = 1_500) -> None:
        """``size`` is the maximum number of runs that are stored."""
        self._size = size
        self._first: dict[Hashable, _Node] = {}
        self._ends: OrderedDict[_Node, None] = OrderedDict()
        """The last nodes of all known runs, the least recently used run first."""
        self._declared: tuple[Declaration, bytes] | None = None
        self.recalled = 0
        """Number of runs whose result was taken from this cache."""

    def recall(self, runner: Runner, run: Run, requirements: tuple[str, ...]) -> RunSummary | None:
        """Return the result of a run for these requirements; None if the run is not known and must be played."""
        try:
            session = runner.session(run)
            first = self._first.get(self._key(session, runner, run.name, requirements))
            if first is None:
                return None
            # A stage also sends the name of the run: some models seed random numbers with this name.
            session.link.note("part", name=run.name)
            end = _follow(session, first)
        except TesteeError:
            runner.kill()  # the implementation will break down again when the run is played
            return None
        if end is None or end.result is None:
            return None
        self.recalled += 1
        self._ends.move_to_end(end)
        return replace(end.result, declaration=session.declaration)

    def add(self, runner: Runner, trace: Trace[Any], requirements: tuple[str, ...], summary: RunSummary) -> None:
        """Store the result of a run, unless the implementation broke down or the suite failed.

        Runs with violations are not stored: other implementations seldom have the same violations, and the stored
        evidence would be large.
        """
        if trace.breakdown is not None or trace.suite_error or summary.has_reports:
            return
        if not trace.declaration.can_by_name(VIRTUAL_CLOCK):
            return
        with suppress(TesteeError):
            session = runner.session()
            at = self._first.setdefault(self._key(session, runner, summary.run, requirements), _Node())
            places: dict[int, int] = {}
            for step in trace.steps:
                request, participant, reply = _normalize_step(step, places)
                if at.request is None:
                    at.request, at.participant = request, participant
                if (at.request, at.participant) != (request, participant):
                    return  # the replies equal those of a known run, and the next request differs: store nothing
                at = at.next_nodes.setdefault(reply, _Node(at, reply))
            at.result = summary
            self._ends[at] = None
            if len(self._ends) > self._size:
                self._forget(self._ends.popitem(last=False)[0])

    @staticmethod
    def _forget(end: _Node) -> None:
        """Remove the nodes of a run, from its end back to the last node that another run shares."""
        end.result = None
        while end.before is not None and not end.next_nodes and end.result is None:
            before, end.before = end.before, None  # a node and the node before it refer to each other
            del before.next_nodes[end.reply]
            end = before

    def _key(self, session: Session, runner: Runner, run: str, requirements: tuple[str, ...]) -> Hashable:
        """Return everything that the result of a run depends on, except requests and replies."""
        declared = session.declaration
        if self._declared is None or self._declared[0] is not declared:
            hello = declared.to_hello()
            hello.name = hello.version = hello.language = hello.homepage = ""
            self._declared = declared, hello.SerializeToString(deterministic=True)
        dialect = runner.dialect
        setting = session.revision, dialect.name if dialect is not None else "", declared.outside_clock
        return run, requirements, setting, self._declared[1]


def _follow(session: Session, at: _Node) -> _Node | None:
    """Send the requests of the known runs that begin at a node. Return the last node of the run whose replies equal
    those of the session; None if a reply differs from all known runs. Raises TesteeError.
    """
    handles: list[int] = []
    request: Any = None
    found: _Node | None = at
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
        found = found.next_nodes.get(_digest(reply))
    for handle in handles:
        close = session.language.request()
        close.close.handle = handle
        close.close.now_ms = getattr(getattr(request, request.WhichOneof("command")), "now_ms", 1)
        session.call(close)
    return found


def _normalize_step(step: Step, places: dict[int, int]) -> tuple[bytes, int, bytes]:
    """Return request, index of the participant and digest of the reply of a step, without request numbers and handles.

    ``places`` maps handles to the indexes of participants. The handle of a newly opened participant is added.
    """
    answered = step.whole_reply
    assert answered is not None, "the implementation did not break down in a known run"
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
    """Hash a reply. Known runs store hashes, because replies are only compared and some are large."""
    return hashlib.blake2b(reply.SerializeToString(deterministic=True), digest_size=16).digest()
