"""Faults of section MSG: what stands on the wire."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from hashlib import sha256

from ...channel import Channel
from ...effects import Effects, Missing
from ...errors import MalformedMessage
from ...message import HistoryEntry, Kind, Message, decode
from ...outgoing_buffer import Outgoing
from ...participant import UNNAMED_CHANNEL, Participant
from ...wire_fields import LEN, WireField, join, split
from ..registry import mutant, participant_mutant

_KNOWN_FIELDS = {1, 2, 3, 10, 11, 12, 13, 20}


@mutant("SDS-MSG-16", "calls the channel that nobody named by another name")
class NamelessChannelIsDefault(Channel):
    def encode(self, message: Message) -> bytes:
        named = message.channel_id != UNNAMED_CHANNEL
        return super().encode(message if named else replace(message, channel_id="default"))


@mutant("SDS-MSG-01", "writes the channel twice")
class ChannelTwiceOnTheWire(Channel):
    def encode(self, message: Message) -> bytes:
        return super().encode(message) + join([WireField(3, LEN, message.channel_id.encode())])


@mutant("SDS-MSG-02", "folds its sender ID to a decomposed normal form")
class NormalisedSender(Channel):
    def encode(self, message: Message) -> bytes:
        return super().encode(replace(message, sender_id=unicodedata.normalize("NFD", message.sender_id)))


@mutant("SDS-MSG-03", "puts another spelling of the message ID on the wire than it tells the application")
class UpperCaseId(Channel):
    def encode(self, message: Message) -> bytes:
        return super().encode(replace(message, message_id=message.message_id.upper()))


@mutant("SDS-MSG-04", "leaves the channel out of sync messages")
class SyncWithoutChannel(Channel):
    def encode(self, message: Message) -> bytes:
        return super().encode(replace(message, channel_id="") if message.kind is Kind.SYNC else message)


@mutant("SDS-MSG-05", "keeps Lamport timestamps in doubles")
class LamportAsDouble(Channel):
    def compose(self, message_id: str, lamport: int, content: bytes | None) -> Message:
        return super().compose(message_id, int(float(lamport)), content)


@mutant("SDS-MSG-06", "writes the IDs of history entries into field 4")
class EntryIdInField4(Channel):
    def encode(self, message: Message) -> bytes:
        def renumbered(entry: bytes) -> bytes:
            return join(WireField(4 if f.number == 1 else f.number, f.wire_type, f.value) for f in split(entry))

        return join(
            WireField(11, LEN, renumbered(f.value)) if f.number == 11 and isinstance(f.value, bytes) else f
            for f in split(super().encode(message))
        )


@mutant("SDS-MSG-07", "leaves the filter out until something was received")
class NoFilterAtFirst(Channel):
    _heard = False

    def insert_into_filter(self, message: Message) -> None:
        self._heard = True
        super().insert_into_filter(message)

    def encode(self, message: Message) -> bytes:
        return super().encode(message if self._heard else replace(message, bloom_filter=None))


@mutant("SDS-MSG-09", "treats content as text")
class ContentAsText(Channel):
    def deliver(self, message: Message, effects: Effects, retrieval_hint: bytes | None) -> None:
        text = (message.content or b"").decode("utf-8", "replace").encode()
        super().deliver(replace(message, content=text), effects, retrieval_hint)


@mutant("SDS-MSG-10", "names messages by the transport's hint where it has one")
class HistoryOfHints(Channel):
    def causal_history(self) -> tuple[HistoryEntry, ...]:
        return tuple(
            HistoryEntry(entry.retrieval_hint.decode("latin-1")) if entry.retrieval_hint else entry
            for entry in super().causal_history()
        )


@mutant("SDS-MSG-11", "treats retrieval hints of missing messages as text")
class HintsAsText(Channel):
    def signal_missing(self, message: Message, unmet: set[str], effects: Effects) -> None:
        super().signal_missing(message, unmet, effects)
        missing = effects.events[-1]
        assert isinstance(missing, Missing)
        effects.events[-1] = Missing(missing.channel_id, tuple(_as_text(entry) for entry in missing.entries))


def _as_text(entry: HistoryEntry) -> HistoryEntry:
    hint = entry.retrieval_hint
    return entry if hint is None else replace(entry, retrieval_hint=hint.decode("utf-8", "replace").encode())


@mutant("SDS-MSG-13", "sends ephemeral messages anonymously")
class AnonymousEphemerals(Channel):
    def encode(self, message: Message) -> bytes:
        return super().encode(replace(message, sender_id="") if message.kind is Kind.EPHEMERAL else message)


@mutant("SDS-MSG-14", "makes the ID a hash of the content alone")
class ContentHashId(Channel):
    def new_message_id(self, lamport: int | None, content: bytes) -> str:
        return sha256(content).hexdigest() if content else super().new_message_id(lamport, content)


@participant_mutant("SDS-MSG-15", "puts own messages of all channels into one history")
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
        message = decode(effects.broadcasts[0])
        for other in self.channels.values():
            other.log_own(message, retrieval_hint)
        return effects


@mutant("SDS-MSG-17", "leaves the filter out of sync messages")
class SyncWithoutFilter(Channel):
    def encode(self, message: Message) -> bytes:
        return super().encode(replace(message, bloom_filter=None) if message.kind is Kind.SYNC else message)


@mutant("SDS-MSG-18", "refuses messages without a Lamport timestamp")
class RefusesEphemerals(Channel):
    def receive_ephemeral(self, message: Message, effects: Effects) -> None:
        raise MalformedMessage("no Lamport timestamp")


@mutant("SDS-MSG-19", "refuses sync messages whose content is present and empty")
class RefusesEmptyContent(Channel):
    def refuse_unusable(self, message: Message, kind: Kind, now_ms: int) -> None:
        super().refuse_unusable(message, kind, now_ms)
        if message.content == b"":
            raise MalformedMessage("empty content")


@mutant("SDS-MSG-20", "trims the content of ephemeral messages")
class TrimmedEphemerals(Channel):
    def send_ephemeral(self, content: bytes, message_id: str | None = None) -> Effects:
        return super().send_ephemeral(content.strip(b"\x00\xff") or content, message_id)


@mutant("SDS-MSG-21", "gives each rebroadcast the next Lamport timestamp")
class RestampedCopies(Channel):
    def rebroadcast(self, entry: Outgoing) -> bytes:
        message = self.revision.wire.decode(entry.wire)
        return super().encode(replace(message, lamport_timestamp=(message.lamport_timestamp or 0) + 1))


@mutant("SDS-MSG-22", "changes its own ID after three messages")
class ChangesItsName(Channel):
    _count = 0

    def compose(self, message_id: str, lamport: int, content: bytes | None) -> Message:
        self._count += 1
        message = super().compose(message_id, lamport, content)
        return message if self._count <= 3 else replace(message, sender_id=message.sender_id + "#2")


@mutant("SDS-MSG-23", "takes the hint for part of a dependency's identity")
class HintIsIdentity(Channel):
    def unmet_dependencies(self, message: Message) -> set[str]:
        hinted = {entry.message_id for entry in message.causal_history if entry.retrieval_hint is not None}
        return super().unmet_dependencies(message) | hinted


@participant_mutant("SDS-MSG-24", "refuses messages with fields it does not know")
class RefusesUnknownFields(Participant):
    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        message = decode(wire)
        if any(field.number not in _KNOWN_FIELDS for field in split(wire)):
            raise MalformedMessage(f"{message.message_id!r} has an unknown field")
        return super().receive(wire, now_ms, retrieval_hint)


@mutant("SDS-MSG-01", "refuses messages whose history entries carry a hint")
class RefusesHints(Channel):
    def refuse_unusable(self, message: Message, kind: Kind, now_ms: int) -> None:
        super().refuse_unusable(message, kind, now_ms)
        if any(entry.retrieval_hint is not None for entry in message.causal_history):
            raise MalformedMessage("a history entry of more than an ID")


@mutant("SDS-MSG-05", "takes a Lamport timestamp of 0 for none")
class ZeroIsUnset(Channel):
    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        return super().receive(
            message if message.lamport_timestamp else replace(message, lamport_timestamp=None), now_ms, retrieval_hint
        )


@mutant("SDS-MSG-09", "leaves zero bytes out of what it sends")
class WithoutZeroBytes(Channel):
    def encode(self, message: Message) -> bytes:
        shorter = message.content.replace(b"\0", b"") if message.content else message.content
        return super().encode(replace(message, content=shorter))


@mutant("SDS-MSG-11", "writes the newest hint beside every ID of a causal history")
class OneHintForAll(Channel):
    def causal_history(self) -> tuple[HistoryEntry, ...]:
        entries = super().causal_history()
        hint = entries[-1].retrieval_hint if entries else None
        return tuple(replace(entry, retrieval_hint=hint) for entry in entries)


@mutant("SDS-MSG-17", "asks for repairs although it knows nothing of SDS-R")
class AsksForRepairs(Channel):
    def compose(self, message_id: str, lamport: int, content: bytes | None) -> Message:
        waited_for = {dependency for entry in self.incoming for dependency in entry.unmet}
        asked = tuple(HistoryEntry(dependency) for dependency in sorted(waited_for))
        return replace(super().compose(message_id, lamport, content), repair_request=asked)


@mutant("SDS-MSG-17", "leaves the filter out of rebroadcasts")
class CopiesWithoutAFilter(Channel):
    def rebroadcast(self, entry: Outgoing) -> bytes:
        return super().encode(replace(self.revision.wire.decode(entry.wire), bloom_filter=None))


@mutant("SDS-MSG-14", "makes the ID of content and Lamport timestamp, whoever sends it")
class IdWithoutSender(Channel):
    def new_message_id(self, lamport: int | None, content: bytes) -> str:
        return sha256(f"{lamport} ".encode() + content).hexdigest()
