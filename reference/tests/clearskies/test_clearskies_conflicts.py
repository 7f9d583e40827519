"""Sections "Conflicts" and "Deleted Records": the newer of two records, the winner, and the resulting content."""

from __future__ import annotations

from typing import Any

import pytest

from clearskies_club import NOW, RW, A, B, C, D, bodies_of, get_updates, peer, plain, update, values
from clearskies_reference import Changed, Config, Conflict, Effects, LoserOfKey, Peer, Resolution

EARLY, LATE = "2014-01-01T00:00:00Z", "2014-01-01T00:00:01Z"


def linked(**config: Any) -> Peer:
    """A with links to B, C and D. D has asked for updates."""
    one = peer(config=Config(**config))
    for number, peer_id in enumerate((B, C, D), start=1):
        one.connect(number, peer_id, RW, NOW)
    one.receive(3, get_updates(), NOW)
    return one


def take(one: Peer, value: object = 1, time: str = EARLY, clock: dict[str, int] | None = None, **more: Any) -> Effects:
    """Let a peer receive an update. Its writer is the peer with the largest number in the clock; this number is the
    revision."""
    clock = clock or {B: 1}
    by = max(clock, key=lambda peer_id: clock[peer_id])
    fields = {"value": value, "update_time": time, "vector_clock": clock, "last_updated_by": by}
    return one.receive(1, plain(update(**fields | {"last_updated_rev": clock[by]} | more)), NOW)


def describe(effects: Effects) -> list[str]:
    return [type(event).__name__ for event in effects.events]


def test_newer_replaces_even_with_a_smaller_time() -> None:
    one = linked()
    take(one, 1, LATE, {B: 1})
    effects = take(one, 2, EARLY, {B: 2})
    assert (values(one), describe(effects), len(effects.sent)) == ({"k": "2"}, ["Changed"], 1)


def test_older_is_discarded_even_with_a_larger_time() -> None:
    one = linked()
    take(one, 2, EARLY, {B: 2})
    effects = take(one, 1, LATE, {B: 1})
    assert (values(one), describe(effects), effects.sent) == ({"k": "2"}, [], [])


def test_equal_is_discarded() -> None:
    one = linked()
    take(one, 1, EARLY, {B: 1})
    effects = take(one, 2, LATE, {B: 1}, last_updated_by=C)
    assert (values(one), describe(effects), effects.sent) == ({"k": "1"}, [], [])
    assert one.known() == {B: 1, C: 1}


TWO: tuple[dict[str, Any], ...] = (
    {"value": 1, "time": EARLY, "clock": {B: 2, C: 1}},
    {"value": 2, "time": LATE, "clock": {B: 1, C: 2}},
)


@pytest.mark.parametrize("order", [TWO, TWO[::-1]], ids=["ascending", "descending"])
def test_the_largest_time_wins_in_any_order_and_the_clock_is_that_of_both(order: tuple[dict[str, Any], ...]) -> None:
    one = linked()
    take(one, **order[0])
    effects = take(one, **order[1])
    assert effects.events[0] == Conflict("1" * 32, "1" * 32)
    assert describe(effects)[1:] == (["Changed"] if order is TWO else [])
    # The result is sent to others only if it differs.
    assert [body["vector_clock"] for body in bodies_of(effects.sent)] == ([{B: 2, C: 2}] if order is TWO else [])
    (record,) = one.records()
    assert (record.value, record.version, record.vector_clock) == ("2", (C, 2), {B: 2, C: 2})
    assert bodies_of(one.receive(3, get_updates(), NOW).sent)[0]["vector_clock"] == {B: 2, C: 2}


TIES = [
    ("2014-01-01T00:00:00.1Z", "2014-01-01T00:00:00.10000000001Z"),
    ("2014-01-01T00:00:00Z", "2014-01-01T00:00:00.000000001Z"),
    ("2014-01-01T12:00:00+02:00", "2014-01-01T10:30:00Z"),
    ("2014-01-01T00:00:00Z", "+12014-01-01T00:00:00Z"),
]


