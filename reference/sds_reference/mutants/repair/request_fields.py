"""Faults of SDS-R: the fields of messages, the computation of T_req, and empty retrieval hints."""

from __future__ import annotations

from dataclasses import replace

from ...channel import Channel
from ...config import RepairConfig
from ...effects import Effects
from ...errors import MalformedMessageError
from ...message import HistoryEntry, Kind, Message, encode
from ...repair import Repair
from ...wire_fields import LEN, VARINT, WireField, join, split
from ..core.message import as_text, renumber_inner_field, with_short_hint
from ..registry import add_configured, fault, mutant, register_faults, unseen_too

# ---- Fields ----------------------------------------------------------------------------------------------------------


def _number_of(text: str | bytes | int) -> int:
    return int.from_bytes(str(text).encode()[:8])


@register_faults
class _Entries(Channel):
    @fault(Channel.encode, "MSG-08", "encodes the requested IDs in the second field of each entry")
    def requested_ids_in_field_two(self, message: Message) -> bytes:
        return renumber_inner_field(encode(message), 13, 1, 2)

    @fault(Channel.encode, "MSG-08", "encodes all requested IDs in one entry")
    def requests_in_one_entry(self, message: Message) -> bytes:
        fields = split(encode(message))
        requests = [f.value for f in fields if f.number == 13 and isinstance(f.value, bytes)]
        others = [f for f in fields if f.number != 13]
        return join([*others, WireField(13, LEN, b"".join(requests))] if requests else others)

    @fault(Channel.encode, "MSG-08", "encodes the first eight bytes of requested IDs as numbers in field 13")
    def requests_ids_as_numbers(self, message: Message) -> bytes:
        asked = [WireField(13, VARINT, _number_of(entry.message_id)) for entry in message.repair_request]
        return encode(replace(message, repair_request=())) + join(asked)

    @fault(Channel.encode, "MSG-12", "encodes the senders of history entries as numbers")
    def senders_as_numbers(self, message: Message) -> bytes:
        def numbered(entry: bytes) -> bytes:
            return join(
                replace(f, wire_type=VARINT, value=_number_of(f.value)) if f.number == 3 else f for f in split(entry)
            )

        return join(
            replace(f, value=numbered(f.value)) if f.number == 11 and isinstance(f.value, bytes) else f
            for f in split(encode(message))
        )

    @fault(Channel.causal_history, "MSG-12", "omits the sender in entries of the causal history")
    def no_senders_in_history(self) -> tuple[HistoryEntry, ...]:
        return tuple(replace(entry, sender_id=None) for entry in super().causal_history())

    @fault(Channel.causal_history, "R-FIELDS-01", "cuts the senders in entries at 64 characters")
    def cuts_senders_in_history(self) -> tuple[HistoryEntry, ...]:
        return tuple(replace(e, sender_id=e.sender_id and e.sender_id[:64]) for e in super().causal_history())

    @fault(Channel.with_repair_request, "R-FIELDS-01", "cuts the senders in requests at 64 characters")
    def cuts_senders_in_requests(self, message: Message, now_ms: int) -> Message:
        asking = super().with_repair_request(message, now_ms)
        cut = [replace(e, sender_id=e.sender_id and e.sender_id[:64]) for e in asking.repair_request]
        return replace(asking, repair_request=tuple(cut))

    @fault(Channel.causal_history, "MSG-12", "omits the sender in entries after the second one")
    def two_senders_in_history(self) -> tuple[HistoryEntry, ...]:
        first, rest = super().causal_history()[:2], super().causal_history()[2:]
        return (*first, *[replace(entry, sender_id=None) for entry in rest])

    @fault(Channel.causal_history, "R-FIELDS-01", "writes its own ID as the sender of entries in its causal history")
    def names_itself_in_history(self) -> tuple[HistoryEntry, ...]:
        own = self.participant_id if self.repair is not None else None
        return tuple(replace(entry, sender_id=own) for entry in super().causal_history())


