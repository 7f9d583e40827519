"""Vector clocks and the rules by which they are updated."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearskies_club import NOW, A, B, C, bodies_of, get_updates, peer, plain, update
from clearskies_reference import (
    Config,
    MalformedMessageError,
    RefusedWriteError,
    StoredRecord,
    is_before,
    merge,
    vector_clock,
)
from clearskies_reference.vector_clock import MAX_INTEGER, MAX_MEMBERS

CLOCKS = st.dictionaries(st.sampled_from((A, B, C)), st.integers(1, 4))


@settings(deadline=None)
@given(CLOCKS, CLOCKS, CLOCKS)
def test_before_is_a_partial_order(one: dict[str, int], other: dict[str, int], third: dict[str, int]) -> None:
    assert is_before(one, one)
    assert (is_before(one, other) and is_before(other, one)) == (one == other)
    assert is_before(one, third) or not (is_before(one, other) and is_before(other, third))


@settings(deadline=None)
@given(CLOCKS, CLOCKS, CLOCKS)
def test_the_merged_clock_is_the_least_that_both_are_before(
    one: dict[str, int], other: dict[str, int], third: dict[str, int]
) -> None:
    both = merge(one, other)
    assert is_before(one, both)
    assert is_before(other, both)
    assert is_before(both, third) == (is_before(one, third) and is_before(other, third))
    assert both == merge(other, one) == merge(both, one)


def test_who_is_absent_has_zero() -> None:
    assert is_before({}, {A: 1})
    assert not is_before({A: 1}, {})
    assert is_before({A: 0}, {})
    assert vector_clock({A: 0, B: 2}) == {B: 2}


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        "{}",
        {"A" * 32: 1},
        {"a" * 31: 1},
        {A: -1},
        {A: MAX_INTEGER + 1},
        {A: 1.0},
        {A: True},
        {A: "1"},
        {f"{number:032x}": 1 for number in range(10_000)},
    ],
)
def test_what_is_no_vector_clock_is_refused(value: object) -> None:
    with pytest.raises(MalformedMessageError):
        vector_clock(value)


def test_numbers_of_64_bits_are_exact() -> None:
    for number in (1 << 53) + 1, (1 << 63) - 1, MAX_INTEGER:
        assert vector_clock({A: number}) == {A: number}


# ---- The four rules ----------------------------------------------------------------------------------------------


def clock_of(found: StoredRecord | None) -> Mapping[str, int]:
    assert found is not None
    return found.record.vector_clock


def test_a_change_counts_and_so_does_its_first_sending() -> None:
    one = peer()
    uuid = one.put("k", "1", NOW).uuid
    assert clock_of(one.store.get(uuid)) == {A: 1}
    one.connect(1, B, one.level, NOW)
    one.connect(2, C, one.level, NOW)
    (sent,) = bodies_of(one.receive(1, get_updates(), NOW).sent)
    assert sent["vector_clock"] == {A: 2}
    # For all other peers the change has the same clock. Otherwise their changes would look concurrent.
    assert bodies_of(one.receive(2, get_updates(), NOW).sent)[0]["vector_clock"] == {A: 2}
    assert bodies_of(one.put("k", "2", NOW).sent)[0]["vector_clock"] == {A: 4}


def test_receiving_counts_in_the_next_change() -> None:
    one = peer()
    one.connect(1, B, one.level, NOW)
    one.receive(1, plain(update(vector_clock={B: 5})), NOW)
    assert clock_of(one.store.get("1" * 32)) == {B: 5}
    one.put("k", "2", NOW)
    assert clock_of(one.store.get("1" * 32)) == {A: 2, B: 5}


def test_the_example_of_the_rules() -> None:
    """Current {A:2, B:1}, and B receives {A:5, C:1}."""
    one = peer(B)
    one.connect(1, A, one.level, NOW)
    one.receive(1, plain(update(vector_clock={A: 2, B: 1}, last_updated_by=A)), NOW)
    late = update(vector_clock={A: 5, C: 1}, last_updated_by=C, update_time="2015-01-01T00:00:00Z")
    one.receive(1, plain(late), NOW)
    assert clock_of(one.store.get("1" * 32)) == {A: 5, B: 1, C: 1}
    one.put("k", "0", NOW)
    assert clock_of(one.store.get("1" * 32)) == {A: 5, B: 4, C: 1}


def test_to_the_letter_relays_count_and_old_changes_look_concurrent() -> None:
    one = peer(config=Config(clocks_count_hops=True))
    for link, peer_id in ((1, B), (2, C)):
        one.connect(link, peer_id, one.level, NOW)
    one.receive(2, get_updates(), NOW)
    (relayed,) = bodies_of(one.receive(1, plain(update(vector_clock={B: 2})), NOW).sent)
    assert relayed["vector_clock"] == {A: 2, B: 2}
    newer = update(vector_clock={B: 4}, last_updated_rev=2, value=2, update_time="2001-01-01T00:00:00Z")
    effects = one.receive(1, plain(newer), NOW)
    assert [type(event).__name__ for event in effects.events] == ["Conflict"]


def test_by_default_a_change_descends_from_what_its_writer_knew_whoever_has_relayed_it() -> None:
    one = peer()
    one.connect(1, B, one.level, NOW)
    one.receive(1, plain(update(vector_clock={B: 2})), NOW)
    newer = update(vector_clock={B: 4}, last_updated_rev=2, value=2, update_time="2001-01-01T00:00:00Z")
    effects = one.receive(1, plain(newer), NOW)
    assert [type(event).__name__ for event in effects.events] == ["Changed"]


def test_one_clock_for_all_records_knows_what_it_has_received_in_any() -> None:
    one = peer(config=Config(clock_per_peer=True))
    one.connect(1, B, one.level, NOW)
    one.receive(1, plain(update(vector_clock={B: 7})), NOW)
    uuid = one.put("another", "1", NOW).uuid
    assert clock_of(one.store.get(uuid)) == {A: 2, B: 7}


def test_nothing_follows_the_largest_number_and_what_is_refused_changes_nothing() -> None:
    one = peer()
    one.connect(1, B, one.level, NOW)
    one.receive(1, plain(update(vector_clock={A: MAX_INTEGER, B: 1})), NOW)
    with pytest.raises(RefusedWriteError, match="full"):
        one.put("k", "2", NOW)
    with pytest.raises(RefusedWriteError, match="full"):
        one.rename("k", "l", NOW)
    with pytest.raises(RefusedWriteError, match="full"):
        one.delete("k", NOW)
    assert one.store.revision == 1
    assert one.records()[0].value == '{"n":1}'


def test_a_clock_that_would_get_too_many_members_is_refused() -> None:
    one = peer()
    one.connect(1, B, one.level, NOW)
    many = {f"{number:032x}": 1 for number in range(MAX_MEMBERS)}
    one.receive(1, plain(update(vector_clock={B: 1})), NOW)
    effects = one.receive(1, plain(update(vector_clock=many, last_updated_by=C, value=2)), NOW)
    assert "members" in effects.refused[0]
    assert clock_of(one.store.get("1" * 32)) == {B: 1}
