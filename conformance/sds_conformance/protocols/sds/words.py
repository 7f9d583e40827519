"""Describes steps of an SDS trace, and declarations, for readers who do not know the source of the suite."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sds_harness.declaration import printable
from sds_harness.sds.trace import Event, Step, Trace, Wire
from sds_harness.stage import COUNTING_START_MS, START_MS
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HistoryEntry, Message

from ...judging.quoting import MOST, clock, foremost, identifier
from .view.filters import KnownFilters, read_filter

_ACK_STATES = {
    pb.ACK_STATE_UNACKNOWLEDGED: "unacknowledged",
    pb.ACK_STATE_POSSIBLY_ACKNOWLEDGED: "possibly acknowledged",
    pb.ACK_STATE_ACKNOWLEDGED: "acknowledged",
}


class Narrator:
    """Describes the steps of one trace: the command, and the results."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._start_ms = START_MS if trace.revision.lamport_follows_clock else COUNTING_START_MS
        self._own: dict[tuple[str, str], list[tuple[int, str]]] = {}
        """Content messages of a participant in a channel, with their steps."""
        for step in trace.steps:
            message = step.new if step.command == "send" else None
            if message is not None:
                own = self._own.setdefault((step.participant, message.channel_id), [])
                own.append((step.index, message.message_id))
        self._filters = KnownFilters(trace)

    def done(self, step: Step, about: frozenset[str] = frozenset()) -> str:
        """The command of a step, in one line. Long lists show only the entries that are ``about`` these message IDs."""
        request, who = step.request, printable(step.participant, 40)
        match step.command:
            case "open":
                channels = ", ".join(printable(channel, 40) for channel in request.open.channels) or "no named channel"
                return f"{who} joins {channels} at {clock(step.now_ms, self._start_ms)}"
            case "send":
                given = step.reply.effects.message_id if step.reply is not None and step.answer == "effects" else ""
                named = f" as {identifier(given)}" if given else ""
                what = f"sends {_size(request.send.content)}{named}{self._where(step)}"
                return f"{who} {what} at {clock(step.now_ms, self._start_ms)}{_hint(request.send)}"
            case "send_ephemeral":
                return f"{who} sends ephemerally {_size(request.send_ephemeral.content)}{self._where(step)}"
            case "send_sync":
                return f"{who} sends a sync message{self._where(step)} at {clock(step.now_ms, self._start_ms)}"
            case "receive":
                return f"{who} receives {self._received(step, about)}{_hint(request.receive)}"
            case "tick":
                return f"{who} runs its periodic work at {clock(step.now_ms, self._start_ms)}"
            case "observe":
                return f"{who} shows its state{self._where(step)}"
            case "close":
                return f"{who} is freed"
            case "build_filter":
                return f"the codec builds a bloom filter over {len(request.build_filter.message_ids):,} IDs"
            case "query_filter":
                return f"the codec is asked whether a bloom filter holds {len(request.query_filter.message_ids):,} IDs"
            case other:
                return other.replace("_", " ")

    def came_out(self, step: Step, about: frozenset[str] = frozenset()) -> list[str]:
        """The results of a step, one line each; empty if there are none. Long lists show only entries ``about`` these
        message IDs.
        """
        if step.reply is None:
            return ["no answer"]
        match step.answer:
            case "rejected":
                return [f"refused: {printable(step.reply.rejected.reason, 120)}"]
            case "state":
                return _state(step.reply.state, about)
            case "effects":
                out = [f"broadcasts {described(wire, about)}" for wire in step.broadcasts]
                return out + [text for event in step.events if (text := _event(event, about))]
            case "membership":
                hits = sum(step.reply.membership.hits)
                return [f"{hits:,} of {len(step.reply.membership.hits):,} are in it"]
            case _:
                return []

    def touches(self, step: Step) -> frozenset[str]:
        """The message IDs in a step: sent, received, depended on, in a filter, signalled or shown."""
        ids: set[str] = set()
        received = step.arrived
        for message in [*([received] if received is not None else []), *step.messages]:
            ids |= {message.message_id, *(entry.message_id for entry in message.repair_request)}
        if received is not None:
            ids |= {entry.message_id for entry in received.causal_history}
            held = self._held(step, received)
            # A filter without any of them concerns all of them.
            ids |= set(held or (self._sent_before(step, received) if held is not None else ()))
        for event in step.events:
            ids |= set(event.message_ids)
        if (state := step.state) is not None:
            ids.update(state.incoming.message_ids)
            for shown in (state.outgoing.entries, state.outgoing_repairs.entries, state.incoming_repairs.entries):
                ids |= {entry.message_id for entry in shown}
        return frozenset(ids)

    def channels(self, step: Step) -> frozenset[str]:
        """The channels in a step: named, joined, signalled, or those of its messages."""
        named = {step.channel_id, *step.request.open.channels, *(event.channel_id for event in step.events)}
        messages = [*step.messages, *([step.arrived] if step.arrived is not None else [])]
        return frozenset(named | {message.channel_id for message in messages}) - {""}

    def on_the_wire(self, step: Step) -> list[bytes]:
        """The bytes that went over the network in a step, in order."""
        return [step.received.raw] if step.command == "receive" else [wire.raw for wire in step.broadcasts]

    def _where(self, step: Step, channel_id: str | None = None) -> str:
        """The channel of a step or of its message; "" if the participant has only one."""
        party = self._trace.parties.get(step.participant)
        several = party is not None and len(party.channels) > 1
        return f" in {printable(step.channel_id if channel_id is None else channel_id, 40)}" if several else ""

    def _received(self, step: Step, about: frozenset[str]) -> str:
        message = step.received.message
        if message is None:
            return described(step.received)
        return describe(message, self._held(step, message), about) + self._where(step, message.channel_id)

    def _held(self, step: Step, message: Message) -> list[str] | None:
        """The own messages in the filter of a received message; None if it has no filter or it cannot be read."""
        party = self._trace.parties.get(step.participant)
        if message.bloom_filter is None or party is None:
            return None
        holds = read_filter(self._trace, party, message.bloom_filter, self._filters.of_given)
        own = self._sent_before(step, message)
        return [message_id for message_id in own if holds(message_id)] if holds is not None else None

    def _sent_before(self, step: Step, message: Message) -> list[str]:
        return [i for at, i in self._own.get((step.participant, message.channel_id), ()) if at < step.index]


