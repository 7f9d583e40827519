"""The course of a group trace: the effect of each step on messages, which are called by short names.

Stories and diagrams both use it, so that they cannot differ.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum

from sds_harness.declaration import printable
from sds_harness.schedules import Act, GroupTrace, Loss, Packet
from sds_harness.stage import START_MS

from ..judging.formats import clock, foremost, format_count, hex_of, short
from ..protocols.group_trace_reader import ACKNOWLEDGED, DELIVERED, Item, Key, Signal, Sort
from .names import MessageNames, reading_of

SHOWN = 6
"""Maximum number of names in a list. Further names are counted."""
_STEP = re.compile(r"\bstep (\d+)\b")


class ArrivalFate(Enum):
    """The effect of a message on its receiver when it arrives."""

    DELIVERED = "delivered"
    WAITING = "waits"
    """Content that was not delivered on arrival because a dependency was missing."""
    LEFT = "is not delivered"
    """Content that was not delivered on arrival although all its dependencies were in the log."""
    AGAIN = "again"
    """Content that the participant sent or delivered before."""
    HEARD = "heard"
    """A sync message, an ephemeral message that was not delivered, or bytes that are not a message. Also content, if
    the implementation does not signal deliveries.
    """
    REFUSED = "refused"


KEPT = (ArrivalFate.WAITING, ArrivalFate.LEFT)


@dataclass(frozen=True)
class LogAt:
    """The log of a participant, in log order."""

    who: str
    channel_id: str
    entries: list[str]
    """Names of messages."""
    shown: int
    """Number of the step that showed the log; 0 if no step showed the log. Without a shown log, the
    entries are the messages in the order in which they were sent or delivered.
    """
    since: list[str]
    """Messages that were sent or delivered after the log was shown."""
    history: str = ""
    """Name of the message whose causal history is the end of ``entries``, if only a causal history shows the order of
    the log; otherwise "".
    """


class Course:
    """What happened to each message in a group trace."""

    def __init__(self, group_trace: GroupTrace, *, by_id: bool = False, about: str = "") -> None:
        """``by_id`` is the same as in `MessageNames`. ``about`` is the text of a finding. Long lists show the messages
        of the finding first.
        """
        self.group_trace = group_trace
        self.reading = reading_of(group_trace)
        self.names = MessageNames(group_trace, by_id=by_id)
        self.mentioned = frozenset(self.names.find_quoted(about))
        """The messages that the finding quotes."""
        self.steps_named = frozenset(map(int, _STEP.findall(about)))
        """The numbers of the steps that the finding mentions."""
        self._foremost: Collection[str] = {self.names.name_of(key) for key in self.mentioned}
        self.items: dict[int, Item | None] = {}
        """The parsed message in each packet, by packet number."""
        self.broadcasts: dict[int, list[Packet]] = {}
        """Maps the number of a step to its broadcasts, without messages of scripted peers."""
        self.scripted_packets: dict[int, list[Packet]] = {}
        """Maps the index of an operation to the messages that scripted peers send in it."""
        self.copies: dict[int, str] = {}
        """Maps the packet number of repeated content to the verb that describes it."""
        self.packets: dict[Key, list[Packet]] = {}
        self.signalled: dict[int, Sequence[Signal]] = {}
        """Maps the number of a step to its signals."""
        self.fates: dict[int, ArrivalFate] = {}
        """Maps the number of the step that receives a message to the effect of the message."""
        self.arrivals: dict[Key, list[Act]] = {}
        self.first_acts: dict[tuple[str, Key], Act] = {}
        """Maps (participant, message) to the step in which the participant first delivered or sent the message."""
        self.deliveries: dict[Key, list[Act]] = {}
        self.acknowledged: dict[Key, list[Act]] = {}
        self.losses: dict[int, list[Loss]] = {}
        """Maps a packet number to the receivers that the packet did not reach, with the reasons."""
        self.received: dict[int, list[Act]] = {}
        """Maps a packet number to the steps that received the packet from the network."""
        self._requested: set[tuple[str, Key]] = set()
        """(Participant, message) for each repair request that arrived and that the participant has not answered with a
        broadcast.
        """
        self.has_several_implementations = len({id(trace) for trace in group_trace.traces}) > 1
        for packet in group_trace.packets:
            self._read_packet(packet)
        for loss in group_trace.losses:
            self.losses.setdefault(loss.packet.number, []).append(loss)
        for act in group_trace.acts:
            self._read_act(act)

    def _read_packet(self, packet: Packet) -> None:
        if packet.act:
            self.broadcasts.setdefault(packet.act, []).append(packet)
        else:
            self.scripted_packets.setdefault(packet.operation, []).append(packet)
        item = self.items[packet.number] = self.reading.item(packet.wire)
        if item is None:
            return
        before = self.packets.setdefault(item.key, [])
        if before and item.sort is Sort.CONTENT and not packet.label:
            resends, repairs = self.reading.copies
            self.copies[packet.number] = resends if before[0].sender == packet.sender else repairs
        before.append(packet)

    def _read_act(self, act: Act) -> None:
        known = set[Key]()
        item = self.reading.arrived(act.step)
        if act.step.command == "receive":
            if act.packet is not None and act.source == "network":
                self.received.setdefault(act.packet.number, []).append(act)
            if item is not None:
                self.arrivals.setdefault(item.key, []).append(act)
                self._requested |= {(act.who, key) for key in item.asks}
                known = {item.key} if (act.who, item.key) in self.first_acts else known
        for packet in self.broadcasts.get(act.number, ()):
            sent = self.items[packet.number]
            if sent is not None and (act.who, sent.key) in self._requested:
                self._requested.remove((act.who, sent.key))
                # The original sender responds at once, long before an unrequested resend is due.
                if packet.number in self.copies and self.reading.answers(self.group_trace.parties[act.who]):
                    self.copies[packet.number] = self.reading.copies[1]
            own = act.step.command == "send" or bool(packet.label)
            if own and sent is not None and sent.sort is Sort.CONTENT:
                self.first_acts.setdefault((act.who, sent.key), act)
        delivered = set[Key]()
        self.signalled[act.number] = self.reading.signals(act.step)
        for signal in self.signalled[act.number]:
            for key in signal.keys:
                if signal.kind == DELIVERED:
                    delivered.add(key)
                    self.deliveries.setdefault(key, []).append(act)
                    self.first_acts.setdefault((act.who, key), act)
                elif signal.kind == ACKNOWLEDGED:
                    self.acknowledged.setdefault(key, []).append(act)
        if act.step.command == "receive":
            self.fates[act.number] = self._fate(act, item, known, delivered)

    def _fate(self, act: Act, item: Item | None, known: set[Key], delivered: set[Key]) -> ArrivalFate:
        if act.step.answer != "effects":
            return ArrivalFate.REFUSED
        if item is None:
            return ArrivalFate.HEARD
        if item.key in delivered:
            return ArrivalFate.DELIVERED
        if item.key in known:
            return ArrivalFate.AGAIN
        if item.sort is not Sort.CONTENT or not act.trace.declaration.can_by_name(DELIVERED):
            return ArrivalFate.HEARD
        unmet = any((act.who, cause) not in self.first_acts for cause in item.causes)
        return ArrivalFate.WAITING if unmet else ArrivalFate.LEFT

    def drawn_kind(self, packet: Packet) -> str:
        """Return the kind of arrow for a packet; "copy" for repeated content."""
        item = self.items[packet.number]
        return "copy" if packet.number in self.copies else (item.sort if item is not None else Sort.NOISE).value

    # ---- text ------------------------------------------------------------------------------------------------------

    def format_time(self, milliseconds: int) -> str:
        """Format a time relative to the start of virtual time."""
        return clock(START_MS + milliseconds)

    def join_names(self, names: list[str], limit: int = SHOWN, by: str = ", ") -> str:
        """Join at most ``limit`` names in their order, preferably names of messages of the finding, and count the
        remaining names.
        """
        first_names, more = foremost(names, self._foremost.__contains__, limit)
        return by.join(first_names) + (f" and {more} more" if more else "")

    def join_names_of(self, keys: Sequence[Key]) -> str:
        return self.join_names([self.names.name_of(key) for key in keys])

    def name(self, packet: Packet) -> str:
        return self.names.name_packet(packet)

    def format_dependencies(self, packet: Packet) -> str:
        """Return the dependencies of a packet as text; "" if it has none."""
        item = self.items[packet.number]
        return self.join_names_of(item.causes) if item is not None else ""

    def describe_requests(self, packet: Packet) -> str:
        """Return the messages that a packet requests, as text; "" if it requests none."""
        item = self.items[packet.number]
        return self.join_names_of(item.asks) if item is not None else ""

    def details(self, item: Item | None, *, blamed: bool = False) -> str:
        """Return, in parentheses, the messages that a message requests.

        With ``blamed``, also return its causal history, if the history has messages of the finding.
        """
        if item is None:
            return ""
        after = blamed and not self.mentioned.isdisjoint(item.causes)
        out = [f"after {self.join_names_of(item.causes)}"] if after else []
        out += [f"asks for {self.join_names_of(item.asks)}"] if item.asks else []
        return f" ({', '.join(out)})" if out else ""

    def describe_message(self, packet: Packet, arrived: Item | None = None) -> str:
        """Describe a message in one line, as it was broadcast or, if ``arrived`` is given, as it arrived."""
        item = arrived or self.items[packet.number]
        name = self.name(packet)
        if item is None:
            raw = packet.wire.raw
            are = "is" if len(raw) == 1 else "are"
            return f"{name}: {format_count(len(raw), 'byte')} that {are} {self.reading.unread}: {hex_of(raw)}"
        details = [f"{self.reading.time} {item.time}"] if item.time else []
        if item.causes:
            details.append(f"after {self.join_names_of(item.causes)}")
        if item.asks:
            details.append(f"asks for {self.join_names_of(item.asks)}")
        if item.says is not None:
            details.append(f"says {item.says!r}")
        details.append(f"ID {printable(item.key[1], 80)}")
        copy = f", a copy by {short(packet.sender)}" if packet.number in self.copies else ""
        return f"{item.kind} {name} of {short(item.sender)}{copy} ({', '.join(details)})"

    def signals(self, act: Act) -> list[tuple[str, str]]:
        """Return the signals of a step as (CSS class, text); signals of one kind are joined."""
        out: list[tuple[str, list[str]]] = []
        own = {item.key[1] for p in self.broadcasts.get(act.number, ()) if (item := self.items[p.number]) is not None}
        for signal in self.signalled[act.number]:
            kind = signal.kind
            # Omit the delivery that a sender signals for its own message, because it always does.
            unsaid = own if kind == DELIVERED and act.step.command == "send" else ()
            names = [self.names.name_of(key) for key in signal.keys if key[1] not in unsaid]
            if not names:
                continue
            if out and out[-1][0] == kind:
                out[-1][1].extend(names)
            else:
                out.append((kind, names))
        signal_names = self.reading.signalled
        between = {kind: ", then " if kind == DELIVERED else ", " for kind in signal_names}
        return [
            (signal_names[kind][0], signal_names[kind][1].format(self.join_names(names, by=between[kind])))
            for kind, names in out
        ]

    def list_broadcasts(self, act: Act) -> list[tuple[Packet, str]]:
        """Return the packets that a step broadcast, each with a verb. A packet to several receivers is listed once."""
        sent = [(p, self.copies.get(p.number, "sends")) for p in self.broadcasts.get(act.number, ())]
        if not self.reading.to_each:
            return sent
        return list({(self.name(packet), verb): (packet, verb) for packet, verb in reversed(sent)}.values())[::-1]

    def describe_arrival(self, act: Act) -> str:
        """Describe the message that arrives in a step, and where it comes from if not from the network; "" if no
        message arrives.
        """
        if act.step.command != "receive":
            return ""
        name = self.name(act.packet) if act.packet is not None else "something"
        origin = {"again": " without a visible origin", "store": " from the store"}.get(act.source, "")
        return f"{name}{origin}{self.details(self.reading.arrived(act.step))}"

    def log_of(self, act: Act) -> str:
        """Return the log that a step shows, in log order, as text; "" if it shows none."""
        state = self.reading.shown_state(act.step)
        if state is None or not state.log:
            return ""
        return f"the log is {self.join_names([self.names.name_of(key) for key in state.log], by=', then ')}"

    def concerns_finding(self, act: Act) -> bool:
        """Return whether a message of the finding arrives in the step, or a message that requests a message of the
        finding.
        """
        arrived = self.reading.arrived(act.step) if act.step.command == "receive" else None
        return arrived is not None and not self.mentioned.isdisjoint((arrived.key, *arrived.asks))

    def refusal(self, act: Act) -> str:
        """Return why the command of a step failed; "" if the command succeeded."""
        reply = act.step.reply
        if reply is None:
            return "breaks down"
        if act.step.answer == "rejected":
            return f"refuses: {printable(reply.rejected.reason, 80)}"
        return f"answers `{act.step.answer}`" if act.step.answer in ("unsupported", "error", "") else ""

    def has_result(self, act: Act) -> bool:
        """Return whether the step has a signal or failed."""
        return bool(self.signalled[act.number] or self.refusal(act))

    # ---- logs ------------------------------------------------------------------------------------------------------

    def collect_logs(self, until: int | None = None) -> list[LogAt]:
        """Return the logs of all participants after the step number ``until``, by default after the last step."""
        shown: dict[tuple[str, str], tuple[int, list[str]]] = {}
        has: dict[tuple[str, str], list[tuple[int, str]]] = {}
        for act in self.group_trace.acts[:until]:
            state = self.reading.shown_state(act.step)
            if state is not None and state.log is not None:
                shown[act.who, act.step.channel_id] = act.number, [self.names.name_of(key) for key in state.log]
        for (who, key), act in self.first_acts.items():
            if (until is None or act.number <= until) and self._is_content(key):
                has.setdefault((who, key[0]), []).append((act.number, self.names.name_of(key)))
        out = []
        for who, party in self.group_trace.parties.items():
            for channel in party.channels or ("",):
                later = has.get((who, channel), [])
                if (who, channel) not in shown:
                    out.append(self._infer_log(who, channel, [name for _, name in later], until))
                    continue
                at, names = shown[who, channel]
                since = [name for number, name in later if number > at and name not in names]
                out.append(LogAt(who, channel, names, at, since))
        return out

    def _infer_log(self, who: str, channel: str, names: list[str], until: int | None) -> LogAt:
        """Infer a log that no step showed: the messages in the order in which they were sent or delivered.

        If the last causal history has other messages or another order, it becomes the end of the log.
        """
        for act in reversed(self.group_trace.acts[:until]):
            if act.who != who or act.step.command == "receive":
                continue
            for packet in reversed(self.broadcasts.get(act.number, ())):
                item = self.items[packet.number]
                if item is None or item.key[0] != channel or packet.number in self.copies or len(item.causes) < 2:
                    continue
                history = [self.names.name_of(key) for key in item.causes]
                before = names[: names.index(own)] if (own := self.names.name_of(item.key)) in names else names
                if [name for name in names if name in history] == history:
                    return LogAt(who, channel, names, 0, [])
                return LogAt(who, channel, [n for n in before if n not in history] + history, 0, [], self.name(packet))
        return LogAt(who, channel, names, 0, [])

    def _is_content(self, key: Key) -> bool:
        sent = (self.items[packet.number] for packet in self.packets.get(key, ()))
        return any(item is not None and item.sort is Sort.CONTENT for item in sent)
