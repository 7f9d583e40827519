"""Faults in reading filters that must be skipped: filters that are empty, without bits, or of a wrong size."""

from __future__ import annotations

from google.protobuf.message import DecodeError

from sds_proto.bloom.nim_sds_pb2 import BloomFilter as NimEnvelope

from ...bloom_profiles import NIM_SDS
from ...channel import Channel
from ...effects import Effects
from ...errors import MalformedMessageError
from ...message import Kind, Message
from ..registry import fault, register_faults


def _envelope(bloom_filter: bytes) -> NimEnvelope:
    try:
        return NimEnvelope.FromString(bloom_filter)
    except DecodeError:
        return NimEnvelope(bit_count=1, hash_count=1)


@register_faults
class _Reading(Channel):
    def contain_all_if(self, message: Message, effects: Effects, now_ms: int, held: bool) -> None:
        if not held or message.bloom_filter is None:
            return super().review_bloom_filter(message, effects, now_ms)
        for entry in self.outgoing.unacknowledged():
            self.count_filter_hit(entry, effects, now_ms)
        return None

    @fault(Channel.review_bloom_filter, "STATE-12", "treats an empty filter as a filter that contains everything")
    def empty_filter_contains_all(self, message: Message, effects: Effects, now_ms: int) -> None:
        self.contain_all_if(message, effects, now_ms, not message.bloom_filter)

    @fault(Channel.review_bloom_filter, "STATE-12", "treats unreadable filters as filters that contain everything")
    def unreadable_filter_contains_all(self, message: Message, effects: Effects, now_ms: int) -> None:
        self.contain_all_if(message, effects, now_ms, self.read_filter(message) is None)

    @fault(
        Channel.review_bloom_filter,
        "STATE-12",
        "treats a filter whose envelope declares no hash functions as a filter that contains everything",
        bloom_profile=NIM_SDS,
    )
    def filter_without_hashes_contains_all(self, message: Message, effects: Effects, now_ms: int) -> None:
        self.contain_all_if(message, effects, now_ms, not _envelope(message.bloom_filter or b"").hash_count)

    @fault(
        Channel.review_bloom_filter,
        "STATE-12",
        "treats a filter whose envelope declares no bits as a filter that contains everything",
        bloom_profile=NIM_SDS,
    )
    def filter_without_bits_contains_all(self, message: Message, effects: Effects, now_ms: int) -> None:
        self.contain_all_if(message, effects, now_ms, not _envelope(message.bloom_filter or b"").bit_count)

    @fault(
        Channel.review_bloom_filter,
        "STATE-12",
        "looks up positions beyond the end of a shorter filter modulo its length",
    )
    def wraps_positions_in_other_lengths(self, message: Message, effects: Effects, now_ms: int) -> None:
        bits = message.bloom_filter or b""
        other = bool(bits) and len(bits) != self.parameters.byte_length
        held = all(
            bits[byte % len(bits)] & mask
            for entry in self.outgoing.unacknowledged()
            for byte, mask in (entry.positions if other else ())
        )
        self.contain_all_if(message, effects, now_ms, other and held)


@register_faults
class _Refusing(Channel):
    def refuse_if(self, message: Message, kind: Kind, now_ms: int, refused: bool) -> None:
        super().refuse_unusable(message, kind, now_ms)
        if refused and message.bloom_filter is not None:
            raise MalformedMessageError("the bytes are not a bloom filter")

    @fault(Channel.refuse_unusable, "RECV-07", "rejects messages with an empty filter")
    def refuses_empty_filters(self, message: Message, kind: Kind, now_ms: int) -> None:
        self.refuse_if(message, kind, now_ms, kind is Kind.CONTENT and not message.bloom_filter)

    @fault(Channel.refuse_unusable, "SYNC-12", "rejects sync messages with an empty filter")
    def refuses_syncs_with_empty_filters(self, message: Message, kind: Kind, now_ms: int) -> None:
        self.refuse_if(message, kind, now_ms, kind is Kind.SYNC and not message.bloom_filter)

    @fault(
        Channel.refuse_unusable,
        "RECV-07",
        "rejects messages whose filter has no bits, because it divides by the number of bits",
        bloom_profile=NIM_SDS,
    )
    def divides_by_filter_size_zero(self, message: Message, kind: Kind, now_ms: int) -> None:
        self.refuse_if(message, kind, now_ms, not _envelope(message.bloom_filter or b"").bit_count)

    @fault(Channel.refuse_unusable, "RECV-07", "rejects filters that are longer than its own")
    def refuses_longer_filters(self, message: Message, kind: Kind, now_ms: int) -> None:
        self.refuse_if(message, kind, now_ms, len(message.bloom_filter or b"") > self.parameters.byte_length)

    @fault(
        Channel.refuse_unusable,
        "RECV-07",
        "rejects messages whose filter is too short, because it reads beyond the end of the filter",
    )
    def reads_beyond_the_end(self, message: Message, kind: Kind, now_ms: int) -> None:
        length = len(message.bloom_filter or b"")
        self.refuse_if(message, kind, now_ms, 0 < length < self.parameters.byte_length)
