"""Short names for the messages of a group trace. Stories and diagrams use the same names.

The name of a message is its label in the schedule. A message without a label gets a numbered name: ``s3`` is the third
sync message, ``e1`` the first ephemeral message, ``c1`` a content message, ``b1`` bytes that are not a message, and
``u1`` an ID that was mentioned but never sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sds_harness.schedules import GroupTrace, Packet
from sds_harness.schedules.group_trace import NEVER

from ..judging.formats import identifier, make_times_relative, short
from ..protocols import default, repertoire_of
from ..protocols.group_trace_reader import Key, Reading, Sort

_PREFIX = {Sort.CONTENT: "c", Sort.SYNC: "s", Sort.EPHEMERAL: "e", Sort.NOISE: "b"}
_LIST = re.compile(r"\[(\w[^\[\]']*)\]")


def reading_of(group_trace: GroupTrace) -> Reading:
    """Return the object that reads the steps of a group trace. It depends on the revision, which all implementations
    share.
    """
    revision = group_trace.traces[0].revision.name if group_trace.traces else default().rules.current
    return repertoire_of(revision).reading


class MessageNames:
    """Names of the messages of a group trace."""

    def __init__(self, group_trace: GroupTrace, *, by_id: bool = False) -> None:
        """With ``by_id``, messages are named by their ID, as in stories of scenarios."""
        self._reading = reading_of(group_trace)
        self._by_id = by_id
        self._names: dict[Key, str] = {}
        self._packets: dict[int, str] = {}
        """Names of packets that are not a message, or whose message has no ID; by packet number."""
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}
        for label, packet in group_trace.labels.items():
            if (item := self._reading.item(packet.wire)) is not None:
                self._call(item.key, short(label))
        for packet in group_trace.packets:
            self._call_packet(packet)
        for key in self._mentioned_keys(group_trace):
            if key not in self._names:
                never = key[1].removeprefix(NEVER) if key[1].startswith(NEVER) else ""
                self._call(key, short(never) if never else self._next_name("u"))

    def name_of(self, key: Key) -> str:
        """Return the name of a message; its quoted ID if the group trace never mentions it."""
        return self._names.get(key) or identifier(key[1])

    def name_packet(self, packet: Packet) -> str:
        """Return the name of a packet. If another message has the same ID, return both names."""
        if packet.number in self._packets:
            return self._packets[packet.number]
        item = self._reading.item(packet.wire)
        name = self.name_of(item.key) if item is not None else "?"
        label = short(packet.label)
        return f"{label} (ID of {name})" if label and not self._by_id and not name.startswith(label) else name

    def find_quoted(self, text: str, channel_id: str = "") -> list[Key]:
        """Return the messages whose IDs a text quotes, in the order of the text."""
        found: dict[int, Key] = {}
        for key in self._names:
            at = text.find(repr(key[1])) if key[1] else -1
            if at >= 0 and (at not in found or key[0] == channel_id):
                found[at] = key
        return [found[at] for at in sorted(found)]

    def replace_ids(self, text: str, channel_id: str = "") -> str:
        """Replace quoted IDs by names, and make times relative to the start of virtual time."""
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
        text = _LIST.sub(r"\1", make_times_relative(text))
        return "nothing" if text == "None" else text.replace("[]", "none")

    def _end_in_words(self, text: str) -> str:
        """Replace an ID that was cut off at the end of a shortened text by a name, if only one ID fits."""
        start = text.rfind("'")
        cut = text[start:-1]
        if not text.endswith("…") or start < 0 or len(cut) < 10:
            return text
        names = [name for (_, message_id), name in self._names.items() if repr(message_id).startswith(cut)]
        return f"{text[:start]}{names[0]} …" if len(names) == 1 else text

    def _call_packet(self, packet: Packet) -> None:
        item = self._reading.item(packet.wire)
        prefix = _PREFIX[item.sort if item is not None else Sort.NOISE]
        if item is None or not item.key[1]:
            self._packets[packet.number] = self._free(short(packet.label) or self._next_name(prefix))
        elif item.key not in self._names:
            self._call(item.key, short(packet.label) or self._next_name(prefix))

    def _call(self, key: Key, name: str) -> None:
        if key not in self._names:
            self._names[key] = self._free(identifier(key[1])[1:-1] if self._by_id and key[1] else name)

    def _free(self, name: str) -> str:
        """Return a unique variant of a name, because shortened labels may be equal."""
        number, free = 1, name
        while free in self._taken:
            number += 1
            free = f"{name}~{number}"
        self._taken.add(free)
        return free

    def _next_name(self, prefix: str) -> str:
        while True:
            self._counts[prefix] = self._counts.get(prefix, 0) + 1
            name = f"{prefix}{self._counts[prefix]}"
            if name not in self._taken:
                return name

    def _mentioned_keys(self, group_trace: GroupTrace) -> Iterator[Key]:
        """Return the messages that packets, signals and states mention, in order."""
        reading = self._reading
        for packet in group_trace.packets:
            if (item := reading.item(packet.wire)) is not None:
                yield from item.causes + item.asks
        for act in group_trace.acts:
            if (item := reading.arrived(act.step)) is not None:
                yield from item.causes + item.asks
            for signal in reading.signals(act.step):
                yield from signal.keys
            if (state := reading.shown_state(act.step)) is not None:
                yield from (state.log or ()) + state.buffers
