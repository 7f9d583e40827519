"""Short names for the messages of a performance, the same wherever it is told or drawn.

A message is called by its label in the schedule; one without a label gets a running name: ``s3`` is the third sync
message, ``e1`` the first ephemeral one, ``c1`` a content message, ``b1`` bytes that are no message, and ``u1`` an ID
that was mentioned and never sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sds_harness.declaration import printable
from sds_harness.schedules import Act, Packet, Performance
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind, Message

from ..judging.quoting import clock, identifier

Key = tuple[str, str]
"""A message: its channel ID and its message ID."""

LONGEST_NAME = 20
"""Characters of a label or of a participant's name that are shown."""
_PREFIX = {Kind.CONTENT: "c", Kind.SYNC: "s", Kind.EPHEMERAL: "e", Kind.UNDEFINED: "b"}
_NEVER = "never-"
"""How the ID begins that a schedule gives a label whose message nobody ever sent."""
_EPOCH = re.compile(r"(?<![\w'.-])1[5-9]\d{11}(?![\w'])")
_LIST = re.compile(r"\[(\w[^\[\]']*)\]")


def short(name: str) -> str:
    """A name that a stranger chose, fit to be shown."""
    return printable(name, LONGEST_NAME)


class Names:
    """What each message of a performance is called."""

    def __init__(self, performance: Performance) -> None:
        self._names: dict[Key, str] = {}
        self._packets: dict[int, str] = {}
        """Names of packets that have none by their message."""
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}
        for label, packet in performance.labels.items():
            if packet.wire.message is not None:
                self._call(_key(packet.wire.message), short(label))
        for packet in performance.packets:
            self._call_packet(packet)
        for key in _mentioned(performance):
            if key not in self._names:
                never = key[1].removeprefix(_NEVER) if key[1].startswith(_NEVER) else ""
                self._call(key, short(never) if never else self._running("u"))

    def name_of(self, channel_id: str, message_id: str) -> str:
        """The name of a message; of one that the performance never speaks of, its ID, quoted."""
        return self._names.get((channel_id, message_id)) or identifier(message_id)

    def of_message(self, message: Message) -> str:
        """The name of a message that was decoded."""
        return self.name_of(message.channel_id, message.message_id)

    def of_packet(self, packet: Packet) -> str:
        """The name of what was broadcast; where the ID is that of another message, both are named."""
        if packet.number in self._packets:
            return self._packets[packet.number]
        message = packet.wire.message
        name = self.of_message(message) if message is not None else "?"
        label = short(packet.label)
        return f"{label} (ID of {name})" if label and not name.startswith(label) else name

    def mentioned(self, text: str, channel_id: str = "") -> list[Key]:
        """The messages whose IDs a text quotes, in the order of the text."""
        found: dict[int, Key] = {}
        for key in self._names:
            at = text.find(repr(key[1])) if key[1] else -1
            if at >= 0 and (at not in found or key[0] == channel_id):
                found[at] = key
        return [found[at] for at in sorted(found)]

    def in_words(self, text: str, channel_id: str = "") -> str:
        """A text with names instead of quoted IDs, and times from the start of virtual time."""
        forms: dict[str, str] = {}
        for (channel, message_id), name in self._names.items():
            for form in (repr(message_id), identifier(message_id)):
                if message_id and form in text and (form not in forms or channel == channel_id):
                    forms[form] = name
        if forms:
            longest_first = sorted(forms, key=len, reverse=True)
            pattern = re.compile("|".join(re.escape(form) for form in longest_first))
            text = pattern.sub(lambda found: forms[found.group()], text)
        text = self._end_in_words(text)
        text = _EPOCH.sub(lambda found: clock(int(found.group())), text)
        text = _LIST.sub(r"\1", text)
        return "nothing" if text == "None" else text.replace("[]", "none")

    def _end_in_words(self, text: str) -> str:
        """Long texts are cut, and that may be in the middle of an ID."""
        start = text.rfind("'")
        cut = text[start:-1]
        if not text.endswith("…") or start < 0 or len(cut) < 10:
            return text
        names = [name for (_, message_id), name in self._names.items() if repr(message_id).startswith(cut)]
        return f"{text[:start]}{names[0]} …" if len(names) == 1 else text

    def _call_packet(self, packet: Packet) -> None:
        message = packet.wire.message
        if message is None or not message.message_id:
            prefix = _PREFIX[message.kind] if message is not None else "b"
            self._packets[packet.number] = self._free(short(packet.label) or self._running(prefix))
        elif _key(message) not in self._names:
            self._call(_key(message), short(packet.label) or self._running(_PREFIX[message.kind]))

    def _call(self, key: Key, name: str) -> None:
        if key not in self._names:
            self._names[key] = self._free(name)

    def _free(self, name: str) -> str:
        """A name that no other message has: labels may be the same once they are shortened."""
        number, free = 1, name
        while free in self._taken:
            number += 1
            free = f"{name}~{number}"
        self._taken.add(free)
        return free

    def _running(self, prefix: str) -> str:
        while True:
            self._counts[prefix] = self._counts.get(prefix, 0) + 1
            name = f"{prefix}{self._counts[prefix]}"
            if name not in self._taken:
                return name


def _key(message: Message) -> Key:
    return message.channel_id, message.message_id


def _mentioned(performance: Performance) -> Iterator[Key]:
    """IDs that messages, signals and states speak of, in order."""
    for packet in performance.packets:
        if packet.wire.message is not None:
            yield from mentions(packet.wire.message)
    for act in performance.acts:
        if act.step.command == "receive" and act.step.received.message is not None:
            yield from mentions(act.step.received.message)
        for event in act.step.events:
            yield from ((event.channel_id, message_id) for message_id in signalled(event))
        if act.step.reply is not None and act.step.answer == "state":
            yield from ((act.step.channel_id, message_id) for message_id in _shown(act))


def mentions(message: Message) -> list[Key]:
    """What a message depends on and asks for."""
    return [(message.channel_id, entry.message_id) for entry in message.causal_history + message.repair_request]


def signalled(event: pb.Event) -> list[str]:
    """The message IDs that a signal is about."""
    match event.WhichOneof("event"):
        case "delivered":
            return [event.delivered.message_id]
        case "acknowledged":
            return [event.acknowledged.message_id]
        case "possibly_acknowledged":
            return [event.possibly_acknowledged.message_id]
        case "missing":
            return [entry.message_id for entry in event.missing.entries]
        case "lost":
            return list(event.lost.message_ids)
        case _:
            return []


def _shown(act: Act) -> Iterable[str]:
    assert act.step.reply is not None
    state = act.step.reply.state
    yield from (entry.message_id for entry in state.log.entries)
    yield from (entry.message_id for entry in state.outgoing.entries)
    yield from state.incoming.message_ids
