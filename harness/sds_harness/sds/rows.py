"""The steps of SDS as rows of a corpus: what they tell, with what the text leaves open taken out of it."""

from __future__ import annotations

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import MAX_LAMPORT, Message

from ..corpus.digests import digest64, signed
from ..corpus.schema import Row
from ..stage import START_MS
from .naming import Key, Names
from .performance import Performance
from .trace import Step, Trace, Wire, signalled

LONGEST_ID = 200


class Facts:
    """What the steps of one performance tell, by the names in ``columns.py``."""

    def __init__(self, performance: Performance) -> None:
        self._names = Names(performance)

    def compared(self, step: Step, trace: Trace) -> Row:
        """The normative columns of SDS."""
        names, broadcasts = self._names, step.broadcasts
        message, shift = self._about(step), START_MS - trace.start_ms
        row: Row = {
            "channel": step.channel_id or (message.channel_id if message is not None else ""),
            "message": names.called(message) if message is not None else "",
            "lamport": _lamport(message, shift),
            **self._signals(step),
            "broadcasts": sorted(self._called(wire) for wire in broadcasts),
            "wire": digest64(sorted(self._said(wire, shift) for wire in broadcasts)),
            "repair_requests": sorted(
                {names.of(sent.channel_id, entry.message_id) for sent in step.messages for entry in sent.repair_request}
            ),
            "log": 0,
            "outgoing": 0,
            "incoming": 0,
            "repairs": 0,
        }
        if step.state is not None:
            row |= self._shown(step.state, step.channel_id, shift)
        return row

    def informative(self, step: Step, trace: Trace) -> Row:
        """The others."""
        message, shift = self._about(step), START_MS - trace.start_ms
        sent, state = step.messages, step.state
        return {
            "message_id": message.message_id[:LONGEST_ID] if message is not None else "",
            "dependencies": min(len(message.causal_history), 0x7FFF) if message is not None else -1,
            "history": digest64([self._history(one) for one in sent]),
            "filter": digest64(
                list(state.filter_hits) if state is not None else [(one.bloom_filter or b"").hex() for one in sent]
            ),
            "due": digest64(self._due(state, step.channel_id, shift)) if state is not None else 0,
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
                case str():
                    sets[kind].update(names.of(channel, message_id) for message_id in signalled(event))
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
        return self._names.called(message) if message is not None else "no message"

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
