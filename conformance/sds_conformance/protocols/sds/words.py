"""Describes the steps of an SDS trace for readers who do not know the source code of the suite."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from sds_harness.declaration import printable
from sds_harness.sds.trace import Event, Step, Trace, Wire
from sds_harness.stage import COUNTING_START_MS
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HistoryEntry, Kind, Message

from ...judging.formats import MOST, clock, foremost, format_count, hex_of, identifier, times_of
from ..words import QuotedFacts
from .view.filters import KnownFilters, read_filter

_ACK_STATES = {
    pb.ACK_STATE_UNACKNOWLEDGED: "unacknowledged",
    pb.ACK_STATE_POSSIBLY_ACKNOWLEDGED: "possibly acknowledged",
    pb.ACK_STATE_ACKNOWLEDGED: "acknowledged",
}


_FILTERS = re.compile(r"filter|acknowledg|false hit", re.IGNORECASE)
"""Matches the texts of findings about bloom filters. The descriptions for other findings leave filters out."""
_TOPICS = {
    "Lamport": re.compile(r"lamport_timestamp|local timestamp|Lamport timestamp\b|the clock", re.IGNORECASE),
    "log": re.compile(r"\blog|causal.history|deliver|order", re.IGNORECASE),
    "outgoing": re.compile(r"outgoing buffer|acknowledg|rebroadcast|resen[dt]", re.IGNORECASE),
    "incoming": re.compile(r"incoming buffer|wait|deliver|dependenc|met\b", re.IGNORECASE),
    "to ask": re.compile(r"ask|request", re.IGNORECASE),
    "to answer": re.compile(r"answer|request|response|planned", re.IGNORECASE),
}
"""For each part of a state: matches the texts of the findings that concern this part."""


class Narrator:
    """Describes the command and the results of each step of one trace."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._start_ms = None if trace.revision.lamport_follows_clock else COUNTING_START_MS
        self._own: dict[tuple[str, str], list[tuple[int, str]]] = {}
        """By participant and channel: (index of the step, message ID) of each own content message."""
        for step in trace.steps:
            message = step.new if step.command == "send" else None
            if message is not None:
                own = self._own.setdefault((step.participant, message.channel_id), [])
                own.append((step.index, message.message_id))
        self._filters = KnownFilters(trace)

    def done(self, step: Step, about: frozenset[str] = frozenset(), finding_text: str = "") -> str:
        """Describe the command of a step in one line. Long lists show the message IDs in ``about``.

        Details that do not concern ``finding_text``, the text of a finding, are left out.
        """
        with times_of(self._trace):
            return self._done(step, about, finding_text)

    def _done(self, step: Step, about: frozenset[str], finding_text: str) -> str:
        request, who = step.request, printable(step.participant, 40)
        match step.command:
            case "open":
                channels = ", ".join(printable(channel, 40) for channel in request.open.channels) or "no named channel"
                return f"{who} joins {channels} at {clock(step.now_ms, self._start_ms)}"
            case "send":
                own = self._own_wire(step) if finding_text else None
                if own is not None and own.message is not None:
                    what = describe(own.message, None, about, finding_text, step.participant)
                    usual = own.message.lamport_timestamp == step.now_ms  # the Lamport timestamp shows the time
                    at = "" if usual else f" at {clock(step.now_ms, self._start_ms)}"
                    return f"{who} sends {what}{self._channel_suffix(step)}{at}{_hint(request.send)}"
                given = step.reply.effects.message_id if step.reply is not None and step.answer == "effects" else ""
                named = f" as {identifier(given)}" if given else ""
                what = f"sends {_size(request.send.content)}{named}{self._channel_suffix(step)}"
                return f"{who} {what} at {clock(step.now_ms, self._start_ms)}{_hint(request.send)}"
            case "send_ephemeral":
                return f"{who} sends ephemerally {_size(request.send_ephemeral.content)}{self._channel_suffix(step)}"
            case "send_sync":
                return f"{who} sends a sync message{self._channel_suffix(step)} at {clock(step.now_ms, self._start_ms)}"
            case "receive":
                return f"{who} receives {self._received(step, about, finding_text)}{_hint(request.receive)}"
            case "tick":
                return f"{who} runs its periodic work at {clock(step.now_ms, self._start_ms)}"
            case "observe":
                return f"{who} shows its state{self._channel_suffix(step)}"
            case "close":
                return f"{who} is freed"
            case "build_filter":
                return (
                    f"the codec builds a bloom filter over {format_count(len(request.build_filter.message_ids), 'ID')}"
                )
            case "query_filter":
                asked = format_count(len(request.query_filter.message_ids), "ID")
                return f"the codec looks up {asked} in a bloom filter"
            case other:
                return other.replace("_", " ")

    def came_out(self, step: Step, about: frozenset[str] = frozenset(), finding_text: str = "") -> list[str]:
        """Describe the results of a step in order, each in one line; empty if there are none. Parameters as in
        `done`.
        """
        with times_of(self._trace):
            return self._came_out(step, about, finding_text)

    def _came_out(self, step: Step, about: frozenset[str], finding_text: str) -> list[str]:
        if step.reply is None:
            return ["no answer"]
        match step.answer:
            case "rejected":
                return [f"refused: {printable(step.reply.rejected.reason, 120)}"]
            case "state":
                return _state(step.reply.state, about, finding_text)
            case "effects":
                own = self._own_wire(step) if finding_text else None
                out = [
                    f"broadcasts {described(wire, about, finding_text)}" for wire in step.broadcasts if wire is not own
                ]
                if finding_text:
                    return out + [_event(kind, ids, about) for kind, ids in _group_events(step.events)]
                return out + [text for event in step.events if (text := _event(event.kind, event.message_ids, about))]
            case "membership":
                hits = sum(step.reply.membership.hits)
                return [f"{hits:,} of {len(step.reply.membership.hits):,} {'is' if hits == 1 else 'are'} in the filter"]
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
            # A filter that holds none of the own messages concerns all of them.
            ids |= set(held or (self._sent_before(step, received) if held is not None else ()))
        for event in step.events:
            ids |= set(event.message_ids)
        if (state := step.state) is not None:
            ids.update(state.incoming.message_ids)
            for shown in (state.outgoing.entries, state.outgoing_repairs.entries, state.incoming_repairs.entries):
                ids |= {entry.message_id for entry in shown}
        return frozenset(ids)

    def facts(self, step: Step) -> QuotedFacts:
        """The messages that a step sends or receives, the messages that those request, and all Lamport timestamps in
        the step.
        """
        messages = [*([step.arrived] if step.arrived is not None else []), *step.messages]
        times = {message.lamport_timestamp for message in messages if message.lamport_timestamp is not None}
        if (state := step.state) is not None and state.HasField("lamport_timestamp"):
            times.add(state.lamport_timestamp)
        return QuotedFacts(
            frozenset(message.message_id for message in messages),
            frozenset(entry.message_id for message in messages for entry in message.repair_request),
            frozenset(times),
        )

    def channels(self, step: Step) -> frozenset[str]:
        """The channels in a step: of the command, of the signals and of the messages."""
        named = {step.channel_id, *step.request.open.channels, *(event.channel_id for event in step.events)}
        messages = [*step.messages, *([step.arrived] if step.arrived is not None else [])]
        return frozenset(named | {message.channel_id for message in messages}) - {""}

    def on_the_wire(self, step: Step) -> list[bytes]:
        """The bytes of the messages that a step sends or receives, in order."""
        return [step.received.raw] if step.command == "receive" else [wire.raw for wire in step.broadcasts]

    def _own_wire(self, step: Step) -> Wire | None:
        """The broadcast with exactly the content of a send command, so that one line can describe both; None if there
        is none.
        """
        party = self._trace.parties.get(step.participant)
        if step.command != "send" or step.reply is None or step.answer != "effects" or party is None:
            return None
        for wire in step.broadcasts:
            message = wire.message
            if message is None or message.kind is not Kind.CONTENT or message.sender_id != party.participant_id:
                continue
            message_key = (step.reply.effects.message_id, step.channel_id, step.request.send.content)
            if message_key == (message.message_id, message.channel_id, message.content):
                return wire
        return None

    def _channel_suffix(self, step: Step, channel_id: str | None = None) -> str:
        """A phrase with the channel of a step, or with ``channel_id``; "" if the participant has only one channel."""
        party = self._trace.parties.get(step.participant)
        several = party is not None and len(party.channels) > 1
        return f" in {printable(step.channel_id if channel_id is None else channel_id, 40)}" if several else ""

    def _received(self, step: Step, about: frozenset[str], finding_text: str) -> str:
        message = step.received.message
        if message is None:
            return described(step.received)
        return describe(message, self._held(step, message), about, finding_text) + self._channel_suffix(
            step, message.channel_id
        )

    def _held(self, step: Step, message: Message) -> list[str] | None:
        """IDs of the own messages in the filter of a received message; None if there is no filter, or it is
        unreadable.
        """
        party = self._trace.parties.get(step.participant)
        if message.bloom_filter is None or party is None:
            return None
        holds = read_filter(self._trace, party, message.bloom_filter, self._filters.received_filter)
        own = self._sent_before(step, message)
        return [message_id for message_id in own if holds(message_id)] if holds is not None else None

    def _sent_before(self, step: Step, message: Message) -> list[str]:
        return [i for at, i in self._own.get((step.participant, message.channel_id), ()) if at < step.index]


