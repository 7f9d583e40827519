"""The hashes under the bloom profiles, against published vectors and a second FarmHash."""

from __future__ import annotations

import pytest

from sds_reference.bloom_hashes import farmhash64_nim, murmur3_32_js, murmur3_32_nim

MASK = 2**64 - 1
K0, K1, K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def farm_hash_64(s: bytes) -> int:
    """Hash64 of the namespace farmhashna, after the published FarmHash 1.1."""
    size = len(s)
    if size <= 16:
        return _up_to_16(s, size)
    if size <= 32:
        return _up_to_32(s, size)
    if size <= 64:
        return _up_to_64(s, size)
    return _longer(s, size)


def _up_to_16(s: bytes, size: int) -> int:
    mul = K2 + size * 2
    if size >= 8:
        a, b = _u64(s, 0) + K2, _u64(s, size - 8)
        c, d = _rot(b, 37) * mul + a, (_rot(a, 25) + b) * mul
        return _mix(c, d, mul)
    if size >= 4:
        return _mix(size + (_u32(s, 0) << 3), _u32(s, size - 4), mul)
    if size:
        y, z = s[0] + (s[size >> 1] << 8), size + (s[-1] << 2)
        return _shift_mix(y * K2 ^ z * K0) * K2 & MASK
    return K2


def _up_to_32(s: bytes, size: int) -> int:
    mul = K2 + size * 2
    a, b, c, d = _u64(s, 0) * K1, _u64(s, 8), _u64(s, size - 8) * mul, _u64(s, size - 16) * K2
    return _mix(_rot(a + b, 43) + _rot(c, 30) + d, a + _rot(b + K2, 18) + c, mul)


def _up_to_64(s: bytes, size: int) -> int:
    mul = K2 + size * 2
    a, b, c, d = _u64(s, 0) * K2, _u64(s, 8), _u64(s, size - 8) * mul, _u64(s, size - 16) * K2
    y = _rot(a + b, 43) + _rot(c, 30) + d
    z = _mix(y, a + _rot(b + K2, 18) + c, mul)
    e, f, g, h = _u64(s, 16) * mul, _u64(s, 24), (y + _u64(s, size - 32)) * mul, (z + _u64(s, size - 24)) * mul
    return _mix(_rot(e + f, 43) + _rot(g, 30) + h, e + _rot(f + a, 18) + g, mul)


def _longer(s: bytes, size: int) -> int:
    x, y = 81, 81 * K1 + 113
    z = _shift_mix(y * K2 + 113) * K2
    v = w = (0, 0)
    x = x * K2 + _u64(s, 0)
    end = (size - 1) // 64 * 64
    for at in range(0, end, 64):
        x, y, z, v, w = _round(s, at, x, y, z, v, w, K1, 1)
    mul = K1 + ((z & 0xFF) << 1)
    w = (w[0] + (size - 1 & 63), w[1])
    v = (v[0] + w[0], v[1])
    w = (w[0] + v[0], w[1])
    x, y, z, v, w = _round(s, size - 64, x, y, z, v, w, mul, 9)
    return _mix(_mix(v[0], w[0], mul) + _shift_mix(y) * K0 + z, _mix(v[1], w[1], mul) + x, mul)


Pair = tuple[int, int]


def _round(
    s: bytes, at: int, x: int, y: int, z: int, v: Pair, w: Pair, mul: int, weight: int
) -> tuple[int, int, int, Pair, Pair]:
    x = _rot(x + y + v[0] + _u64(s, at + 8), 37) * mul
    y = _rot(y + v[1] + _u64(s, at + 48), 42) * mul
    x ^= w[1] * weight
    y += v[0] * weight + _u64(s, at + 40)
    z = _rot(z + w[0], 33) * mul
    v = _weak(s, at, v[1] * mul, x + w[0])
    w = _weak(s, at + 32, z + w[1], y + _u64(s, at + 16))
    return z & MASK, y & MASK, x & MASK, v, w


