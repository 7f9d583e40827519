"""A performance as rows of the corpus: one a step, and one for the side table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import MAX_LAMPORT, Message

from ..schedules import dumps
from ..sds.naming import Key, Names
from ..sds.performance import Act, Performance
from ..sds.trace import Step, Trace, Wire
from ..stage import START_MS
from .digests import digest64, exact_digest, plan_digest, row_hash, schedule_digest, signed
from .schema import COMPARED_NAMES

NOT_COMPARED = frozenset({"build_filter", "query_filter"})
"""The harness's own questions: which of them it asks hangs on what an implementation declares."""
LONGEST_ID = 200

Row = dict[str, Any]


@dataclass
class Recorded:
    """The rows of one performance."""

    side: Row
    """By the names in ``SIDE_COLUMNS``."""
    steps: list[Row] = field(default_factory=list)
    """By those in ``STEP_COLUMNS``."""


def rows_of(performance: Performance, schedule: int, judged: Sequence[str]) -> Recorded:
    """All that is stored of a performance; ``schedule`` is its index, ``judged`` are the members under test."""
    writer = _Writer(performance)
    steps: list[Row] = []
    compared = 0
    for position, (step, trace, act) in enumerate(_in_order(performance), 1):
        counts = act is not None and step.command not in NOT_COMPARED
        compared += counts
        row = writer.row(step, trace, act)
        steps.append({"schedule": schedule, "position": position, "step": compared if counts else 0} | row)
    places = {id(trace): place for place, trace in enumerate(performance.traces)}
    plan = dumps(performance.schedule)
    breakdown = performance.breakdown
    side = {
        "schedule": schedule,
        "steps": compared,
        "rows": len(steps),
        "digest": schedule_digest(_joined(row["row_hash"] for row in steps if row["step"])),
        "exact": exact_digest(message for row in steps for message in (row["request"], row["reply"])),
        "plan": plan_digest(plan),
        "ending": breakdown.kind.value if breakdown is not None else "storm" if performance.storm else "played",
        "json": plan,
        "cast": [places[id(performance.cast[name])] for name in performance.schedule.names],
        "judged": list(judged),
        "traces": [_played_by(trace) for trace in performance.traces],
    }
    return Recorded(side, steps)


def digest_of(performance: Performance) -> bytes:
    """The digest of a performance that ``rows_of`` puts into the side table."""
    writer = _Writer(performance)
    hashes = (
        _hash_of(writer.compared(step, trace, act))
        for step, trace, act in _in_order(performance)
        if act is not None and step.command not in NOT_COMPARED
    )
    return schedule_digest(_joined(hashes))


def _joined(hashes: Iterable[int]) -> bytes:
    return b"".join(row_hash.to_bytes(8, "little", signed=True) for row_hash in hashes)


def _hash_of(row: Row) -> int:
    return row_hash([row[name] for name in COMPARED_NAMES])


def bare(message: pb.Request | pb.Reply) -> bytes:
    """The bytes of a request or reply without its id, which counts whatever a session did before."""
    number, message.id = message.id, 0
    try:
        return message.SerializeToString(deterministic=True)
    finally:
        message.id = number


def _played_by(trace: Trace) -> Row:
    breakdown, dialect = trace.breakdown, trace.dialect
    described = (
        {"dialect": dialect.name, "description": dialect.description, "message": dict(dialect.numbers)}
        if dialect is not None
        else None
    )
    return {
        "role": trace.declaration.name,
        "hello": trace.declaration.to_hello().SerializeToString(deterministic=True),
        "dialect": json.dumps(described) if described else "",
        "start_ms": trace.start_ms,
        "breakdown": breakdown.kind.value if breakdown is not None else "",
        "detail": breakdown.detail if breakdown is not None else "",
        "stderr": list(breakdown.stderr) if breakdown is not None else [],
    }


