"""Section MSG, the meaning of fields: sender, ID, channel and content, after translation from a dialect."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind, Message

from .....judging.judgement import Observation, observe_met, observe_outcome, observe_violation
from .....judging.view_cache import cache_per_view
from ...register import check
from ...view.channel_view import ChannelView
from ...view.declared_limits import limit_in_force
from ...view.facts import CODES_BY_FIELD, Received, changed_fields, value_of
from ...view.filters import KnownFilters
from ...view.histories import names_barred_ids, own_ids_of_other_channels
from ...view.lateness import may_be_delivered_late
from ...view.odd_messages import LARGEST_CONTENT, LARGEST_ID, LARGEST_LAMPORT, ROOM_AFTER
from ...view.refusals import arrived_in_order


@check("SDS-MSG-09", pb.CAPABILITY_DELIVERED, of="delivered")
def content_delivered_unchanged(view: ChannelView) -> Iterator[Observation]:
    """Delivered content equals the content of a received message with the same ID, byte for byte."""
    for delivery in view.delivered:
        if delivery.received is None or not delivery.received.message.content:
            continue
        content = delivery.received.message.content
        # The specification does not say which of several messages with one ID counts, and deduplication is a MAY
        # (AMB-24, AMB-25).
        arrivals = (r for r in view.arrivals[delivery.message_id] if r.step.index <= delivery.step.index)
        expected = f"the {len(content)} received bytes of content"
        seen = f"{len(delivery.content)} other bytes"
        met = any(delivery.content == arrival.message.content for arrival in arrivals)
        yield observe_outcome(delivery.step, "delivered-changed", met, expected, seen)


@check("SDS-MSG-13")
def sender_is_self(view: ChannelView) -> Iterator[Observation]:
    """Content, sync, ephemeral messages and rebroadcasts carry the participant's own ID as sender."""
    everything = [(s.step, s.message) for s in view.sent + view.syncs + view.ephemerals]
    own_id = view.party.participant_id
    for step, message in everything + [(copy.step, copy.message) for copy in view.copies]:
        expected = f"sender_id {own_id!r} in a {message.kind.value} message"
        seen = f"sender_id {message.sender_id!r}" if message.sender_id is not None else "no sender_id"
        met = message.sender_id == own_id
        yield observe_outcome(step, "wrong-sender" if message.sender_id else "missing-sender", met, expected, seen)


@check("SDS-MSG-14", of="spoke", together=True)
def message_ids_unique(view: ChannelView) -> Iterator[Observation]:
    """The ID of a message is not empty, and no other message of any participant has it, even with equal content."""
    if view.can(pb.CAPABILITY_MESSAGE_ID_REQUIRED):
        return
    first_use: dict[str, int] = {}
    messages = [(s.step, s.message.message_id) for s in view.sent + view.ephemerals if not _has_suggested_id(s.step)]
    others = (r for r in view.received if r.kind is Kind.CONTENT and not r.own and not r.duplicate)
    messages += [(received.step, received.message.message_id) for received in others]
    me = (view.party.name, view.channel_id)
    messages += [
        (step, message_id)
        for who, step, message_id in _sends_without_suggested_id(view.views_in_channel[0])
        if who != me
    ]
    for step, message_id in sorted(messages, key=lambda item: item[0].index):
        if step.command == "receive" or (step.participant, step.channel_id) != me:
            first_use.setdefault(message_id, step.index)
        elif not message_id:
            yield observe_violation(step, "missing-id", "a non-empty message_id", "an empty message_id")
        elif message_id in first_use:
            seen = f"{message_id!r} again, the ID of the message of step {first_use[message_id]}"
            yield observe_violation(step, "id-used-twice", "an ID that no other message has", seen)
        else:
            first_use[message_id] = step.index
            if len(first_use) > 1:
                yield observe_met(step)


@cache_per_view
def _sends_without_suggested_id(view: ChannelView) -> list[tuple[tuple[str, str], Step, str]]:
    """The messages that any participant sent without a suggested ID: (participant and channel, step, ID)."""
    return [
        ((step.participant, step.channel_id), step, step.new.message_id)
        for step in view.trace.steps
        if step.command == "send" and not _has_suggested_id(step) and step.new is not None
    ]


def _has_suggested_id(step: Step) -> bool:
    return bool(step.request.send.message_id if step.command == "send" else step.request.send_ephemeral.message_id)


