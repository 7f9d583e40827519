"""Section "Participant state": the bloom filter of a channel, bounded and rolled over at its capacity."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from sds_reference import PROFILES, BloomParameters, BloomProfile, RollingBloomFilter, build_filter
from sds_reference.bloom_profiles import WAKU_SDS_JS

TEN = BloomParameters.sized(10, 0.000001)


def filter_of_ten(retained: int = 4) -> RollingBloomFilter:
    """Capacity 10 with an error rate that makes a false positive among a few dozen IDs all but impossible."""
    return RollingBloomFilter(WAKU_SDS_JS, TEN, retained)


def members(those: RollingBloomFilter, count: int) -> list[int]:
    return [n for n in range(count) if f"m-{n}" in those]


def test_an_empty_filter_holds_nothing_and_has_its_full_length() -> None:
    empty = filter_of_ten()
    assert members(empty, 20) == []
    assert empty.to_wire() == bytes(TEN.byte_length)


def test_every_id_is_held_up_to_the_capacity() -> None:
    those = filter_of_ten()
    for n in range(10):
        those.insert(f"m-{n}")
    assert members(those, 20) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]


def test_one_id_beyond_the_capacity_leaves_the_newest_retained_ones_and_itself() -> None:
    those = filter_of_ten(retained=4)
    for n in range(11):
        those.insert(f"m-{n}")
    assert members(those, 20) == [6, 7, 8, 9, 10]
    assert those.to_wire() == build_filter(WAKU_SDS_JS, TEN, [f"m-{n}" for n in (6, 7, 8, 9, 10)])


def test_the_next_roll_over_comes_when_the_capacity_is_reached_again() -> None:
    those = filter_of_ten(retained=4)
    for n in range(16):
        those.insert(f"m-{n}")
    assert members(those, 20) == [6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
    those.insert("m-16")
    assert members(those, 20) == [12, 13, 14, 15, 16]


def test_nothing_but_the_new_id_stays_when_nothing_is_retained() -> None:
    one = BloomParameters.sized(1, 0.000001)
    those = RollingBloomFilter(WAKU_SDS_JS, one, 0)
    for n in range(3):
        those.insert(f"m-{n}")
    assert those.to_wire() == build_filter(WAKU_SDS_JS, one, ["m-2"])


def test_duplicates_do_not_count_towards_the_capacity() -> None:
    those = filter_of_ten()
    for _ in range(50):
        for n in range(10):
            those.insert(f"m-{n}")
    assert members(those, 20) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]


def test_an_id_that_was_rolled_out_can_be_put_in_again() -> None:
    those = filter_of_ten(retained=4)
    for n in range(11):
        those.insert(f"m-{n}")
    those.insert("m-0")
    assert members(those, 20) == [0, 6, 7, 8, 9, 10]


def test_the_wire_bytes_follow_every_insertion() -> None:
    those = filter_of_ten()
    those.insert("m-0")
    assert those.to_wire() == build_filter(WAKU_SDS_JS, TEN, ["m-0"])
    those.insert("m-1")
    assert those.to_wire() == build_filter(WAKU_SDS_JS, TEN, ["m-0", "m-1"])
    those.insert("m-1")
    assert those.to_wire() == build_filter(WAKU_SDS_JS, TEN, ["m-1", "m-0"])


def test_an_id_is_hashed_once_however_often_the_filter_rolls_over() -> None:
    hashed: Counter[str] = Counter()

    def counted(text: str) -> int:
        hashed[text] += 1
        return WAKU_SDS_JS.hash(text)

    profile = replace(WAKU_SDS_JS, hash=counted)
    parameters = BloomParameters.sized(10_000, 0.001)
    those = RollingBloomFilter(profile, parameters, 5_000)
    for n in range(10_001):
        those.insert(f"m-{n}")
    assert hashed.total() == 2 * 10_001  # two for double hashing
    assert those.to_wire() == build_filter(WAKU_SDS_JS, parameters, [f"m-{n}" for n in range(5_000, 10_001)])


def test_bytes_already_given_out_do_not_change() -> None:
    those = filter_of_ten()
    before = those.to_wire()
    those.insert("m-0")
    assert before == bytes(TEN.byte_length)


def test_the_filter_stays_bounded_and_keeps_the_newest_ids_over_thirty_capacities() -> None:
    parameters = BloomParameters.sized(100, 0.001)
    those = RollingBloomFilter(WAKU_SDS_JS, parameters, 50)
    lengths = set()
    for n in range(3_000):
        those.insert(f"m-{n}")
        lengths.add(len(those.to_wire()))
        newest = range(max(0, n - 50), n + 1)
        assert all(f"m-{m}" in those for m in (newest[0], newest[-1]))
    assert lengths == {192}
    assert all(f"m-{n}" in those for n in range(2_949, 3_000))
    assert len(members(those, 2_000)) < 20


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_false_positives_at_capacity_keep_to_the_error_rate(profile: BloomProfile) -> None:
    parameters = BloomParameters.sized(10_000, 0.001)
    those = RollingBloomFilter(profile, parameters, 5_000)
    for n in range(10_000):
        those.insert(f"message-{n}")
    view = profile.read(those.to_wire(), parameters)
    assert all(f"message-{n}" in view for n in range(10_000))
    false_positives = sum(f"message-{n}" in view for n in range(10_000, 60_000))
    assert 0 < false_positives <= 75  # 1.5 * 0.001 * 50,000
