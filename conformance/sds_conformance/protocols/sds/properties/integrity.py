"""Integrity: nothing is made up, changed or doubled on its way into the logs, and the wire says what it should."""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.sds.performance import Act
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind, Message

from ....judging.once import once
from ...properties import Sighting, held, violated
from .group_view import Delivery, GroupView, Key, Side, same
from .registry import global_property, of_each_channel, of_each_side

EVERY = 10
"""Of so many messages one filter is looked at, and the last of each participant."""
NEWEST = 50
"""So many IDs are looked for in it, the newest."""
KINDS = {"send": {Kind.CONTENT}, "send_sync": {Kind.SYNC}, "send_ephemeral": {Kind.EPHEMERAL}}


@global_property(
    "G-08",
    "Nothing is delivered twice",
    "DELIVER-06",
    "RECV-02",
    "INSWEEP-06",
    codes={"delivered-twice": "a message is delivered twice", "logged-twice": "a message is in the log twice"},
)
@of_each_side
def nothing_is_delivered_twice(view: GroupView, side: Side) -> Iterator[Sighting]:
    """However often a message arrives, it is in the log once; that it is delivered once is a warning (AMB-24)."""
    delivered: set[str] = set()
    for delivery in side.deliveries:
        twice = delivery.message_id in delivered
        delivered.add(delivery.message_id)
        if twice and delivery.message_id in side.arrivals and delivery.message_id not in side.ephemerals:
            expected = f"{delivery.message_id!r} delivered once at {side.who}"
            yield violated(
                delivery.act, side.channel_id, "delivered-twice", expected, "it is delivered again", "AMB-24"
            )
    for act, _ in side.looks:
        shown = act.step.shown_log
        if len(set(shown)) < len(shown):
            double = next(i for i in shown if shown.count(i) > 1)
            seen = f"it stands there {shown.count(double)} times"
            yield violated(act, side.channel_id, "logged-twice", f"{double!r} once in the log of {side.who}", seen)
            break
    copied = [i for i, number in side.copies.items() if number > 1 and i in side.logged]
    if copied and (side.shows_log or side.can(pb.CAPABILITY_DELIVERED)):
        arrival = side.arrivals.get(copied[-1])
        yield held(arrival.act if arrival is not None else side.opened, side.channel_id)


@global_property(
    "G-09",
    "What is delivered is what was sent",
    "MSG-20",
    "MSG-21",
    "R-STATE-07",
    "R-SWEEP-05",
    codes={
        "sent-changed": "a message has another content than the application sent",
        "delivered-changed": "a message is delivered with another content than it was sent with",
        "delivered-unreceived": "a message is delivered that never arrived",
        "logged-unreceived": "a message is in the log that never arrived as content",
    },
)
@of_each_side
def what_is_delivered_is_what_was_sent(view: GroupView, side: Side) -> Iterator[Sighting]:
    """Nothing is logged or delivered that nobody sent, and content is the same from the sender to every receiver."""
    for act, message in side.outgoing:
        asked = act.step.request.send.content if act.step.command == "send" else None
        if asked is not None and message.message_id in side.sent and message.content != asked:
            expected = f"{message.message_id!r} of {side.who} with the content that it was asked to send"
            seen = f"it has {message.content!r:.80} instead of {asked!r:.80}"
            yield violated(act, side.channel_id, "sent-changed", expected, seen)
            break
    for delivery in side.deliveries:
        if (fault := _made_up(view, side, delivery)) is not None:
            yield fault
            break
        yield held(delivery.act, side.channel_id)
    known = side.sent.keys() | side.copies.keys()
    if view.revision.syncs_are_logged:
        known |= side.heard.keys() | side.synced.keys()
    for act, _ in side.looks:
        made_up = next((i for i in act.step.shown_log if i not in known), None)
        if made_up is not None:
            expected = f"only what {side.who} sent or received as content in its log"
            yield violated(act, side.channel_id, "logged-unreceived", expected, f"{made_up!r} is in it")
            break


@once
def _contents(view: GroupView) -> dict[str, set[bytes]]:
    """All that was ever on the wire under an ID, and what applications asked to send under it."""
    out: dict[str, set[bytes]] = {}
    asked: set[Key] = set()
    for packet in view.performance.packets:
        message = packet.wire.message
        if message is None or not message.content:
            continue
        key = (message.channel_id, message.message_id)
        origin = view.origins.get(key)
        if origin is None or origin.act is None or not packet.act:
            out.setdefault(message.message_id, set()).add(message.content)
        elif key not in asked:
            # A participant sent it: what its copies say counts only if the first said it.
            asked.add(key)
            out.setdefault(message.message_id, set()).add(origin.act.step.request.send.content)
    return out


