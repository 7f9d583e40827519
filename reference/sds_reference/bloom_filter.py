"""Section "Participant state": a bloom filter for received message IDs per channel, rolled over at its capacity."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from .bloom_profiles import BloomParameters, BloomProfile, FilterView


class RollingBloomFilter:
    """The local filter of one channel.

    At ``capacity`` IDs it is recomputed over the newest ``retained`` of them: one recomputation every
    ``capacity - retained`` insertions, so an insertion costs O(k) on average however long the log gets.
    """

    def __init__(self, profile: BloomProfile, parameters: BloomParameters, retained: int) -> None:
        self._profile = profile
        self._parameters = parameters
        self._retained = retained
        self._bits = bytearray(parameters.byte_length)
        self._members: set[str] = set()
        self._newest: deque[str] = deque()
        self._wire: bytes | None = None

    def insert(self, message_id: str) -> None:
        """Add an ID; one that is in already changes nothing."""
        if message_id in self._members:
            return
        if len(self._newest) >= self._parameters.capacity:
            self._roll_over()
        self._members.add(message_id)
        self._newest.append(message_id)
        self._set(message_id)
        self._wire = None

    def __contains__(self, message_id: str) -> bool:
        return FilterView(self._profile, self._parameters, bytes(self._bits)).__contains__(message_id)

    def to_wire(self) -> bytes:
        """The bytes for the ``bloom_filter`` field."""
        if self._wire is None:
            self._wire = self._profile.wrap(bytes(self._bits), self._parameters)
        return self._wire

    def _set(self, message_id: str) -> None:
        bits = self._bits
        for byte, mask in self._profile.positions(message_id, self._parameters):
            bits[byte] |= mask

    def _roll_over(self) -> None:
        while len(self._newest) > self._retained:
            self._members.discard(self._newest.popleft())
        self._bits = bytearray(self._parameters.byte_length)
        for message_id in self._newest:
            self._set(message_id)


def build_filter(profile: BloomProfile, parameters: BloomParameters, message_ids: Iterable[str]) -> bytes:
    """The ``bloom_filter`` bytes over exactly ``message_ids``."""
    bits = bytearray(parameters.byte_length)
    for message_id in message_ids:
        for byte, mask in profile.positions(message_id, parameters):
            bits[byte] |= mask
    return profile.wrap(bytes(bits), parameters)
