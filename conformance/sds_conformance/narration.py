"""Steps of a trace in words, for people who do not know our source."""

from __future__ import annotations

from sds_harness.declaration import printable
from sds_harness.stage import START_MS
from sds_harness.trace import Step, Trace, Wire
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HistoryEntry, Kind, Message

_ACK_STATES = {
    pb.ACK_STATE_UNACKNOWLEDGED: "unacknowledged",
    pb.ACK_STATE_POSSIBLY_ACKNOWLEDGED: "possibly acknowledged",
    pb.ACK_STATE_ACKNOWLEDGED: "acknowledged",
}


def clock(milliseconds: int) -> str:
    """A time or a Lamport timestamp relative to the start T of virtual time."""
    difference = milliseconds - START_MS
    if abs(difference) > 400 * 24 * 3_600_000:
        return str(milliseconds)
    return "T" if not difference else f"T{difference:+d}"


def identifier(message_id: str) -> str:
    """A message ID, shortened in the middle if it is a long hash."""
    shown = printable(message_id, 120)
    return repr(f"{shown[:8]}…{shown[-4:]}" if len(shown) > 40 else shown)


def done(step: Step) -> str:
    """What was done, in one line."""
    request = step.request
    match step.command:
        case "open":
            channels = ", ".join(printable(channel, 40) for channel in request.open.channels) or "no named channel"
            return f"{step.participant} joins {channels} at {clock(step.now_ms)}"
        case "send":
            return f"{step.participant} sends {_size(request.send.content)} at {clock(step.now_ms)}"
        case "send_ephemeral":
            return f"{step.participant} sends ephemerally {_size(request.send_ephemeral.content)}"
        case "send_sync":
            return f"{step.participant} sends a sync message at {clock(step.now_ms)}"
        case "receive":
            return f"{step.participant} receives {described(step.received)}"
        case "tick":
            return f"{step.participant} runs its periodic work at {clock(step.now_ms)}"
        case "observe":
            return f"{step.participant} shows its state"
        case "close":
            return f"{step.participant} is freed"
        case "build_filter":
            return f"the codec builds a bloom filter over {len(request.build_filter.message_ids):,} IDs"
        case "query_filter":
            return f"the codec is asked whether a bloom filter holds {len(request.query_filter.message_ids):,} IDs"
        case other:
            return f"codec: {other.replace('_', ' ')}"


def came_out(step: Step) -> list[str]:
    """What came out, a line each; empty if nothing did."""
    if step.reply is None:
        return ["no answer"]
    match step.answer:
        case "rejected":
            return [f"refused: {printable(step.reply.rejected.reason, 120)}"]
        case "state":
            return _state(step.reply.state)
        case "effects":
            out = [f"broadcasts {described(wire)}" for wire in step.broadcasts]
            return out + [text for event in step.events if (text := _event(event))]
        case _:
            return []


def described(wire: Wire) -> str:
    """A message on the wire in one line."""
    if wire.message is None:
        return f"{len(wire.raw)} bytes that are no SDS message"
    return describe(wire.message)


def describe(message: Message) -> str:
    """A message in one line."""
    parts = [f"{message.kind.value} {identifier(message.message_id)}"]
    if message.sender_id:
        parts.append(f"of {printable(message.sender_id, 40)}")
    details = []
    if message.lamport_timestamp is not None:
        details.append(f"Lamport {clock(message.lamport_timestamp)}")
    if message.causal_history:
        details.append(f"after {_history(message.causal_history)}")
    if message.kind is Kind.CONTENT and message.bloom_filter is not None:
        details.append(f"filter of {len(message.bloom_filter)} bytes")
    return " ".join(parts) + (f" ({', '.join(details)})" if details else "")


def _history(entries: tuple[HistoryEntry, ...]) -> str:
    names = [identifier(entry.message_id) for entry in entries]
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} more"


def _size(content: bytes) -> str:
    text = content.decode("utf-8", "replace")
    if len(content) <= 24 and text.isprintable() and "\ufffd" not in text:
        return repr(text)
    return f"{len(content)} bytes"


def _event(event: pb.Event) -> str:
    match event.WhichOneof("event"):
        case "delivered":
            return f"delivers {identifier(event.delivered.message_id)}"
        case "acknowledged":
            return f"signals {identifier(event.acknowledged.message_id)} acknowledged"
        case "possibly_acknowledged":
            return f"signals {identifier(event.possibly_acknowledged.message_id)} possibly acknowledged"
        case "missing" if event.missing.entries:
            return f"signals missing: {', '.join(identifier(e.message_id) for e in event.missing.entries[:4])}"
        case "lost":
            return f"signals lost: {', '.join(identifier(i) for i in event.lost.message_ids[:4])}"
        case _:
            return ""


def _state(state: pb.State) -> list[str]:
    out = []
    if state.HasField("lamport_timestamp"):
        out.append(f"Lamport timestamp {clock(state.lamport_timestamp)}")
    if state.HasField("log"):
        entries = state.log.entries[-6:]
        before = f"{len(state.log.entries) - 6} before, " if len(state.log.entries) > 6 else ""
        shown = ", ".join(f"{identifier(e.message_id)} ({clock(e.lamport_timestamp)})" for e in entries)
        out.append(f"log: {before}{shown or 'empty'}")
    if state.outgoing.entries:
        shown = ", ".join(
            f"{identifier(e.message_id)} {_ACK_STATES.get(e.state, '?')}" for e in state.outgoing.entries[:6]
        )
        out.append(f"outgoing buffer: {shown}")
    if state.incoming.message_ids:
        out.append(f"incoming buffer: {', '.join(identifier(i) for i in state.incoming.message_ids[:6])}")
    return out


def story_steps(trace: Trace, participant: str, until: int, keep: int = 6) -> list[tuple[Step | None, str]]:
    """The steps of one participant up to ``until``: the first, the last ``keep``, and None for what is left out."""
    steps = [
        s for s in trace.steps if s.participant in (participant, "") and s.index <= until and s.command != "observe"
    ]
    steps += [s for s in trace.steps if s.index == until and s.command == "observe"]
    if len(steps) <= keep + 2:
        return [(step, done(step)) for step in steps]
    left = len(steps) - keep - 1
    return [(steps[0], done(steps[0])), (None, f"{left} more steps"), *((s, done(s)) for s in steps[-keep:])]
