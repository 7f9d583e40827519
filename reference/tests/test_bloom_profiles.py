"""Bloom profiles: sizes, index formula, wire layouts, and that no two of them understand each other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from sds_reference import PROFILES, BloomParameters, ConfigurationError, ForeignFilterError, bloom_profile, build_filter
from sds_reference.bloom_profiles import NIM_SDS, NIM_SDS_MURMUR3, WAKU_SDS_JS

RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).parent / "data" / "waku_sds_filters.json").read_text(encoding="utf-8")
)
SETS: dict[str, Any] = RECORDED["sets"]

TEN_THOUSAND = BloomParameters.sized(10_000, 0.001)
FOUR = BloomParameters.sized(4, 0.001)


def fixed_hash(text: str) -> int:
    """Hashes that give bits 3, 10, 17, 24, 31, 38, 45, 52, 59 and 66 - 60 = 6 of 60."""
    return {"m": 123, "m b": 67}[text]


def big_endian_bits(wire: bytes) -> Iterator[int]:
    for at in range(0, len(wire), 8):
        word = int.from_bytes(wire[at : at + 8], "big")
        yield from (at * 8 + bit for bit in range(64) if word >> bit & 1)


# ---- @waku/sds -------------------------------------------------------------------------------------------------------


def test_the_recorded_library_uses_the_default_size() -> None:
    assert RECORDED["library"] == "@waku/sds 0.0.8"
    assert (RECORDED["capacity"], RECORDED["error_rate"]) == (10_000, 0.001)
    assert (TEN_THOUSAND.bits, TEN_THOUSAND.hashes, TEN_THOUSAND.byte_length) == (150_000, 10, 18_752)


@pytest.mark.parametrize("name", SETS)
def test_the_javascript_profile_makes_the_bytes_of_the_library(name: str) -> None:
    recorded = SETS[name]
    wire = build_filter(WAKU_SDS_JS, TEN_THOUSAND, [row["id"] for row in recorded["ids"]])
    assert len(wire) == recorded["byte_length"] == 18_752
    assert sha256(wire).hexdigest() == recorded["sha256"]


def test_the_javascript_profile_sets_the_bits_of_the_library_for_each_id() -> None:
    rows = [row for recorded in SETS.values() for row in recorded["ids"]]
    assert len(rows) == 105
    differing = [
        row["id"]
        for row in rows
        if list(big_endian_bits(build_filter(WAKU_SDS_JS, TEN_THOUSAND, [row["id"]]))) != row["bits"]
    ]
    assert differing == []


def test_the_javascript_profile_writes_bare_big_endian_words() -> None:
    profile = replace(WAKU_SDS_JS, hash=fixed_hash)
    assert build_filter(profile, FOUR, ["m"]).hex() == "0810204081020448"


@pytest.mark.parametrize("length", [0, 1, 18_751, 18_753, 65_536])
def test_the_javascript_profile_refuses_a_filter_of_another_length(length: int) -> None:
    with pytest.raises(ForeignFilterError, match=f"{length} bytes instead of the 18752 agreed"):
        WAKU_SDS_JS.read(bytes(length), TEN_THOUSAND)


# ---- nim-sds ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", [NIM_SDS, NIM_SDS_MURMUR3])
def test_the_nim_envelope_carries_little_endian_words_and_its_size(profile: Any) -> None:
    wire = build_filter(replace(profile, hash=fixed_hash), FOUR, ["m"])
    assert wire.hex(" ") == (
        "0a 08 48 04 02 81 40 20 10 08 "  # 1 the bit array
        "10 04 "  # 2 capacity 4
        "18 e8 07 "  # 3 error rate in millionths: 1000
        "20 0a "  # 4 hash count 10
        "28 3c"  # 5 bit count 60
    )


def test_a_default_nim_envelope_has_a_head_and_four_numbers() -> None:
    wire = build_filter(NIM_SDS, TEN_THOUSAND, ["m"])
    assert len(wire) == 4 + 18_752 + 12
    assert wire[:4].hex() == "0ac09201"
    assert wire[-12:].hex(" ") == "10 90 4e 18 e8 07 20 0a 28 f0 93 09"


def test_a_nim_filter_is_read_with_the_size_it_carries() -> None:
    thousand = BloomParameters.sized(1_000, 0.01)
    view = NIM_SDS.read(build_filter(NIM_SDS, thousand, ["m-1", "m-2"]), TEN_THOUSAND)
    assert view.parameters == BloomParameters(1_000, 0.01, 10_000, 7)
    assert ["m-1" in view, "m-2" in view, "m-3" in view] == [True, True, False]


@pytest.mark.parametrize(
    "envelope",
    [
        pytest.param("", id="nothing"),
        pytest.param("0a08 00", id="truncated"),
        pytest.param("0a08 0000000000000000 1004 18e807 28 3c", id="no hashes"),
        pytest.param("0a08 0000000000000000 1004 18e807 2041 283c", id="65 hashes"),
        pytest.param("0a08 0000000000000000 1004 18e807 200a", id="no bits"),
        pytest.param("0a08 0000000000000000 1004 18e807 200a 2840", id="8 bytes for 64 bits"),
        pytest.param("0a07 00000000000000 1004 18e807 200a 283c", id="7 bytes for 60 bits"),
        pytest.param("1004 18e807 200a 288180808004", id="2^30 + 1 bits"),
        pytest.param("ff" * 40, id="noise"),
        pytest.param("00" * 18_752, id="zeros"),
    ],
)
def test_the_nim_profile_refuses_what_is_not_its_envelope(envelope: str) -> None:
    with pytest.raises(ForeignFilterError):
        NIM_SDS.read(bytes.fromhex(envelope), FOUR)


def test_the_smallest_nim_filter_has_one_bit_and_one_hash() -> None:
    one = BloomParameters.sized(1, 0.9)
    wire = bytes.fromhex("0a08 0100000000000000 1001 18a0f736 2001 2801")
    assert build_filter(NIM_SDS, one, ["m"]) == wire
    assert NIM_SDS.read(wire, FOUR).parameters == one == BloomParameters(1, 0.9, 1, 1)


def test_the_nim_profile_asks_for_as_many_bytes_as_the_largest_size_it_allows_needs() -> None:
    with pytest.raises(ForeignFilterError, match="8 bytes for 1073741824 bits"):
        NIM_SDS.read(bytes.fromhex("0a08 0000000000000000 1004 18e807 200a 288080808004"), FOUR)


def test_the_nim_profile_reads_the_largest_hash_count_it_allows() -> None:
    wire = bytes.fromhex("0a08 ffffffffffffffff 1004 18e807 2040 283c")
    assert NIM_SDS.read(wire, FOUR).parameters.hashes == 64


# ---- all -------------------------------------------------------------------------------------------------------------


def test_the_positions_are_byte_and_mask_of_each_index() -> None:
    little = replace(NIM_SDS, hash=fixed_hash).positions("m", FOUR)
    big = replace(WAKU_SDS_JS, hash=fixed_hash).positions("m", FOUR)
    assert little == ((0, 8), (1, 4), (2, 2), (3, 1), (3, 128), (4, 64), (5, 32), (6, 16), (7, 8), (0, 64))
    assert big == ((7, 8), (6, 4), (5, 2), (4, 1), (4, 128), (3, 64), (2, 32), (1, 16), (0, 8), (7, 64))


@pytest.mark.parametrize("name", ["waku-sds-js", "nim-sds", "nim-sds-murmur3"])
def test_a_profile_reads_its_own_filters(name: str) -> None:
    profile = bloom_profile(name)
    view = profile.read(build_filter(profile, TEN_THOUSAND, ["m-1", "é", "漢😀", ""]), TEN_THOUSAND)
    assert ["m-1" in view, "é" in view, "漢😀" in view, "" in view, "m-2" in view] == [True, True, True, True, False]


@pytest.mark.parametrize(("writer", "reader"), [(a, b) for a in PROFILES for b in PROFILES if a != b])
def test_no_profile_understands_the_filter_of_another(writer: str, reader: str) -> None:
    ids = [f"m-{n}" for n in range(50)]
    wire = build_filter(PROFILES[writer], TEN_THOUSAND, ids)
    if "waku-sds-js" in (writer, reader):
        with pytest.raises(ForeignFilterError):
            PROFILES[reader].read(wire, TEN_THOUSAND)
    else:
        view = PROFILES[reader].read(wire, TEN_THOUSAND)
        assert [message_id for message_id in ids if message_id in view] == []


@pytest.mark.parametrize(
    ("capacity", "error_rate", "bits", "hashes", "byte_length"),
    [
        (10_000, 0.001, 150_000, 10, 18_752),
        (1_000, 0.01, 10_000, 7, 1_256),
        (1, 0.5, 2, 1, 8),
        (64, 0.3, 192, 2, 32),
        (21, 0.3, 63, 2, 8),
        (1, 0.99, 1, 1, 8),
    ],
)
def test_the_size_follows_from_capacity_and_error_rate(
    capacity: int, error_rate: float, bits: int, hashes: int, byte_length: int
) -> None:
    parameters = BloomParameters.sized(capacity, error_rate)
    assert parameters == BloomParameters(capacity, error_rate, bits, hashes)
    assert parameters.byte_length == byte_length


@pytest.mark.parametrize(
    ("capacity", "error_rate"),
    [(0, 0.001), (-1, 0.001), (10, 0.0), (10, 1.0), (10, -0.1), (71_582_789, 0.001), (2**30 + 1, 0.9)],
)
def test_a_size_without_meaning_is_refused(capacity: int, error_rate: float) -> None:
    with pytest.raises(ConfigurationError, match="bloom filter of"):
        BloomParameters.sized(capacity, error_rate)


def test_the_largest_size_allowed_has_two_to_the_thirty_bits_at_most() -> None:
    assert BloomParameters.sized(71_582_788, 0.001).bits == 1_073_741_820
    assert BloomParameters.sized(2**30, 0.9).bits == 2**30


def test_an_unknown_profile_is_refused_with_the_names_of_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match=r"'mine': known are waku-sds-js, nim-sds, nim-sds-murmur3"):
        bloom_profile("mine")
