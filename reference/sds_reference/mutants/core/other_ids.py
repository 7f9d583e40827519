"""Faults that take an unusual ID, history entry or content for another one."""

from __future__ import annotations

from dataclasses import replace

from ...channel import Channel
from ...effects import Effects
from ...message import Kind, Message
from ..registry import fault, mutant, register_faults
from .twin_ids import KEYS, AcknowledgesTwins, ComparesDependencies, KeepsWhatWaits, LooksForTwins, TellsCopies, keyed

_BUILT_IN = ("constructor", "__proto__", "toString", "hasOwnProperty")
"""Properties that every JavaScript object has."""
_MARK = "\ufeff"

KEYS.update(
    lower=("in lower case", str.lower),
    start=("cut after 12 characters", lambda text: text[:12]),
    trimmed=("without surrounding whitespace", str.strip),
    marked=("without a leading byte order mark", lambda text: text.removeprefix(_MARK)),
    printed=("without invisible characters", lambda text: "".join(filter(str.isprintable, text))),
    numeric=("without leading zeros if they are numbers", lambda text: text.lstrip("0") if text.isdecimal() else text),
    wide=("without characters beyond U+FFFF", lambda text: "".join(c for c in text if c < "\U00010000")),
)

keyed("RECV-05", "compares IDs of dependencies {}", "marked", "printed", "wide")(ComparesDependencies)
keyed("RECV-07", "detects duplicates by IDs {}", "trimmed", "marked", "numeric", "wide")(TellsCopies)
keyed("RECV-08", "stores waiting messages by IDs {}", "start", "trimmed", "marked", "wide")(KeepsWhatWaits)
keyed("STATE-12", "acknowledges messages with the same ID {}", "start", "trimmed", "marked", "wide")(AcknowledgesTwins)
keyed("STATE-12", "looks up its messages in filters by IDs {}", "lower", "start", "trimmed", "marked", "wide")(
    LooksForTwins
)


@register_faults
class _BuiltIn(Channel):
    @fault(
        Channel.unmet_dependencies,
        "RECV-05",
        "treats dependencies as met if their IDs are names of properties of all JavaScript objects",
    )
    def treats_built_in_names_as_met(self, message: Message) -> set[str]:
        return super().unmet_dependencies(message) - set(_BUILT_IN)

    @fault(
        Channel.is_duplicate,
        "RECV-07",
        "treats messages as duplicates if their IDs are names of properties of all JavaScript objects",
    )
    def treats_built_in_names_as_copies(self, message: Message) -> bool:
        return message.message_id in _BUILT_IN or super().is_duplicate(message)

    @fault(
        Channel.is_duplicate,
        "RECV-07",
        "treats messages as duplicates if their sender IDs are names of properties of all JavaScript objects",
    )
    def treats_built_in_senders_as_known(self, message: Message) -> bool:
        return message.sender_id in _BUILT_IN or super().is_duplicate(message)

    @fault(
        Channel.is_duplicate,
        "RECV-07",
        "treats messages as duplicates if their channel names are names of properties of all JavaScript objects",
    )
    def treats_built_in_channels_as_known(self, message: Message) -> bool:
        return message.channel_id in _BUILT_IN or super().is_duplicate(message)

    @fault(
        Channel.acknowledge,
        "ACK-01",
        "does not acknowledge messages whose IDs are names of properties of all JavaScript objects",
    )
    def does_not_acknowledge_built_in_names(self, message_id: str, effects: Effects) -> None:
        if message_id not in _BUILT_IN:
            super().acknowledge(message_id, effects)