@pytest.mark.parametrize(("smaller", "larger"), TIES)
def test_times_decide_at_full_precision(smaller: str, larger: str) -> None:
    for times in ((smaller, larger), (larger, smaller)):
        one = linked()
        take(one, "B", times[0], {B: 1})
        take(one, "C", times[1], {C: 1})
        assert values(one) == {"k": '"C"' if times[1] == larger else '"B"'}


def test_ties_are_decided_alike_in_any_order() -> None:
    versions = [("B", {B: 1}), ("C", {C: 1}), ("D", {D: 1})]
    found = set()
    for shift in range(3):
        one = linked()
        for value, clock in versions[shift:] + versions[:shift]:
            take(one, value, EARLY, clock)
        found.add(str(values(one)))
    assert len(found) == 1


def test_a_rename_and_an_edit_are_a_conflict_of_one_record() -> None:
    one = linked()
    take(one, 1, EARLY, {B: 1})
    take(one, 1, EARLY, {B: 2}, key="l")
    effects = take(one, 2, LATE, {B: 1, C: 5})
    assert describe(effects) == ["Conflict", "Changed"]
    assert values(one) == {"k": "2"}
    assert len(one.records()) == 1


# ---- One key, two records ----------------------------------------------------------------------------------------


def two_of_a_key(one: Peer, first: str, second: str) -> Effects:
    take(one, {"b": 1, "n": 1}, first, {B: 1})
    return take(one, {"c": 2, "n": 2}, second, {C: 1}, uuid="2" * 32)


@pytest.mark.parametrize("times", [(EARLY, LATE), (LATE, EARLY)])
def test_of_two_records_with_a_key_the_one_with_the_largest_time_has_it(times: tuple[str, str]) -> None:
    one = linked()
    effects = two_of_a_key(one, *times)
    assert effects.events[0] == Conflict("1" * 32, "2" * 32)
    changed = {event.record.uuid: event.record.deleted for event in effects.events if isinstance(event, Changed)}
    assert changed == ({"1" * 32: True, "2" * 32: False} if times[1] == LATE else {"2" * 32: True})
    assert values(one) == {"k": '{"c":2,"n":2}' if times[1] == LATE else '{"b":1,"n":1}'}
    # This is not a change that others must receive: they have both records.
    assert one.store.revision == 1
    assert [body["uuid"][0] for body in bodies_of(effects.sent)] == ["2"]


def test_a_loser_does_not_come_back_when_its_key_is_deleted_or_renamed() -> None:
    one = linked()
    two_of_a_key(one, EARLY, LATE)
    sent = bodies_of(one.delete("k", NOW).sent)
    assert [(body["uuid"][0], body["deleted"], body["last_updated_rev"]) for body in sent] == [
        ("1", True, 2),
        ("2", True, 3),
    ]
    assert values(one) == {}
    other = linked()
    two_of_a_key(other, EARLY, LATE)
    other.rename("k", "l", NOW)
    assert values(other) == {"l": '{"c":2,"n":2}'}


def test_a_loser_comes_back_when_somebody_who_does_not_know_it_deletes_the_winner() -> None:
    one = linked()
    two_of_a_key(one, EARLY, LATE)
    effects = take(one, None, LATE, {C: 2}, uuid="2" * 32, deleted=True)
    assert values(one) == {"k": '{"b":1,"n":1}'}
    assert {event.record.uuid[0]: event.record.deleted for event in effects.events if isinstance(event, Changed)} == {
        "1": False,
        "2": True,
    }


@pytest.mark.parametrize(("who", "revision"), [(LoserOfKey.EVERYBODY, 2), (LoserOfKey.ITS_WRITER, 1)])
def test_losers_are_deleted_where_that_is_chosen(who: LoserOfKey, revision: int) -> None:
    one = linked(loser_of_key=who)
    effects = two_of_a_key(one, EARLY, LATE)
    assert one.store.revision == revision
    assert [body["uuid"][0] for body in bodies_of(effects.sent)] == (["2", "1"] if revision == 2 else ["2"])
    # An edit of the losing record that arrives after the conflict is kept.
    take(one, "edited", "2014-01-01T00:00:02Z", {B: 2})
    assert values(one) == {"k": '"edited"'}


