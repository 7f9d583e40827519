"""The hashes of the bloom profiles, against published vectors. The golden vectors contain more, and Node tests them,
too."""

from __future__ import annotations

import pytest

from sds_reference.bloom_hashes import farmhash64_nim, murmur3_32_js, murmur3_32_nim


def test_farm_hash_takes_the_absolute_value_of_the_signed_fingerprint() -> None:
    assert farmhash64_nim("test") == 8581389452482819506
    assert farmhash64_nim("test" * 8) == 4196240717365766262
    assert farmhash64_nim("test" * 64) == 3500507768004279527
    assert farmhash64_nim("") == 2**64 - 0x9AE16A3B2F90404F


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
    """Murmur3-32 with seed 0 of one Latin-1 byte, written out."""
    (k,) = text.encode("latin-1")
    k = k * 0xCC9E2D51 & 0xFFFFFFFF
    k = (k << 15 | k >> 17) & 0xFFFFFFFF
    h = (k * 0x1B873593 & 0xFFFFFFFF) ^ 1
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    h ^= h >> 16
    return min(h, 2**32 - h)