def described(wire: Wire, about: frozenset[str] = frozenset()) -> str:
    """A message on the wire in one line."""
    if wire.message is None:
        return f"{len(wire.raw)} bytes that are no SDS message"
    return describe(wire.message, None, about)


def describe(message: Message, held: list[str] | None = None, about: frozenset[str] = frozenset()) -> str:
    """Describe a message in one line. ``held`` has the receiver's own messages in its filter.

    Lists show only the entries that are ``about`` these message IDs.
    """
    parts = [f"{message.kind.value} {identifier(message.message_id)}"]
    if message.sender_id:
        parts.append(f"of {printable(message.sender_id, 40)}")
    details = []
    if message.lamport_timestamp is not None:
        details.append(f"Lamport {clock(message.lamport_timestamp)}")
    if message.causal_history:
        details.append(f"after {_history(message.causal_history, about)}")
    if message.repair_request:
        details.append(f"asks for {_history(message.repair_request, about)}")
    if message.content and not USUAL.match(message.content):
        details.append(f"says {_size(message.content)}")
    if message.bloom_filter is not None:
        details.append(_filter(message.bloom_filter, held, about))
    return " ".join(parts) + (f" ({', '.join(details)})" if details else "")


USUAL = re.compile(rb"(content|message) m?\d+( of .*)?\Z", re.DOTALL)
"""The usual contents of messages of scripted peers and participants."""


