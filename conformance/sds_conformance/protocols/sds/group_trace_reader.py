"""Reads group traces of SDS for stories and diagrams."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from sds_harness.declaration import printable
from sds_harness.schedules import Operation
from sds_harness.sds.group_trace import Packet
from sds_harness.sds.operations import (
    Again,
    Await,
    BuildFilter,
    Calm,
    Ephemeral,
    Garble,
    Lookup,
    Mark,
    Receive,
    RepairTimes,
    Say,
    Send,
    Settle,
    Sync,
    Write,
)
from sds_harness.sds.trace import Step, Wire
from sds_harness.trace import Party
from sds_reference import HistoryEntry, Kind

from ...judging.formats import clock, format_count, hex_of, short
from ..group_trace_reader import Item, Key, Reading, ShownState, Signal, Sort, Teller
from .words import USUAL

_SORTS = {Kind.CONTENT: Sort.CONTENT, Kind.SYNC: Sort.SYNC, Kind.EPHEMERAL: Sort.EPHEMERAL, Kind.UNDEFINED: Sort.NOISE}


class SdsReading(Reading):
    """Reads group traces of SDS for stories and diagrams."""

    does = MappingProxyType({"send_sync": "sends a sync message", "send_ephemeral": "sends an ephemeral message"})
    signalled = MappingProxyType(
        {
            "delivered": ("deliver", "delivers {}"),
            "acknowledged": ("ack", "{} acknowledged"),
            "possibly_acknowledged": ("ack", "{} possibly acked"),
            "missing": ("miss", "misses {}"),
            "lost": ("bad", "gives up {}"),
        }
    )
    legend = MappingProxyType(
        {
            "content": "content message",
            "copy": "copy: resend or repair",
            "sync": "sync message",
            "ephemeral": "ephemeral message",
            "noise": "no message at all",
        }
    )
    unread = "no SDS message"
    copies = ("resends", "repairs")
    time = "Lamport"
    history = "causal history"

    def item(self, wire: Wire) -> Item | None:
        """The message in ``wire``; None if the bytes cannot be read."""
        message = wire.message
        if message is None:
            return None

        def keys(entries: tuple[HistoryEntry, ...]) -> tuple[Key, ...]:
            return tuple((message.channel_id, entry.message_id) for entry in entries)

        odd = message.content and not USUAL.match(message.content)
        return Item(
            (message.channel_id, message.message_id),
            _SORTS[message.kind],
            message.kind.value,
            message.sender_id,
            clock(message.lamport_timestamp) if message.lamport_timestamp is not None else "",
            keys(message.causal_history),
            keys(message.repair_request),
            printable(message.content[:60].decode("utf-8", "replace"), 40) if odd and message.content else None,
        )

    def wires(self, step: Step) -> list[Wire]:
        """The messages that a step receives or sends."""
        return [step.received] if step.command == "receive" else step.broadcasts

    def arrived(self, step: Step) -> Item | None:
        """The message that a step received."""
        return self.item(step.received) if step.command == "receive" else None

    def signals(self, step: Step) -> list[Signal]:
        """The events of a step."""
        return [Signal(event.kind, tuple((event.channel_id, i) for i in event.message_ids)) for event in step.events]

    def shown_state(self, step: Step) -> ShownState | None:
        """The log and the buffers that a step shows. Repair buffers are left out, because their messages are in the log
        or missing.
        """
        state = step.state
        if state is None:
            return None
        log = tuple((step.channel_id, entry.message_id) for entry in state.log.entries)
        held = [*(entry.message_id for entry in state.outgoing.entries), *state.incoming.message_ids]
        return ShownState(log if state.HasField("log") else None, tuple((step.channel_id, i) for i in held))

    def done(self, operation: Operation, packets: Sequence[Packet], teller: Teller) -> str:
        """Describe an operation that only SDS has."""
        match op := operation:
            case Send():
                name = teller.name(packets[0]) if packets else short(op.label)
                details = [f"after {after}"] if packets and (after := teller.format_dependencies(packets[0])) else []
                details += [f"asks for {asks}"] if packets and (asks := teller.describe_requests(packets[0])) else []
                more = f" and {op.times - 1} more, up to {short(op.label)}" if op.times > 1 else ""
                return f"{short(op.who)} sends {name}" + (f" ({', '.join(details)})" if details else "") + more
            case Sync() | Ephemeral():
                details = [teller.name(packets[0])] if packets else []
                details += [f"asks for {asks}"] if packets and (asks := teller.describe_requests(packets[0])) else []
                named = f" ({', '.join(details)})" if details else ""
                return f"{short(op.who) or 'everybody'} {self.does[op.command]}{named}"
            case Again():
                return f"the network brings {short(op.to)} a copy of {short(op.label)}"
            case Say():
                described = teller.describe_message(packets[0]) if packets else short(op.label)
                return f"{short(op.peer)}, a scripted peer, says {described}"
            case Write():
                described = teller.describe_message(packets[0]) if packets else short(op.label)
                return f"{short(op.peer)}, a scripted peer, writes {described}"
            case Receive(asked=True):
                messages = ", ".join(map(short, op.messages))
                return f"{short(op.who)} receives those of the messages {messages} that it requested"
            case Receive(unanswered_since=since) if since:
                messages = ", ".join(map(short, op.messages))
                return (
                    f"{short(op.who)} receives those of the messages {messages} that have an unanswered repair request"
                )
            case Receive():
                return f"{', '.join(map(short, op.messages))} arrive{'s' * (len(op.messages) == 1)} at {short(op.who)}"
            case Settle():
                return f"{short(op.who)} does periodic work until nothing more is delivered"
            case Mark():
                return f"the time is stored as {short(op.label)}"
            case Garble(label=label) if label:
                return f"a part of {short(label)} arrives at {short(op.to)}"
            case Await():
                messages = ", ".join(map(short, op.messages))
                return f"time passes until {short(op.who)} is due to request {messages}, or to respond with {messages}"
            case BuildFilter():
                return "the codec builds a bloom filter"
            case RepairTimes():
                return f"the codec computes T_req and T_resp of {short(op.message_id)}"
            case Garble():
                raw = bytes.fromhex(op.wire)
                arrive = "arrives" if len(raw) == 1 else "arrive"
                return f"{format_count(len(raw), 'byte')} {arrive} at {short(op.to)}: {hex_of(raw)}"
            case _:
                return ""

    def note(self, operation: Operation) -> str:
        """Describe the effect of an operation on all participants."""
        match op := operation:
            case Lookup():
                return f"{short(op.who) or 'everybody'} retrieves missing messages from a store"
            case Calm():
                store = ", with a store" if op.store else ""
                period = f"{op.period_ms / 1000:,g} s"
                return f"calm: the network heals, and everybody sends a sync message every {period}{store}"
            case _:
                return ""

    def answers(self, party: Party) -> bool:
        """Does a participant with these settings use SDS-R?"""
        config = party.in_force if party.in_force is not None and party.in_force.HasField("sds_r") else party.asked
        return config is not None and bool(config.sds_r)


READING = SdsReading()
