"""The fields of SDS-R: section R-FIELDS, their layout in section MSG, and the defaults in section R-GLOBAL."""

from __future__ import annotations

from collections.abc import Iterator

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind, MalformedMessageError
from sds_reference.wire_fields import LEN, WireField, split

from .....judging.judgement import Observation, observe_met, observe_outcome, observe_violation
from ...register import check
from ...view.channel_view import ChannelView
from ...view.deafness import nothing_is_pending_after
from ...view.facts import Sent
from ...view.histories import ids_barred_from_log
from ...view.other_channels import named_elsewhere
from ...view.refusals import arrived_in_order
from ...view.repair_tracker import MissingMessage
from ...view.requester import requester
from ...view.responder import answers_and_originals
from ..core.history import judge_hint
from ..core.wire import text_of

_HISTORY = 11
_REQUEST = 13
_HALF_MINUTE = 30_000
_TWO_MINUTES = 120_000
_TEN_MINUTES = 600_000


def _entry_fields(field: WireField) -> list[WireField] | None:
    """The fields of a HistoryEntry; None if the field is not a HistoryEntry."""
    return _try_split(field.value) if isinstance(field.value, bytes) and field.wire_type == LEN else None


def _try_split(wire: bytes) -> list[WireField] | None:
    try:
        return split(wire)
    except MalformedMessageError:
        return None


# ---- MSG -------------------------------------------------------------------------------------------------------------


@check("SDS-MSG-08", pb.CAPABILITY_SDS_R, of="outgoing sds-r")
def requests_in_field_13(view: ChannelView) -> Iterator[Observation]:
    """Each request is one occurrence of field 13, a HistoryEntry with one ID in its field 1.

    If no request can be due, SDS-R-SEND-06 judges an occurrence of zero bytes.
    """
    due = bool(view.repair.missing)
    for sent in view.repair.carriers:
        for field in sent.wire.fields or ():
            if field.number != _REQUEST:
                continue
            inside = _entry_fields(field)
            ids = [text_of([inner.value]) for inner in inside or () if inner.number == 1]
            if inside is None:
                expected = "each occurrence of field 13 a HistoryEntry"
                seen = f"{str(field.value)[:40]!r}"
                yield observe_violation(sent.step, "malformed-entry", expected, seen)
            elif len(ids) == 1 and ids[0]:
                yield observe_met(sent.step)
            elif len(ids) <= 1 and not any(ids) and None not in ids and _waits_for_the_empty_id(view, sent):
                continue
            elif due:
                seen = f"{len(ids)} message IDs" if len(ids) > 1 else "no message ID"
                expected = "one message ID in field 1 of each occurrence of field 13"
                yield observe_violation(sent.step, "several-ids" if len(ids) > 1 else "missing-id", expected, seen)


def _waits_for_the_empty_id(view: ChannelView, sent: Sent) -> bool:
    """Has a causal history named the empty ID? Then it is an unmet dependency, which may be requested (AMB-46)."""
    missing = view.repair.tracked("")
    return missing is not None and bool(missing.named_before(sent.step))


@check("SDS-MSG-12", pb.CAPABILITY_SDS_R, of="outgoing sds-r")
def sender_in_field_3(view: ChannelView) -> Iterator[Observation]:
    """With SDS-R, field 3 of an entry of a causal history is the sender of the message that the entry names.

    A missing sender is a warning (AMB-87).
    """
    for sent in view.repair.carriers:
        # Other requirements judge the number of the field. The content of the entries is the same in every dialect.
        for field in (_try_split(sent.wire.text) if sent.wire.dialect else sent.wire.fields) or ():
            if field.number != _HISTORY:
                continue
            inside = _entry_fields(field) or []
            message_id = next((text_of([inner.value]) for inner in inside if inner.number == 1), None)
            authors = view.repair.authors(message_id or "")
            senders = [inner for inner in inside if inner.number == 3]
            if not authors or not all(authors) or ids_barred_from_log(view, [message_id or ""], sent.step.index):
                continue
            if senders and senders[-1].value != b"" and text_of([senders[-1].value]) is not None:
                yield observe_met(sent.step)  # SDS-R-FIELDS-01 judges whether the sender is the right one
                continue
            expected = f"field 3 (sender_id) = {authors[0]!r} in the entry of {message_id!r}"
            if not senders or senders[-1].value == b"":
                yield observe_violation(sent.step, "missing-sender", expected, "no such field", "AMB-87")
            else:
                yield observe_violation(sent.step, "not-a-string", expected, "a field 3 that is not a string")


