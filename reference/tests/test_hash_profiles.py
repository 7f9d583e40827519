"""Hash profiles of SDS-R: published values of those that no library computes.

The golden vectors contain all profiles. hashlib and Node compute those of sha256-be64.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sds_reference import HASH_PROFILES, ConfigurationError, HashProfile, hash_profile
from sds_reference.bloom_hashes import farmhash64_nim, murmur3_32_js, murmur3_32_nim
from sds_reference.hash_profiles import FARMHASH64_NIM, MURMUR3_32_NIM


def test_an_unknown_name_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(ConfigurationError, match="no hash profile 'md5': known are sha256-be64, farmhash64-nim, murm"):
        hash_profile("md5")


@pytest.mark.parametrize(
    ("text", "published"),
    [
        ("", 0x9AE16A3B2F90404F - 2**64),
        ("test", 8581389452482819506),
        ("test" * 8, -4196240717365766262),
        ("test" * 64, 3500507768004279527),
    ],
)
def test_farm_hash_is_the_absolute_value_of_the_published_signed_fingerprint(text: str, published: int) -> None:
    assert FARMHASH64_NIM.integer(text) == published
    assert FARMHASH64_NIM.hash(text) == farmhash64_nim(text) == abs(published)


def test_the_distance_of_farm_hash_is_the_absolute_value_of_the_signed_xor() -> None:
    # In 64 bits of two's complement: 7717383DAA85B5B2 XOR C5C3F54CD962178A = B2D4CD7173E7A238, a negative number.
    assert FARMHASH64_NIM.distance("test", "test" * 8) == 2**64 - 0xB2D4CD7173E7A238
    assert FARMHASH64_NIM.distance("test", "test" * 64) == 8581389452482819506 ^ 3500507768004279527


@pytest.mark.parametrize(
    ("text", "published", "absolute"),
    [
        ("", 0, 0),
        ("hello", 0x248BFA47, 0x248BFA47),
        ("test", 0xBA6BD213, 2**32 - 0xBA6BD213),
        ("The quick brown fox jumps over the lazy dog", 0x2E4FF723, 0x2E4FF723),
    ],
)
def test_the_murmur_of_nim_has_the_published_value_and_that_of_javascript_its_absolute_value(
    text: str, published: int, absolute: int
) -> None:
    assert (MURMUR3_32_NIM.hash(text), murmur3_32_nim(text), murmur3_32_js(text)) == (published, published, absolute)


profiles = st.sampled_from(list(HASH_PROFILES.values()))


@settings(derandomize=True, deadline=None)
@given(profiles, st.text(), st.text())
def test_two_strings_are_concatenated_and_their_distance_is_symmetric_and_not_negative(
    profile: HashProfile, one: str, other: str
) -> None:
    assert profile.hash(one, other) == profile.hash(one + other)
    assert profile.distance(one, one) == 0
    distance = profile.distance(one, other)
    assert 0 <= distance == profile.distance(other, one)
    assert (distance == 0) == (profile.integer(one) == profile.integer(other))
