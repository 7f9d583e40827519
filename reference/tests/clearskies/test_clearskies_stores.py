"""Stores behave alike in memory and in a file, survive the end of a process, and stay fast when they are large."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearskies_club import NOW, RW, A, B, C, bodies_of, get_updates, peer, plain, update, values
from clearskies_reference import (
    ConfigurationError,
    LinkClosed,
    MemoryStore,
    Message,
    Peer,
    Record,
    SqliteStore,
    Store,
    StoredRecord,
    StoreError,
    timestamp,
)
from clearskies_reference.vector_clock import MAX_INTEGER

pytestmark = pytest.mark.every_python

KEPT = st.builds(
    StoredRecord,
    st.builds(
        Record,
        uuid=st.sampled_from(["1" * 32, "2" * 32, "3" * 32]),
        key=st.sampled_from(["", "k", "l\0"]),
        value=st.sampled_from(["null", '{"a":"\U0001f5dd"}']),
        last_updated_by=st.sampled_from([A, B]),
        last_updated_rev=st.integers(1, 9) | st.integers(MAX_INTEGER - 1, MAX_INTEGER),
        update_time=st.sampled_from(
            ["2014-01-01T00:00:00Z", "-9999-01-01T00:00:00.5Z", "+9999999999-01-01T00:00:00Z"]
        ).map(timestamp),
        vector_clock=st.dictionaries(st.sampled_from([A, B]), st.integers(1, MAX_INTEGER)),
        deleted=st.booleans(),
    ),
    st.integers(0, MAX_INTEGER),
    st.booleans(),
    st.none() | st.builds(Message, st.binary(max_size=5), st.binary(max_size=5)),
)
SINCE = st.dictionaries(st.sampled_from([A, B, C]), st.integers(0, 9) | st.just(MAX_INTEGER))


@settings(max_examples=40, deadline=None)
@given(stored=st.lists(KEPT, max_size=8), since=SINCE)
def test_both_stores_say_the_same(stored: list[StoredRecord], since: dict[str, int]) -> None:
    stores: list[Store] = [MemoryStore(1), SqliteStore(":memory:", A, 1)]
    for store in stores:
        for each in stored:
            store.put(each)
            by, rev = each.record.version
            store.learn(by, max(rev, store.known.get(by, 0)))
        store.commit()
    asked: list[Callable[[Store], object]] = [
        list,
        lambda store: store.since(since),
        lambda store: [list(store.records_with_key(key)) for key in ("", "k", "l\0", "x")],
        lambda store: [store.get(digit * 32) for digit in "1234"],
        lambda store: store.known,
    ]
    for ask in asked:
        in_memory, in_file = map(ask, stores)
        assert in_memory == in_file
    stores[1].close()


def opened(path: Path, peer_id: str = A) -> SqliteStore:
    return SqliteStore(str(path), peer_id, 1)


def test_all_that_must_not_be_lost_is_there_again(tmp_path: Path) -> None:
    path = tmp_path / "peer.db"
    one = peer(store=opened(path))
    one.connect(1, B, RW, NOW)
    one.put("k", '{"a": 1}', NOW)
    one.receive(1, plain(update(key="l", last_updated_rev=(1 << 63) + 5)), NOW)
    one.delete("k", NOW)
    before = (list(one.store), one.known(), one.store.revision)
    # The store is not closed, as if the process was killed.
    again = peer(store=opened(path))
    assert (list(again.store), again.known(), again.store.revision) == before
    assert values(again) == {"l": '{"n":1}'}
    assert bodies_of(again.connect(1, B, RW, NOW).sent)[0]["since"] == {A: 3, B: (1 << 63) + 5}
    assert all(file.name.startswith("peer.db") for file in tmp_path.iterdir())


def test_a_store_is_that_of_one_peer(tmp_path: Path) -> None:
    opened(tmp_path / "db").close()
    with pytest.raises(ConfigurationError, match=A):
        opened(tmp_path / "db", B)


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "db"
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(StoreError):
        opened(path)
    with pytest.raises(StoreError):
        opened(tmp_path / "nowhere" / "db")
    other = sqlite3.connect(tmp_path / "other")
    other.execute("CREATE TABLE records (x)")
    other.commit()
    other.close()
    with pytest.raises(StoreError):
        opened(tmp_path / "other")
    spoilt = tmp_path / "spoilt"
    opened(spoilt).close()
    connection = sqlite3.connect(spoilt)
    connection.execute("UPDATE facts SET value = 'x' WHERE name = 'revision'")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError):
        opened(spoilt)


class Failing(SqliteStore):
    fails = False

    def put(self, stored: StoredRecord) -> None:
        if self.fails:
            raise StoreError("the disk is full")
        super().put(stored)


def test_a_store_that_fails_ends_the_stream_so_that_nothing_is_skipped() -> None:
    store = Failing(":memory:", A, 1)
    one = peer(store=store)
    one.connect(1, B, RW, NOW)
    one.receive(1, plain(update()), NOW)
    store.fails = True
    effects = one.receive(1, plain(update(uuid="2" * 32, key="l", last_updated_rev=2)), NOW)
    assert effects.events == [LinkClosed(1, "the disk is full")]
    assert one.known() == {B: 1}
    with pytest.raises(StoreError):
        one.put("m", "1", NOW)
    store.fails = False
    assert bodies_of(one.connect(2, B, RW, NOW).sent)[0]["since"] == {B: 1}


# ---- Cost, in operations ---------------------------------------------------------------------------------------------


def filled(store: Store, records: int) -> Peer:
    one = peer(store=store)
    one.connect(1, B, RW, NOW)
    for number in range(records):
        one.receive(1, plain(update(uuid=f"{number:032x}", key=f"k{number}", last_updated_rev=number + 1)), NOW)
    one.connect(2, C, RW, NOW)
    return one


def works(one: Peer, records: int) -> dict[str, Callable[[], object]]:
    def take(number: int, key: str, rev: int) -> Callable[[], object]:
        wire = plain(update(uuid=f"{number:032x}", key=key, last_updated_rev=rev, vector_clock={B: 2}))
        return lambda: one.receive(1, wire, NOW)

    return {
        "a new record": take(records + 1, "new", records + 1),
        "a newer one": take(3, "k3", records + 2),
        "an answer of three": lambda: one.receive(2, get_updates(**{B: records - 1}), NOW),
        "a change": lambda: one.put("k5", "1", NOW),
        "a deletion": lambda: one.delete("k6", NOW),
        "a rename": lambda: one.rename("k7", "r", NOW),
    }


def test_the_cost_in_a_file_does_not_grow_with_the_records(tmp_path: Path) -> None:
    costs = []
    for records in (100, 2_000):
        store = opened(tmp_path / str(records))
        one = filled(store, records)
        steps = [0]

        def stepped(steps: list[int] = steps) -> int:
            steps[0] += 1
            return 0

        # Called at every tenth instruction of the virtual machine that executes SQL.
        store._connection.set_progress_handler(stepped, 10)
        cost = {}
        for name, work in works(one, records).items():
            steps[0] = 0
            work()
            cost[name] = steps[0]
        store._connection.set_progress_handler(None, 10)
        costs.append(cost)
    assert all(cost > 0 for cost in costs[0].values())
    assert {name: cost for name, cost in costs[1].items() if cost > 3 * costs[0][name]} == {}
