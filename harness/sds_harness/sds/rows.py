"""Converts the steps of SDS to rows of a corpus, without what the specification leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import MAX_LAMPORT, Message

from ..corpus.digests import plain_digest64, to_signed
from ..corpus.schema import Row
from ..stage import START_MS
from .group_trace import GroupTrace
from .names import Key, Names
from .trace import Step, Trace, Wire

LONGEST_ID = 200


class SdsRowReader:
    """Reads the columns of SDS from the steps of one group trace."""

    def __init__(self, group_trace: GroupTrace) -> None:
        self._names = Names(group_trace)

    def normative_columns(self, step: Step, trace: Trace) -> Row:
        """The values of the normative columns of SDS for a step."""
        names, shift = self._names, _shift(trace)
        sent = self._sent(step)
        message = _main_message(step, sent)
        row: Row = {
            "channel": step.channel_id or (message.channel_id if message is not None else ""),
            "message": names.name_message(message) if message is not None else "",
            "lamport": _lamport(message, shift),
            **self._signals(step),
            "broadcasts": [name for name, _ in sent],
            "wire": plain_digest64(sorted(self._content_of(wire, shift) for _, wire in sent)) if sent else 0,
            "repair_requests": [],
            "log": 0,
            "outgoing": 0,
            "incoming": 0,
            "repairs": 0,
        }
        if asks := {
            names.names_of(m.channel_id, entry.message_id) for m in step.messages for entry in m.repair_request
        }:
            row["repair_requests"] = sorted(asks)
        if step.state is not None:
            row |= self._state_entry(step.state, step.channel_id, shift)
        return row

    def informative(self, step: Step, trace: Trace) -> Row:
        """The values of the informative columns of SDS for a step."""
        message, shift = _main_message(step, self._sent(step)), _shift(trace)
        sent, state = step.messages, step.state
        return {
            "message_id": message.message_id[:LONGEST_ID] if message is not None else "",
            "dependencies": min(len(message.causal_history), 0x7FFF) if message is not None else -1,
            "history": plain_digest64([self._history(one) for one in sent]),
            "filter": plain_digest64(
                list(state.filter_hits) if state is not None else [(one.bloom_filter or b"").hex() for one in sent]
            ),
            "due": plain_digest64(self._due(state, step.channel_id, shift)) if state is not None else 0,
        }

    def _sent(self, step: Step) -> list[tuple[str, Wire]]:
        """The broadcasts of a step, sorted by name, because the order of several broadcasts is open."""
        broadcasts = step.broadcasts
        if not broadcasts:
            return []
        return sorted([(self._name_wire(wire), wire) for wire in broadcasts], key=itemgetter(0))

    def _signals(self, step: Step) -> Row:
        row: Row = {
            "delivered": [],
            "contents": 0,
            "acknowledged": [],
            "possibly_acknowledged": [],
            "missing": [],
            "lost": [],
        }
        if not step.events:
            return row
        names = self._names
        contents: dict[Key, str] = {}
        delivered: list[Key] = []
        for event in step.events:
            kind, channel = event.kind, event.channel_id
            match kind:
                case "delivered":
                    key = (channel, event.message_id)
                    delivered.append(key)
                    contents[key] = event.content.hex()
                case str():
                    row[kind] += [names.names_of(channel, message_id) for message_id in event.message_ids]
        for kind in ("acknowledged", "possibly_acknowledged", "missing", "lost"):
            row[kind] = sorted(set(row[kind]))
        ordered = names.in_causal_order(delivered)
        row["delivered"] = [names.names_of(*key) for key in ordered]
        row["contents"] = plain_digest64([contents[key] for key in ordered])
        return row

    def _state_entry(self, state: pb.State, channel: str, shift: int) -> Row:
        names = self._names
        timestamp = state.lamport_timestamp + shift if state.HasField("lamport_timestamp") else 0
        repairs = [
            names.sorted(channel, (entry.message_id for entry in buffer.entries))
            for buffer in (state.outgoing_repairs, state.incoming_repairs)
        ]
        return {
            "lamport": to_signed(timestamp),
            "log": plain_digest64(
                [
                    (names.names_of(channel, entry.message_id), to_signed(entry.lamport_timestamp + shift))
                    for entry in state.log.entries
                ]
            ),
            "outgoing": plain_digest64(
                sorted(
                    (names.names_of(channel, entry.message_id), int(entry.state)) for entry in state.outgoing.entries
                )
            ),
            "incoming": plain_digest64(names.sorted(channel, state.incoming.message_ids)),
            "repairs": plain_digest64(repairs) if any(repairs) else 0,
        }

    def _due(self, state: pb.State, channel: str, shift: int) -> list[tuple[str, int]]:
        return sorted(
            (self._names.names_of(channel, entry.message_id), entry.due_ms + shift)
            for buffer in (state.outgoing_repairs, state.incoming_repairs)
            for entry in buffer.entries
        )

    def _name_wire(self, wire: Wire) -> str:
        message = wire.message
        return self._names.name_message(message) if message is not None else "no message"

    def _content_of(self, wire: Wire, shift: int) -> list[str | int]:
        """The fields of a broadcast message that the specification determines; the bytes if they are not a message."""
        message = wire.message
        if message is None:
            return ["no message", wire.raw.hex()]
        return self._names.content_of(message, _lamport(message, shift))

    def _history(self, message: Message) -> list[str]:
        return [self._names.names_of(message.channel_id, entry.message_id) for entry in message.causal_history]


def _main_message(step: Step, sent: Sequence[tuple[str, Wire]]) -> Message | None:
    """The message that arrives or is sent in a step. If several are sent, the one whose name is first in alphabetical
    order."""
    if step.command == "receive":
        return step.received.message
    return sent[0][1].message if sent else None


def _shift(trace: Trace) -> int:
    """The number to add to Lamport timestamps so that group traces with different start times can be compared.

    A group trace of an implementation that uses its own clock starts at the real time. The number is 0 in revisions
    whose timestamps do not follow the clock.
    """
    return START_MS - trace.start_ms if trace.revision.lamport_follows_clock else 0


def _lamport(message: Message | None, shift: int) -> int:
    """The Lamport timestamp of a message plus ``shift``, as a signed number of 64 bits; 0 if there is no timestamp."""
    if message is None or message.lamport_timestamp is None:
        return 0
    return to_signed((message.lamport_timestamp + shift) & MAX_LAMPORT)