@register_faults
class _Requested(Repair):
    @fault(
        Repair.track_missing, "R-FIELDS-01", "requests a message with the sender of the message that revealed the gap"
    )
    def requests_name_the_revealing_sender(self, message: Message, now_ms: int) -> None:
        history = tuple(replace(entry, sender_id=message.sender_id) for entry in message.causal_history)
        super().track_missing(replace(message, causal_history=history), now_ms)

    @fault(Repair.eligible_requests, "R-FIELDS-01", "omits the sender in its requests")
    def names_no_sender(self, now_ms: int) -> list[HistoryEntry]:
        return [replace(entry, sender_id=None) for entry in super().eligible_requests(now_ms)]

    @fault(
        Repair.eligible_requests, "R-FIELDS-02", "gives every entry of a request the retrieval hint of the first entry"
    )
    def one_hint_for_all_requests(self, now_ms: int) -> list[HistoryEntry]:
        entries = super().eligible_requests(now_ms)
        return [replace(entry, retrieval_hint=entries[0].retrieval_hint) for entry in entries]

    @fault(Repair.eligible_requests, "R-FIELDS-02", "converts retrieval hints in its requests to text and back")
    def hints_of_requests_as_text(self, now_ms: int) -> list[HistoryEntry]:
        return [as_text(entry) for entry in super().eligible_requests(now_ms)]

    @fault(Repair.eligible_requests, "R-FIELDS-02", "requests only with the first 32 bytes of retrieval hints")
    def hints_of_requests_cut_to_32_bytes(self, now_ms: int) -> list[HistoryEntry]:
        return [with_short_hint(entry) for entry in super().eligible_requests(now_ms)]

    @unseen_too("unseen-does-not-learn-senders")
    @fault(Repair.track, "R-FIELDS-01", "requests without the sender that a later causal history names")
    def does_not_learn_senders(self, entry: HistoryEntry, now_ms: int) -> None:
        if self.outgoing.get(entry.message_id) is None:
            super().track(entry, now_ms)

    @fault(Repair.track, "R-FIELDS-01", "forgets the sender of a missing message when a later entry omits the sender")
    def forgets_senders_of_the_missing(self, entry: HistoryEntry, now_ms: int) -> None:
        super().track(entry, now_ms)
        if (item := self.outgoing.get(entry.message_id)) is not None:
            item.entry = replace(item.entry, sender_id=entry.sender_id)

    @fault(Repair.track, "R-FIELDS-02", "requests every dependency, whether it has arrived or not")
    def requests_received_messages(self, entry: HistoryEntry, now_ms: int) -> None:
        if self.has_arrived(entry.message_id) and entry.message_id not in self.outgoing:
            self.outgoing.add(entry, self.t_req(entry, now_ms))
        super().track(entry, now_ms)

    @fault(Repair.eligible_requests, "R-FIELDS-02", "requests all due entries at once, without a maximum")
    def requests_without_maximum(self, now_ms: int) -> list[HistoryEntry]:
        return [item.entry for item in self.outgoing.due(now_ms)]


@register_faults
class _WithoutSdsR(Channel):
    @fault(Channel.causal_history, "R-FIELDS-03", "names senders in its causal history although it does not use SDS-R")
    def senders_without_sds_r(self) -> tuple[HistoryEntry, ...]:
        return tuple(
            replace(entry, sender_id=logged.sender_id)
            for entry in super().causal_history()
            for logged in self.log
            if logged.message_id == entry.message_id
        )

    @fault(
        Channel.refuse_unusable, "R-FIELDS-04", "rejects messages with a repair request because it does not use SDS-R"
    )
    def refuses_requests(self, message: Message, kind: Kind, now_ms: int) -> None:
        super().refuse_unusable(message, kind, now_ms)
        if self.repair is None and message.repair_request:
            raise MalformedMessageError("field 13 is not supported")

    @fault(
        Channel.unmet_dependencies,
        "R-FIELDS-04",
        "treats dependencies with a sender as met because it does not use SDS-R",
    )
    def named_senders_meet_dependencies(self, message: Message) -> set[str]:
        named = {entry.message_id for entry in message.causal_history if entry.sender_id and self.repair is None}
        return super().unmet_dependencies(message) - named

    @fault(Channel.receive, "R-FIELDS-04", "drops messages with a repair request because it does not use SDS-R")
    def drops_requests_without_sds_r(
        self, message: Message, now_ms: int, retrieval_hint: bytes | None = None
    ) -> Effects:
        asks = self.repair is None and bool(message.repair_request)
        return Effects() if asks else super().receive(message, now_ms, retrieval_hint)


# ---- T_req -----------------------------------------------------------------------------------------------------------


@mutant("R-TREQ-01", "computes T_req modulo T_max - T_min + 1")
class TReqModuloOneMore(Repair):
    def t_req(self, entry: HistoryEntry, now_ms: int) -> int:
        c = self.config
        hashed = c.hash_profile.hash(self.participant_id, entry.message_id)
        return now_ms + hashed % (c.t_max_ms - c.t_min_ms + 1) + c.t_min_ms