def _made_up(view: GroupView, side: Side, delivery: Delivery) -> Sighting | None:
    message_id, act, contents = delivery.message_id, delivery.act, _contents(view)
    if message_id in side.heard and not delivery.content and view.is_regular(Kind.SYNC):
        return None  # a sync message: whether an application is told of one that is logged is not said
    if message_id not in side.copies and message_id not in side.ephemerals and message_id not in side.sent:
        expected = f"only what arrived delivered at {side.who}"
        seen = f"{message_id!r} is, {_what_came(view, side, message_id)}"
        return violated(act, side.channel_id, "delivered-unreceived", expected, seen)
    if delivery.content not in contents.get(message_id, ()):
        said = min(contents.get(message_id, {b""}))
        expected = f"{message_id!r} delivered at {side.who} with the content it was sent with"
        seen = f"{delivery.content!r:.80} is delivered instead of {said!r:.80}"
        return violated(act, side.channel_id, "delivered-changed", expected, seen)
    return None


def _what_came(view: GroupView, side: Side, message_id: str) -> str:
    """What a participant got under the ID of a message that did not come to it."""
    if any(arrival.message.message_id == message_id for arrival in side.received):
        return "of which nothing but a sync message came to it"
    mine = (other for (who, _), other in view.sides.items() if who == side.who and other is not side)
    where = next((other.channel_id for other in mine if message_id in {**other.copies, **other.ephemerals}), None)
    return "which never came to it" if where is None else f"which came to it in {where!r}"


@global_property(
    "G-31",
    "All copies of a message are the same",
    "MSG-21",
    "OUTSWEEP-05",
    "R-SWEEP-05",
    codes={
        "sender-changed": "a copy has another sender than the original",
        "channel-changed": "a copy has another channel than the original",
        "timestamp-changed": "a copy has another Lamport timestamp than the original",
        "history-changed": "a copy has another causal history than the original",
        "content-changed": "a copy has another content than the original",
    },
)
@of_each_channel
def all_copies_of_a_message_are_the_same(view: GroupView) -> Iterator[Sighting]:
    """Resends and repairs have the sender, channel, Lamport timestamp, causal history and content of the original.

    Filters, hints and repair requests may be refreshed (AMB-65).
    """
    originals: dict[str, list[str]] = {}
    for channel_id, message_id in view.origins:
        originals.setdefault(message_id, []).append(channel_id)
    # What a scripted peer, or noise, made another version of (AMB-25).
    scripted = [p.wire.message for p in view.performance.packets if not p.act] if view.disputed else []
    said = {(message.channel_id, message.message_id) for message in scripted if message is not None}
    for packet in view.performance.packets:
        message = packet.wire.message
        if message is None or not packet.act or message.kind is Kind.SYNC:
            continue
        channels = originals.get(message.message_id, ())
        other = message.kind is Kind.EPHEMERAL and (message.channel_id, message.message_id) in view.other_ids
        if not channels or other:
            continue
        channel_id = message.channel_id if message.channel_id in channels else channels[0]
        origin = view.origins[channel_id, message.message_id]
        if origin.packet is packet:
            continue
        act = view.performance.acts[packet.act - 1]
        if channel_id == message.channel_id and same(origin.message, message):
            yield held(act, channel_id)
        elif (channel_id, message.message_id) not in said:
            what = "the sender, channel, Lamport timestamp, causal history and content of the original"
            seen = f"{act.who} broadcasts one that differs"
            code = _change(origin.message, message)
            yield violated(act, channel_id, code, f"a copy of {message.message_id!r} with {what}", seen)


def _change(original: Message, copy: Message) -> str:
    """The code of the first part of a copy that differs."""
    if copy.sender_id != original.sender_id:
        return "sender-changed"
    if copy.channel_id != original.channel_id:
        return "channel-changed"
    if copy.lamport_timestamp != original.lamport_timestamp:
        return "timestamp-changed"
    ids = [[entry.message_id for entry in message.causal_history] for message in (original, copy)]
    return "history-changed" if ids[0] != ids[1] else "content-changed"