@check("SDS-MSG-15")
def channels_do_not_mix(view: ChannelView) -> Iterator[Observation]:
    """Messages carry the ID of their channel, and their causal histories name only messages of that channel."""
    others = own_ids_of_other_channels(view)
    for sent in view.outgoing + view.ephemerals:
        foreign = next((message_id for message_id in sent.history if message_id in others), None)
        if sent.message.channel_id != view.channel_id and not view.party.unnamed:
            expected = f"channel_id {view.channel_id!r}"
            seen = f"channel_id {sent.message.channel_id!r}" if sent.message.channel_id is not None else "no channel_id"
            code = "wrong-channel" if sent.message.channel_id else "missing-channel"
            yield observe_violation(sent.step, code, expected, seen)
        elif foreign is not None:
            expected = f"a causal history of channel {view.channel_id!r}"
            yield observe_violation(sent.step, "foreign-entry", expected, f"{foreign!r} of another")
        else:
            yield observe_met(sent.step)


@check("SDS-MSG-17", of="outgoing")
def protocol_fields_set(view: ChannelView) -> Iterator[Observation]:
    """Content and sync messages carry a Lamport timestamp, a filter, and a causal history as long as the log allows."""
    for sent in view.outgoing:
        size = view.history_size_of(sent)
        least, most = min(size, sent.log_size), min(size, sent.log_most)
        if sent.message.lamport_timestamp is None:
            yield observe_violation(sent.step, "missing-timestamp", "lamport_timestamp set", "lamport_timestamp unset")
        elif sent.message.bloom_filter is None:
            yield observe_violation(sent.step, "missing-filter", "bloom_filter set", "bloom_filter unset")
        else:
            count = len(set(sent.history))  # SDS-DELIVER-06 judges an ID that occurs twice
            met = not sent.log_is_known or sent.repeat or not size or least <= count <= most
            expected = f"{least} entries in causal_history (the log has {sent.log_size}, the configured size is {size})"
            if met or not names_barred_ids(view, sent):
                seen = f"{count} different entries"
                code = "missing-entry" if count < least else "too-many-entries"
                yield observe_outcome(sent.step, code, met, expected, seen)


@check("SDS-MSG-18", pb.CAPABILITY_DELIVERED, of="ephemeral-came")
def bare_ephemeral_accepted(view: ChannelView) -> Iterator[Observation]:
    """An ephemeral message without Lamport timestamp, history and filter is not refused."""
    for received in arrived_in_order(view):
        message = received.message
        bare = not message.causal_history and message.bloom_filter is None
        if received.kind is Kind.EPHEMERAL and not received.own and bare:
            expected = "an ephemeral message to be accepted"
            seen = f"refused at step {received.step.index}"
            yield observe_outcome(received.step, "refused", not received.rejected, expected, seen)


@check("SDS-MSG-19", of="sync-came")
def both_empty_contents_accepted(view: ChannelView) -> Iterator[Observation]:
    """A sync message is accepted both without the content field and with content of zero length."""
    for received in arrived_in_order(view):
        if received.kind is not Kind.SYNC or not received.valid:
            continue
        how = "unset" if received.message.content is None else "present with zero length"
        expected, seen = f"a sync message with content {how} to be accepted", f"refused at step {received.step.index}"
        yield observe_outcome(received.step, "refused", not received.rejected, expected, seen)


@check("SDS-MSG-20")
def content_comes_from_the_application(view: ChannelView) -> Iterator[Observation]:
    """Content and ephemeral messages carry the application's content."""
    for sent in view.sent + view.ephemerals:
        request = sent.step.request
        expected = request.send.content if sent.step.command == "send" else request.send_ephemeral.content
        seen = "no content" if sent.message.content is None else f"{len(sent.message.content)} other bytes"
        what = f"the {len(expected)} bytes of content that the application gave"
        code = "sent-changed" if sent.message.content else "missing-content"
        yield observe_outcome(sent.step, code, (sent.message.content or b"") == expected, what, seen)


@check("SDS-MSG-20")
def empty_content_is_refused(view: ChannelView) -> Iterator[Observation]:
    """The command to send empty content is refused, because the message would not be a content message (AMB-34)."""
    for step in view.trace.of(view.party.name):
        if step.command not in ("send", "send_ephemeral"):
            continue
        asked = getattr(step.request, step.command)
        if asked.channel_id == view.channel_id and not asked.content:
            expected = "empty content refused, because receivers would read a sync message, or no message"
            seen = "a message without content is sent"
            yield observe_outcome(step, "empty-accepted", not step.broadcasts, expected, seen, "AMB-34")


