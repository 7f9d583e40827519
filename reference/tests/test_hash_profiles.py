"""Hash profiles of SDS-R, against hashes that are computed without the model's libraries."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sds_reference import HASH_PROFILES, ConfigurationError, HashProfile, hash_profile
from sds_reference.hash_profiles import FARMHASH64_NIM, MURMUR3_32_NIM, SHA256_BE64

TEXTS = [
    "",
    "a",
    "alice",
    "bob",
    "m-1",
    "0a4161597b",
    "alicem-1",
    "test" * 8,
    "test" * 64,
    "é",
    "漢😀",
    "a\0b",
    "x" * 999,
]


def signed_64(value: int) -> int:
    """The signed number with the same 64 bits."""
    return int.from_bytes(value.to_bytes(8, "little"), "little", signed=True)


def test_an_unknown_name_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(ConfigurationError, match="no hash profile 'md5': known are sha256-be64, farmhash64-nim, murm"):
        hash_profile("md5")


# ---- sha256-be64 -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "first_eight"),
    [
        ("", "e3b0c44298fc1c14"),
        ("abc", "ba7816bf8f01cfea"),
        ("The quick brown fox jumps over the lazy dog", "d7a8fbb307d78094"),
    ],
)
def test_sha256_gives_the_first_eight_bytes_of_the_published_digests_big_endian(text: str, first_eight: str) -> None:
    assert SHA256_BE64.hash(text) == int(first_eight, 16)


@pytest.mark.parametrize("text", TEXTS)
def test_sha256_works_on_the_utf_8_of_the_text(text: str) -> None:
    assert SHA256_BE64.hash(text) == int(sha256(text.encode("utf-8")).hexdigest()[:16], 16)


IN_NODE = """
const { createHash } = require("crypto");
const first = (text) => createHash("sha256").update(text, "utf8").digest().readBigUInt64BE(0);
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(texts.map((one) => texts.map((other) =>
  [first(one), first(`${one}${other}`), first(one) ^ first(other)].map(String)))));
"""


def test_sha256_is_what_node_makes_of_the_same_texts() -> None:
    node = shutil.which("node")
    if node is None:
        assert "CI" not in os.environ, "node is part of the CI"
        return
    output = subprocess.run([node, "-e", IN_NODE], input=json.dumps(TEXTS), capture_output=True, check=True, text=True)
    ours = [[[SHA256_BE64.hash(a), SHA256_BE64.hash(a, b), SHA256_BE64.distance(a, b)] for b in TEXTS] for a in TEXTS]
    assert [[[int(number) for number in pair] for pair in row] for row in json.loads(output.stdout)] == ours


# ---- farmhash64-nim --------------------------------------------------------------------------------------------------


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
    assert FARMHASH64_NIM.hash(text) == abs(published)


def test_the_distance_of_farm_hash_is_the_absolute_value_of_the_signed_xor() -> None:
    # In 64 bits of two's complement: 7717383DAA85B5B2 XOR C5C3F54CD962178A = B2D4CD7173E7A238, a negative number.
    assert signed_64(0x7717383DAA85B5B2) == 8581389452482819506
    assert signed_64(0xC5C3F54CD962178A) == -4196240717365766262
    assert FARMHASH64_NIM.distance("test", "test" * 8) == 2**64 - 0xB2D4CD7173E7A238
    assert FARMHASH64_NIM.distance("test", "test" * 8) != FARMHASH64_NIM.hash("test") ^ FARMHASH64_NIM.hash("test" * 8)
    assert FARMHASH64_NIM.distance("test", "test" * 64) == 8581389452482819506 ^ 3500507768004279527


# ---- murmur3-32-nim --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "published"),
    [
        ("", 0),
        ("test", 0xBA6BD213),
        ("Hello, world!", 0xC0363E43),
        ("The quick brown fox jumps over the lazy dog", 0x2E4FF723),
    ],
)
def test_murmur_gives_the_published_values_without_a_sign(text: str, published: int) -> None:
    assert MURMUR3_32_NIM.hash(text) == published


def test_the_distance_of_murmur_is_the_plain_xor() -> None:
    assert MURMUR3_32_NIM.distance("test", "Hello, world!") == 0xBA6BD213 ^ 0xC0363E43


# ---- all of them -----------------------------------------------------------------------------------------------------

profiles = st.sampled_from(list(HASH_PROFILES.values()))


@settings(derandomize=True, deadline=None)
@given(profiles, st.text(), st.text())
def test_two_strings_are_concatenated(profile: HashProfile, one: str, other: str) -> None:
    assert profile.hash(one, other) == profile.hash(one + other) == profile.hash("", one + other)


@settings(derandomize=True, deadline=None)
@given(profiles, st.text(), st.text())
def test_no_hash_and_no_distance_is_negative(profile: HashProfile, one: str, other: str) -> None:
    bits = 32 if profile is MURMUR3_32_NIM else 64
    for number in (profile.hash(one), profile.hash(one, other), profile.distance(one, other)):
        assert 0 <= number < 2**bits


@settings(derandomize=True, deadline=None)
@given(profiles, st.text(), st.text())
def test_the_distance_is_symmetric_and_nothing_to_oneself(profile: HashProfile, one: str, other: str) -> None:
    assert profile.distance(one, one) == 0
    assert profile.distance(one, other) == profile.distance(other, one)
    assert (profile.distance(one, other) == 0) == (profile.integer(one) == profile.integer(other))


def test_the_order_of_two_strings_counts() -> None:
    for profile in HASH_PROFILES.values():
        assert profile.hash("alice", "m-1") != profile.hash("m-1", "alice")


@pytest.mark.parametrize(("one", "other"), [(-(2**63), 0), (-(2**63), 2**63 - 1), (-1, 0), (5, -6)])
def test_a_signed_hash_of_any_value_has_neither_sign_nor_overflow(one: int, other: int) -> None:
    profile = HashProfile("", "signed", {"a": one, "b": other, "ab": one}.__getitem__)
    assert profile.hash("a") == profile.hash("a", "b") == abs(one)
    assert profile.distance("a", "b") == abs(one ^ other)


def test_a_private_profile_combines_two_strings_in_its_own_way() -> None:
    profile = HashProfile("", "lengths", len, lambda a, b: f"{a}/{b}")
    assert (profile.hash("ab"), profile.hash("ab", "c"), profile.distance("abc", "ab")) == (2, 4, 1)