def test_the_writer_of_a_loser_deletes_it() -> None:
    one = linked(loser_of_key=LoserOfKey.ITS_WRITER)
    mine = one.put("k", "1", 0).uuid
    effects = take(one, 2, LATE, {B: 1})
    (_, gone) = bodies_of(effects.sent)
    assert (gone["uuid"], gone["deleted"], gone["update_time"]) == (mine, True, "1970-01-01T00:00:00.000000001Z")


# ---- Other resolutions -------------------------------------------------------------------------------------------


def test_a_merge_has_the_members_of_both_and_is_a_change() -> None:
    one = linked(resolution=Resolution.MERGE)
    take(one, {"a": 1, "n": 1}, EARLY, {B: 1})
    effects = take(one, {"c": 3, "n": 2}, LATE, {C: 1})
    assert values(one) == {"k": '{"c":3,"n":2,"a":1}'}
    assert describe(effects) == ["Conflict", "Changed", "Changed"]
    merged = bodies_of(effects.sent)[-1]
    assert (merged["last_updated_by"], merged["last_updated_rev"]) == (A, 2)
    assert merged["vector_clock"].items() >= {B: 1, C: 1}.items()
    # Peers write no resolution that changes nothing, so conflicts end.
    assert len(bodies_of(take(one, {"a": 5}, EARLY, {D: 1}).sent)) == 0


@pytest.mark.parametrize("values_of", [(1, {"a": 1}), ({"a": 1}, [1]), ("a", "b")])
def test_what_are_no_two_objects_are_not_merged(values_of: tuple[object, object]) -> None:
    one = linked(resolution=Resolution.MERGE)
    take(one, values_of[0], EARLY, {B: 1})
    take(one, values_of[1], LATE, {C: 1})
    assert one.records()[0].version == (C, 1)


def test_two_records_of_a_key_are_merged_into_one() -> None:
    one = linked(resolution=Resolution.MERGE)
    two_of_a_key(one, EARLY, LATE)
    assert values(one) == {"k": '{"c":2,"n":2,"b":1}'}
    assert {record.uuid[0]: record.deleted for record in one.records()} == {"1": True, "2": False}


def test_a_loser_goes_on_under_a_uuid_that_all_give_it() -> None:
    others = [linked(resolution=Resolution.SEPARATE) for _ in range(2)]
    for one, order in zip(others, (TWO, TWO[::-1]), strict=True):
        for each in order:
            take(one, **each)
    assert values(others[0]) == values(others[1])
    assert sorted(values(others[0]).values()) == ["1", "2"]
    assert len({record.uuid for one in others for record in one.records()}) == 2


def test_a_deleted_loser_does_not_go_on() -> None:
    one = linked(resolution=Resolution.SEPARATE)
    take(one, 1, LATE, {B: 1})
    take(one, None, EARLY, {C: 1}, deleted=True)
    assert values(one) == {"k": "1"}
    assert len(one.records()) == 1


# ---- Deleted records ---------------------------------------------------------------------------------------------


def test_a_deletion_and_an_edit_are_decided_by_time() -> None:
    for times, expected in (((EARLY, LATE), {}), ((LATE, EARLY), {"k": "1"})):
        one = linked()
        take(one, 1, times[0], {B: 1})
        take(one, None, times[1], {C: 1}, deleted=True)
        assert values(one) == expected


def test_a_deleted_record_is_kept_and_what_it_descends_from_does_not_bring_it_back() -> None:
    one = linked()
    take(one, 1, EARLY, {B: 1})
    one.delete("k", NOW)
    take(one, 1, LATE, {B: 1}, last_updated_rev=2)
    assert values(one) == {}
    (sent,) = bodies_of(one.receive(3, get_updates(), NOW).sent)
    assert (sent["deleted"], sent["uuid"]) == (True, "1" * 32)
