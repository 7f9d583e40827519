"""The local log as a data structure: ordered, and without duplicates."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sds_reference import LocalLog, LogEntry

pytestmark = pytest.mark.every_python


def entry(message_id: str, at: int) -> LogEntry:
    return LogEntry(message_id, at, "xavier")


def log_of(*entries: LogEntry) -> LocalLog:
    log = LocalLog()
    for one in entries:
        log.insert(one)
    return log


def ids(entries: LocalLog | list[LogEntry]) -> list[str]:
    return [one.message_id for one in entries]


def test_an_empty_log_has_nothing_that_precedes() -> None:
    log = LocalLog()
    assert (len(log), ids(log), log.preceding(2), "a" in log) == (0, [], [], False)


def test_an_inserted_entry_is_found_by_its_id() -> None:
    log = LocalLog()
    assert log.insert(entry("é", 1)) is True
    assert ["é" in log, "e\u0301" in log, "" in log] == [True, False, False]
    assert len(log) == 1


def test_an_id_that_is_in_the_log_stays_as_it_was() -> None:
    log = log_of(entry("a", 1), entry("b", 2))
    assert log.insert(LogEntry("a", 9, "yvonne", b"hint")) is False
    assert list(log) == [LogEntry("a", 1, "xavier"), LogEntry("b", 2, "xavier")]
    assert log.preceding(9) == [LogEntry("a", 1, "xavier"), LogEntry("b", 2, "xavier")]


def test_the_last_entries_come_oldest_first_and_no_more_than_there_are() -> None:
    log = log_of(entry("c", 3), entry("a", 1), entry("b", 2))
    assert [ids(log.preceding(count)) for count in (0, 1, 2, 3, 4)] == [
        [],
        ["c"],
        ["b", "c"],
        ["a", "b", "c"],
        ["a", "b", "c"],
    ]


def test_equal_ids_with_different_lamport_timestamps_are_one_entry() -> None:
    assert len(log_of(entry("a", 1), entry("a", 2), entry("a", 0))) == 1


pairs = st.tuples(st.integers(0, 3) | st.integers(0, 2**64 - 1), st.text(st.characters(codec="utf-8"), max_size=3))


@settings(deadline=None)
@given(st.lists(pairs, unique_by=lambda pair: pair[1], max_size=40), st.integers(0, 5))
def test_any_entries_are_ordered_by_lamport_timestamp_and_utf_8_bytes(those: list[tuple[int, str]], last: int) -> None:
    log = log_of(*(entry(message_id, at) for at, message_id in those))
    expected = [message_id for _, message_id in sorted(those, key=lambda pair: (pair[0], pair[1].encode()))]
    assert ids(log) == expected
    assert ids(log.preceding(last)) == expected[max(0, len(expected) - last) :]