@register_faults
class _OtherHash(Repair):
    """Computes T_req with a hash of ``arguments``, which subclasses and faults replace."""

    def arguments(self, entry: HistoryEntry, now_ms: int) -> tuple[str, str]:
        return self.participant_id, entry.message_id

    def t_req(self, entry: HistoryEntry, now_ms: int) -> int:
        c = self.config
        first, second = self.arguments(entry, now_ms)
        return now_ms + c.hash_profile.hash(first, second) % (c.t_max_ms - c.t_min_ms) + c.t_min_ms

    @fault(arguments, "R-TREQ-01", "swaps the arguments of the hash in T_req", unseen=True)
    def unseen_swaps_hash_arguments(self, entry: HistoryEntry, now_ms: int) -> tuple[str, str]:
        return entry.message_id, self.participant_id

    @fault(arguments, "R-TREQ-02", "computes T_req with the ID of the original sender instead of its own")
    def hashes_the_sender(self, entry: HistoryEntry, now_ms: int) -> tuple[str, str]:
        return entry.sender_id or "", entry.message_id

    @unseen_too("unseen-hashes-the-message-alone")
    @fault(arguments, "R-TREQ-02", "computes T_req with a hash of the message ID alone")
    def hashes_the_message_alone(self, entry: HistoryEntry, now_ms: int) -> tuple[str, str]:
        return "", entry.message_id


@unseen_too("unseen-requests-late-more-often")
@mutant("R-TREQ-03", "chooses a late T_req more often than an early one")
class RequestsLateMoreOften(Repair):
    def t_req(self, entry: HistoryEntry, now_ms: int) -> int:
        c = self.config
        hashed = c.hash_profile.hash(self.participant_id, entry.message_id)
        share = max(hashed % 100, hashed // 100 % 100)  # of two draws the larger one, so late times are more frequent
        return now_ms + c.t_min_ms + share * (c.t_max_ms - c.t_min_ms) // 100


@register_faults
class _NotTheMessageAndItself(_OtherHash):
    @unseen_too("unseen-hashes-itself-alone")
    @fault(_OtherHash.arguments, "R-TREQ-04", "computes T_req with a hash of its own ID alone")
    def hashes_itself_alone(self, entry: HistoryEntry, now_ms: int) -> tuple[str, str]:
        return self.participant_id, ""

    @unseen_too("unseen-hashes-the-hour")
    @fault(_OtherHash.arguments, "R-TREQ-05", "computes T_req with a hash of the IDs and the current hour")
    def hashes_the_hour(self, entry: HistoryEntry, now_ms: int) -> tuple[str, str]:
        return self.participant_id, f"{entry.message_id}{now_ms // 3_600_000}"


_COARSE = RepairConfig(clock_ms=5_000)
add_configured(
    "clock-of-five-seconds",
    "R-TREQ-01",
    "computes T_req with a clock resolution of five seconds, and declares this resolution",
    repair=_COARSE,
)


@mutant(
    "R-TREQ-01",
    "adds 40 ms to T_req, more than its clock resolution of 16 ms explains",
    repair=RepairConfig(clock_ms=16),
)
class LaterThanItsClock(Repair):
    def t_req(self, entry: HistoryEntry, now_ms: int) -> int:
        return super().t_req(entry, now_ms) + 40


@unseen_too("unseen-uses-three-t-req-only")
@mutant("R-TREQ-04", "uses only three different T_req")
class UsesThreeTReqOnly(Repair):
    def t_req(self, entry: HistoryEntry, now_ms: int) -> int:
        c = self.config
        third = c.hash_profile.hash(self.participant_id, entry.message_id) % 3
        return now_ms + c.t_min_ms + (1 + 2 * third) * (c.t_max_ms - c.t_min_ms) // 6


@register_faults
class _AnotherTimeEachTime(_OtherHash):
    @unseen_too("unseen-recomputes-t-req-when-missing-again")
    @fault(_OtherHash.arguments, "R-RECV-06", "computes a different T_req each time that a message is missing again")
    def recomputes_t_req_when_missing_again(self, entry: HistoryEntry, now_ms: int) -> tuple[str, str]:
        return f"{self.participant_id}{now_ms}", entry.message_id


# ---- Empty retrieval hints -------------------------------------------------------------------------------------------


@register_faults
class _EmptyHints(Repair):
    @fault(Repair.track, "R-STATE-01", "does not request messages that were named with an empty retrieval hint")
    def empty_hints_are_not_asked_for(self, entry: HistoryEntry, now_ms: int) -> None:
        if entry.retrieval_hint != b"":
            super().track(entry, now_ms)

    @fault(Repair.accept_request, "R-RECV-12", "does not answer requests with an empty retrieval hint")
    def empty_hints_are_not_answered(self, entry: HistoryEntry, now_ms: int) -> None:
        if entry.retrieval_hint != b"":
            super().accept_request(entry, now_ms)
