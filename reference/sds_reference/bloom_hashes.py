"""String hashes of the published implementations. Each gives exactly the result of the library that computes it.

Each function takes a string and returns an integer. The hashes from which filters compute bit numbers are non-negative.
"""

from __future__ import annotations

import farmhash
import mmh3


def murmur3_32_js(text: str) -> int:
    """Murmur3-32 as @waku/sds computes it: absolute value of the signed 32-bit hash.

    @waku/sds feeds the first UTF-16 code unit of every code point to a Murmur3 that expects bytes. For code points up
    to U+00FF the result is Murmur3 over Latin-1 (for ASCII: over UTF-8). Above U+00FF, a code unit overflows into the
    bits of its neighbours, the length counts code points, and the low surrogate of a supplementary character is
    dropped. This function computes the same hashes as @waku/sds for all IDs. For IDs beyond U+007F, they differ from
    Murmur3 over UTF-8.
    """
    try:
        return abs(mmh3.hash(text.encode("latin-1")))
    except UnicodeEncodeError:
        return abs(_murmur3_32_units(_first_code_units(text)))


def murmur3_32_nim(text: str) -> int:
    """Murmur3-32 as Nim built with ``-d:nimStringHash2`` computes it: unsigned, over UTF-8."""
    return mmh3.hash(text.encode(), signed=False)


def farmhash64_signed(text: str) -> int:
    """FarmHash64 as stock Nim 2.2 computes it: signed, over UTF-8.

    This is the platform-independent variant, which FarmHash calls the fingerprint.
    """
    value: int = farmhash.fingerprint64(text)
    return value if value < 1 << 63 else value - (1 << 64)


def farmhash64_nim(text: str) -> int:
    """Absolute value of ``farmhash64_signed``, from which nim-sds builds its filters."""
    return abs(farmhash64_signed(text))


def _first_code_units(text: str) -> list[int]:
    """JavaScript's ``Array.from(text).map(c => c.charCodeAt(0))``."""
    return [0xD800 + ((ord(c) - 0x10000) >> 10) if ord(c) > 0xFFFF else ord(c) for c in text]


def _murmur3_32_units(units: list[int]) -> int:
    """Murmur3-32, seed 0, over code units instead of bytes; signed."""
    h = 0
    whole = len(units) // 4 * 4
    for start in range(0, whole, 4):
        h ^= _scramble(_little_endian(units[start : start + 4]))
        h = (_rotate(h, 13) * 5 + 0xE6546B64) & 0xFFFFFFFF
    h ^= _scramble(_little_endian(units[whole:])) ^ len(units)
    h = ((h ^ h >> 16) * 0x85EBCA6B) & 0xFFFFFFFF
    h = ((h ^ h >> 13) * 0xC2B2AE35) & 0xFFFFFFFF
    h ^= h >> 16
    return h - (1 << 32) if h >= 1 << 31 else h


def _little_endian(units: list[int]) -> int:
    word = 0
    for unit in reversed(units):
        word = (word << 8 | unit) & 0xFFFFFFFF
    return word


def _scramble(word: int) -> int:
    return _rotate(word * 0xCC9E2D51 & 0xFFFFFFFF, 15) * 0x1B873593 & 0xFFFFFFFF


def _rotate(word: int, bits: int) -> int:
    return (word << bits | word >> (32 - bits)) & 0xFFFFFFFF