@check("SDS-MSG-12", pb.CAPABILITY_SDS_R, of="asked copies sds-r")
def copies_keep_their_senders(view: ChannelView) -> Iterator[Observation]:
    """A message that is sent again has the same senders in the entries of its causal history as before."""
    again = [(answer.step, answer.message, original) for answer, original in answers_and_originals(view)]
    again += [(copy.step, copy.message, copy.original.message) for copy in view.copies]
    for step, message, original in again:
        arrivals = view.arrivals.get(original.message_id, ())
        if any(received.message.causal_history != original.causal_history for received in arrivals):
            continue  # the participant may have kept any of several histories
        senders = {entry.message_id: entry.sender_id for entry in original.causal_history if entry.sender_id}
        for entry in message.causal_history:
            sender = senders.get(entry.message_id)
            if sender and entry.sender_id:
                yield observe_met(step)  # SDS-R-FIELDS-01 judges whether the sender is the right one
            elif sender:
                expected = f"field 3 (sender_id) = {sender!r} in the entry of {entry.message_id!r}, as in the original"
                yield observe_violation(step, "missing-sender", expected, "no such field", "AMB-87")


# ---- R-FIELDS --------------------------------------------------------------------------------------------------------


@check("SDS-R-FIELDS-01", pb.CAPABILITY_SDS_R, of="outgoing sds-r")
def entries_name_the_author(view: ChannelView) -> Iterator[Observation]:
    """The sender in an entry is the original sender of the named message, in causal histories and in repair requests.

    A repair request repeats a sender that a causal history gave for the missing message. Without a sender, no
    participant could respond (AMB-87). SDS-MSG-12 judges causal histories without senders.
    """
    for sent in view.repair.carriers:
        for entry, authors in view.repair.entries_with_authors(sent.message):
            expected = f"{authors[0]!r} as the sender of {entry.message_id!r} in the causal history"
            met, seen = entry.sender_id in authors, _describe_sender(view, entry.sender_id)
            yield observe_outcome(sent.step, "wrong-author-in-history", met, expected, seen)
        for entry in sent.message.repair_request:
            missing = view.repair.tracked(entry.message_id)
            if missing is None or not missing.senders:
                continue
            said = sorted(missing.senders)
            expected = f"{said[0]!r} as the sender of {entry.message_id!r} in the repair request"
            if entry.sender_id in said:
                yield observe_met(sent.step)
            elif entry.sender_id:
                seen = _describe_sender(view, entry.sender_id)
                yield observe_violation(sent.step, "wrong-author-in-request", expected, seen)
            elif (named := missing.named_before(sent.step)) and (
                all(one.sender_id for one in named) or _is_first_entry(view, missing, sent)
            ):
                # The specification does not say that an entry takes over a sender that a later history names.
                soft = "" if named[0].sender_id else "AMB-87"
                yield observe_violation(sent.step, "missing-author-in-request", expected, "no sender", soft)


def _is_first_entry(view: ChannelView, missing: MissingMessage, sent: Sent) -> bool:
    """Must the request name the sender, because a causal history of content has named the sender before?

    After an own request or another participant's request, or after T_max, another entry for the missing message may
    have been added, so the answer is no.
    """
    side, index = requester(view), sent.step.index
    is_first = index == side.requested_at(missing)
    end = min(side.unchanged_until(missing), side.may_be_renewed_from(missing))
    known = any(
        entry.sender_id and received.kind is Kind.CONTENT and received.acceptable
        for received, entry in missing.entries
        if received.step.index < index
    )
    return is_first and index < end and known and any(each is missing for each in side.certainly_missing)


