"""Reads a group trace of two implementations for the functions that judge an exchange.

Messages are read in the wire layout of their sender, even if they were translated in between.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sds_harness.declaration import printable
from sds_harness.sds.group_trace import Act, GroupTrace, Packet
from sds_harness.sds.trace import Event, Wire
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind, Message, Revision
from sds_reference.testee.dialect import Dialect


class ReadGroupTrace:
    """A group trace, with the private wire layouts of its members (None for the layout of the specification)."""

    def __init__(self, group_trace: GroupTrace, dialects: Mapping[str, Dialect | None]) -> None:
        self.recorded = group_trace
        self.revision: Revision = group_trace.traces[0].revision
        self._dialects = dialects

    def can(self, who: str, *capabilities: int) -> bool:
        """Does the implementation of a member declare all of these capabilities?"""
        return all(self.recorded.cast[who].declaration.can(capability) for capability in capabilities)

    # ---- messages --------------------------------------------------------------------------------------------------

    def wire(self, packet: Packet) -> Wire:
        """The bytes of a packet, to be read in the wire layout of the packet's sender."""
        return Wire(packet.wire.raw, self._dialects.get(packet.sender), self.revision.wire)

    def message(self, label: str) -> Message | None:
        """The message with a label; None if it was not sent, or cannot be read in the layout of its sender."""
        packet = self.recorded.labels.get(label)
        return self.wire(packet).message if packet is not None else None

    def sent(self, label: str) -> tuple[str, bytes] | None:
        """Message ID and content of the message with a label; None if it was not sent."""
        packet = self.recorded.labels.get(label)
        if packet is None:
            return None
        message = self.wire(packet).message
        if not packet.act:
            return (message.message_id, message.content or b"") if message is not None else None
        step = self.recorded.acts[packet.act - 1].step
        message_id = step.reply.effects.message_id if step.reply is not None else ""
        return message_id or (message.message_id if message is not None else ""), step.request.send.content

    def id_of(self, label: str) -> str:
        """The ID of the message with a label; "" if it was not sent."""
        sent = self.sent(label)
        return sent[0] if sent is not None else ""

    def broadcasts_of(self, who: str, operations: range) -> Iterator[Packet]:
        """Yield the broadcasts of a member in these operations, in order."""
        return (p for p in self.recorded.packets if p.sender == who and p.act and p.operation in operations)

    def left_out(self) -> str:
        """The reason why operations were not played; "" if all were played."""
        return "; ".join(dict.fromkeys(printable(reason, 160) for reason in self.recorded.left_out.values()))

    # ---- effects ---------------------------------------------------------------------------------------------------

    def acts(self, who: str, operations: range | None = None) -> Iterator[Act]:
        return (a for a in self.recorded.acts if a.who == who and (operations is None or a.operation in operations))

    def events(self, who: str, kind: str, operations: range | None = None) -> Iterator[Event]:
        """The signals of one kind that a member gave, in order."""
        for act in self.acts(who, operations):
            yield from (event for event in act.step.events if event.kind == kind)

    def delivered(self, who: str, operations: range | None = None) -> list[tuple[str, bytes]]:
        """Message IDs and contents that a member delivered, in order."""
        return [(e.message_id, e.content) for e in self.events(who, "delivered", operations)]

    def acknowledged(self, who: str, operations: range) -> set[str] | None:
        """IDs of the messages that a member considers acknowledged at the end of some operations; None if the member
        shows no acknowledgements.
        """
        if self.can(who, pb.CAPABILITY_ACKNOWLEDGED):
            return {e.message_id for e in self.events(who, "acknowledged", operations)}
        return self._outgoing_not(who, operations, pb.ACK_STATE_UNACKNOWLEDGED, pb.ACK_STATE_POSSIBLY_ACKNOWLEDGED)

    def possibly_acknowledged(self, who: str, operations: range) -> set[str] | None:
        """IDs of the messages that a member considers acknowledged or possibly acknowledged; None if the member shows
        neither.
        """
        if self.can(who, pb.CAPABILITY_POSSIBLY_ACKNOWLEDGED):
            kinds = ("acknowledged", "possibly_acknowledged")
            return {e.message_id for kind in kinds for e in self.events(who, kind, operations)}
        return self._outgoing_not(who, operations, pb.ACK_STATE_UNACKNOWLEDGED)

    def state(self, who: str, operations: range | None = None) -> pb.State | None:
        """The last state that a member showed; None if it showed none."""
        shown = [act.step.state for act in self.acts(who, operations) if act.step.state is not None]
        return shown[-1] if shown else None

    def has(self, who: str, message_id: str, operations: range | None = None) -> bool | None:
        """Did a member deliver a message? None if its signals, its log and its causal histories do not show this."""
        if self.can(who, pb.CAPABILITY_DELIVERED):
            return any(message_id == found for found, _ in self.delivered(who, operations))
        state = self.state(who, operations)
        if state is not None and state.HasField("log"):
            return any(entry.message_id == message_id for entry in state.log.entries)
        return True if message_id in self.named_by(who) else None

    def named_by(self, who: str) -> set[str]:
        """The message IDs in all causal histories that a member sent."""
        messages = (self.wire(p).message for p in self.recorded.packets if p.sender == who and p.act)
        return {entry.message_id for m in messages if m is not None for entry in m.causal_history}

    def logged_syncs(self) -> set[str]:
        """The IDs of all sync messages, if the revision requires that they are logged; else empty."""
        packets = self.recorded.packets if self.revision.syncs_are_logged else ()
        messages = (self.wire(packet).message for packet in packets)
        return {m.message_id for m in messages if m is not None and m.kind is Kind.SYNC}

    def refusal(self, who: str) -> str | None:
        """Why a member refused the first message that it refused; None if it refused none."""
        for act in self.acts(who):
            if act.step.command == "receive" and act.step.answer == "rejected" and act.step.reply is not None:
                return printable(act.step.reply.rejected.reason, 120) or "no reason given"
        return None

    def _outgoing_not(self, who: str, operations: range, *states: int) -> set[str] | None:
        """IDs of the messages that a member sent and whose state in its outgoing buffer is none of ``states``."""
        state = self.state(who, operations)
        if state is None or not state.HasField("outgoing"):
            return None
        waiting = {entry.message_id for entry in state.outgoing.entries if entry.state in states}
        own = (self.wire(p).message for p in self.broadcasts_of(who, range(-1, operations.stop)))
        return {m.message_id for m in own if m is not None} - waiting