@check("SDS-MSG-20")
def no_content_is_invented(view: ChannelView) -> Iterator[Observation]:
    """Every content message with the participant's sender ID was sent by the application."""
    yield from (observe_met(sent.step) for sent in view.sent)
    for step, wire in view.strays:
        message = wire.message
        if message is not None and message.kind is Kind.CONTENT and message.sender_id == view.party.participant_id:
            expected = "content messages of the application only"
            seen = f"{message.message_id!r}, which the application did not send"
            yield observe_violation(step, "sent-unasked", expected, seen)


@check("SDS-MSG-17", of="no-sds-r outgoing")
def no_repair_request_without_sds_r(view: ChannelView) -> Iterator[Observation]:
    """repair_request is populated only with SDS-R."""
    for sent in view.outgoing:
        count = len(sent.message.repair_request)
        expected = "no repair_request, because SDS-R is not in use"
        yield observe_outcome(sent.step, "unasked-repair-request", not count, expected, f"{count} entries")


@check("SDS-MSG-15", pb.CAPABILITY_DELIVERED, of="came-elsewhere")
def delivered_in_its_channel(view: ChannelView) -> Iterator[Observation]:
    """A message is delivered in the channel that it names, and in no other."""
    for step in view.trace.of(view.party.name):
        message = step.arrived
        if message is None or message.channel_id == view.channel_id:
            continue
        delivered = step.signals("delivered", view.channel_id)
        # A message with the same ID may have arrived in this channel, too, and have waited.
        waited = {r.message.message_id for r in view.received if r.step.index < step.index and not r.delivered}
        met = message.message_id in waited or all(event.message_id != message.message_id for event in delivered)
        expected = f"a message of channel {message.channel_id!r} not to be delivered in {view.channel_id!r}"
        yield observe_outcome(step, "delivered-elsewhere", met, expected, f"delivered at step {step.index}")


@check("SDS-MSG-21", pb.CAPABILITY_RESEND, of="copies")
def copies_are_the_message(view: ChannelView) -> Iterator[Observation]:
    """A rebroadcast message has its original ID, sender, channel, Lamport timestamp, history IDs and content."""
    for copy in view.copies:
        original, changed = copy.original.message, next(changed_fields(copy.original.message, copy.message), None)
        if changed is None:
            yield observe_met(copy.step)
            continue
        expected = f"{changed} {_abbreviate(value_of(original, changed))}, as first broadcast"
        seen = _abbreviate(value_of(copy.message, changed))
        yield observe_violation(copy.step, CODES_BY_FIELD[changed], expected, seen)


@check("SDS-MSG-23", pb.CAPABILITY_DELIVERED)
def entry_identity_is_its_id(view: ChannelView) -> Iterator[Observation]:
    """A dependency is identified by its ID alone.

    If an entry has a sender, it is the sender of the named message. If messages with the same ID arrived with several
    senders, each of these senders is accepted (AMB-25). An undelivered message is not judged if a message whose
    entries have the same fields is delivered: then the fields are not the reason.
    """
    accepted = {_fields_of_entries(received.message) for received in view.received if received.delivered}
    for received in view.received:
        entries = received.message.causal_history
        if not received.plain or received.unmet or not view.delivered:
            continue
        with_details = [e for e in entries if e.retrieval_hint is not None or e.sender_id is not None]
        if not received.delivered and _fields_of_entries(received.message) in accepted:
            continue
        if with_details and not may_be_delivered_late(view, received):
            first = with_details[0].message_id
            expected = f"{first!r} to satisfy the dependency, with any hint and sender in its entry"
            seen = "the message is not delivered"
            yield observe_outcome(received.step, "never-delivered", bool(received.delivered), expected, seen)
    for sent in view.outgoing:
        for entry, authors in view.repair.entries_with_authors(sent.message):
            expected = f"sender {authors[0]!r} in the entry of {entry.message_id!r}, or none"
            met = entry.sender_id in authors
            yield observe_outcome(sent.step, "wrong-sender", met, expected, f"{entry.sender_id!r}")


def _fields_of_entries(message: Message) -> frozenset[tuple[bool, bool]]:
    """The combinations of fields in the entries of a causal history: (is there a hint, is there a sender)."""
    return frozenset((e.retrieval_hint is not None, e.sender_id is not None) for e in message.causal_history)


@check("SDS-MSG-24", pb.CAPABILITY_DELIVERED, of="arrived delivered")
def proto3_reading(view: ChannelView) -> Iterator[Observation]:
    """Field order, unknown fields and over-long varints make no difference to a reader."""
    for received in arrived_in_order(view):
        if not received.plain or received.unmet:
            continue
        if not _has_usual_encoding(view, received):
            code, seen = (
                ("refused", "the message is refused")
                if received.rejected
                else ("never-delivered", "the message is not delivered")
            )
            expected = "an unusual but legal protobuf encoding to be accepted"
            yield observe_outcome(received.step, code, bool(received.delivered), expected, seen)