@register_faults
class _Entries(Channel):
    @fault(
        Channel.unmet_dependencies,
        "RECV-05",
        "ignores the dependencies after the first repeated entry of a causal history",
    )
    def stops_at_repeated_entries(self, message: Message) -> set[str]:
        seen: list[str] = []
        for entry in message.causal_history:
            if entry.message_id in seen:
                break
            seen.append(entry.message_id)
        return {i for i in seen if i not in self.log}

    @fault(
        Channel.unmet_dependencies,
        "RECV-05",
        "treats dependencies as met if their entry names the participant itself as the sender",
    )
    def own_entries_are_met(self, message: Message) -> set[str]:
        own = {e.message_id for e in message.causal_history if e.sender_id == self.participant_id}
        return super().unmet_dependencies(message) - own

    @fault(
        Channel.review_causal_history,
        "ACK-01",
        "ignores acknowledgements after the first repeated or empty entry of a causal history",
    )
    def acknowledges_up_to_repeated_or_empty(self, message: Message, effects: Effects) -> None:
        seen: set[str] = set()
        for entry in message.causal_history:
            if not entry.message_id or entry.message_id in seen:
                return
            seen.add(entry.message_id)
            self.acknowledge(entry.message_id, effects)

    @fault(
        Channel.review_causal_history,
        "ACK-01",
        "does not accept entries of a causal history that name another sender as acknowledgements",
    )
    def entries_with_other_sender_do_not_acknowledge(self, message: Message, effects: Effects) -> None:
        for entry in message.causal_history:
            if entry.sender_id in (None, "", self.participant_id):
                self.acknowledge(entry.message_id, effects)


@register_faults
class _Contents(Channel):
    _said: dict[str, bytes]

    def contents_by_id(self) -> dict[str, bytes]:
        self.__dict__.setdefault("_said", {})
        return self._said

    @fault(Channel.receive, "MSG-09", "drops a byte order mark at the beginning of received content")
    def drops_received_byte_order_mark(
        self, message: Message, now_ms: int, retrieval_hint: bytes | None = None
    ) -> Effects:
        content = message.content
        if content is not None and len(content) > 3:
            message = replace(message, content=content.removeprefix(b"\xef\xbb\xbf"))
        return super().receive(message, now_ms, retrieval_hint)

    @fault(Channel.encode, "MSG-20", "drops a byte order mark at the beginning of sent content")
    def drops_sent_byte_order_mark(self, message: Message) -> bytes:
        content = message.content
        if content is not None and len(content) > 3:
            message = replace(message, content=content.removeprefix(b"\xef\xbb\xbf"))
        return super().encode(message)

    @fault(Channel.receive, "RECV-07", "treats content of one zero byte as no content")
    def treats_zero_byte_as_empty(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if message.content == b"\0":
            message = replace(message, content=None)
        return super().receive(message, now_ms, retrieval_hint)


@mutant("STATE-08", "stores its sent messages by content, so that it keeps only the last of those with equal content")
class KeepsOutgoingByContent(Channel):
    def remember_outgoing(self, message: Message, wire: bytes, now_ms: int) -> None:
        super().remember_outgoing(message, wire, now_ms)
        for entry in list(self.outgoing):
            other = self.revision.wire.decode(entry.wire)
            if other.content == message.content and other.message_id != message.message_id:
                self.outgoing.acknowledge(entry.message_id)


# ---- Sync messages ---------------------------------------------------------------------------------------------------


@register_faults
class _Syncs(Channel):
    @fault(Channel.receive, "SYNC-12", "ignores a sync message that has the ID of a logged message")
    def ignores_known_syncs(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if message.kind is Kind.SYNC and message.message_id in self.log:
            return Effects()
        return super().receive(message, now_ms, retrieval_hint)

    @fault(Channel.receive, "SYNC-12", "ignores a sync message that has the ID of a waiting message")
    def ignores_waiting_syncs(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if message.kind is Kind.SYNC and message.message_id in self.incoming:
            return Effects()
        return super().receive(message, now_ms, retrieval_hint)

    @fault(Channel.receive, "SYNC-12", "ignores a sync message that has the ID of an earlier sync message")
    def ignores_repeated_syncs(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if message.kind is Kind.SYNC:
            came: set[str] = self.__dict__.setdefault("_came", set())
            if message.message_id in came:
                return Effects()
            came.add(message.message_id)
        return super().receive(message, now_ms, retrieval_hint)