def _in_order(performance: Performance) -> Iterator[tuple[Step, Trace, Act | None]]:
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
    """Writes the rows of one performance."""

    def __init__(self, performance: Performance) -> None:
        self._names = Names(performance)
        self._places = {id(trace): place for place, trace in enumerate(performance.traces)}

    def row(self, step: Step, trace: Trace, act: Act | None) -> Row:
        """All columns but the keys."""
        row = self.compared(step, trace, act)
        return row | self._informative(step, trace) | {"row_hash": _hash_of(row)}

    def compared(self, step: Step, trace: Trace, act: Act | None) -> Row:
        """The normative columns."""
        names, broadcasts = self._names, step.broadcasts
        message, shift = self._about(step), START_MS - trace.start_ms
        row: Row = {
            "participant": step.participant,
            "command": step.command,
            "channel": step.channel_id or (message.channel_id if message is not None else ""),
            "at_ms": act.at_ms if act is not None else step.now_ms - trace.start_ms,
            "answer": step.answer,
            "message": names.of(message.channel_id, message.message_id) if message is not None else "",
            "lamport": _lamport(message, shift),
            **self._signals(step),
            "broadcasts": sorted(self._called(wire) for wire in broadcasts),
            "wire": digest64(sorted(self._said(wire, shift) for wire in broadcasts)),
            "repair_requests": sorted(
                {
                    names.of(wire.message.channel_id, entry.message_id)
                    for wire in broadcasts
                    if wire.message is not None
                    for entry in wire.message.repair_request
                }
            ),
            "log": 0,
            "outgoing": 0,
            "incoming": 0,
            "repairs": 0,
        }
        if step.reply is not None and step.answer == "state":
            row |= self._shown(step.reply.state, step.channel_id, shift)
        return row

    def _informative(self, step: Step, trace: Trace) -> Row:
        message, shift = self._about(step), START_MS - trace.start_ms
        sent = [wire.message for wire in step.broadcasts if wire.message is not None]
        state = step.reply.state if step.reply is not None and step.answer == "state" else None
        return {
            "trace": self._places[id(trace)],
            "message_id": message.message_id[:LONGEST_ID] if message is not None else "",
            "dependencies": min(len(message.causal_history), 0x7FFF) if message is not None else -1,
            "history": digest64([self._history(one) for one in sent]),
            "filter": digest64(
                list(state.filter_hits) if state is not None else [(one.bloom_filter or b"").hex() for one in sent]
            ),
            "due": digest64(self._due(state, step.channel_id, shift)) if state is not None else 0,
            "request": bare(step.request),
            "reply": bare(step.reply) if step.reply is not None else None,
        }

    def _about(self, step: Step) -> Message | None:
        """The message that arrives, or that is sent; in which order one step sends several is open."""
        if step.command == "receive":
            return step.received.message
        first = min(step.broadcasts, key=self._called, default=None)
        return first.message if first is not None else None

    def _signals(self, step: Step) -> Row:
        names = self._names
        delivered: list[Key] = []
        contents: dict[Key, str] = {}
        sets: dict[str, set[str]] = {
            kind: set() for kind in ("acknowledged", "possibly_acknowledged", "missing", "lost")
        }
        for event in step.events:
            kind, channel = event.WhichOneof("event"), event.channel_id
            match kind:
                case "delivered":
                    key = (channel, event.delivered.message_id)
                    delivered.append(key)
                    contents[key] = event.delivered.content.hex()
                case "acknowledged":
                    sets[kind].add(names.of(channel, event.acknowledged.message_id))
                case "possibly_acknowledged":
                    sets[kind].add(names.of(channel, event.possibly_acknowledged.message_id))
                case "missing":
                    sets[kind].update(names.of(channel, entry.message_id) for entry in event.missing.entries)
                case "lost":
                    sets[kind].update(names.of(channel, message_id) for message_id in event.lost.message_ids)
        ordered = names.in_causal_order(delivered)
        return {
            "delivered": [names.of(*key) for key in ordered],
            "contents": digest64([contents[key] for key in ordered]),
            **{kind: sorted(found) for kind, found in sets.items()},
        }

    def _shown(self, state: pb.State, channel: str, shift: int) -> Row:
        names = self._names
        shown = state.lamport_timestamp + shift if state.HasField("lamport_timestamp") else 0
        repairs = [
            names.sorted(channel, (entry.message_id for entry in buffer.entries))
            for buffer in (state.outgoing_repairs, state.incoming_repairs)
        ]
        return {
            "lamport": signed(shown),
            "log": digest64(
                [
                    (names.of(channel, entry.message_id), signed(entry.lamport_timestamp + shift))
                    for entry in state.log.entries
                ]
            ),
            "outgoing": digest64(
                sorted((names.of(channel, entry.message_id), int(entry.state)) for entry in state.outgoing.entries)
            ),
            "incoming": digest64(names.sorted(channel, state.incoming.message_ids)),
            "repairs": digest64(repairs) if any(repairs) else 0,
        }

    def _due(self, state: pb.State, channel: str, shift: int) -> list[tuple[str, int]]:
        return sorted(
            (self._names.of(channel, entry.message_id), entry.due_ms + shift)
            for buffer in (state.outgoing_repairs, state.incoming_repairs)
            for entry in buffer.entries
        )

    def _called(self, wire: Wire) -> str:
        message = wire.message
        return self._names.of(message.channel_id, message.message_id) if message is not None else "no message"

    def _said(self, wire: Wire, shift: int) -> list[str | int]:
        """What is on the wire, but for what the text leaves open."""
        message = wire.message
        if message is None:
            return ["no message", wire.raw.hex()]
        return self._names.told(message, _lamport(message, shift))

    def _history(self, message: Message) -> list[str]:
        return [self._names.of(message.channel_id, entry.message_id) for entry in message.causal_history]


def _lamport(message: Message | None, shift: int) -> int:
    """As if the start were that of virtual time: whose clock is its own starts whenever it was played."""
    if message is None or message.lamport_timestamp is None:
        return 0
    return signed((message.lamport_timestamp + shift) & MAX_LAMPORT)
