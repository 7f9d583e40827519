"""Properties that compare the group trace of a schedule with the group trace of a changed schedule, its twin.

The change must have no effect on what a property compares.

Messages of the two group traces are matched by their contents, because IDs may depend on timestamps and on the number
of earlier messages. If losses are random, one broadcast less changes all later losses, so group traces are compared
only if nothing was lost or nothing was random.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from sds_harness.schedules import Schedule
from sds_harness.sds.group_trace import Act
from sds_harness.sds.operations import (
    Again,
    Crash,
    Ephemeral,
    Garble,
    Join,
    Links,
    Lookup,
    Operation,
    Receive,
    Say,
    Send,
    Sync,
    Write,
)
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from ...properties import Replay, Sighting, observe_met, observe_violation
from .group_view import GroupView
from .registry import twin_property

SHAKEN = Links(duplicate_percent=30, delay_ms=(0, 2_000))
"""Links without losses, but with many duplicates, and with random delays that change the order of arrival."""

Contents = dict[tuple[str, str], set[bytes]]
"""By participant and channel: the contents of the messages in the log at the end."""


# ---- Comparable group traces -----------------------------------------------------------------------------------------


def _contents(view: GroupView) -> Contents:
    """The contents in the logs of participants, as signals and states show them.

    Contents of scripted peers are left out, and so are the logs of participants that crashed or may give up
    dependencies.
    """
    out: Contents = {}
    for place, side in view.sides.items():
        if not side.can(pb.CAPABILITY_DELIVERED) or side.gives_up or side.who in view.group_trace.crashed:
            continue
        held = set()
        for message_id in side.logged:
            key = (side.channel_id, message_id)
            origin = view.origins.get(key)
            if origin is not None and origin.act is not None and key not in view.disputed:
                held.add(origin.message.content or b"")
        out[place] = held
    return out


def _chance(schedule: Schedule) -> bool:
    """Are losses or delays random in this schedule?"""
    return any(
        isinstance(op, Links) and (op.loss_percent or op.duplicate_percent or op.delay_ms[0] != op.delay_ms[1])
        for op in schedule.operations
    )


def _complete(view: GroupView) -> bool:
    """Did every message reach all participants, and was all pending work done?

    False if a scripted peer sent messages with a participant's sender ID, because that participant ignores them.
    """
    posed = any(isinstance(op, Write) and op.poses_as for op in view.schedule.operations)
    return view.ending is not None and _nothing_lost(view) and not (view.disputed or view.odd_messages or posed)


def _nothing_lost(view: GroupView) -> bool:
    """Were all participants present from start to end, and did every message reach all of them?"""
    partial = any(
        isinstance(op, Join | Crash | Write) and (not isinstance(op, Say) or bool(op.to))
        for op in view.schedule.operations
    )
    return not view.group_trace.losses and not partial


def _is_comparable(view: GroupView, twin: GroupView) -> bool:
    """Was nothing lost in both group traces, or is nothing random in them, apart from message IDs?

    Message IDs affect ties, filters and repair times, and so the length of the calm phase.
    """
    if _complete(view) and _complete(twin):
        return True
    alike = set(view.origins) <= set(twin.origins) or set(twin.origins) <= set(view.origins)
    return alike and not _chance(view.schedule) and view.group_trace.calm_rounds == twin.group_trace.calm_rounds


def _end(view: GroupView, channel_id: str, who: str) -> Act:
    acts = (act for act in reversed(view.group_trace.acts) if act.who == who)
    return next(acts, view.sides[who, channel_id].opened)


def _compare(view: GroupView, twin: GroupView, change: str, one: Contents, other: Contents) -> Iterator[Sighting]:
    """Judge whether the logs of both group traces have the same contents; ``change`` describes the change of the
    twin.
    """
    places = [place for place in one if place in other]
    wrong = False
    for who, channel_id in places:
        here, there = one[who, channel_id], other[who, channel_id]
        for content in sorted(here ^ there):
            wrong = True
            has, lacks = ("is", "is not") if content in here else ("is not", "is")
            seen = (
                f"the message with content {content!r:.60} {has} in the log in this run, and {lacks} in the log of the "
                "twin"
            )
            expected = f"the log of {who} to be the same {change}"
            yield observe_violation(_end(view, channel_id, who), channel_id, "log-differs", expected, seen)
            break
    if not wrong and any(one[place] for place in places) and twin.whole:
        who, channel_id = next(place for place in places if one[place])
        yield observe_met(_end(view, channel_id, who), channel_id)


def _replayed(view: GroupView, replay: Replay, schedule: Schedule) -> GroupView | None:
    """Play the twin. None if it broke down, or if operations were left out for other reasons than in the first group
    trace.
    """
    group_trace = replay(schedule)
    twin = GroupView(group_trace)
    left = {str(reason) for reason in group_trace.left_out.values()}
    return twin if twin.whole and left <= {str(reason) for reason in view.group_trace.left_out.values()} else None


# ---- Order and isolation ---------------------------------------------------------------------------------------------


@twin_property(
    "G-19",
    "The order of arrival does not matter",
    "DELIVER-04",
    "CONFLICT-01",
    "INSWEEP-04",
    codes={
        "log-differs": "the order of arrival changes a log",
        "order-differs": "the order of arrival changes the order of a log",
    },
)
def the_order_of_arrival_does_not_matter(view: GroupView, replay: Replay) -> Iterator[Sighting]:
    """On links that delay and duplicate messages, but lose none, the same schedule leads to the same logs.

    Messages of scripted peers have the same IDs and timestamps in both group traces, so their order is compared, too.
    """
    if not _complete(view) or any(isinstance(op, Again | Lookup | Garble) for op in view.schedule.operations):
        return
    rules = [SHAKEN, *(op for op in view.schedule.operations if not isinstance(op, Links))]
    twin = _replayed(view, replay, replace(view.schedule, operations=tuple(rules), seed=view.schedule.seed + 1))
    if twin is None or not _complete(twin):
        return
    differ = list(_scripted_order(view, twin))
    yield from differ or _compare(view, twin, "for every order of arrival", _contents(view), _contents(twin))


def _scripted_order(view: GroupView, twin: GroupView) -> Iterator[Sighting]:
    for place, side in view.sides.items():
        other = twin.sides.get(place)
        mine = view.final_log(side)
        theirs = twin.final_log(other) if other is not None else None
        if mine is None or theirs is None:
            continue
        fixed = {i for (c, i), o in view.origins.items() if not o.packet.act and c == side.channel_id}
        in_both = set(mine[1]) & set(theirs[1])
        common = in_both & {i for i in fixed if _same_place(view, twin, side.channel_id, i)}
        here, there = ([i for i in log if i in common] for log in (mine[1], theirs[1]))
        if here != there:
            first, second = next((a, b) for a, b in zip(here, there, strict=False) if a != b)
            expected = f"the same order in the log of {side.who} for every order of arrival"
            seen = f"{first!r} at the position that {second!r} has in the other run"
            yield observe_violation(mine[0], side.channel_id, "order-differs", expected, seen)
            return


def _same_place(view: GroupView, twin: GroupView, channel_id: str, message_id: str) -> bool:
    lamport = view.lamport(channel_id, message_id)
    return lamport is not None and lamport == twin.lamport(channel_id, message_id)


@twin_property(
    "G-15",
    "Channels do not affect each other",
    "STATE-16",
    "STATE-01",
    "MSG-15",
    codes={
        "log-differs": "messages of other channels change a log",
        "clock-differs": "messages of other channels change a Lamport timestamp",
    },
)
def channels_do_not_touch_each_other(view: GroupView, replay: Replay) -> Iterator[Sighting]:
    """The log and the Lamport timestamps of one channel are the same if nothing is sent in the other channels."""
    used = sorted({getattr(op, "channel", 0) for op in view.schedule.operations if isinstance(op, Send | Sync | Write)})
    capable = all(
        side.can(pb.CAPABILITY_CHANNELS) and side.can(pb.CAPABILITY_VIRTUAL_CLOCK) for side in view.sides.values()
    )
    if len(used) < 2 or not capable or _chance(view.schedule) or not view.whole:
        return
    channel_id = view.schedule.channels[used[-1]]
    elsewhere = {
        op.label for op in view.schedule.operations if isinstance(op, Send | Sync | Write) and op.channel != used[-1]
    }
    kept = tuple(
        _only_here(op, elsewhere) for op in view.schedule.operations if not _is_elsewhere(op, used[-1], elsewhere)
    )
    twin = _replayed(view, replay, replace(view.schedule, operations=kept))
    if twin is None or not _is_comparable(view, twin):
        return
    one, other = _clocks(view, channel_id), _clocks(twin, channel_id)
    for label in one.keys() & other.keys():
        lamport, act = one[label]
        if other[label][0] != lamport:
            expected = f"a Lamport timestamp of {other[label][0]}, as without the other channels"
            yield observe_violation(act, channel_id, "clock-differs", expected, f"the timestamp is {lamport}")
            return
    yield from _compare(
        view, twin, "without the other channels", _only(_contents(view), channel_id), _only(_contents(twin), channel_id)
    )


def _is_elsewhere(op: Operation, channel: int, labels: set[str]) -> bool:
    if isinstance(op, Again):
        return op.label in labels
    if isinstance(op, Receive):
        return labels.issuperset(op.messages)
    return isinstance(op, Send | Sync | Ephemeral | Write) and op.channel != channel


def _only_here(op: Operation, elsewhere: set[str]) -> Operation:
    """Leave out the messages of other channels from an operation that receives messages."""
    if not isinstance(op, Receive):
        return op
    return op.with_values(messages=tuple(label for label in op.messages if label not in elsewhere))


def _clocks(view: GroupView, channel_id: str) -> dict[str, tuple[int, Act]]:
    """By (label, sender) of a message: (its Lamport timestamp, the step that sent the message)."""
    out = {}
    for origin in view.origins.values():
        message = origin.message
        if origin.act is not None and message.channel_id == channel_id and origin.packet.label:
            out[f"{origin.packet.label} of {origin.act.who}"] = (message.lamport_timestamp or 0, origin.act)
    return out


def _only(contents: Contents, channel_id: str) -> Contents:
    return {place: held for place, held in contents.items() if place[1] == channel_id}


# ---- Determinism -----------------------------------------------------------------------------------------------------


@twin_property(
    "G-35",
    "Repair times are the same in every run",
    "R-RECV-06",
    "R-RECV-10",
    codes={"times-differ": "the same schedule leads to other repair times"},
)
def repair_times_are_the_same_in_every_run(view: GroupView, replay: Replay) -> Iterator[Sighting]:
    """In two plays of a schedule, requests and answers are sent at the same times, and the shown times are equal.

    The group traces are compared up to the first step that differs in something else, because other values may be
    random.
    """
    if not any(side.terms.on for side in view.sides.values()) or not view.whole:
        return
    if not all(side.can(pb.CAPABILITY_VIRTUAL_CLOCK) for side in view.sides.values()):
        return
    twin = replay(view.schedule)
    last: Act | None = None
    for act, other in zip(view.group_trace.acts, twin.acts, strict=False):
        if (act.who, act.step.command, act.step.now_ms) != (other.who, other.step.command, other.step.now_ms):
            break
        mine, theirs = _repair_work(view, act), _repair_work(view, other)
        if mine != theirs and _plain_work(act) == _plain_work(other):
            expected = (
                f"{act.who} to send the same requests and answers at the same times as in a second run of the same "
                f"schedule: {_describe_work(theirs)}"
            )
            yield observe_violation(act, "", "times-differ", expected, f"in this run: {_describe_work(mine)}")
            return
        if _plain_work(act) != _plain_work(other):
            break
        last = act if mine else last
    if last is not None:
        yield observe_met(last)


def _repair_work(view: GroupView, act: Act) -> list[tuple[str, str, int]]:
    """The repair requests and answers that a step sends, and the due times that it shows: (verb, message ID, due time
    or 0).
    """
    out: list[tuple[str, str, int]] = []
    for message in act.step.messages:
        side = view.sides.get((act.who, message.channel_id))
        if side is None:
            continue
        out += [("asks for", entry.message_id, 0) for entry in message.repair_request]
        if message.sender_id != side.id:
            out.append(("answers for", message.message_id, 0))
    if (state := act.step.state) is not None:
        out += [("will ask for", entry.message_id, entry.due_ms) for entry in state.outgoing_repairs.entries]
        out += [("will answer for", entry.message_id, entry.due_ms) for entry in state.incoming_repairs.entries]
    return sorted(out)


def _plain_work(act: Act) -> list[tuple[Kind | None, str]]:
    """The own messages that a step broadcasts: (kind, message ID)."""
    return [
        (wire.message.kind if wire.message is not None else None, wire.message.message_id if wire.message else "")
        for wire in act.step.broadcasts
        if wire.message is None or wire.message.sender_id == act.trace.parties[act.who].participant_id
    ]


def _describe_work(work: Iterable[tuple[str, str, int]]) -> str:
    words = [f"{what} {message_id!r}" + (f" at {due_ms}" if due_ms else "") for what, message_id, due_ms in work]
    return ", ".join(words[:3]) or "nothing"