def described(wire: Wire, about: frozenset[str] = frozenset(), finding_text: str = "") -> str:
    """Describe a message on the wire in one line. Bytes that cannot be read are shown as they are."""
    if wire.message is None:
        are = "is" if len(wire.raw) == 1 else "are"
        return f"{format_count(len(wire.raw), 'byte')} that {are} no SDS message: {hex_of(wire.raw)}"
    return describe(wire.message, None, about, finding_text)


def describe(
    message: Message,
    held: list[str] | None = None,
    about: frozenset[str] = frozenset(),
    finding_text: str = "",
    by: str = "",
) -> str:
    """Describe a message in one line. ``held`` are the IDs of the receiver's own messages that the filter of the
    message contains.

    Long lists show the message IDs in ``about``. With the text of a finding, ``finding_text``, usual parts are left
    out: that a message is content, that its sender is ``by``, and the filter if the finding is not about filters.
    """
    usual = finding_text and message.kind is Kind.CONTENT
    parts = [*([] if usual else [message.kind.value]), identifier(message.message_id)]
    if message.sender_id and not (finding_text and message.sender_id == by):
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
    if message.bloom_filter is not None and (not finding_text or _FILTERS.search(finding_text)):
        details.append(_filter(message.bloom_filter, held, about))
    return " ".join(parts) + (f" ({', '.join(details)})" if details else "")