def _has_usual_encoding(view: ChannelView, received: Received) -> bool:
    """Is the message encoded with the fields of the specification only, in ascending order?"""
    known, text = _known_encodings(view.known_filters), received.step.received.text
    if text not in known:
        known[text] = text == view.revision.wire.encode(received.message)
    return known[text]


@cache_per_view
def _known_encodings(_: KnownFilters) -> dict[bytes, bool]:
    """Results of `_has_usual_encoding` by bytes, cached because the same message arrives at many participants."""
    return {}


@check("SDS-MSG-17", pb.CAPABILITY_RESEND, of="copies")
def copies_keep_a_filter(view: ChannelView) -> Iterator[Observation]:
    """A rebroadcast message has a bloom filter: the filter of the original, or a newer filter."""
    for copy in view.copies:
        met = not (copy.original.message.bloom_filter is not None and copy.message.bloom_filter is None)
        seen = "the copy has no filter"
        yield observe_outcome(copy.step, "missing-filter", met, "a filter in the copy as well", seen)


@check("SDS-MSG-22", of="outgoing")
def participant_id_constant(view: ChannelView) -> Iterator[Observation]:
    """A participant keeps one ID in all its messages."""
    # SDS-MSG-13 judges messages without a sender.
    named = (s for s in view.sent + view.syncs if s.message.sender_id)
    ids = [(s.step, s.message.sender_id) for s in sorted(named, key=lambda s: s.step.index)]
    for (_, before), (step, after) in itertools.pairwise(ids):
        expected = f"sender_id {before!r} as in the messages before"
        yield observe_outcome(step, "sender-changed", before == after, expected, f"{after!r}")


def _abbreviate(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"


@check("SDS-SEND-10")
def ordinary_sends_are_broadcast(view: ChannelView) -> Iterator[Observation]:
    """Ordinary content is accepted and broadcast, if the application gives no ID or an ordinary ID."""
    for step in ordinary_sends(view, "send"):
        if step.answer == "rejected" and _received_nearly_the_largest(view, step):
            continue  # refusing is legal after a timestamp beyond 2^53+10, or near the end of the range (AMB-14)
        yield judge_sent(step)


def ordinary_sends(view: ChannelView, command: str) -> Iterator[Step]:
    """Yield the steps that send content which no limit or position allows the implementation to refuse."""
    declared = limit_in_force(view.trace, "content_bytes")
    largest = LARGEST_CONTENT if declared is None else min(declared, LARGEST_CONTENT)
    for step in view.trace.of(view.party.name):
        if step.command == command and step.channel_id == view.channel_id and step.reply is not None:
            request = getattr(step.request, command)
            if 0 < len(request.content) <= largest and _is_usable_id(view, request.message_id, step):
                yield step


def judge_sent(step: Step) -> Observation:
    """Judge whether the content of a step was accepted and broadcast."""
    if step.answer == "rejected":
        assert step.reply is not None
        return observe_violation(
            step, "refused", "ordinary content to be sent", f"refused: {step.reply.rejected.reason[:80]}"
        )
    return observe_outcome(
        step, "not-broadcast", bool(step.broadcasts), "ordinary content to be broadcast", "nothing is broadcast"
    )


def _is_usable_id(view: ChannelView, message_id: str, step: Step) -> bool:
    """Is the ID empty, or an unused ID of printable ASCII characters?"""
    if not message_id:
        return True
    plain = message_id.isascii() and message_id.isprintable() and len(message_id) <= LARGEST_ID
    return plain and _first_steps_by_id(view).get(message_id, step.index) >= step.index


@cache_per_view
def _first_steps_by_id(view: ChannelView) -> dict[str, int]:
    """By message ID: the index of the first step with a message that has this ID, or names it in its causal history."""
    since: dict[str, int] = {}
    messages = [(sent.step.index, sent.message) for sent in view.sent]
    messages += [(received.step.index, received.message) for received in view.received]
    for index, message in messages:
        for message_id in (message.message_id, *(entry.message_id for entry in message.causal_history)):
            since[message_id] = min(index, since.get(message_id, index))
    return since


def _received_nearly_the_largest(view: ChannelView, step: Step) -> bool:
    """Had the participant received a timestamp that is so large that it may refuse to send (AMB-14)?"""
    before = (r for r in view.received if r.step.index < step.index)
    most = min(LARGEST_LAMPORT, view.revision.wire.max_lamport - ROOM_AFTER)
    return any((r.message.lamport_timestamp or 0) > most for r in before)
