"""Hash profiles: the ``hash()`` of sections "Determine T_req", "Determine T_resp" and "Determine response group".

The specification does not say which function it is (AMB-01), nor how two strings become one argument (AMB-02). Each
profile computes the hashes of a published implementation, which its description names. All of these implementations
concatenate the strings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

from .bloom_hashes import farmhash64_signed, murmur3_32_nim
from .errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class HashProfile:
    """A definition of ``hash()``: a hash of strings, and how two strings are combined."""

    name: str
    """The name that an implementation declares; "" for a private hash without a name."""
    description: str
    integer: Callable[[str], int]
    """The hash of a string as the platform computes it; negative if the platform's hash is signed."""
    combine: Callable[[str, str], str] = str.__add__
    """Combines two strings into one argument."""

    def hash(self, *parts: str) -> int:
        """The number ``hash(a)`` or ``hash(a, b)`` of the specification.

        It is never negative, even if the hash of the platform is signed (AMB-03).
        """
        return abs(self.integer(parts[0] if len(parts) == 1 else self.combine(*parts)))

    def distance(self, participant_id: str, sender_id: str) -> int:
        """Logical distance, ``hash(participant_id) XOR hash(sender_id)``; 0 for the original sender."""
        # nim-sds takes the absolute value after the XOR. For a signed hash, the result differs from XOR of absolute
        # values.
        return abs(self.integer(participant_id) ^ self.integer(sender_id))


def _sha256_be64(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big")


SHA256_BE64 = HashProfile(
    "sha256-be64", "@waku/sds: the first 8 bytes of SHA-256 over the concatenated strings, big-endian", _sha256_be64
)
FARMHASH64_NIM = HashProfile(
    "farmhash64-nim",
    "nim-sds on stock Nim 2.2: absolute value of the signed 64-bit FarmHash of the concatenated strings",
    farmhash64_signed,
)
MURMUR3_32_NIM = HashProfile(
    "murmur3-32-nim",
    "nim-sds built with -d:nimStringHash2: unsigned Murmur3-32 of the concatenated strings",
    murmur3_32_nim,
)

HASH_PROFILES: dict[str, HashProfile] = {
    profile.name: profile for profile in (SHA256_BE64, FARMHASH64_NIM, MURMUR3_32_NIM)
}


def hash_profile(name: str) -> HashProfile:
    """The hash profile called ``name``. Raises ConfigurationError."""
    if name not in HASH_PROFILES:
        raise ConfigurationError(f"no hash profile {name!r}: known are {', '.join(HASH_PROFILES)}")
    return HASH_PROFILES[name]