USUAL = re.compile(rb"(content|message) m?\d+( of .*)?\Z", re.DOTALL)
"""Matches the usual contents of messages, which descriptions leave out."""


def _filter(bloom_filter: bytes, held: list[str] | None, about: frozenset[str]) -> str:
    size = f"filter of {format_count(len(bloom_filter), 'byte')}"
    if held is None:
        return size
    return f"filter that holds {_ids(held, about, 3)}" if held else "filter without own messages"


def _history(entries: tuple[HistoryEntry, ...], about: frozenset[str]) -> str:
    shown, more = foremost(entries, lambda entry: entry.message_id in about, 3)
    return _join_limited(
        (
            identifier(entry.message_id)
            + (f" with the hint {_bytes(entry.retrieval_hint)}" if entry.retrieval_hint is not None else "")
            for entry in shown
        ),
        more,
    )


def _ids(ids: Sequence[str], about: frozenset[str], few: int) -> str:
    shown, more = foremost(ids, about.__contains__, few)
    return _join_limited(map(identifier, shown), more)


def _join_limited(shown: Iterable[str], more: int) -> str:
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
    return format_count(len(content), "byte")


_EVENTS = {
    "delivered": "delivers {}",
    "acknowledged": "signals {} acknowledged",
    "possibly_acknowledged": "signals {} possibly acknowledged",
    "missing": "signals missing: {}",
    "lost": "signals lost: {}",
}