@global_property(
    "G-32",
    "Filters hold what was received",
    "STATE-05",
    "RECV-04",
    "SEND-09",
    codes={"not-in-filter": "the ID of a received message is not in the filter"},
)
@of_each_side
def filters_hold_what_was_received(view: GroupView, side: Side) -> Iterator[Sighting]:
    """Every content message that arrived is in each later filter of the participant, up to the filter's capacity.

    Read by the declared bloom profile, and as the implementation itself answers when it is looked at.
    """
    for act, message_id in _looked_for(view, side) if view.filter_is_complete(side) else ():
        if message_id:
            since = side.arrivals[message_id].act.number
            expected = f"{message_id!r}, which arrived at step {since}, in the filter of {side.who}"
            yield violated(act, side.channel_id, "not-in-filter", expected, "it is not in it")
            return
        yield held(act, side.channel_id)


def _looked_for(view: GroupView, side: Side) -> Iterator[tuple[Act, str]]:
    """Where filters can be read, with an ID that is not in one and should be, "" if there is none.

    An own ID that others say something under need not be there: whether own IDs are in the filter is open (AMB-19).
    """
    others = ((i, a.act) for i, a in side.arrivals.items() if i not in side.sent)
    arrived = [(act.number, i) for i, act in others if act.step.answer == "effects"]
    for place in sorted({*range(EVERY - 1, len(side.outgoing), EVERY), len(side.outgoing) - 1} - {-1}):
        act, message = side.outgoing[place]
        ids = [i for number, i in arrived if number < act.number][-NEWEST:]
        ids = [i for i in ids if (side.channel_id, i) not in view.odd]
        if not ids or message.bloom_filter is None:
            continue
        if hits := view.filter_hits(side, message.bloom_filter, ids):
            yield act, ids[hits.index(False)] if False in hits else ""
    for act, state in side.looks:
        for message_id, hit in zip(act.step.request.observe.filter_ids, state.filter_hits, strict=False):
            arrival = side.arrivals.get(message_id)
            if arrival is None or arrival.act.step.answer != "effects" or arrival.act.number > act.number:
                continue
            if message_id in side.sent:
                continue
            yield act, "" if hit or (side.channel_id, message_id) in view.odd else message_id


@global_property(
    "G-33",
    "The wire is sane",
    "MSG-01",
    "SYNC-07",
    "EPHEMERAL-05",
    "R-FIELDS-02",
    codes={
        "does-not-decode": "bytes are broadcast that are no message",
        "undefined-kind": "a message is broadcast that has neither timestamp nor content",
        "wrong-kind": "a message of another kind is broadcast than was asked for",
        "names-ephemeral": "a message names an ephemeral message",
        "names-sync": "a message names a sync message",
    },
)
def the_wire_is_sane(view: GroupView) -> Iterator[Sighting]:
    """All that participants broadcast is a content, sync or ephemeral message, and what they name is content.

    IDs of ephemeral messages in a causal history are a warning (AMB-40); sync messages may share an ID with content
    (AMB-43), and what scripted peers named may be asked for.
    """
    last: Act | None = None
    no_content = {
        (channel_id, message_id): kind
        for (channel_id, message_id), kind in view.other_ids.items()
        if (channel_id, message_id) not in view.origins and message_id not in view.scripted_ids and message_id
        if not view.revision.syncs_are_logged  # where they are, they may be named, and nothing is said of others
    }
    for packet in view.performance.packets:
        if not packet.act:
            continue
        act, message = view.performance.acts[packet.act - 1], packet.wire.message
        last = act
        if message is None:
            seen = f"bytes that are none: {packet.wire.error}"
            yield violated(act, "", "does-not-decode", f"an SDS message from {act.who}", seen)
            return
        asked_for = act.step.asked_for is packet.wire
        allowed = KINDS.get(act.step.command) if asked_for else None
        if message.kind is Kind.UNDEFINED or (allowed is not None and message.kind not in allowed):
            kinds = " or ".join(kind.value for kind in allowed or (Kind.CONTENT, Kind.SYNC, Kind.EPHEMERAL))
            code, seen = "wrong-kind", f"{message.message_id!r} is {message.kind.value}"
            if message.kind is Kind.UNDEFINED:
                code, seen = "undefined-kind", "what it broadcasts has neither timestamp nor content"
            yield violated(act, message.channel_id, code, f"a {kinds} message from {act.who}", seen)
            return
        for entry in (*message.causal_history, *message.repair_request) if no_content else ():
            kind = no_content.get((message.channel_id, entry.message_id))
            if kind is not None:
                expected = f"only content messages named by {act.who}"
                seen = f"{message.message_id!r} names {entry.message_id!r}, which is {kind.value}"
                code, position = ("names-ephemeral", "AMB-40") if kind is Kind.EPHEMERAL else ("names-sync", "")
                yield violated(act, message.channel_id, code, expected, seen, position)
                return
    if last is not None:
        yield held(last)
