"""Faults of a private filter encoding, in requirements that hold for every encoding."""

from __future__ import annotations

from dataclasses import replace

from ...bloom_filter import RollingBloomFilter
from ...bloom_hashes import murmur3_32_js
from ...bloom_profiles import WAKU_SDS_JS, BloomParameters
from ...channel import Channel
from ...effects import Effects
from ...errors import ForeignFilterError
from ...message import Message
from ..registry import add_configured, fault, register_faults, replace_part
from .count import StopsWhenFull

PRIVATE_FILTER = replace(WAKU_SDS_JS, name="")
"""A private bloom profile without a name."""


def _in_ascii(text: str) -> str:
    return text.encode("ascii", "replace").decode()


add_configured(
    "hashes-ascii-only",
    "STATE-07",
    "has filters of a private encoding and size, and hashes all characters beyond ASCII to the same value",
    bloom_profile=replace(PRIVATE_FILTER, hash=lambda message_id: murmur3_32_js(_in_ascii(message_id))),
    bloom_capacity=1_000,
)


def _unwrap_anything(wire: bytes, agreed: BloomParameters) -> tuple[BloomParameters, bytes]:
    try:
        return PRIVATE_FILTER.unwrap(wire, agreed)
    except ForeignFilterError:
        return agreed, b"\xff" * agreed.byte_length


add_configured(
    "reads-anything-as-a-full-filter",
    "STATE-12",
    "with a private filter encoding, treats unreadable filters as full, in QueryFilter as well",
    bloom_profile=replace(PRIVATE_FILTER, name="of-its-own", unwrap=_unwrap_anything),
)


@register_faults
class _Reviewing(Channel):
    @fault(
        Channel.review_bloom_filter,
        "STATE-12",
        "with a private filter encoding, looks up only the bits that exist in a filter that is too short",
        bloom_profile=PRIVATE_FILTER,
    )
    def private_reads_short_filters(self, message: Message, effects: Effects, now_ms: int) -> None:
        bits = message.bloom_filter or b""
        if not bits or len(bits) >= self.parameters.byte_length:
            return super().review_bloom_filter(message, effects, now_ms)
        for entry in self.outgoing.unacknowledged():
            if all(bits[byte] & mask for byte, mask in entry.positions if byte < len(bits)):
                self.count_filter_hit(entry, effects, now_ms)
        return None


class _LosesTheNewest(RollingBloomFilter):
    def _roll_over(self) -> None:
        super()._roll_over()
        self._newest = True

    _newest = False

    def insert(self, message_id: str) -> None:
        super().insert(message_id)
        if self._newest:
            self._newest = False
            self._members.pop(message_id, None)
            self._bits = bytearray(self._parameters.byte_length)
            for places in self._members.values():
                for place in places:
                    self._bits[place >> 3] |= 1 << (place & 7)
            self._wire = None


class _ForgetsAll(RollingBloomFilter):
    def _roll_over(self) -> None:
        self._members, self._bits = {}, bytearray(self._parameters.byte_length)


for _kept, _requirement, _summary in (
    (_LosesTheNewest, "RECV-04", "loses the newest message when it rolls over"),
    (_ForgetsAll, "STATE-06", "starts with an empty filter when it rolls over"),
    (StopsWhenFull, "RECV-04", "inserts no more IDs once its filter is full"),
):
    replace_part(
        "filter_class",
        _requirement,
        f"with a filter of private encoding and size, {_summary}",
        name=f"private-{''.join('-' + c.lower() if c.isupper() else c for c in _kept.__name__).strip('_-')}",
        bloom_profile=PRIVATE_FILTER,
        bloom_capacity=1_000,
    )(_kept)
