"""Properties of the order of logs: all participants have the same order, by Lamport timestamp and message ID."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from operator import itemgetter

from sds_harness.sds.group_trace import Act
from sds_proto.testee.v1 import testee_pb2 as pb

from ...properties import Sighting, observe_met, observe_violation
from ..view.log_orders import only_in_utf16_order
from .group_view import GroupView
from .registry import global_property, of_each_side
from .sides import Side

Place = tuple[int, bytes]
"""The sort key of an entry in a log: (Lamport timestamp, message ID as UTF-8) (AMB-88)."""


@global_property(
    "G-02",
    "All logs have the same order",
    "STATE-11",
    "CONFLICT-01",
    "DELIVER-05",
    codes={"order-differs": "two logs have their common messages in different orders"},
)
def all_logs_have_the_same_order(view: GroupView) -> Iterator[Sighting]:
    """If participants show their logs, the messages that two logs have in common are in the same order in both logs.

    SDS-STATE-11 or G-03 reports which log is in the wrong order. This property reports only that the orders differ.
    """
    for channel_id, sides in view.channels.items():
        shown = [(side, *last) for side in sides if (last := _last_log(view, side)) is not None]
        last_act: Act | None = None
        for (one, _, first), (other, act, second) in itertools.pairwise(shown):
            common = {i for i in set(first) & set(second) if (channel_id, i) not in view.disputed}
            mine, theirs = [i for i in first if i in common], [i for i in second if i in common]
            differ = next((pair for pair in zip(mine, theirs, strict=False) if pair[0] != pair[1]), None)
            if differ is None:
                last_act = act if len(common) > 1 else last_act
            else:
                before, after = differ
                expected = f"{before!r} before {after!r} in the log of {other.who}, as in the log of {one.who}"
                position = "" if (before + after).isascii() else "AMB-88"
                seen = f"{after!r} is before {before!r}"
                yield observe_violation(act, channel_id, "order-differs", expected, seen, position)
        if last_act is not None:
            yield observe_met(last_act, channel_id)


def _last_log(view: GroupView, side: Side) -> tuple[Act, list[str]] | None:
    for act, state in reversed(side.shown_states):
        if state.HasField("log"):
            return act, view.in_order(side.channel_id, act.step.shown_log, str)
    return None


# ---- The log ---------------------------------------------------------------------------------------------------------


@global_property(
    "G-03",
    "Every log is in order at every instant",
    "STATE-11",
    "DELIVER-06",
    "CONFLICT-01",
    codes={
        "logged-twice": "a message is in the log twice",
        "wrong-order": "messages in the log are not in the order of their Lamport timestamps",
        "ties-wrong-order": "messages with equal Lamport timestamps are not in the order of their IDs in the log",
    },
)
@of_each_side
def every_log_is_in_order(view: GroupView, side: Side) -> Iterator[Sighting]:
    """Each log that an implementation without delivery events shows is strictly sorted by Lamport timestamp and ID.

    If no state shows the log, its last entries are read from causal histories, which must always be oldest first or
    always newest first (AMB-28, AMB-29). With delivery events, SDS-STATE-11, SDS-CONFLICT-01 to -03 and SDS-DELIVER-06
    judge the order.
    """
    if side.can(pb.CAPABILITY_DELIVERED):
        return
    for act, state in side.shown_states:
        entries = [(entry.message_id, entry.lamport_timestamp) for entry in state.log.entries]
        shown = view.in_order(side.channel_id, entries, itemgetter(0))
        fault = _fault(view, side.channel_id, shown)
        if fault is not None:
            yield _disorder(side, act, *fault)
            return
        if len(shown) > 1:
            yield observe_met(act, side.channel_id)
    if not side.shows_log and view.revision.histories_are_ordered:
        yield from _tails(view, side)


def _place(view: GroupView, channel_id: str, message_id: str, shown_lamport: int | None = None) -> Place | None:
    lamport = view.lamport(channel_id, message_id)
    if lamport is None:
        lamport = shown_lamport
    return (lamport, message_id.encode("utf-8", "surrogatepass")) if lamport is not None else None


def _fault(view: GroupView, channel_id: str, shown: list[tuple[str, int]]) -> tuple[str, str, bool] | None:
    """The first two adjacent entries in the wrong order: (first ID, second ID, whether their Lamport timestamps are
    equal).

    None if the order is right.
    """
    before: tuple[Place, str] | None = None
    for message_id, shown_lamport in shown:
        place = _place(view, channel_id, message_id, shown_lamport)
        assert place is not None
        if before is not None and place <= before[0]:
            return before[1], message_id, place[0] == before[0][0]
        before = place, message_id
    return None


def _disorder(side: Side, act: Act, first: str, second: str, tie: bool) -> Sighting:
    if first == second:
        expected = f"{first!r} once in the log of {side.who}"
        return observe_violation(act, side.channel_id, "logged-twice", expected, "the log contains the message twice")
    expected = f"{second!r} before {first!r} in the log of {side.who}, by Lamport timestamp and ID"
    position = "AMB-88" if only_in_utf16_order(first, second) else ""
    code = "ties-wrong-order" if tie else "wrong-order"
    return observe_violation(act, side.channel_id, code, expected, f"{first!r} is before {second!r}", position)


def _tails(view: GroupView, side: Side) -> Iterator[Sighting]:
    """Judge the order of the entries in causal histories, up to the first wrong pair."""
    pairs = []
    for act, message in side.outgoing:
        entries = [(_place(view, side.channel_id, e.message_id), e.message_id) for e in message.causal_history]
        placed = [(place, message_id) for place, message_id in entries if place is not None]
        pairs += [(act, *pair) for pair in itertools.pairwise(placed)]
    # The majority of the pairs decides whether histories begin with the oldest or the newest entry, because any pair
    # may be wrong. Ties do not count.
    directions = [(other > one) - (other < one) for _, (one, _), (other, _) in pairs]
    untied = sum(each for each, (_, (one, _), (other, _)) in zip(directions, pairs, strict=True) if one[0] != other[0])
    direction = (untied > 0) - (untied < 0) or next((each for each in directions if each), 1)
    for each, (act, (one, first), (other, second)) in zip(directions, pairs, strict=True):
        if each != direction:
            pair = (first, second) if direction > 0 else (second, first)
            yield _disorder(side, act, *pair, tie=one[0] == other[0])
            return
        yield observe_met(act, side.channel_id)
