"""Section "Participant state": a bloom filter for received message IDs per channel, rolled over at its capacity."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, islice

from .bloom_profiles import BloomParameters, BloomProfile, FilterView, set_bits


class RollingBloomFilter:
    """The local filter of one channel.

    At ``capacity`` IDs the filter is recomputed over the newest ``retained`` IDs. This happens once every
    ``capacity - retained`` insertions, so an insertion costs O(k) on average, however long the log gets. The bit
    positions of each ID are cached, so no ID is hashed twice.
    """

    def __init__(self, profile: BloomProfile, parameters: BloomParameters, retained: int) -> None:
        self._profile = profile
        self._locate = profile.locator(parameters)
        self._parameters = parameters
        self._retained = retained
        self._bits = bytearray(parameters.byte_length)
        self._members: dict[str, tuple[int, ...]] = {}
        self._wire: bytes | None = None

    def insert(self, message_id: str) -> None:
        """Add an ID. Adding it again changes nothing."""
        if message_id in self._members:
            return
        if len(self._members) >= self._parameters.capacity:
            self._roll_over()
        places = self._members[message_id] = self._places(message_id)
        set_bits(self._bits, places)
        self._wire = None

    def __contains__(self, message_id: str) -> bool:
        return FilterView(self._profile, self._parameters, bytes(self._bits)).__contains__(message_id)

    def to_wire(self) -> bytes:
        """The bytes for the ``bloom_filter`` field."""
        if self._wire is None:
            self._wire = self._profile.wrap(bytes(self._bits), self._parameters)
        return self._wire

    def _places(self, message_id: str) -> tuple[int, ...]:
        return self._locate(message_id)

    def _roll_over(self) -> None:
        aged = max(0, len(self._members) - self._retained)  # a dict iterates from oldest to newest
        self._members = dict(islice(self._members.items(), aged, None))
        self._bits = bytearray(self._parameters.byte_length)
        set_bits(self._bits, chain.from_iterable(self._members.values()))


def build_filter(profile: BloomProfile, parameters: BloomParameters, message_ids: Iterable[str]) -> bytes:
    """The ``bloom_filter`` bytes of a filter that contains exactly ``message_ids``."""
    bits = bytearray(parameters.byte_length)
    locate = profile.locator(parameters)
    for message_id in message_ids:
        set_bits(bits, locate(message_id))
    return profile.wrap(bytes(bits), parameters)
