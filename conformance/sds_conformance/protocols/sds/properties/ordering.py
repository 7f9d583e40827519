"""Order: of the log, of deliveries, and of the Lamport timestamps that make it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from operator import itemgetter

from sds_harness.sds.performance import Act
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind, Message

from ...properties import Sighting, held, judged, violated
from ..view.log_orders import only_in_utf16_order
from ..view.odd_messages import LARGEST_LAMPORT
from .group_view import GroupView, Side, dependencies
from .registry import global_property, of_each_channel, of_each_side, to_the_first_fault

Place = tuple[int, bytes]
"""Lamport timestamp and message ID as UTF-8: the order of these is the order of the log (AMB-88)."""


@global_property(
    "G-02",
    "All logs have the same order",
    "STATE-11",
    "CONFLICT-01",
    "DELIVER-05",
    codes={"order-differs": "what two logs have in common is in another order"},
)
def all_logs_have_the_same_order(view: GroupView) -> Iterator[Sighting]:
    """What two logs have in common stands in the same order in both, where participants show their logs.

    Which of them is wrong is said by G-03; here it counts that they differ.
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
                expected = f"{before!r} before {after!r} in the log of {other.who}, as in that of {one.who}"
                position = "" if (before + after).isascii() else "AMB-88"
                seen = f"{after!r} stands before {before!r}"
                yield violated(act, channel_id, "order-differs", expected, seen, position)
        if last_act is not None:
            yield held(last_act, channel_id)


def _last_log(view: GroupView, side: Side) -> tuple[Act, list[str]] | None:
    for act, state in reversed(side.looks):
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
        "wrong-order": "messages are in the log against their Lamport timestamps",
        "ties-wrong-order": "messages with equal Lamport timestamps are in the log against their IDs",
    },
)
@of_each_side
def every_log_is_in_order(view: GroupView, side: Side) -> Iterator[Sighting]:
    """At every look a log is strictly sorted by Lamport timestamp and ID, and nothing stands in it twice.

    Where it cannot be seen, causal histories tell of its end, in a direction that never changes (AMB-28, AMB-29).
    """
    for act, state in side.looks:
        told = [(entry.message_id, entry.lamport_timestamp) for entry in state.log.entries]
        shown = view.in_order(side.channel_id, told, itemgetter(0))
        fault = _fault(view, side.channel_id, shown)
        if fault is not None:
            yield _disorder(side, act, *fault)
            return
        if len(shown) > 1:
            yield held(act, side.channel_id)
    if not side.shows_log and view.revision.histories_are_ordered:
        yield from _tails(view, side)


def _place(view: GroupView, channel_id: str, message_id: str, told: int | None = None) -> Place | None:
    lamport = view.lamport(channel_id, message_id)
    if lamport is None:
        lamport = told
    return (lamport, message_id.encode("utf-8", "surrogatepass")) if lamport is not None else None


def _fault(view: GroupView, channel_id: str, shown: list[tuple[str, int]]) -> tuple[str, str, bool] | None:
    """The first two that stand next to each other and should not, and whether they have one Lamport timestamp."""
    before: tuple[Place, str] | None = None
    for message_id, told in shown:
        place = _place(view, channel_id, message_id, told)
        assert place is not None
        if before is not None and place <= before[0]:
            return before[1], message_id, place[0] == before[0][0]
        before = place, message_id
    return None


def _disorder(side: Side, act: Act, first: str, second: str, tie: bool) -> Sighting:
    if first == second:
        expected = f"{first!r} once in the log of {side.who}"
        return violated(act, side.channel_id, "logged-twice", expected, "it stands there twice")
    expected = f"{second!r} before {first!r} in the log of {side.who}, by Lamport timestamp and ID"
    position = "AMB-88" if only_in_utf16_order(first, second) else ""
    code = "ties-wrong-order" if tie else "wrong-order"
    return violated(act, side.channel_id, code, expected, f"{first!r} stands before {second!r}", position)


