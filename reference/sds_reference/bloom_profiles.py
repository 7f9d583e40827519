"""Bloom profiles: how the opaque ``bloom_filter`` bytes are made and read.

The specification ("Participant state") requires a filter per channel and leaves its size, hash and encoding open. A
profile defines all three exactly as one published implementation does, and has the name of that implementation. Filters
of different profiles cannot be compared. In these wire layouts the bit of index ``i`` is in byte ``(i >> 3) ^ swizzle``
at position ``i & 7``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from google.protobuf.message import DecodeError

from sds_proto.bloom.nim_sds_pb2 import BloomFilter as NimEnvelope

from .bloom_hashes import farmhash64_nim, murmur3_32_js, murmur3_32_nim
from .errors import ConfigurationError, ForeignFilterError

_MAX_BITS = 1 << 30
_MAX_HASHES = 64


@dataclass(frozen=True, slots=True)
class BloomParameters:
    """Size of a filter: ``capacity`` IDs at ``error_rate``, ``bits`` (m) and ``hashes`` (k)."""

    capacity: int
    error_rate: float
    bits: int
    hashes: int

    @classmethod
    @lru_cache(256)
    def sized(cls, capacity: int, error_rate: float) -> BloomParameters:
        """Compute the size as both published implementations do.

        The number of bits per ID is a whole number, and k is optimal for this number.
        """
        if capacity < 1 or not 0 < error_rate < 1:
            raise ConfigurationError(
                f"bloom filter of capacity {capacity} and error rate {error_rate}: the capacity must be at least 1, "
                "and the error rate between 0 and 1"
            )
        bits_per_id = math.ceil(-math.log(error_rate) / math.log(2) ** 2)
        bits = capacity * bits_per_id
        if bits > _MAX_BITS:
            raise ConfigurationError(f"bloom filter of {bits} bits: the model allows at most {_MAX_BITS}")
        return cls(capacity, error_rate, bits, max(1, math.floor(math.log(2) * bits_per_id + 0.5)))

    @property
    def byte_length(self) -> int:
        """Length of the bit array: whole 64-bit words, one more than ``bits // 64``."""
        return 8 * (1 + self.bits // 64)


@dataclass(frozen=True, slots=True)
class FilterView:
    """A received filter, ready for queries."""

    profile: BloomProfile
    parameters: BloomParameters
    bits: bytes

    def holds(self, positions: tuple[tuple[int, int], ...]) -> bool:
        """Are all the bits at ``positions`` (of ``BloomProfile.positions``) set?"""
        bits = self.bits
        for byte, mask in positions:  # noqa: SIM110  this runs so often that a generator would double its cost
            if not bits[byte] & mask:
                return False
        return True

    def __contains__(self, message_id: str) -> bool:
        return self.holds(self.profile.positions(message_id, self.parameters))


@dataclass(frozen=True, slots=True)
class BloomProfile:
    """The hash of IDs, the order of bits and the encoding of the filters of one implementation."""

    name: str
    description: str
    hash: Callable[[str], int]
    swizzle: int
    wrap: Callable[[bytes, BloomParameters], bytes]
    unwrap: Callable[[bytes, BloomParameters], tuple[BloomParameters, bytes]]

    def positions(self, message_id: str, parameters: BloomParameters) -> tuple[tuple[int, int], ...]:
        """Return (byte, mask) of each of the k bits of ``message_id``, the form that makes queries fastest."""
        return _positions(self.hash, self.swizzle, parameters.bits, parameters.hashes)(message_id)

    def locator(self, parameters: BloomParameters) -> Callable[[str], tuple[int, ...]]:
        """Return a function that computes the k bit numbers of an ID by double hashing.

        Bit number ``n`` is the bit ``n & 7`` of the byte ``n >> 3``.
        """
        return _locator(self.hash, self.swizzle, parameters.bits, parameters.hashes)

    def read(self, wire: bytes, agreed: BloomParameters) -> FilterView:
        """Parse the ``bloom_filter`` bytes of a message. If the bytes do not carry a size, ``agreed`` is the size.

        Raises ForeignFilterError when the bytes are not of this profile.
        """
        parameters, bits = self.unwrap(wire, agreed)
        return FilterView(self, parameters, bits)


# The results are cached, because each received filter is asked for the same IDs: those of the newest messages.


@lru_cache(8)
def _locator(hash_of: Callable[[str], int], swizzle: int, bits: int, hashes: int) -> Callable[[str], tuple[int, ...]]:
    swapped = swizzle << 3

    @lru_cache(4_096)
    def places(message_id: str) -> tuple[int, ...]:
        first = hash_of(message_id) % bits
        step = hash_of(message_id + " b") % bits
        return tuple([(first + n * step) % bits ^ swapped for n in range(hashes)])

    return places


@lru_cache(8)
def _positions(
    hash_of: Callable[[str], int], swizzle: int, bits: int, hashes: int
) -> Callable[[str], tuple[tuple[int, int], ...]]:
    places = _locator(hash_of, swizzle, bits, hashes)

    @lru_cache(4_096)
    def positions(message_id: str) -> tuple[tuple[int, int], ...]:
        return tuple([(place >> 3, 1 << (place & 7)) for place in places(message_id)])

    return positions


def set_bits(bits: bytearray, places: Iterable[int]) -> None:
    """Set the bits ``places``, which ``BloomProfile.locator`` computed for one or more IDs."""
    for place in places:
        bits[place >> 3] |= 1 << (place & 7)


def _bare(bits: bytes, parameters: BloomParameters) -> bytes:
    return bits


def _from_bare(wire: bytes, agreed: BloomParameters) -> tuple[BloomParameters, bytes]:
    if len(wire) != agreed.byte_length:
        raise ForeignFilterError(f"the filter has {len(wire)} bytes instead of the agreed {agreed.byte_length} bytes")
    return agreed, wire


def _nim_envelope(bits: bytes, parameters: BloomParameters) -> bytes:
    return NimEnvelope(
        bits=bits,
        capacity=parameters.capacity,
        error_rate_millionths=round(parameters.error_rate * 1_000_000),
        hash_count=parameters.hashes,
        bit_count=parameters.bits,
    ).SerializeToString()


def _from_nim_envelope(wire: bytes, agreed: BloomParameters) -> tuple[BloomParameters, bytes]:
    try:
        envelope = NimEnvelope.FromString(wire)
    except DecodeError:
        raise ForeignFilterError(f"the {len(wire)} bytes are not a nim-sds filter envelope") from None
    parameters = replace(agreed, bits=envelope.bit_count, hashes=envelope.hash_count)
    if not 0 < parameters.bits <= _MAX_BITS or not 0 < parameters.hashes <= _MAX_HASHES:
        raise ForeignFilterError(
            f"the envelope declares {parameters.bits} bits and {parameters.hashes} hashes, which no filter can have"
        )
    if len(envelope.bits) != parameters.byte_length:
        raise ForeignFilterError(
            f"the envelope declares {parameters.bits} bits, but contains {len(envelope.bits)} bytes"
        )
    return parameters, envelope.bits


WAKU_SDS_JS = BloomProfile(
    "waku-sds-js",
    "@waku/sds: bare big-endian 64-bit words, Murmur3-32, size agreed out of band",
    murmur3_32_js,
    7,
    _bare,
    _from_bare,
)
NIM_SDS = BloomProfile(
    "nim-sds",
    "nim-sds on stock Nim 2.2: protobuf envelope, little-endian 64-bit words, FarmHash64",
    farmhash64_nim,
    0,
    _nim_envelope,
    _from_nim_envelope,
)
NIM_SDS_MURMUR3 = BloomProfile(
    "nim-sds-murmur3",
    "nim-sds built with -d:nimStringHash2: protobuf envelope, little-endian 64-bit words, Murmur3-32",
    murmur3_32_nim,
    0,
    _nim_envelope,
    _from_nim_envelope,
)

PROFILES: dict[str, BloomProfile] = {profile.name: profile for profile in (WAKU_SDS_JS, NIM_SDS, NIM_SDS_MURMUR3)}
"""The profiles by name. A profile cannot parse the filters of another, or finds wrong IDs in them."""
