"""Reads group traces of ClearSkies for stories and diagrams."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

from clearskies_reference.vector_clock import is_id
from sds_harness.clearskies import operations as ops
from sds_harness.clearskies.clubs import Club
from sds_harness.clearskies.frames import GET_UPDATES
from sds_harness.clearskies.group_trace import GroupTrace, Packet, Wire
from sds_harness.clearskies.trace import Step
from sds_harness.declaration import printable
from sds_harness.schedules import Operation
from sds_harness.schedules.group_trace import NEVER
from sds_harness.trace import Party

from ...judging.formats import format_count, hex_of, identifier, json_of, short
from ..group_trace_reader import DELIVERED, Item, Key, Reading, ShownState, Signal, Sort, Teller
from .view.facts import ID_DIGITS, reads_as_update

LONGEST_VALUE = 40


def _read_message(wire: Wire, more: int) -> Item | None:
    message = wire.messages[0]
    members = message.body.members
    if message.body.error or not members:
        return None
    rest = f", and {more} more" if more else ""
    if message.type == GET_UPDATES:
        since = members.get("since")
        known = f"names revisions of {len(since)} peers" if isinstance(since, dict) and since else "knows nothing"
        return Item(("", ""), Sort.SYNC, "request", "", says=f"{known}{rest}")
    if not reads_as_update(message):
        return Item(
            ("", ""), Sort.NOISE, printable(message.type, 40) or "message without a type", "", says=rest or None
        )
    deletion = members.get("deleted") is True
    key = members.get("key")
    value = "" if deletion else f" = {printable(json_of(members.get('value'), LONGEST_VALUE + 1), LONGEST_VALUE)}"
    clock = members.get("vector_clock")
    numbers = list(clock.values())[:6] if isinstance(clock, dict) else []
    signed = "signed " if message.signature is not None else ""
    return Item(
        ("", _version_name(members.get("last_updated_by"), members.get("last_updated_rev"))),
        Sort.CONTENT,
        f"{signed}{'deletion' if deletion else 'update'}",
        _name_of_writer(members.get("last_updated_by"), wire.club),
        ", ".join(printable(str(number), 24) for number in numbers),
        says=f"{printable(str(key), 40)}{value}{rest}",
    )


def _version_name(by: Any, rev: Any) -> str:
    return f"{printable(str(by), 40)}/{printable(str(rev), 24)}"


def _name_of_writer(by: Any, club: Club) -> str:
    if not is_id(by):
        return "nobody"
    name = club.name_of(by)
    return name if name != by else f"{by[:ID_DIGITS]}…"


def _find_written_key(group_trace: GroupTrace, label: str) -> str:
    """The key of the record that the operation with a label writes; "" if there is none.

    ``LABEL.NUMBER`` is a further record of the write with that LABEL. Environments may put a prefix before the key in
    the messages.
    """
    head, _, number = label.rpartition(".")
    for operation in group_trace.schedule.operations:
        match operation:
            case ops.Rename(label=written, new_key=key) if written == label:
                return key
            case ops.Put(label=written, key=key) | ops.Delete(label=written, key=key) if written == label:
                return key
            case ops.Put(label=written, key=key) if written == head and number.isdigit():
                return f"{key}.{number}"
    return ""


def _participants_text(op: ops.Hold | ops.Release) -> str:
    match [short(name) for name in (op.who, op.to) if name]:
        case [one, other]:
            return f"between {one} and {other}"
        case [one]:
            return f"to and from {one}"
        case _:
            return "on all links"


def _messages_text(op: ops.Send) -> str:
    labels = []
    for one in op.messages:
        whole = not isinstance(one, ops.MessageCopy) or (one.begin, one.end) == (0, None)
        altered = ", altered" if isinstance(one, ops.MessageCopy) and one.altered else ""
        label = short(one if isinstance(one, str) else one.label)
        labels.append(f"{label if whole else f'a part of {label}'}{altered}")
    return ", ".join(labels) + (" in one piece" if op.joined else "")


class ClearSkiesReading(Reading):
    """Reads group traces of ClearSkies for stories and diagrams."""

    does = MappingProxyType(
        {
            "put": "writes a record",
            "rename": "renames a record",
            "delete": "deletes a record",
            "connect": "gets a link",
            "disconnect": "loses a link",
            "close": "ends",
        }
    )
    signalled = MappingProxyType(
        {DELIVERED: ("deliver", "takes {}"), "conflict": ("miss", "{}"), "link_closed": ("bad", "closes {}")}
    )
    legend = MappingProxyType(
        {
            "content": "update",
            "copy": "update that is repeated",
            "sync": "update request",
            "noise": "a message of an unknown type",
        }
    )
    unread = "no message"
    copies = ("repeats", "repeats")
    time = "clock"
    history = "history"
    to_each = True

    def item(self, wire: Wire) -> Item | None:
        """The first complete message in the bytes of one write; there is rarely more than one."""
        return _read_message(wire, len(wire.messages) - 1) if wire.messages else None

    def labelled(self, group_trace: GroupTrace, label: str) -> Key | None:
        """The version that the change with a label made; None if it is unknown.

        The bytes of one write to a link may contain several updates, so the update is found by the key of the record.
        """
        packet = group_trace.labels.get(label)
        if packet is None:
            return None
        record = _find_written_key(group_trace, label)
        updates = [message for message in packet.wire.messages if reads_as_update(message)]
        own = [m for m in updates if str(m.body.members.get("key", "")).endswith(record)] if record else []
        for message in own or updates:
            members = message.body.members
            return "", _version_name(members.get("last_updated_by"), members.get("last_updated_rev"))
        return None

    def wires(self, step: Step) -> list[Wire]:
        """The bytes that a step moves over links."""
        if step.command == "receive":
            return [Wire(step.link, step.request.receive.data)]
        return [Wire(number, data) for number, data in step.sent]

    def arrived(self, step: Step) -> Item | None:
        """None: the item is known from the step that sent it."""
        return None

    def signals(self, step: Step) -> list[Signal]:
        """The changes, conflicts and closed links that a step signals."""
        out = []
        for event in step.events:
            match event.kind:
                case "changed":
                    key: Key = ("", _version_name(event.record.last_updated_by, event.record.last_updated_rev))
                    out.append(Signal(DELIVERED, (key,)))
                case "conflict":
                    other = "" if event.uuid == event.incoming_uuid else " over a key"
                    out.append(Signal("conflict", (("", f"{NEVER}conflict{other}"),)))
                case "link_closed":
                    reason = printable(event.reason, 60)
                    out.append(Signal("link_closed", (("", f"{NEVER}link {event.link}: {reason}"),)))
        return out

    def shown_state(self, step: Step) -> ShownState | None:
        """The versions that a peer shows, by key."""
        if step.state is None:
            return None
        records = sorted(step.state.records, key=lambda record: (record.deleted, record.key))
        return ShownState(tuple(("", _version_name(r.last_updated_by, r.last_updated_rev)) for r in records))

    def done(self, operation: Operation, packets: Sequence[Packet], teller: Teller) -> str:
        """Describe the action of a participant."""
        named = f" ({teller.name(packets[0])})" if packets else ""
        match op := operation:
            case ops.Put():
                more = f" and {op.times - 1} more records" if op.times > 1 else ""
                value = f" = {printable(op.text, LONGEST_VALUE)}" if op.text else ""
                return f"{short(op.who)} writes {identifier(op.key)}{value}{named}{more}"
            case ops.Rename():
                return f"{short(op.who)} renames {identifier(op.key)} to {identifier(op.new_key)}{named}"
            case ops.Delete():
                return f"{short(op.who)} deletes {identifier(op.key)}{named}"
            case ops.Close():
                return f"{short(op.who)} ends"
            case ops.Reopen(killed=True):
                return f"{short(op.who)} is killed and opened again"
            case ops.Reopen():
                return f"{short(op.who)} is opened again" + (", without its store" if op.forget else "")
            case ops.LinkPeers():
                held = ", and nothing arrives yet" if op.held else ""
                return f"{short(op.who)} and {short(op.to)} are linked{held}"
            case ops.Say():
                message = teller.describe_message(packets[0]) if packets else short(op.label)
                return f"{short(op.peer)}, a scripted peer, sends {short(op.to)} {message}"
            case ops.Write():
                return f"{short(op.peer)}, a scripted peer, writes {short(op.label)}"
            case ops.Connect():
                return f"{short(op.peer)}, a scripted peer, links to {short(op.to)}"
            case ops.Send():
                return f"{short(op.peer)}, a scripted peer, sends {short(op.to)} {_messages_text(op)}"
            case ops.CompareClocks():
                return f"{short(op.who)} compares two vector clocks"
            case ops.Again():
                flipped = ", with a bit flipped" if op.flipped else ""
                return f"{short(op.peer)}, a scripted peer, sends {short(op.to)} a copy of {short(op.label)}{flipped}"
            case ops.Ask():
                return f"{short(op.peer)}, a scripted peer, asks {short(op.to)} for updates"
            case ops.Garble():
                raw = bytes.fromhex(op.wire)
                size = format_count(len(raw), "byte")
                return f"{short(op.peer)}, a scripted peer, writes {size} to {short(op.to)}: {hex_of(raw)}"
            case ops.Leave():
                return f"{short(op.peer)}, a scripted peer, closes its link to {short(op.to)}"
            case _:
                return ""

    def note(self, operation: Operation) -> str:
        """Describe an operation on links, or on all participants."""
        match op := operation:
            case ops.Unlink():
                return f"the link between {short(op.who)} and {short(op.to)} breaks"
            case ops.Hold():
                return f"messages {_participants_text(op)} are held back"
            case ops.Release():
                size = f"{op.size:,} bytes of what {short(op.who)} has sent arrive" if op.size else ""
                if op.one_way and op.who and not size:
                    return f"all bytes that {short(op.who)} has sent to {short(op.to) or 'others'} so far arrive"
                return size or f"messages in transit {_participants_text(op)} arrive"
            case ops.Read():
                return f"a new scripted peer asks {short(op.who) or 'everybody'} for everything"
            case ops.Settle():
                return "time passes until no peer sends anything more"
            case ops.Calm():
                return f"calm: messages in transit arrive, and all participants tick every {op.period_ms / 1000:,g} s"
            case _:
                return ""

    def answers(self, party: Party) -> bool:
        """False: the protocol has no requests for a single message."""
        return False


READING = ClearSkiesReading()