def _filter(bloom_filter: bytes, held: list[str] | None, about: frozenset[str]) -> str:
    size = f"filter of {len(bloom_filter):,} byte{'s' if len(bloom_filter) != 1 else ''}"
    if held is None:
        return size
    return f"filter that holds {_ids(held, about, 3)}" if held else "filter without any of its own"


def _history(entries: tuple[HistoryEntry, ...], about: frozenset[str]) -> str:
    shown, more = foremost(entries, lambda entry: entry.message_id in about, 3)
    return _listed(
        (
            identifier(entry.message_id)
            + (f" with the hint {_bytes(entry.retrieval_hint)}" if entry.retrieval_hint is not None else "")
            for entry in shown
        ),
        more,
    )


def _ids(ids: Sequence[str], about: frozenset[str], few: int) -> str:
    shown, more = foremost(ids, about.__contains__, few)
    return _listed(map(identifier, shown), more)


def _listed(shown: Iterable[str], more: int) -> str:
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _bytes(data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    return repr(text) if text.isprintable() and "\ufffd" not in text and len(text) <= 24 else data[:16].hex(" ")


def _hint(command: pb.Send | pb.Receive) -> str:
    return f", with the hint {_bytes(command.retrieval_hint)}" if command.HasField("retrieval_hint") else ""


def _size(content: bytes) -> str:
    text = content.decode("utf-8", "replace")
    if len(content) <= 24 and text.isprintable() and "\ufffd" not in text:
        return repr(text)
    return f"{len(content)} bytes"


_EVENTS = {
    "delivered": "delivers {}",
    "acknowledged": "signals {} acknowledged",
    "possibly_acknowledged": "signals {} possibly acknowledged",
    "missing": "signals missing: {}",
    "lost": "signals lost: {}",
}


def _event(event: Event, about: frozenset[str]) -> str:
    if event.kind not in _EVENTS or (event.kind == "missing" and not event.missing):
        return ""
    return _EVENTS[event.kind].format(_ids(event.message_ids, about, 4))


def _state(state: pb.State, about: frozenset[str]) -> list[str]:
    out = []
    if state.HasField("lamport_timestamp"):
        out.append(f"Lamport timestamp {clock(state.lamport_timestamp)}")
    if state.HasField("log"):
        out.append(f"log: {_log(state.log.entries, about)}")
    if entries := state.outgoing.entries:
        shown, more = foremost(entries, lambda e: e.message_id in about, LOG_SHOWN)
        told = (f"{identifier(e.message_id)} {_ACK_STATES.get(e.state, '?')}" for e in shown)
        out.append(f"outgoing buffer: {_listed(told, more)}")
    if state.incoming.message_ids:
        out.append(f"incoming buffer: {_ids(state.incoming.message_ids, about, LOG_SHOWN)}")
    for repairs, what in ((state.outgoing_repairs, "to ask for"), (state.incoming_repairs, "to answer for")):
        if repairs.entries:
            due, more = foremost(repairs.entries, lambda e: e.message_id in about, LOG_SHOWN)
            out.append(f"{what}: {_listed((f'{identifier(e.message_id)} at {clock(e.due_ms)}' for e in due), more)}")
    return out


def _log(entries: Sequence[pb.LogEntry], about: frozenset[str]) -> str:
    """The entries of a log that it is about, with their places; else the end of the log."""
    places = [number for number, entry in enumerate(entries) if entry.message_id in about][:MOST]
    start = max(0, min(places[0] - 1, len(entries) - LOG_SHOWN) if places else len(entries) - LOG_SHOWN)
    out, at = [], 0
    for number in sorted({*range(start, min(start + LOG_SHOWN, len(entries))), *places}):
        if number > at:
            out.append(f"{number - at} {'between' if at else 'before'}")
        out.append(f"{identifier(entries[number].message_id)} ({clock(entries[number].lamport_timestamp)})")
        at = number + 1
    after = [f"{len(entries) - at} after"] if at < len(entries) else []
    return ", ".join(out + after) or "empty"


LOG_SHOWN = 6
