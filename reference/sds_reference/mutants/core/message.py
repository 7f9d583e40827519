"""Faults in the fields of messages and their encoding (MSG)."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from hashlib import sha256

from ...channel import Channel
from ...effects import Effects, Missing
from ...errors import MalformedMessageError
from ...message import MAX_LAMPORT, HistoryEntry, Kind, Message, decode
from ...outgoing_buffer import OutgoingEntry
from ...participant import UNNAMED_CHANNEL, Participant
from ...wire_fields import FIXED32, FIXED64, LEN, VARINT, WireField, join, split
from ..registry import add_with_dialect, fault, mutant, register_faults

_KNOWN_FIELDS = {1, 2, 3, 10, 11, 12, 13, 20}


def renumber_field(wire: bytes, old: int, new: int) -> bytes:
    """Renumber a field of the message."""
    return join(replace(f, number=new) if f.number == old else f for f in split(wire))


def renumber_inner_field(wire: bytes, outer: int, old: int, new: int) -> bytes:
    """Renumber a field within each occurrence of the field ``outer``."""
    return join(
        replace(f, value=renumber_field(f.value, old, new)) if f.number == outer and isinstance(f.value, bytes) else f
        for f in split(wire)
    )


add_with_dialect(
    "nim-sds", "speaks-nim-sds", "MSG-01", "encodes messages in the layout of nim-sds, and declares that dialect"
)


@register_faults
class _Fields(Channel):
    @fault(Channel.encode, "MSG-16", 'calls the unnamed channel "default" instead of "0"')
    def nameless_channel_is_default(self, message: Message) -> bytes:
        named = message.channel_id != UNNAMED_CHANNEL
        return super().encode(message if named else replace(message, channel_id="default"))

    @fault(Channel.encode, "MSG-01", "encodes the channel twice")
    def channel_twice_on_the_wire(self, message: Message) -> bytes:
        return super().encode(message) + join([WireField(3, LEN, message.channel_id.encode())])

    @fault(Channel.encode, "MSG-02", "normalizes its sender ID to decomposed form")
    def normalised_sender(self, message: Message) -> bytes:
        return super().encode(replace(message, sender_id=unicodedata.normalize("NFD", message.sender_id)))

    @fault(
        Channel.encode, "MSG-03", "sends the message ID in upper case, but returns it to the application in lower case"
    )
    def upper_case_id(self, message: Message) -> bytes:
        return super().encode(replace(message, message_id=message.message_id.upper()))

    @fault(Channel.encode, "MSG-04", "omits the channel in sync messages")
    def sync_without_channel(self, message: Message) -> bytes:
        return super().encode(replace(message, channel_id="") if message.kind is Kind.SYNC else message)

    @fault(Channel.compose, "MSG-05", "stores Lamport timestamps in doubles")
    def lamport_as_double(self, message_id: str, lamport: int, content: bytes | None) -> Message:
        return super().compose(message_id, min(int(float(lamport)), MAX_LAMPORT), content)

    @fault(Channel.encode, "MSG-06", "encodes the IDs of history entries in field 4")
    def entry_id_in_field4(self, message: Message) -> bytes:
        return renumber_inner_field(super().encode(message), 11, 1, 4)


@mutant("MSG-07", "omits the filter until it has received a message")
class NoFilterAtFirst(Channel):
    _heard = False

    def insert_into_filter(self, message: Message) -> None:
        self._heard = True
        super().insert_into_filter(message)

    def encode(self, message: Message) -> bytes:
        return super().encode(message if self._heard else replace(message, bloom_filter=None))


@register_faults
class _ContentAndHints(Channel):
    @fault(Channel.deliver, "MSG-09", "converts content to text and back")
    def content_as_text(self, message: Message, effects: Effects, retrieval_hint: bytes | None) -> None:
        text = (message.content or b"").decode("utf-8", "replace").encode()
        super().deliver(replace(message, content=text), effects, retrieval_hint)

    @fault(Channel.causal_history, "MSG-10", "uses the retrieval hint as message ID in causal histories")
    def history_of_hints(self) -> tuple[HistoryEntry, ...]:
        return tuple(
            HistoryEntry(entry.retrieval_hint.decode("latin-1")) if entry.retrieval_hint else entry
            for entry in super().causal_history()
        )

    @fault(Channel.signal_missing, "MSG-11", "converts retrieval hints of missing messages to text and back")
    def hints_as_text(self, message: Message, unmet: set[str], effects: Effects) -> None:
        super().signal_missing(message, unmet, effects)
        missing = effects.events[-1]
        assert isinstance(missing, Missing)
        effects.events[-1] = Missing(missing.channel_id, tuple(as_text(entry) for entry in missing.entries))

    @fault(
        Channel.signal_missing, "MSG-11", "reports only the first 32 bytes of the retrieval hints of missing messages"
    )
    def hints_cut_to_32_bytes(self, message: Message, unmet: set[str], effects: Effects) -> None:
        super().signal_missing(message, unmet, effects)
        missing = effects.events[-1]
        assert isinstance(missing, Missing)
        effects.events[-1] = Missing(missing.channel_id, tuple(with_short_hint(entry) for entry in missing.entries))


def with_short_hint(entry: HistoryEntry) -> HistoryEntry:
    hint = entry.retrieval_hint
    return entry if hint is None else replace(entry, retrieval_hint=hint[:32])


def as_text(entry: HistoryEntry) -> HistoryEntry:
    hint = entry.retrieval_hint
    return entry if hint is None else replace(entry, retrieval_hint=hint.decode("utf-8", "replace").encode())


@register_faults
class _Identities(Channel):
    @fault(Channel.encode, "MSG-13", "omits the sender ID in ephemeral messages")
    def anonymous_ephemerals(self, message: Message) -> bytes:
        return super().encode(replace(message, sender_id="") if message.kind is Kind.EPHEMERAL else message)

    @fault(Channel.new_message_id, "MSG-14", "uses a hash of only the content as message ID")
    def content_hash_id(self, lamport: int | None, content: bytes) -> str:
        return sha256(content).hexdigest() if content else super().new_message_id(lamport, content)


@mutant("MSG-15", "puts own messages of all channels into each causal history")
class MixedHistories(Participant):
    def send(
        self,
        channel_id: str,
        content: bytes,
        now_ms: int,
        message_id: str | None = None,
        retrieval_hint: bytes | None = None,
    ) -> Effects:
        effects = super().send(channel_id, content, now_ms, message_id, retrieval_hint)
        message = self.config.revision.wire.decode(effects.broadcasts[0])
        for other in self.channels.values():
            other.log_own(message, retrieval_hint)
        return effects


@register_faults
class _Presence(Channel):
    _count = 0

    @fault(Channel.encode, "MSG-17", "omits the filter in sync messages")
    def sync_without_filter(self, message: Message) -> bytes:
        return super().encode(replace(message, bloom_filter=None) if message.kind is Kind.SYNC else message)

    @fault(Channel.receive_ephemeral, "MSG-18", "rejects messages without a Lamport timestamp")
    def refuses_ephemerals(self, message: Message, effects: Effects) -> None:
        raise MalformedMessageError("the message has no Lamport timestamp")

    @fault(Channel.refuse_unusable, "MSG-19", "rejects sync messages whose content is present and empty")
    def refuses_empty_content(self, message: Message, kind: Kind, now_ms: int) -> None:
        super().refuse_unusable(message, kind, now_ms)
        if message.content == b"":
            raise MalformedMessageError("the content is empty")

    @fault(Channel.send_ephemeral, "MSG-20", "trims the content of ephemeral messages")
    def trimmed_ephemerals(self, content: bytes, message_id: str | None = None) -> Effects:
        return super().send_ephemeral(content.strip(b"\x00\xff") or content, message_id)

    @fault(Channel.send, "MSG-20", "accepts empty content and sends it as a sync message")
    def sends_empty_content_as_sync(
        self, content: bytes, now_ms: int, message_id: str | None = None, retrieval_hint: bytes | None = None
    ) -> Effects:
        return super().send(content, now_ms, message_id, retrieval_hint) if content else self.send_sync(now_ms)

    @fault(Channel.rebroadcast, "MSG-21", "gives each rebroadcast the next Lamport timestamp")
    def restamped_copies(self, entry: OutgoingEntry) -> bytes:
        message = self.revision.wire.decode(entry.wire)
        return super().encode(replace(message, lamport_timestamp=(message.lamport_timestamp or 0) + 1))

    @fault(Channel.rebroadcast, "MSG-21", "gives each rebroadcast a new ID")
    def renamed_copies(self, entry: OutgoingEntry) -> bytes:
        message = self.revision.wire.decode(entry.wire)
        return super().encode(replace(message, message_id=self.new_message_id(message.lamport_timestamp, b"copy")))

    @fault(Channel.rebroadcast, "MSG-21", "rebroadcasts only the first hundred bytes of a content")
    def cut_copies(self, entry: OutgoingEntry) -> bytes:
        message = self.revision.wire.decode(entry.wire)
        return super().encode(replace(message, content=(message.content or b"")[:100]))

    @fault(Channel.rebroadcast, "MSG-21", "converts the contents of rebroadcasts to text and back")
    def copies_as_text(self, entry: OutgoingEntry) -> bytes:
        message = self.revision.wire.decode(entry.wire)
        return super().encode(replace(message, content=(message.content or b"").decode(errors="replace").encode()))

    @fault(Channel.rebroadcast, "MSG-21", "names at most two messages in the causal history of a rebroadcast")
    def copies_with_short_histories(self, entry: OutgoingEntry) -> bytes:
        message = self.revision.wire.decode(entry.wire)
        return super().encode(replace(message, causal_history=message.causal_history[:2]))

    @fault(Channel.rebroadcast, "MSG-21", "converts the timestamps of rebroadcasts to floating point and back")
    def copies_with_rounded_timestamps(self, entry: OutgoingEntry) -> bytes:
        message = self.revision.wire.decode(entry.wire)
        return super().encode(replace(message, lamport_timestamp=int(float(message.lamport_timestamp or 0))))

    @fault(Channel.rebroadcast, "MSG-21", "gives all rebroadcasts of a message one new ID and the next timestamp")
    def numbered_copies(self, entry: OutgoingEntry) -> bytes:
        message = self.revision.wire.decode(entry.wire)
        lamport = (message.lamport_timestamp or 0) + 1
        return super().encode(replace(message, message_id=f"{entry.message_id}-2", lamport_timestamp=lamport))

    @fault(Channel.compose, "MSG-22", "changes its sender ID after three messages")
    def changes_its_participant_id(self, message_id: str, lamport: int, content: bytes | None) -> Message:
        self._count += 1
        message = super().compose(message_id, lamport, content)
        return message if self._count <= 3 else replace(message, sender_id=message.sender_id + "#2")

    @fault(Channel.unmet_dependencies, "MSG-23", "treats dependencies with a retrieval hint as unmet")
    def compares_dependencies_with_hints(self, message: Message) -> set[str]:
        hinted = {entry.message_id for entry in message.causal_history if entry.retrieval_hint is not None}
        return super().unmet_dependencies(message) | hinted


@mutant("MSG-24", "rejects messages with unknown fields")
class RefusesUnknownFields(Participant):
    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        message = decode(wire)
        if any(field.number not in _KNOWN_FIELDS for field in split(wire)):
            raise MalformedMessageError(f"{message.message_id!r} has an unknown field")
        return super().receive(wire, now_ms, retrieval_hint)


@register_faults
class _FurtherFields(Channel):
    @fault(Channel.refuse_unusable, "MSG-01", "rejects messages whose history entries carry a retrieval hint")
    def refuses_hints(self, message: Message, kind: Kind, now_ms: int) -> None:
        super().refuse_unusable(message, kind, now_ms)
        if any(entry.retrieval_hint is not None for entry in message.causal_history):
            raise MalformedMessageError("a history entry has a retrieval hint")

    @fault(Channel.receive, "MSG-05", "treats a Lamport timestamp of 0 as unset")
    def zero_is_unset(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        return super().receive(
            message if message.lamport_timestamp else replace(message, lamport_timestamp=None), now_ms, retrieval_hint
        )

    @fault(Channel.encode, "MSG-09", "drops zero bytes from the content that it sends")
    def without_zero_bytes(self, message: Message) -> bytes:
        shorter = message.content.replace(b"\0", b"") if message.content else message.content
        return super().encode(replace(message, content=shorter))

    @fault(Channel.causal_history, "MSG-11", "gives every entry of a causal history the newest retrieval hint")
    def one_hint_for_all(self) -> tuple[HistoryEntry, ...]:
        entries = super().causal_history()
        hint = entries[-1].retrieval_hint if entries else None
        return tuple(replace(entry, retrieval_hint=hint) for entry in entries)

    @fault(Channel.compose, "MSG-17", "sends repair requests although it does not support SDS-R")
    def asks_for_repairs(self, message_id: str, lamport: int, content: bytes | None) -> Message:
        waited_for = {dependency for entry in self.incoming for dependency in entry.unmet}
        asked = tuple(HistoryEntry(dependency) for dependency in sorted(waited_for))
        return replace(super().compose(message_id, lamport, content), repair_request=asked)

    @fault(Channel.rebroadcast, "MSG-17", "omits the filter in rebroadcasts")
    def copies_without_a_filter(self, entry: OutgoingEntry) -> bytes:
        return super().encode(replace(self.revision.wire.decode(entry.wire), bloom_filter=None))

    @fault(
        Channel.new_message_id,
        "MSG-14",
        "computes the message ID from content and Lamport timestamp, but not the sender",
    )
    def id_without_sender(self, lamport: int | None, content: bytes) -> str:
        return sha256(f"{lamport} ".encode() + content).hexdigest()

    @fault(Channel.new_message_id, "MSG-14", "hashes channel, content and timestamp for the ID without their lengths")
    def id_joins_channel_and_content(self, lamport: int | None, content: bytes) -> str:
        if lamport is None:
            return super().new_message_id(lamport, content)
        channel = self.channel_id.encode()
        return sha256(self.participant_id.encode() + b"\0" + channel + content + f" {lamport}".encode()).hexdigest()

    @fault(Channel.new_message_id, "MSG-14", "joins sender, channel and timestamp with colons to a message ID")
    def id_joins_sender_and_channel(self, lamport: int | None, content: bytes) -> str:
        if lamport is None:
            return super().new_message_id(lamport, content)
        return f"{self.participant_id}:{self.channel_id}:{lamport}"


@register_faults
class _Damaged(Channel):
    """Sends some messages with missing, wrong or truncated fields."""

    @fault(Channel.encode, "MSG-01", "ends ephemeral messages with a newline")
    def ephemerals_end_in_a_newline(self, message: Message) -> bytes:
        return super().encode(message) + b"\n" * (message.kind is Kind.EPHEMERAL)

    @fault(Channel.encode, "MSG-01", "encodes the IDs of ephemeral messages in UTF-16")
    def ids_of_ephemerals_in_utf16(self, message: Message) -> bytes:
        if message.kind is not Kind.EPHEMERAL:
            return super().encode(message)
        fields = split(super().encode(message))
        wide = message.message_id.encode("utf-16")
        return join(replace(field, value=wide) if field.number == 2 else field for field in fields)

    @fault(Channel.encode, "MSG-01", "encodes its version in a field that the specification does not have")
    def writes_its_version(self, message: Message) -> bytes:
        return super().encode(message) + join([WireField(99, VARINT, 1)])

    @fault(Channel.encode, "MSG-02", "omits its sender ID in content messages")
    def anonymous_content(self, message: Message) -> bytes:
        return super().encode(replace(message, sender_id="") if message.kind is Kind.CONTENT else message)

    @fault(
        Channel.encode,
        "MSG-03",
        "omits the message ID in messages with more than a thousand bytes of content",
        out_of_reach="generated contents are shorter",
    )
    def long_content_without_an_id(self, message: Message) -> bytes:
        return super().encode(replace(message, message_id="") if len(message.content or b"") > 1_000 else message)

    @fault(Channel.encode, "MSG-05", "encodes only the low 32 bits of the Lamport timestamp of sync messages")
    def lamport_of_syncs_in_32_bits(self, message: Message) -> bytes:
        lamport = (message.lamport_timestamp or 0) & 0xFFFFFFFF
        return super().encode(replace(message, lamport_timestamp=lamport) if message.kind is Kind.SYNC else message)

    @fault(Channel.encode, "MSG-07", "sends an empty filter field in sync messages")
    def syncs_with_an_empty_filter(self, message: Message) -> bytes:
        return super().encode(replace(message, bloom_filter=b"") if message.kind is Kind.SYNC else message)

    @fault(Channel.encode, "MSG-09", "omits content that starts with a zero byte")
    def drops_content_from_zero_on(self, message: Message) -> bytes:
        return super().encode(replace(message, content=None) if (message.content or b"").startswith(b"\0") else message)

    @fault(Channel.new_message_id, "MSG-14", "gives ephemeral messages an empty ID")
    def ephemerals_without_an_id(self, lamport: int | None, content: bytes) -> str:
        return "" if lamport is None else super().new_message_id(lamport, content)

    @fault(Channel.rebroadcast, "MSG-21", "omits the sender ID in rebroadcasts")
    def anonymous_copies(self, entry: OutgoingEntry) -> bytes:
        return super().encode(replace(self.revision.wire.decode(entry.wire), sender_id=""))


@mutant("MSG-24", "rejects messages whose history entries have unknown fields")
class RefusesUnknownFieldsOfEntries(Participant):
    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        decode(wire)
        entries = [bytes(field.value) for field in split(wire) if field.number == 11 and isinstance(field.value, bytes)]
        if any(inner.number > 3 for entry in entries for inner in split(entry)):
            raise MalformedMessageError("an entry has an unknown field")
        return super().receive(wire, now_ms, retrieval_hint)


@mutant("MSG-24", "drops messages with unknown fields of four or eight bytes")
class DropsUnknownFixedFields(Participant):
    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        unknown = any(field.wire_type in (FIXED32, FIXED64) for field in split(wire))
        return Effects() if unknown else super().receive(wire, now_ms, retrieval_hint)


@mutant("MSG-24", "drops messages with unknown fields")
class DropsUnknownFields(Participant):
    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        decode(wire)
        unknown = any(field.number not in _KNOWN_FIELDS for field in split(wire))
        return Effects() if unknown else super().receive(wire, now_ms, retrieval_hint)