def _describe_sender(view: ChannelView, sender_id: str | None) -> str:
    return f"{sender_id!r}, the participant's own ID" if sender_id == view.party.participant_id else f"{sender_id!r}"


@check("SDS-R-FIELDS-01", pb.CAPABILITY_SDS_R, of="sds-r")
def answers_name_the_author(view: ChannelView) -> Iterator[Observation]:
    """In an answer, a sender in the causal history is the author of the named message, or is left as received."""
    for step in view.trace.of(view.party.name):
        for message in step.messages:
            original = view.repair.original(message.message_id)
            if original is None or message.sender_id == view.party.participant_id:
                continue
            before = {entry.message_id: entry.sender_id for entry in original.causal_history}
            for entry, authors in view.repair.entries_with_authors(message):
                met = entry.sender_id in authors or entry.sender_id == before.get(entry.message_id)
                expected = f"{authors[0]!r} as the sender of {entry.message_id!r} in the causal history of the answer"
                seen = _describe_sender(view, entry.sender_id)
                yield observe_outcome(step, "wrong-author-in-history", met, expected, seen)


@check("SDS-R-FIELDS-02", pb.CAPABILITY_SDS_R, of="outgoing sds-r")
def requests_are_for_the_missing(view: ChannelView) -> Iterator[Observation]:
    """A requested message was named in a causal history and has not arrived. No request exceeds the declared cap.

    SDS-R-RECV-01 and SDS-R-SEND-07 judge requests for messages that were missing and have arrived since.
    """
    side = requester(view)
    named = {entry.message_id: r.step.index for r in reversed(view.received) for entry in r.message.causal_history}
    wrong: set[tuple[int, str]] = set()
    for sent, entry in view.repair.unfounded_requests:
        message_id = entry.message_id
        if not message_id or side.waits(message_id, sent.step):
            continue
        if message_id in named_elsewhere(view):
            continue  # SDS-STATE-16 judges requests for messages that are missing in another channel
        own = view.own(message_id)
        # After giving up a dependency, a participant may drop later copies and still request them (AMB-92).
        logged = not view.gives_up and side.in_log(message_id, sent.step)
        sent_before = own is not None and own.step.index < sent.step.index
        has = logged or (sent_before and view.kept_entries.holds(message_id, sent.step.index - 1))
        if has or named.get(message_id, sent.step.index) >= sent.step.index:
            wrong.add((sent.step.index, message_id))
            code, seen = ("in-the-log", "is in the log") if has else ("never-named", "no causal history has named")
            seen = f"a request for {message_id!r}, which {seen}"
            yield observe_violation(sent.step, code, "requests for missing messages only", seen)
    for sent in view.repair.carriers:
        entries = sent.message.repair_request
        cap = view.terms.cap
        if entries and cap is not None and len(entries) > cap:
            seen = f"{len(entries)} of them"
            yield observe_violation(sent.step, "over-cap", f"at most {cap} entries, the declared cap", seen)
        elif entries and not any((sent.step.index, entry.message_id) in wrong for entry in entries):
            yield observe_met(sent.step)


@check("SDS-R-FIELDS-02", pb.CAPABILITY_SDS_R, of="outgoing sds-r")
def requests_have_no_hint_of_another(view: ChannelView) -> Iterator[Observation]:
    """A retrieval hint in a repair request, if there is one, belongs to the ID of its entry."""
    for sent in view.repair.carriers:
        for entry in sent.message.repair_request:
            if entry.retrieval_hint is not None:
                yield from judge_hint(view, sent.step, entry.message_id, entry.retrieval_hint)


