"""The course of a performance: what each step of it meant for the messages, by name.

What is told and what is drawn both rest on this, so that they cannot differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sds_harness.declaration import printable
from sds_harness.schedules import Act, Loss, Packet, Performance
from sds_harness.stage import START_MS
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind, Message

from ..judging.quoting import clock
from ..protocols.sds.words import USUAL
from .names import Key, Names, short, signalled

SHOWN = 6
"""Names in a list before the rest is counted."""


class Fate(Enum):
    """What became of an arrival."""

    DELIVERED = "delivered"
    WAITING = "waits"
    """Content that was not delivered on arrival and depends on something that was not there."""
    LEFT = "is not delivered"
    """Content that was not delivered on arrival although all it depends on was there."""
    AGAIN = "again"
    """Content that the participant sent or delivered before."""
    HEARD = "heard"
    """A sync message, or whatever else is not to be delivered."""
    REFUSED = "refused"


KEPT = (Fate.WAITING, Fate.LEFT)


class Copy(Enum):
    """How a content message is broadcast once more."""

    RESENT = "resends"
    REPAIRED = "repairs"
    """By somebody who did not send it first."""


@dataclass(frozen=True)
class LogAt:
    """The log of a participant, in log order."""

    who: str
    channel_id: str
    entries: list[str]
    """Names of messages."""
    shown: int
    """The step that showed it; 0 if none did, and these are the messages sent and delivered, in that order."""
    since: list[str]
    """Sent or delivered after it was shown."""


class Course:
    """The facts of a performance."""

    def __init__(self, performance: Performance) -> None:
        self.performance = performance
        self.names = Names(performance)
        self.broadcasts: dict[int, list[Packet]] = {}
        """By the number of the act; of what scripted peers say, nothing."""
        self.said: dict[int, list[Packet]] = {}
        """What scripted peers say, by operation."""
        self.copies: dict[int, Copy] = {}
        """By packet number: content messages that are not the first of their ID."""
        self.packets: dict[Key, list[Packet]] = {}
        self.fates: dict[int, Fate] = {}
        """By the number of the act that received."""
        self.arrivals: dict[Key, list[Act]] = {}
        self.had: dict[tuple[str, Key], Act] = {}
        """Where a participant first delivered or sent a message."""
        self.deliveries: dict[Key, list[Act]] = {}
        self.acknowledged: dict[Key, list[Act]] = {}
        self.losses: dict[int, list[Loss]] = {}
        """By packet number."""
        self.heard: dict[int, list[Act]] = {}
        """By packet number: the acts that received it from the network."""
        self.told = len({id(trace) for trace in performance.traces}) > 1
        """Several implementations take part."""
        for packet in performance.packets:
            self._read_packet(packet)
        for loss in performance.losses:
            self.losses.setdefault(loss.packet.number, []).append(loss)
        for act in performance.acts:
            self._read_act(act)

    def _read_packet(self, packet: Packet) -> None:
        if packet.act:
            self.broadcasts.setdefault(packet.act, []).append(packet)
        else:
            self.said.setdefault(packet.operation, []).append(packet)
        message = packet.wire.message
        if message is None:
            return
        before = self.packets.setdefault((message.channel_id, message.message_id), [])
        if before and message.kind is Kind.CONTENT and not packet.label:
            same = before[0].sender == packet.sender
            self.copies[packet.number] = Copy.RESENT if same else Copy.REPAIRED
        before.append(packet)

    def _read_act(self, act: Act) -> None:
        known = set[Key]()
        message = received(act)
        if act.step.command == "receive":
            if act.packet is not None and act.source == "network":
                self.heard.setdefault(act.packet.number, []).append(act)
            if message is not None:
                key = message.channel_id, message.message_id
                self.arrivals.setdefault(key, []).append(act)
                known = {key} if (act.who, key) in self.had else known
        for packet in self.broadcasts.get(act.number, ()):
            sent = packet.wire.message
            if act.step.command == "send" and sent is not None and sent.kind is Kind.CONTENT:
                self.had.setdefault((act.who, (sent.channel_id, sent.message_id)), act)
        delivered = set[Key]()
        for event in act.step.events:
            kind = event.WhichOneof("event")
            for message_id in signalled(event):
                key = event.channel_id, message_id
                if kind == "delivered":
                    delivered.add(key)
                    self.deliveries.setdefault(key, []).append(act)
                    self.had.setdefault((act.who, key), act)
                elif kind == "acknowledged":
                    self.acknowledged.setdefault(key, []).append(act)
        if act.step.command == "receive":
            self.fates[act.number] = self._fate(act, message, known, delivered)

    def _fate(self, act: Act, message: Message | None, known: set[Key], delivered: set[Key]) -> Fate:
        if act.step.answer != "effects":
            return Fate.REFUSED
        if message is None:
            return Fate.HEARD
        key = message.channel_id, message.message_id
        if key in delivered:
            return Fate.DELIVERED
        if key in known:
            return Fate.AGAIN
        if message.kind is not Kind.CONTENT or not act.trace.declaration.can(pb.CAPABILITY_DELIVERED):
            return Fate.HEARD
        unmet = any((act.who, (message.channel_id, e.message_id)) not in self.had for e in message.causal_history)
        return Fate.WAITING if unmet else Fate.LEFT

    # ---- in words --------------------------------------------------------------------------------------------------

    def at(self, milliseconds: int) -> str:
        """A time since the start."""
        return clock(START_MS + milliseconds)

    def listed(self, names: list[str], limit: int = SHOWN) -> str:
        more = f" and {len(names) - limit} more" if len(names) > limit else ""
        return ", ".join(names[:limit]) + more

    def after(self, message: Message) -> str:
        """Its causal history, "" if it is empty."""
        return self.listed([self.names.name_of(message.channel_id, e.message_id) for e in message.causal_history])

    def about(self, packet: Packet, message: Message | None = None) -> str:
        """A message in one line."""
        message = message or packet.wire.message
        name = self.names.of_packet(packet)
        if message is None:
            return f"{name}: {len(packet.wire.raw):,} bytes that are no SDS message"
        details = [f"Lamport {clock(message.lamport_timestamp)}"] if message.lamport_timestamp is not None else []
        if message.causal_history:
            details.append(f"after {self.after(message)}")
        if message.repair_request:
            asked = [self.names.name_of(message.channel_id, e.message_id) for e in message.repair_request]
            details.append(f"asks for {self.listed(asked)}")
        if message.content and not USUAL.match(message.content):
            details.append(f"says {printable(message.content[:60].decode('utf-8', 'replace'), 40)!r}")
        details.append(f"ID {printable(message.message_id, 80)}")
        copy = f", a copy by {short(packet.sender)}" if packet.number in self.copies else ""
        return f"{message.kind.value} {name} of {short(message.sender_id)}{copy} ({', '.join(details)})"

    def signals(self, act: Act) -> list[tuple[str, str]]:
        """What an act signalled: the kind of the event and words; what is alike in one."""
        out: list[tuple[str, list[str]]] = []
        own = {p.wire.message.message_id for p in self.broadcasts.get(act.number, ()) if p.wire.message is not None}
        for event in act.step.events:
            kind = event.WhichOneof("event") or ""
            # That a sender signals the delivery of what it sends goes without saying.
            ids = [i for i in signalled(event) if kind != "delivered" or act.step.command != "send" or i not in own]
            names = [self.names.name_of(event.channel_id, message_id) for message_id in ids]
            if not names:
                continue
            if out and out[-1][0] == kind:
                out[-1][1].extend(names)
            else:
                out.append((kind, names))
        return [(kind, _SIGNALS[kind].format(self.listed(names))) for kind, names in out]

    def sends(self, act: Act) -> list[tuple[Packet, str]]:
        """What an act broadcast: the packet, and the verb for it."""
        out = []
        for packet in self.broadcasts.get(act.number, ()):
            copy = self.copies.get(packet.number)
            out.append((packet, copy.value if copy else "sends"))
        return out

    def arrives(self, act: Act) -> str:
        """What arrived in an act, by name, and where from if not from the network; "" if it is no arrival."""
        if act.step.command != "receive":
            return ""
        name = self.names.of_packet(act.packet) if act.packet is not None else "something"
        origin = {"again": " out of the blue", "store": " from the store"}.get(act.source, "")
        return f"{name}{origin}"

    def refusal(self, act: Act) -> str:
        """Why a command failed, "" if it did not."""
        reply = act.step.reply
        if reply is None:
            return "breaks down"
        if act.step.answer == "rejected":
            return f"refuses: {printable(reply.rejected.reason, 80)}"
        return f"answers `{act.step.answer}`" if act.step.answer in ("unsupported", "error", "") else ""

    # ---- logs ------------------------------------------------------------------------------------------------------

    def logs(self, until: int | None = None) -> list[LogAt]:
        """The logs of all participants after an act, by default at the end."""
        shown: dict[tuple[str, str], Act] = {}
        has: dict[tuple[str, str], list[tuple[int, str]]] = {}
        for act in self.performance.acts[:until]:
            state = act.step.reply.state if act.step.reply is not None and act.step.answer == "state" else None
            if state is not None and state.HasField("log"):
                shown[act.who, act.step.channel_id] = act
        for (who, key), act in self.had.items():
            if (until is None or act.number <= until) and self._is_content(key):
                has.setdefault((who, key[0]), []).append((act.number, self.names.name_of(*key)))
        out = []
        for who, party in self.performance.parties.items():
            for channel in party.channels:
                act_shown, later = shown.get((who, channel)), has.get((who, channel), [])
                if act_shown is None or act_shown.step.reply is None:
                    out.append(LogAt(who, channel, [name for _, name in later], 0, []))
                    continue
                entries = act_shown.step.reply.state.log.entries
                names = [self.names.name_of(channel, entry.message_id) for entry in entries]
                since = [name for number, name in later if number > act_shown.number and name not in names]
                out.append(LogAt(who, channel, names, act_shown.number, since))
        return out

    def _is_content(self, key: Key) -> bool:
        return any(
            p.wire.message is not None and p.wire.message.kind is Kind.CONTENT for p in self.packets.get(key, ())
        )


_SIGNALS = {
    "delivered": "delivers {}",
    "acknowledged": "{} acknowledged",
    "possibly_acknowledged": "{} possibly acked",
    "missing": "misses {}",
    "lost": "gives up {}",
}


def received(act: Act) -> Message | None:
    """The message that arrived in an act."""
    return act.step.received.message if act.step.command == "receive" else None
