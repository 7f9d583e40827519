"""Sections "Determine T_req", "Determine T_resp" and "Determine response group", and the number of groups."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repair_peers import SECOND, T_MAX, T_MIN, asking, chosen, of_bob, repairing, responding, t_req, t_resp
from scripted_peers import T, content, joined, sync
from sds_reference import (
    HASH_PROFILES,
    HashProfile,
    default_response_groups,
    hash_profile,
    in_response_group,
    t_req_offset,
    t_resp_offset,
)
from sds_reference.hash_profiles import FARMHASH64_NIM, SHA256_BE64
from test_bloom_hashes import farm_hash_64

profiles = st.sampled_from(list(HASH_PROFILES.values()))
ids = st.text(min_size=1, max_size=20)

# ---- by hand ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hashed", "t_min", "t_max", "offset"),
    [
        (0, 30, 120, 30),
        (89, 30, 120, 119),
        (90, 30, 120, 30),
        (1_000, 30, 120, 40),  # 1000 = 11 * 90 + 10
        (2**64 - 1, 30_000, 120_000, 51_615),  # 18446744073709551615 leaves 21615
        (7, 0, 1, 0),
        (7, 0, 10, 7),
        (12_345, 0, 600_000, 12_345),
    ],
)
def test_t_req_is_the_hash_of_both_ids_modulo_the_span_and_t_min(
    hashed: int, t_min: int, t_max: int, offset: int
) -> None:
    assert t_req_offset(chosen({"alice, m": hashed}), "alice", "m", t_min, t_max) == offset


@pytest.mark.parametrize(
    ("own", "sender", "hashed", "t_max", "offset"),
    [
        (0b1100, 0b1010, 7, 120, 42),  # 0b0110 = 6, 6 * 7
        (0b1100, 0b1010, 23, 120, 18),  # 6 * 23 = 138
        (5, 5, 999, 120, 0),
        (5, 6, 0, 120, 0),
        (1, 0, 119, 120, 119),
        (1, 0, 120, 120, 0),
        (2**64 - 1, 0, 2**64 - 1, 1_000, 225),  # the product is reduced, whatever its size: 615 * 615 = 378225
    ],
)
def test_t_resp_is_the_product_of_distance_and_hash_modulo_t_max(
    own: int, sender: int, hashed: int, t_max: int, offset: int
) -> None:
    profile = chosen({"alice": own, "bob": sender, "m": hashed})
    assert t_resp_offset(profile, "alice", "bob", "m", t_max) == offset


def test_the_product_is_reduced_and_not_the_hash_alone() -> None:
    # 6 * 50 = 300 = 2 * 120 + 60, where 6 * (50 % 120) would be 300: later than T_max.
    assert t_resp_offset(chosen({"alice": 6, "m": 50}), "alice", "bob", "m", 120) == 60


@pytest.mark.parametrize(
    ("own", "sender", "groups", "inside"),
    [(7, 4, 1, True), (7, 4, 2, False), (7, 4, 3, True), (7, 5, 2, True), (7, 5, 3, False), (130, 2, 128, True)],
)
def test_the_response_group_is_where_both_hashes_leave_the_same_rest(
    own: int, sender: int, groups: int, inside: bool
) -> None:
    profile = chosen({"alice, m": own, "bob, m": sender})
    assert in_response_group(profile, "alice", "bob", "m", groups) is inside


@pytest.mark.parametrize(
    ("participant", "sender", "message", "groups", "asks", "answers", "inside"),
    [
        ("alice", "bob", "m-1", 3, 80_365, 115_036, False),
        ("alice", "alice", "m-1", 7, 80_365, 0, True),
        ("carol", "bob", "0a4161597b", 2, 92_949, 56_880, True),
        ("zoë", "漢😀", "é", 4, 70_351, 3_903, False),
        ("dave", "bob", "m-2", 128, 34_305, 45_451, False),
    ],
)
def test_the_profile_of_waku_sds_gives_the_times_of_waku_sds_0_0_8(
    participant: str, sender: str, message: str, groups: int, asks: int, answers: int, inside: bool
) -> None:
    """The numbers come from the RepairManager of the package."""
    assert t_req_offset(SHA256_BE64, participant, message, T_MIN, T_MAX) == asks
    assert t_resp_offset(SHA256_BE64, participant, sender, message, T_MAX) == answers
    assert in_response_group(SHA256_BE64, participant, sender, message, groups) is inside


@settings(derandomize=True, deadline=None)
@given(ids, ids, ids, st.integers(1, 600_000), st.integers(1, 9))
def test_the_profile_of_nim_sds_gives_the_times_of_its_arithmetic(
    participant: str, sender: str, message: str, t_max: int, groups: int
) -> None:
    """Nim reduces both factors before it multiplies, in 64 bits with a sign."""

    def nim(text: str) -> int:
        return int.from_bytes(farm_hash_64(text.encode()).to_bytes(8, "big"), "big", signed=True)

    distance = abs(nim(participant) ^ nim(sender))
    assert t_req_offset(FARMHASH64_NIM, participant, message, 0, t_max) == abs(nim(participant + message)) % t_max
    assert t_resp_offset(FARMHASH64_NIM, participant, sender, message, t_max) == (
        (distance % t_max) * (abs(nim(message)) % t_max) % t_max
    )
    assert in_response_group(FARMHASH64_NIM, participant, sender, message, groups) == (
        abs(nim(participant + message)) % groups == abs(nim(sender + message)) % groups
    )


# ---- for all IDs -----------------------------------------------------------------------------------------------------


@settings(derandomize=True, deadline=None)
@given(profiles, ids, ids, st.integers(0, 10**6), st.integers(1, 10**6))
def test_t_req_lies_in_t_min_to_t_max(profile: HashProfile, own: str, message: str, t_min: int, span: int) -> None:
    assert t_min <= t_req_offset(profile, own, message, t_min, t_min + span) < t_min + span


@settings(derandomize=True, deadline=None)
@given(profiles, ids, ids, ids, st.integers(1, 10**6))
def test_t_resp_lies_in_nothing_to_t_max(profile: HashProfile, own: str, sender: str, message: str, t_max: int) -> None:
    assert 0 <= t_resp_offset(profile, own, sender, message, t_max) < t_max


@settings(derandomize=True, deadline=None)
@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1))
def test_a_signed_hash_makes_no_time_negative(own: int, sender: int, hashed: int) -> None:
    profile = chosen({"alice": own, "bob": sender, "m": hashed, "alice, m": hashed, "bob, m": own})
    assert 30 <= t_req_offset(profile, "alice", "m", 30, 120) < 120
    assert 0 <= t_resp_offset(profile, "alice", "bob", "m", 120) < 120
    assert in_response_group(profile, "alice", "bob", "m", 7) == (abs(hashed) % 7 == abs(own) % 7)


@settings(derandomize=True, deadline=None)
@given(profiles, ids, ids, st.integers(1, 10**6))
def test_the_original_sender_answers_at_once_and_is_in_every_group_of_its_own_messages(
    profile: HashProfile, own: str, message: str, number: int
) -> None:
    assert t_resp_offset(profile, own, own, message, number) == 0
    assert in_response_group(profile, own, own, message, number)


@settings(derandomize=True, deadline=None)
@given(profiles, ids, ids, ids)
def test_one_group_has_everybody(profile: HashProfile, own: str, sender: str, message: str) -> None:
    assert in_response_group(profile, own, sender, message, 1)


@pytest.mark.parametrize("name", HASH_PROFILES)
def test_every_argument_of_the_formulas_counts(name: str) -> None:
    profile = hash_profile(name)

    def answer(own: str, sender: str, message: str) -> int:
        return t_resp_offset(profile, own, sender, message, T_MAX)

    numbers = range(50)
    assert len({t_req_offset(profile, f"p-{n}", "m", T_MIN, T_MAX) for n in numbers}) > 45
    assert len({t_req_offset(profile, "p", f"m-{n}", T_MIN, T_MAX) for n in numbers}) > 45
    assert len({answer(f"p-{n}", "s", "m-1") for n in numbers}) > 30
    assert len({answer("p", f"s-{n}", "m-1") for n in numbers}) > 30
    assert len({answer("p", "s", f"m-{n}") for n in numbers}) > 30


@pytest.mark.parametrize("name", HASH_PROFILES)
def test_times_are_spread_over_their_span_and_a_group_has_its_share(name: str) -> None:
    profile, pairs = hash_profile(name), [(f"p-{n % 80}", f"m-{n // 80}") for n in range(4_000)]
    asks = Counter((t_req_offset(profile, own, message, T_MIN, T_MAX) - T_MIN) // 9_000 for own, message in pairs)
    answers = Counter(t_resp_offset(profile, own, "bob", message, T_MAX) // 12_000 for own, message in pairs)
    for bins in (asks, answers):
        assert sorted(bins) == list(range(10))
        assert all(250 < bins[number] < 550 for number in bins)
    inside = sum(in_response_group(profile, own, "bob", message, 4) for own, message in pairs)
    assert 850 < inside < 1_150


@pytest.mark.parametrize(
    ("participants", "groups"), [(0, 1), (1, 1), (127, 1), (128, 2), (255, 2), (256, 3), (1_000, 8), (100_000, 782)]
)
def test_there_is_one_group_more_than_there_are_full_128_participants(participants: int, groups: int) -> None:
    assert default_response_groups(participants) == groups


# ---- current_time ----------------------------------------------------------------------------------------------------


def first_eight_bytes(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big")


def test_a_participant_has_the_times_and_groups_of_the_formulas() -> None:
    config = repairing(SHA256_BE64, t_min_ms=30_000, t_max_ms=120_001, num_response_groups=3)
    alice, names = joined(config), [f"m-{number}" for number in range(100)]
    alice.receive(sync("s", *of_bob(*names)), T)
    assert t_req(alice) == {name: first_eight_bytes(f"alice{name}") % 90_001 + 30_000 for name in names}
    for name in names:
        alice.receive(content(name, at=1, sender="bob"), T)
    alice.receive(asking(*names), T)
    distance = first_eight_bytes("alice") ^ first_eight_bytes("bob")
    assert t_resp(alice) == {
        name: distance * first_eight_bytes(name) % 120_001
        for name in names
        if first_eight_bytes(f"alice{name}") % 3 == first_eight_bytes(f"bob{name}") % 3
    }
    assert 20 < len(t_resp(alice)) < 50


@pytest.mark.parametrize("after_ms", [0, 1, 3_600_000, -3_600_000])
def test_t_req_counts_from_the_detection_by_the_local_clock(after_ms: int) -> None:
    alice = joined(repairing(chosen({"alice, u": 500})))
    alice.receive(sync("s", *of_bob("u"), at=T + 10**9), T + after_ms)
    assert t_req(alice) == {"u": after_ms + T_MIN + 500}


@pytest.mark.parametrize("after_ms", [0, 1, 3_600_000, -3_600_000])
def test_t_resp_counts_from_the_request_by_the_local_clock(after_ms: int) -> None:
    alice = joined(repairing(responding(m=50 * SECOND)))
    alice.receive(content("m", sender="bob"), T - 7)
    alice.receive(asking("m"), T + after_ms)
    assert t_resp(alice) == {"m": after_ms + 50 * SECOND}


def test_every_participant_has_times_of_its_own() -> None:
    times = set()
    for number in range(20):
        member = joined(repairing(SHA256_BE64), f"member-{number}")
        member.receive(sync("s", *of_bob("u")), T)
        times |= set(t_req(member).values())
    assert len(times) == 20


@pytest.mark.parametrize("clock_ms", [1, 16, 100, SECOND])
def test_a_coarse_clock_shows_the_present_late_and_nothing_else(clock_ms: int) -> None:
    alice = joined(repairing(chosen({"alice": 1, "alice, u": 101, "m": 53}), clock_ms=clock_ms))
    alice.receive(content("m", sender="bob"), T)
    alice.receive(sync("s", *of_bob("u")), T + 1_717)
    alice.receive(asking("m"), T + 1_717)
    since = 1_717 // clock_ms * clock_ms
    assert t_req(alice) == {"u": since + 101 + T_MIN}
    assert t_resp(alice) == {"m": since + 53}
    due = -(-(since + 53) // clock_ms) * clock_ms
    assert not alice.tick(T + due - 1).broadcasts
    assert len(alice.tick(T + due).broadcasts) == 1


@pytest.mark.parametrize(("t_max_ms", "unit"), [(T_MAX, SECOND), (T_MAX + 1, 1)])
def test_times_may_be_counted_in_whole_seconds_where_the_bounds_are_such(t_max_ms: int, unit: int) -> None:
    alice = joined(repairing(chosen({"alice": 1, "alice, u": 100, "m": 50}), t_max_ms=t_max_ms, whole_seconds=True))
    low, span = T_MIN // unit, (t_max_ms - T_MIN) // unit
    alice.receive(content("m", sender="bob"), T)
    alice.receive(sync("s", *of_bob("u")), T + 1_700)
    alice.receive(asking("m"), T + 1_700)
    since = (T + 1_700) // unit
    assert t_req(alice) == {"u": (since + 100 % span + low) * unit - T}
    assert t_resp(alice) == {"m": (since + 50 % (t_max_ms // unit)) * unit - T}