def _tails(view: GroupView, side: Side) -> Iterator[Sighting]:
    """Causal histories: where they show an order, up to the first that shows a wrong one."""
    pairs = []
    for act, message in side.outgoing:
        entries = [(_place(view, side.channel_id, e.message_id), e.message_id) for e in message.causal_history]
        placed = [(place, message_id) for place, message_id in entries if place is not None]
        pairs += [(act, *pair) for pair in itertools.pairwise(placed)]
    # The way that they go is what most of them say, for the first may be the wrong one; ties may be what is wrong.
    ways = [(other > one) - (other < one) for _, (one, _), (other, _) in pairs]
    apart = sum(way for way, (_, (one, _), (other, _)) in zip(ways, pairs, strict=True) if one[0] != other[0])
    direction = (apart > 0) - (apart < 0) or next((way for way in ways if way), 1)
    for way, (act, (one, first), (other, second)) in zip(ways, pairs, strict=True):
        if way != direction:
            pair = (first, second) if direction > 0 else (second, first)
            yield _disorder(side, act, *pair, tie=one[0] == other[0])
            return
        yield held(act, side.channel_id)


@global_property(
    "G-05",
    "What a message depends on stands before it",
    "SEND-01",
    "DELIVER-01",
    "STATE-11",
    codes={"dependency-after": "a dependency is in the log after the message that depends on it"},
)
@to_the_first_fault
@of_each_side
def what_a_message_depends_on_stands_before_it(view: GroupView, side: Side) -> Iterator[Sighting]:
    """In the log as last shown each dependency precedes its message, unless Lamport timestamps forbid it (AMB-91)."""
    act, log = _last_log(view, side) or (side.opened, [])
    at = {message_id: place for place, message_id in enumerate(log)}
    messages = {message_id: view.message(side.channel_id, message_id) for message_id in at}
    for message_id, message in messages.items():
        for needed in dependencies(message) if message is not None else ():
            earlier = messages.get(needed)
            if earlier is None or not _precedes(earlier, message):
                continue
            if at[needed] < at[message_id]:
                yield held(act, side.channel_id)
            else:
                expected = f"{needed!r}, on which {message_id!r} depends, before it in the log of {side.who}"
                seen = f"{message_id!r} stands before {needed!r}"
                yield violated(act, side.channel_id, "dependency-after", expected, seen)


def _precedes(earlier: Message, later: Message | None) -> bool:
    return later is not None and (earlier.lamport_timestamp or 0) < (later.lamport_timestamp or 0)


# ---- Deliveries ------------------------------------------------------------------------------------------------------


@global_property(
    "G-04",
    "Deliveries follow the causal order",
    "RECV-06",
    "RECV-09",
    "DELIVER-07",
    "INSWEEP-04",
    codes={
        "delivered-early": "a message is delivered before what it depends on",
        "depends-on-itself": "a message is delivered that depends on itself",
        "depends-in-circle": "messages are delivered that depend on each other",
    },
)
def deliveries_follow_the_causal_order(view: GroupView) -> Iterator[Sighting]:
    """No message is delivered before all that it depends on was delivered, or sent by the participant itself.

    Ephemeral messages are exempt; so are participants that may give dependencies up (AMB-92). That a message which
    depends on itself is never delivered is a warning (AMB-44, AMB-45).
    """
    for side in view.sides.values():
        if side.gives_up or not side.can(pb.CAPABILITY_DELIVERED):
            continue
        met: set[str] = set()
        last_act, sent = None, sorted((act.number, message_id) for message_id, act in side.sent.items())
        for delivery in side.deliveries:
            while sent and sent[0][0] <= delivery.act.number:
                met.add(sent.pop(0)[1])
            message = view.message(side.channel_id, delivery.message_id)
            if message is None or delivery.message_id not in side.arrivals:
                met.add(delivery.message_id)  # of two versions either may have been delivered
                continue
            needs = [i for i in dependencies(message) if i not in met]
            unmet = [i for i in needs if not view.is_there(side, i, delivery.act)]
            unmet += [i for i in needs if i not in unmet and _later(side, delivery.act, i)]
            if unmet:
                position = _circle(view, side.channel_id, delivery.message_id, unmet[0])
                yield violated(
                    delivery.act,
                    side.channel_id,
                    _EARLY[position],
                    f"{delivery.message_id!r} delivered at {side.who} only after {unmet[0]!r}, on which it depends",
                    "it is delivered before that" if unmet[0] != delivery.message_id else "it depends on itself",
                    position,
                )
            elif message.causal_history:
                last_act = delivery.act
            met.add(delivery.message_id)
        if last_act is not None:
            yield held(last_act, side.channel_id)