def _weak(s: bytes, at: int, a: int, b: int) -> Pair:
    a += _u64(s, at)
    b = _rot(b + a + _u64(s, at + 24), 21)
    c = a
    a += _u64(s, at + 8) + _u64(s, at + 16)
    return (a + _u64(s, at + 24)) & MASK, (b + _rot(a, 44) + c) & MASK


def _mix(u: int, v: int, mul: int) -> int:
    a = _shift_mix((u ^ v) * mul)
    b = _shift_mix((v ^ a) * mul)
    return b * mul & MASK


def _shift_mix(value: int) -> int:
    value &= MASK
    return value ^ value >> 47


def _rot(value: int, bits: int) -> int:
    value &= MASK
    return (value >> bits | value << 64 - bits) & MASK


def _u64(s: bytes, at: int) -> int:
    return int.from_bytes(s[at : at + 8], "little")


def _u32(s: bytes, at: int) -> int:
    return int.from_bytes(s[at : at + 4], "little")


@pytest.mark.parametrize(
    ("text", "fingerprint"),
    [
        ("", 0x9AE16A3B2F90404F),
        ("test", 8581389452482819506),
        ("test" * 8, 2**64 - 4196240717365766262),
        ("test" * 64, 3500507768004279527),
    ],
)
def test_the_second_farm_hash_gives_the_published_fingerprints(text: str, fingerprint: int) -> None:
    assert farm_hash_64(text.encode()) == fingerprint


def test_farm_hash_takes_the_absolute_value_of_the_signed_fingerprint() -> None:
    assert farmhash64_nim("test") == 8581389452482819506
    assert farmhash64_nim("test" * 8) == 4196240717365766262
    assert farmhash64_nim("test" * 64) == 3500507768004279527
    assert farmhash64_nim("") == 2**64 - 0x9AE16A3B2F90404F


def test_farm_hash_agrees_with_the_published_algorithm_at_every_length_up_to_200() -> None:
    texts = [
        source[:n] for source in ("".join(chr(32 + n * 53 % 95) for n in range(200)), "ab" * 100) for n in range(201)
    ]
    assert [text for text in texts if farmhash64_nim(text) != absolute(farm_hash_64(text.encode()))] == []


def test_farm_hash_works_on_utf_8() -> None:
    assert farmhash64_nim("漢😀é") == absolute(farm_hash_64(bytes.fromhex("e6bca2 f09f9880 c3a9")))
    assert farmhash64_nim("a\0b") == absolute(farm_hash_64(bytes.fromhex("61 00 62")))


def absolute(fingerprint: int) -> int:
    """Absolute value of the signed number of the same 64 bits."""
    return min(fingerprint, 2**64 - fingerprint)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", 0),
        ("hello", 0x248BFA47),
        ("hello, world", 0x149BBB7F),
        ("The quick brown fox jumps over the lazy dog", 0x2E4FF723),
    ],
)
def test_both_murmurs_give_the_published_values_for_ascii_below_two_to_the_31(text: str, value: int) -> None:
    assert murmur3_32_nim(text) == value
    assert murmur3_32_js(text) == value


def test_above_two_to_the_31_one_murmur_is_unsigned_and_the_other_absolute() -> None:
    assert murmur3_32_nim("test") == 0xBA6BD213
    assert murmur3_32_js("test") == 2**32 - 0xBA6BD213


def test_the_murmurs_part_ways_beyond_ascii() -> None:
    assert murmur3_32_js("é") != murmur3_32_nim("é")
    assert murmur3_32_js("é") == _murmur_of_latin_1("é")


def _murmur_of_latin_1(text: str) -> int:
    """Murmur3-32 of one byte, seed 0, written out."""
    (k,) = text.encode("latin-1")
    k = k * 0xCC9E2D51 & 0xFFFFFFFF
    k = (k << 15 | k >> 17) & 0xFFFFFFFF
    h = (k * 0x1B873593 & 0xFFFFFFFF) ^ 1
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    h ^= h >> 16
    return min(h, 2**32 - h)
