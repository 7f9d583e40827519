"""G-03 by causal histories: the pair that goes against most others is accused, whichever comes first."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from sds_conformance.judging.judgement import Outcome
from sds_conformance.protocols.sds.properties import ordering
from sds_reference import HistoryEntry, Message

LAMPORTS = {"a": 1, "b": 2, "c": 3, "d": 4, "e": 4}
ACT: Any = SimpleNamespace(number=1, who="alice", at_ms=0)


def accused(*histories: str) -> str:
    """The violated expectation of the log, "" if there is none; each letter is a message."""
    outgoing = [
        (ACT, Message("alice", f"m{number}", "c1", causal_history=tuple(map(HistoryEntry, history))))
        for number, history in enumerate(histories)
    ]
    view: Any = SimpleNamespace(lamport=lambda channel_id, message_id: LAMPORTS.get(message_id))
    side: Any = SimpleNamespace(outgoing=outgoing, channel_id="c1", who="alice")
    sightings = list(ordering._tails(view, side))
    wrong = [s.expected for s in sightings if s.outcome is Outcome.VIOLATED]
    return wrong[0] if wrong else ""


@pytest.mark.parametrize("histories", [("ab", "bc", "cd"), ("ba", "cb", "dc"), ("de",), ("ed",), ("a", ""), ("abcd",)])
def test_either_direction_is_in_order(histories: tuple[str, ...]) -> None:
    assert accused(*histories) == ""


@pytest.mark.parametrize("histories", [("ba", "bc", "cd"), ("bc", "ba", "cd"), ("bc", "cd", "ba")])
def test_the_pair_against_the_others_is_accused_wherever_it_stands(histories: tuple[str, ...]) -> None:
    assert accused(*histories).startswith("'a' before 'b'")


@pytest.mark.parametrize("histories", [("ab", "cb", "dc"), ("cb", "dc", "ab")])
def test_where_they_go_from_new_to_old_the_log_is_told_from_old_to_new(histories: tuple[str, ...]) -> None:
    assert accused(*histories).startswith("'a' before 'b'")


def test_a_tie_says_nothing_of_the_direction() -> None:
    assert accused("ed", "ed", "ab").startswith("'d' before 'e'")


def test_one_message_stands_there_once() -> None:
    assert accused("ab", "bb").startswith("'b' once")