_EARLY = {"": "delivered-early", "AMB-44": "depends-on-itself", "AMB-45": "depends-in-circle"}
"""Codes, by the position that softens a violation."""


def _later(side: Side, act: Act, message_id: str) -> bool:
    """Is it delivered in the same act, but later?"""
    return any(d.message_id == message_id and d.act is act for d in side.deliveries)


def _circle(view: GroupView, channel_id: str, message_id: str, needed: str) -> str:
    if needed == message_id:
        return "AMB-44"
    seen, waiting = set(), [needed]
    while waiting:
        message = view.message(channel_id, waiting.pop())
        for entry in dependencies(message) if message is not None else ():
            if entry == message_id:
                return "AMB-45"
            if entry not in seen:
                seen.add(entry)
                waiting.append(entry)
    return ""


# ---- Lamport timestamps ----------------------------------------------------------------------------------------------


@global_property(
    "G-13",
    "Lamport timestamps of a sender go up",
    "SEND-01",
    "SEND-02",
    "SYNC-14",
    codes={
        "not-increased": "a content message has no greater Lamport timestamp than the one before it",
        "decreased": "a message has a smaller Lamport timestamp than the one before it",
    },
)
@of_each_side
def lamport_timestamps_of_a_sender_go_up(view: GroupView, side: Side) -> Iterator[Sighting]:
    """Over the content messages of one sender they strictly increase, and never decrease with sync messages between."""
    content = highest = -1
    for act, message in side.outgoing:
        lamport = message.lamport_timestamp
        if lamport is None or max(lamport, highest) > view.largest_lamport:
            return  # from here on it may stand still (AMB-14)
        is_content = message.kind is Kind.CONTENT
        least = max(highest, content + 1 if is_content else 0)
        if lamport < least:
            expected = f"a Lamport timestamp of {least} or more, after what it sent before"
            whose = f"{message.message_id!r} of {side.who}"
            code = "decreased" if lamport < highest else "not-increased"
            yield violated(act, side.channel_id, code, f"{whose} with {expected}", f"it has {lamport}")
            return
        if highest >= 0:
            yield held(act, side.channel_id)
        highest = lamport
        content = lamport if is_content else content


@global_property(
    "G-14",
    "Lamport timestamps stay close to the time",
    "STATE-03",
    "SEND-01",
    "DELIVER-01",
    codes={"too-far-ahead": "a Lamport timestamp is ahead of all clocks and of all that was said before"},
)
@of_each_channel
def lamport_timestamps_stay_close_to_the_time(view: GroupView) -> Iterator[Sighting]:
    """No new timestamp is more than one ahead of all clocks and of all timestamps that the channel has seen.

    So a burst of n messages moves them n ahead of the time at most, and time that passes brings them back.
    """
    if not all(side.can(pb.CAPABILITY_VIRTUAL_CLOCK) for side in view.sides.values()):
        return
    ahead: dict[str, int] = {}
    sends = {(id(act), id(m)): side for side in view.sides.values() for act, m in side.outgoing}
    for kind, act, channel_id, lamport, key in _timestamps(view):
        now, ceiling = act.step.now_ms, ahead.get(channel_id, 0)
        side = sends.get(key)
        if kind == "new" and side is not None and lamport <= LARGEST_LAMPORT:
            most = max(now, ceiling + 1)
            if lamport > now:
                expected = (
                    f"a Lamport timestamp of {most} at most, by the clock of {side.who} and all that was said before"
                )
                yield judged(act, channel_id, "too-far-ahead", lamport <= most, expected, f"it is {lamport}")
            ahead[channel_id] = max(ceiling, lamport)
        elif kind == "maybe":
            ahead[channel_id] = max(ceiling + 1, now)
        else:
            ahead[channel_id] = max(ceiling, lamport)