def _event(kind: str, message_ids: Sequence[str], about: frozenset[str]) -> str:
    """Describe events of one kind, in order; "" if the kind has no description, or if there are no message IDs."""
    if kind not in _EVENTS or not message_ids:
        return ""
    if kind != "delivered":
        return _EVENTS[kind].format(_ids(message_ids, about, 4))
    shown, more = foremost(message_ids, about.__contains__, 4)
    return _EVENTS[kind].format(", then ".join(map(identifier, shown)) + (f" and {more} more" if more else ""))


def _group_events(events: Iterable[Event]) -> list[tuple[str, list[str]]]:
    """(Kind, message IDs) of events, in order. Consecutive events of one kind are joined."""
    out: list[tuple[str, list[str]]] = []
    for event in events:
        if not event.message_ids or event.kind not in _EVENTS:
            continue
        if out and out[-1][0] == event.kind:
            out[-1][1].extend(event.message_ids)
        else:
            out.append((event.kind, [*event.message_ids]))
    return out


def _state(state: pb.State, about: frozenset[str], finding_text: str) -> list[str]:
    """Describe the parts of a state that concern a finding. If these are all empty, say so.

    If no part concerns the finding, all parts that are not empty are described.
    """
    lines = _whole_state(state, about)
    chosen = [line for start, line in lines.items() if line and _TOPICS[start].search(finding_text)]
    if not chosen and finding_text:
        empty = (start for start, (field, _) in _BUFFERS.items() if state.HasField(field))
        chosen = [_BUFFERS[start][1] for start in empty if _TOPICS[start].search(finding_text)]
    return chosen or [line for line in lines.values() if line]


_BUFFERS: dict[str, tuple[Literal["outgoing", "incoming", "outgoing_repairs", "incoming_repairs"], str]] = {
    "outgoing": ("outgoing", "outgoing buffer: empty"),
    "incoming": ("incoming", "incoming buffer: empty"),
    "to ask": ("outgoing_repairs", "to ask for: nothing"),
    "to answer": ("incoming_repairs", "to answer for: nothing"),
}
"""By buffer, with its key in `_TOPICS`: its field in a state, and its description if it is empty."""


def _whole_state(state: pb.State, about: frozenset[str]) -> dict[str, str]:
    """Describe each part of a state, by its key in `_TOPICS`; "" if the part is empty."""
    out = dict.fromkeys(_TOPICS, "")
    if state.HasField("lamport_timestamp"):
        out["Lamport"] = f"Lamport timestamp {clock(state.lamport_timestamp)}"
    if state.HasField("log"):
        out["log"] = f"log: {_log(state.log.entries, about)}"
    if entries := state.outgoing.entries:
        shown, more = foremost(entries, lambda e: e.message_id in about, LOG_SHOWN)
        items = (f"{identifier(e.message_id)} {_ACK_STATES.get(e.state, '?')}" for e in shown)
        out["outgoing"] = f"outgoing buffer: {_join_limited(items, more)}"
    if state.incoming.message_ids:
        out["incoming"] = f"incoming buffer: {_ids(state.incoming.message_ids, about, LOG_SHOWN)}"
    for repairs, what in ((state.outgoing_repairs, "to ask"), (state.incoming_repairs, "to answer")):
        if repairs.entries:
            due, more = foremost(repairs.entries, lambda e: e.message_id in about, LOG_SHOWN)
            items = (f"{identifier(e.message_id)} at {clock(e.due_ms)}" for e in due)
            out[what] = f"{what} for: {_join_limited(items, more)}"
    return out


def _log(entries: Sequence[pb.LogEntry], about: frozenset[str]) -> str:
    """Describe the entries of a log that ``about`` names, or else the last entries, with the numbers of omitted
    entries.
    """
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