@check("SDS-R-FIELDS-03", of="no-sds-r outgoing")
def no_fields_without_sds_r(view: ChannelView) -> Iterator[Observation]:
    """Without SDS-R, no message requests repairs and no entry names a sender."""
    for sent in view.outgoing:
        named = next((entry for entry in sent.message.causal_history if entry.sender_id is not None), None)
        count = len(sent.message.repair_request)
        if count:
            expected = "no field 13 (repair_request), because SDS-R is not in use"
            seen = f"a repair_request of length {count}"
            yield observe_violation(sent.step, "repair-request-set", expected, seen)
        elif named is not None or sent.message.causal_history:
            expected = "no field 3 (sender_id) in entries of the causal history, because SDS-R is not in use"
            seen = f"{named.sender_id!r} in the entry of {named.message_id!r}" if named is not None else ""
            yield observe_outcome(sent.step, "sender-id-set", named is None, expected, seen)


@check("SDS-R-FIELDS-04", pb.CAPABILITY_DELIVERED, of="arrived never-gives-up no-sds-r")
def repair_fields_are_ignored_without_sds_r(view: ChannelView) -> Iterator[Observation]:
    """Without SDS-R, messages with the fields of SDS-R are processed like all others."""
    for received in arrived_in_order(view):
        has_fields = received.message.repair_request or any(e.sender_id for e in received.message.causal_history)
        if not has_fields or not received.plain:
            continue
        expected = f"{received.message.message_id!r} processed like a message without the fields of SDS-R"
        if received.rejected:
            yield observe_violation(received.step, "refused", expected, "the message is refused")
        elif received.unmet and received.delivered_at_once:
            yield observe_violation(received.step, "delivered-early", expected, "delivered before its dependencies")
        elif received.unmet or received.delivered or nothing_is_pending_after(view, received):
            met = bool(received.unmet or received.delivered)
            seen = "the message is not delivered"
            yield observe_outcome(received.step, "never-delivered", met, expected, seen)


# ---- R-GLOBAL: defaults ----------------------------------------------------------------------------------------------


@check("SDS-R-GLOBAL-02", pb.CAPABILITY_SDS_R, of="sds-r")
def default_t_min(view: ChannelView) -> Iterator[Observation]:
    """Unless configured otherwise, T_min is at least 30 seconds, by the value in force or by the times of requests."""
    if view.party.asked.HasField("t_min_ms"):
        return
    if view.terms.t_min_ms is not None:
        expected = "a T_min of 30 seconds or more by default"
        seen = f"{view.terms.t_min_ms} ms"
        yield observe_outcome(view.opened, "default-too-low", view.terms.t_min_ms >= _HALF_MINUTE, expected, seen)
    for waited, sent in _first_requests(view) if view.terms.t_min_ms is None else ():
        expected = "no request within 30 seconds of finding a message missing"
        yield observe_outcome(sent.step, "default-too-low", waited >= _HALF_MINUTE, expected, f"after {waited} ms")


@check("SDS-R-GLOBAL-03", pb.CAPABILITY_SDS_R, of="sds-r")
def default_t_max(view: ChannelView) -> Iterator[Observation]:
    """Unless configured otherwise, T_max is 120 to 600 seconds, by the value in force or by the times of requests."""
    if view.party.asked.HasField("t_max_ms"):
        return
    if view.terms.t_max_ms is not None:
        expected = "a T_max of 120 to 600 seconds by default"
        code = "default-too-low" if view.terms.t_max_ms < _TWO_MINUTES else "default-too-high"
        seen = f"{view.terms.t_max_ms} ms"
        yield observe_outcome(view.opened, code, _TWO_MINUTES <= view.terms.t_max_ms <= _TEN_MINUTES, expected, seen)
    for waited, sent in _first_requests(view) if view.terms.t_max_ms is None else ():
        if waited <= _TEN_MINUTES:
            yield observe_met(sent.step)


def _first_requests(view: ChannelView) -> Iterator[tuple[int, Sent]]:
    """For each missing message, yield (milliseconds until its first request, own message with the request)."""
    side = requester(view)
    for missing in view.repair.missing:
        for sent in missing.requests[:1]:
            if side.clock_is_monotonic(missing.detected.step, sent.step):
                yield sent.step.now_ms - missing.detected.step.now_ms, sent
