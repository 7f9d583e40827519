"""Convergence: the records of all peers after links were stable for a while."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sds_harness.clearskies.group_trace import Act

from ....judging.formats import identifier
from ....judging.view_cache import cache_per_view
from ...properties import Sighting, observe_met, observe_violation
from ..view.facts import RecordVersion, Shown, grouped
from .club_view import ClubView, PeerHistory
from .outcomes import Expected, find_outcomes, is_same_value
from .registry import global_property


@dataclass(frozen=True)
class Difference:
    """A peer with a wrong record under a key."""

    side: PeerHistory
    act: Act
    expected: Expected
    shown_values: tuple[Any, ...]
    """The values that the peer shows under the key."""
    was_informed: bool
    """Had the peer received all updates that determine the outcome?"""

    @property
    def code(self) -> str:
        if self.expected.update is None:
            return "not-gone"
        return "another-value" if self.shown_values else "nothing-there"


@dataclass(frozen=True)
class Ending:
    """The last shown records of one group of connected peers."""

    last: Act | None
    """The last act that showed the records of a peer; None if fewer than two peers showed their records."""
    expected: Sequence[Expected]
    differences: Sequence[Difference]


@cache_per_view
def find_endings(view: ClubView) -> list[Ending]:
    """All groups at the end, with the peers that have a wrong record."""
    return [_make_ending(view, group) for group in view.groups] if view.calm_operation is not None else []


def _make_ending(view: ClubView, group: Sequence[PeerHistory]) -> Ending:
    expected = find_outcomes(view, group)
    differences: list[Difference] = []
    last: Act | None = None
    showing = 0
    for side in group:
        shows = list(view.find_final_states(side))
        showing += bool(shows)
        for shown in shows:
            act = view.act_of(side, shown.step)
            if act is None:
                continue
            last = act if last is None or act.number > last.number else last
            differences += _find_differences(side, act, shown, expected)
    return Ending(last if showing > 1 else None, expected, differences)


def _find_differences(side: PeerHistory, act: Act, shown: Shown, expected: Sequence[Expected]) -> Iterator[Difference]:
    for one in expected:
        there = [seen for seen in shown.records.values() if not seen.deleted and seen.key == one.key]
        values = [seen.value for seen in (_latest(there) if shown.on_the_wire else there)]
        right = not values if one.update is None else any(is_same_value(value, one.update.value) for value in values)
        if not right:
            informed = all(version in side.known_versions for version in one.needed)
            yield Difference(side, act, one, tuple(values), informed)


def _latest(there: list[RecordVersion]) -> list[RecordVersion]:
    """Return the record with the largest update_time alone; all records if one has no valid time.

    A peer may hide the other records with the key from its application, and still send them.
    """
    timed = [(seen.time, seen) for seen in there if seen.time is not None]
    return [max(timed, key=lambda pair: pair[0])[1]] if timed and len(timed) == len(there) else there


def _judge_endings(view: ClubView, *, informed: bool) -> Iterator[Sighting]:
    """Judge that no peer has a wrong record at the end: with ``informed``, although it had received all updates that
    determine the outcome, else because it had not. The first wrong record of each peer is reported.
    """
    for ending in find_endings(view):
        wrong = [difference for difference in ending.differences if difference.was_informed is informed]
        for first, *_ in grouped(wrong, lambda difference: difference.side.name).values():
            side, update, key = first.side, first.expected.update, identifier(first.expected.key)
            expected = f"{side.view.named(update)}, as the value of {key}" if update else f"nothing under {key}"
            seen = ", ".join(repr(value)[:60] for value in first.shown_values[:3]) or "nothing there"
            seen, position = f"{side.name} shows {seen}", ""
            if informed:
                seen = f"{seen}, although it received the change"
            else:
                expected, position = f"{expected}, as at other peers of its group", "CA-5" if view.has_cycles else ""
            yield observe_violation(first.act, "", first.code, expected, seen, position)
        if ending.last is not None and ending.expected and not wrong:
            yield observe_met(ending.last)


@global_property(
    "G-C01",
    "Connected peers have the same value under each key",
    "37",
    "20",
    "34",
    "35",
    codes={
        "nothing-there": "a peer has nothing under a key: it never received a change that others have",
        "another-value": "a peer has an old value under a key: it never received a change that others have",
        "not-gone": "a peer still has a deleted record: it never received a deletion that others have",
    },
)
def connected_peers_have_equal_records(view: ClubView) -> Iterator[Sighting]:
    """Peers that reach each other have the same keys and values in the end: no peer lacks a change that others have.

    The loss of a change that arrives by several paths at the same time is a known weakness of the specification (CA-5).
    """
    yield from _judge_endings(view, informed=False)


@global_property(
    "G-C02",
    "Peers that received the same changes have the same values",
    "54",
    "50",
    "38",
    "39",
    codes={
        "nothing-there": "a peer has nothing under a key although it received the change",
        "another-value": "a peer does not have the latest value under a key although it received the change",
        "not-gone": "a peer still has a deleted record although it received the deletion",
    },
)
def same_changes_give_same_values(view: ClubView) -> Iterator[Sighting]:
    """A key has the value of the newest change that a peer received; of concurrent changes, the latest counts."""
    yield from _judge_endings(view, informed=True)