def _timestamps(view: GroupView) -> Iterator[tuple[str, Act, str, int, tuple[int, int]]]:
    """What can move a clock, in order: new messages, those that arrive, and commands that may move it (AMB-12).

    A clock may be set when the channel is first used, and the message sent then comes one after that (STATE-02,
    AMB-111).
    """
    used: set[tuple[str, str]] = set()
    for act in view.performance.acts:
        step, nothing = act.step, (0, 0)
        for channel_id in _channels_of(act):
            if (act.who, channel_id) not in used:
                used.add((act.who, channel_id))
                yield "seen", act, channel_id, step.now_ms, nothing
        match step.command:
            case "open":
                party = act.trace.parties.get(act.who)
                for channel_id in party.channels if party is not None else ():
                    yield "seen", act, channel_id, step.now_ms, nothing
            case "receive" if act.packet is not None:
                message = step.received.message if act.source == "again" else act.packet.wire.message
                if message is not None and message.lamport_timestamp is not None:
                    yield "seen", act, message.channel_id, message.lamport_timestamp, nothing
                elif message is not None:
                    yield "maybe", act, message.channel_id, 0, nothing
            case "send_ephemeral":
                yield "maybe", act, step.channel_id, 0, nothing
            case "send" | "send_sync" if not step.broadcasts:
                yield "maybe", act, step.channel_id, 0, nothing
        for message in step.messages:
            if message.lamport_timestamp is not None:
                yield "new", act, message.channel_id, message.lamport_timestamp, (id(act), id(message))


def _channels_of(act: Act) -> set[str]:
    """The channels that an act uses."""
    step = act.step
    named = {message.channel_id for message in step.messages}
    if (arrived := step.arrived) is not None:
        named.add(arrived.channel_id)
    elif step.command.startswith("send"):
        named.add(step.channel_id)
    return named


@global_property(
    "G-16",
    "What comes after has the greater timestamp",
    "SEND-01",
    "DELIVER-01",
    codes={"not-greater": "a message has no greater Lamport timestamp than what its sender knows"},
)
@to_the_first_fault
@of_each_side
def what_comes_after_has_the_greater_timestamp(view: GroupView, side: Side) -> Iterator[Sighting]:
    """A message has a greater Lamport timestamp than all that its sender delivered before, and all that it names."""
    deliveries = iter(side.deliveries)
    delivery = next(deliveries, None)
    highest = (-1, "")
    for act, message in side.outgoing:
        while delivery is not None and delivery.act.number < act.number:
            lamport = view.lamport(side.channel_id, delivery.message_id)
            if lamport is not None and delivery.message_id in side.arrivals and lamport > highest[0]:
                highest = (lamport, delivery.message_id)
            delivery = next(deliveries, None)
        named = [(view.lamport(side.channel_id, i) or -1, i) for i in dependencies(message)]
        before, which = max([highest, *named])
        lamport = message.lamport_timestamp
        if before < 0 or lamport is None or lamport > view.largest_lamport:
            continue
        same = message.kind is Kind.SYNC and not view.revision.sync_advances_lamport
        least = "of at least" if same else "above"
        expected = f"{message.message_id!r} of {side.who} with a Lamport timestamp {least} the {before} of {which!r}"
        met = lamport >= before if same else lamport > before
        yield judged(act, side.channel_id, "not-greater", met, f"{expected}, which it knows", f"it has {lamport}")
