"""Section MSG, the layout: numbers, wire types and presence of the fields as in the specification.

These checks read the bytes as they were sent. With a dialect, they also read the bytes after translation. A violation
in the translated bytes is an ordinary fault. A violation only in the untranslated bytes is the private layout, which
has a code of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, wraps
from typing import NamedTuple

from sds_harness.sds.trace import Wire
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import FORUM_2024, MAX_LAMPORT, UNNAMED_CHANNEL, Kind, MalformedMessageError
from sds_reference.wire_fields import LEN, VARINT, WireField, split

from .....judging.catalogue import ANOTHER_LAYOUT
from .....judging.judgement import Observation, Outcome, observe_met, observe_outcome, observe_violation
from .....judging.view_cache import cache_per_view
from ...register import check
from ...view.channel_view import ChannelView
from ...view.facts import Received, Sent
from ...view.refusals import arrived_in_order
from ...view.timestamps import NEARBY, UNITS, describe_wrong_timestamp
from ...view.windows import DAY_MS


class _Layout(NamedTuple):
    """The message layout of a revision."""

    types: Mapping[int, int]
    """Wire types of the fields, by number."""
    repeated: tuple[int, ...]
    always: frozenset[int]
    """Numbers of the fields that every message has."""
    entries: tuple[int, ...]
    """Numbers of the fields that are lists of HistoryEntry."""
    channel_id: int
    bloom_filter: int
    content: int


_LAYOUTS = {
    "SDS": _Layout(
        {1: LEN, 2: LEN, 3: LEN, 10: VARINT, 11: LEN, 12: LEN, 13: LEN, 20: LEN},
        (11, 13),
        frozenset({1, 2, 3}),
        (11, 13),
        channel_id=3,
        bloom_filter=12,
        content=20,
    ),
    "FORUM": _Layout(
        {1: LEN, 2: LEN, 3: VARINT, 4: LEN, 5: LEN, 6: LEN, 7: LEN},
        (4,),
        frozenset({1, 2, 5}),
        (),
        channel_id=5,
        bloom_filter=6,
        content=7,
    ),
}
"""By common prefix of the requirement IDs of a revision: its message layout."""
_ENTRY_FIELDS = {1: LEN, 2: LEN, 3: LEN}
_WIRE_TYPES = {0: "varint", 1: "64-bit", 2: "length-delimited", 5: "32-bit"}


def has_lamport_beyond_31_bits(view: ChannelView, wire: Wire) -> bool:
    """Has a message of the proposal of 2024 a Lamport timestamp that is negative or greater than 2^31 - 1?"""
    lamports = [value for value in _values(wire.fields, 3) if isinstance(value, int)]
    return view.revision is FORUM_2024 and bool(lamports) and lamports[-1] > FORUM_2024.wire.max_lamport


def values_of(sent: Sent, number: int) -> list[int | bytes]:
    """All values of a field of an own message, as on the wire."""
    return _values(sent.wire.fields, number)


Reader = Callable[[Wire], list[WireField] | None]
"""A function that returns the fields of a message, or None if its bytes cannot be split into fields."""
Judge = Callable[[ChannelView, Reader], Iterator[Observation]]


def _read_raw_fields(wire: Wire) -> list[WireField] | None:
    return wire.fields


def _read_translated_fields(wire: Wire) -> list[WireField] | None:
    with suppress(MalformedMessageError):
        return split(wire.text)
    return None


def layout_check(requirement: str, of: str = "") -> Callable[[Judge], Callable[[ChannelView], Iterator[Observation]]]:
    """Register a check of the layout.

    The decorated function reads the fields of each message with a `Reader`. With a dialect, it is called for the
    translated and for the raw bytes. If only the raw bytes are wrong, the message is in another layout.
    """

    def register(judge: Judge) -> Callable[[ChannelView], Iterator[Observation]]:
        @check(requirement, of=of)
        @wraps(judge)
        def layout(view: ChannelView) -> Iterator[Observation]:
            if view.trace.dialect is None:
                yield from judge(view, _read_raw_fields)
                return
            translated = [*judge(view, _read_translated_fields)]
            yield from translated
            wrong = {one.step for one in translated if one.outcome is Outcome.VIOLATED}
            for one in judge(view, _read_raw_fields):
                if one.outcome is Outcome.VIOLATED and one.step not in wrong:
                    yield replace(one, code=ANOTHER_LAYOUT)

        return layout

    return register


def _values(fields: list[WireField] | None, number: int) -> list[int | bytes]:
    return [field.value for field in fields or [] if field.number == number]


def text_of(values: list[int | bytes]) -> str | None:
    """The last string of a field; None if there is none or it is not UTF-8."""
    if not values or not isinstance(values[-1], bytes):
        return None
    try:
        return values[-1].decode()
    except UnicodeDecodeError:
        return None


def _layout(view: ChannelView) -> _Layout:
    return _LAYOUTS[view.revision.prefix]


def _find_strays(fields: list[WireField], numbers: tuple[int, ...]) -> list[tuple[bool, str]]:
    """The faults of the entries in the fields ``numbers``: (is the fault only an extra field, description)."""
    entries = [(f.number, f.value) for f in fields if f.number in numbers and isinstance(f.value, bytes)]
    return [stray for number, entry in entries for stray in _find_strays_in_entry(number, entry)]


@lru_cache(4_096)
def _find_strays_in_entry(number: int, entry: bytes) -> tuple[tuple[bool, str], ...]:
    """The faults of one entry of a field. Cached, because an entry occurs in several causal histories."""
    try:
        fields = split(entry)
    except MalformedMessageError:
        return ((False, f"an entry of field {number} that is not a HistoryEntry"),)
    named = any(field.number == 1 for field in fields)
    return tuple(
        (named and field.number not in _ENTRY_FIELDS, f"field {field.number} in an entry of field {number}")
        for field in fields
        if _ENTRY_FIELDS.get(field.number) != field.wire_type
    )


@layout_check("SDS-MSG-01")
def message_structure(view: ChannelView, fields_of: Reader) -> Iterator[Observation]:
    """Every broadcast splits into the fields of the specification, with their wire types, and decodes.

    Extra fields are only a warning, because any proto3 reader skips them. A message without the fields that every
    message has is in another layout.
    """
    types, repeated, always, entries, *_ = _layout(view)
    *first, last = types
    expected = f"a Message with fields {', '.join(map(str, first))} and {last} only, each of its type"
    for step, wire in [*((s.step, s.wire) for s in view.sent + view.syncs + view.ephemerals), *view.strays]:
        fields = fields_of(wire)
        if fields is None:
            yield observe_violation(step, "not-protobuf", expected, f"{len(wire.raw)} bytes that are not protobuf")
            continue
        wrong = [f for f in fields if types.get(f.number, f.wire_type) != f.wire_type]
        unknown = sorted({f.number for f in fields if f.number not in types})
        numbers = [f.number for f in fields if f.number not in repeated]
        several = len(set(numbers)) < len(numbers)
        twice = sorted({number for number in numbers if numbers.count(number) > 1}) if several else []
        strays = sorted(_find_strays(fields, entries))
        if wrong:
            kind = _WIRE_TYPES.get(wrong[0].wire_type, "unknown")
            yield observe_violation(step, "wrong-wire-type", expected, f"field {wrong[0].number} as {kind}")
        elif unknown or strays:
            named = ", ".join(map(str, unknown))
            seen = f"field {named}, which the specification does not have" if unknown else strays[0][1]
            other_layout = not always <= set(numbers) or not all(extra for extra, _ in strays)
            code = "unknown-field"
            if other_layout:
                code = "malformed-entry" if always <= set(numbers) else "another-layout"
            yield observe_violation(step, code, expected, seen, "" if other_layout else "AMB-116")
        elif twice:
            yield observe_violation(step, "field-twice", expected, f"field {twice[0]} twice")
        elif not has_lamport_beyond_31_bits(view, wire):  # FORUM-04 judges these timestamps
            seen = f"bytes that do not decode: {wire.error}"
            yield observe_outcome(step, "does-not-decode", not wire.error, expected, seen)


@check("SDS-MSG-01", of="arrived")
def reference_encoding_accepted(view: ChannelView) -> Iterator[Observation]:
    """A message in the layout of the specification is not refused.

    If the implementation accepted or sent all fields of the message in other messages, the encoding is not the reason
    for the refusal, so this rule is not violated. Messages that would have to wait are not judged either.
    """
    for received in arrived_in_order(view):
        if received.plain and not received.rejected:
            yield observe_met(received.step)
        elif received.plain and not received.unmet and not _fields_of(received.step.received) <= _fields_known(view):
            yield observe_violation(received.step, "refused", "a well-formed message to be accepted", received.refusal)


@cache_per_view
def _fields_known(view: ChannelView) -> set[tuple[int, ...]]:
    """The numbers of all fields in messages that the implementation accepted or sent, as returned by `_fields_of`."""
    known = {field for received in view.received if received.plain for field in _fields_of(received.step.received)}
    return known.union(*(_fields_of(sent.wire) for sent in view.outgoing))


def _fields_of(wire: Wire) -> set[tuple[int, ...]]:
    """The numbers of the fields of a message, and (number, number in the entry) for the fields of its entries."""
    numbers: set[tuple[int, ...]] = set()
    for outer in wire.fields or []:
        numbers.add((outer.number,))
        if outer.number in _LAYOUTS["SDS"].entries and isinstance(outer.value, bytes):
            with suppress(MalformedMessageError):
                numbers |= {(outer.number, inner.number) for inner in split(outer.value)}
    return numbers


@layout_check("SDS-MSG-02", of="sent")
def sender_in_field_1(view: ChannelView, fields_of: Reader) -> Iterator[Observation]:
    """Field 1 is the participant's own ID as UTF-8."""
    for sent in view.sent:
        seen = text_of(_values(fields_of(sent.wire), 1))
        expected = f"field 1 (sender_id) = {view.party.participant_id!r}"
        met = seen == view.party.participant_id
        yield observe_outcome(sent.step, "wrong-sender" if seen else "missing-sender", met, expected, f"{seen!r}")


@layout_check("SDS-MSG-03", of="sent")
def message_id_in_field_2(view: ChannelView, fields_of: Reader) -> Iterator[Observation]:
    """Field 2 is a non-empty UTF-8 string: the message ID that the implementation returned to the application."""
    for sent in view.sent:
        seen = text_of(_values(fields_of(sent.wire), 2))
        answered = sent.step.reply.effects.message_id if sent.step.reply is not None else ""
        if not seen:
            expected = "field 2 (message_id) to be a non-empty string"
            yield observe_violation(sent.step, "missing-id", expected, f"{seen!r}")
        else:
            expected = f"field 2 (message_id) = {answered!r}, the ID given to the application"
            yield observe_outcome(sent.step, "another-id", not (answered and seen != answered), expected, f"{seen!r}")


@layout_check("SDS-MSG-04")
def channel_in_its_field(view: ChannelView, fields_of: Reader) -> Iterator[Observation]:
    """The channel field has the channel that the application named, in all kinds of messages."""
    number = _layout(view).channel_id
    if view.party.unnamed:
        return
    for sent in view.sent + view.syncs + view.ephemerals:
        seen = text_of(_values(fields_of(sent.wire), number))
        expected = f"field {number} (channel_id) = {view.channel_id!r}"
        code = "wrong-channel" if seen else "missing-channel"
        yield observe_outcome(sent.step, code, seen == view.channel_id, expected, f"{seen!r}")


@check("SDS-MSG-16", pb.CAPABILITY_UNNAMED_CHANNEL, of="unnamed")
def unnamed_channel_is_zero(view: ChannelView) -> Iterator[Observation]:
    """If the application names no channel, channel_id is the string "0"."""
    for sent in view.sent + view.syncs + view.ephemerals:
        seen = sent.message.channel_id
        expected = f"channel_id {UNNAMED_CHANNEL!r}, the character 0x30"
        code = "wrong-channel" if seen else "missing-channel"
        yield observe_outcome(sent.step, code, seen == UNNAMED_CHANNEL, expected, f"{seen!r}")


_COARSEST = 1 << 11
"""Distance between neighbouring doubles just below 2^64."""
_SIGN = 1 << 63
"""The smallest unsigned 64-bit integer that is negative if it is read as a signed integer."""


def _is_now_in_another_unit(lamport: int, now_ms: int) -> bool:
    """Is a timestamp the present time, to within a day, in seconds, microseconds or nanoseconds?"""
    return any(abs(lamport / per_ms - now_ms) <= DAY_MS for per_ms in UNITS.values())


def _through_double(value: int) -> int:
    """The value of a number after conversion to a double and back."""
    return int(float(value))


@layout_check("SDS-MSG-05", of="outgoing")
def lamport_in_field_10(view: ChannelView, fields_of: Reader) -> Iterator[Observation]:
    """Field 10 is a varint in epoch milliseconds, exact to 64 bits.

    Other requirements judge values that the rules for timestamps do not allow: small errors that a conversion to double
    does not explain, the present time instead of a larger value, and the time in another unit.
    """
    values_seen = (sent.message.lamport_timestamp or 0 for sent in view.outgoing)
    in_doubles = all(_through_double(value) == value for value in values_seen)
    for sent in view.outgoing:
        values = _values(fields_of(sent.wire), 10)
        if not values or not isinstance(values[-1], int):
            code = "missing-timestamp"
            yield observe_violation(sent.step, code, "field 10 (lamport_timestamp) as a varint", "no such field")
            continue
        seen, expected = values[-1], sent.lamport
        far_off = expected.high <= 2 * sent.step.now_ms and not expected.low / 2 <= seen <= 2 * expected.high
        if far_off and not _is_now_in_another_unit(seen, sent.step.now_ms):
            expected_value = f"field 10 in milliseconds of the epoch, about {sent.step.now_ms}"
            yield observe_violation(
                sent.step, "wrong-encoding", expected_value, describe_wrong_timestamp(expected, sent.step.now_ms, seen)
            )
        elif expected.low > 1 << 53 and view.can(pb.CAPABILITY_VIRTUAL_CLOCK) and not expected.tolerates(seen):
            far = not expected.low - _COARSEST <= seen <= expected.high + _COARSEST
            far &= abs(seen - sent.step.now_ms) > NEARBY and expected.low <= MAX_LAMPORT
            if far or (in_doubles and _through_double(expected.low) <= seen <= _through_double(expected.high)):
                code = "not-exact"
                yield observe_violation(sent.step, code, f"field 10 exact to the last bit: {expected.low}", f"{seen}")
        elif not sent.repeat:
            yield observe_met(sent.step)


@check("SDS-MSG-05", of="received")
def zero_lamport_is_present(view: ChannelView) -> Iterator[Observation]:
    """A content message whose Lamport timestamp is present and 0 is a regular message: it enters the log."""
    for received in view.received:
        if received.acceptable and received.message.lamport_timestamp == 0:
            message_id = received.message.message_id
            yield from _judge_logged(view, received, "zero-taken-for-absent")
            if any(message_id in later.step.shown_log for later in view.observed):
                continue  # the message is in the log, so other rules judge why a dependent message is not delivered
            for later_message in view.received:
                dependents = [e.message_id for e in later_message.message.causal_history]
                depends = message_id in dependents and received.delivered and later_message.acceptable
                if depends and (later_message.delivered or not later_message.unmet):
                    expected = f"a dependency on {message_id!r} (Lamport 0) to be met: it is a regular message"
                    seen = f"{later_message.message.message_id!r}, which depends on {message_id!r}, was never delivered"
                    met = bool(later_message.delivered)
                    yield observe_outcome(later_message.step, "zero-taken-for-absent", met, expected, seen)


@check("SDS-MSG-05", pb.CAPABILITY_DELIVERED, of="observed received")
def large_lamport_is_present(view: ChannelView) -> Iterator[Observation]:
    """Content that is delivered with a Lamport timestamp of 64 bits is a regular message: it enters the log."""
    for received in view.received:
        lamport = received.message.lamport_timestamp or 0
        if received.kind is not Kind.CONTENT or received.own or received.duplicate or lamport < _SIGN:
            continue
        yield from _judge_logged(view, received, "large-taken-for-absent")


def _judge_logged(view: ChannelView, received: Received, code: str) -> Iterator[Observation]:
    """Judge whether the states after the delivery of a message show it in the log."""
    message_id, lamport = received.message.message_id, received.message.lamport_timestamp
    for later in view.states_showing("log") if received.delivered else ():
        index, ids = later.step.index, later.step.shown_log
        if index > received.delivered[0].step.index and view.kept_entries.holds(message_id, index):
            expected = f"{message_id!r} (Lamport {lamport}) in the log"
            yield observe_outcome(later.step, code, message_id in ids, expected, f"{ids}")


@layout_check("SDS-MSG-06", of="outgoing")
def history_in_field_11(view: ChannelView, fields_of: Reader) -> Iterator[Observation]:
    """The causal history is in field 11: each occurrence is a HistoryEntry with the message ID in its field 1."""
    for sent in view.outgoing:
        entries = [value for value in _values(fields_of(sent.wire), 11) if isinstance(value, bytes)]
        if not entries:
            if sent.log_size and sent.log_is_known and not sent.repeat:
                expected = "field 11 (causal_history), because the log is not empty"
                yield observe_violation(sent.step, "missing-history", expected, "no such field")
            continue
        bad = next((entry[:40] for entry in entries if not _entry_id(entry)), None)
        expected = "each entry of field 11 a HistoryEntry with its ID in field 1"
        yield observe_outcome(sent.step, "malformed-entry", bad is None, expected, f"{bad!r}")


def _entry_id(entry: bytes) -> str | None:
    try:
        return text_of([field.value for field in split(entry) if field.number == 1])
    except MalformedMessageError:
        return None


@layout_check("SDS-MSG-07", of="outgoing")
def filter_in_its_field(view: ChannelView, fields_of: Reader) -> Iterator[Observation]:
    """Every content and sync message has a filter, which has zero length only while nothing was received."""
    number = _layout(view).bloom_filter
    for sent in view.outgoing:
        values = _values(fields_of(sent.wire), number)
        if not values or not isinstance(values[-1], bytes):
            expected = f"field {number} (bloom_filter) in every content and sync message"
            yield observe_violation(sent.step, "missing-filter", expected, "no such field")
        elif not values[-1] and any(r.acceptable and r.step.index < sent.step.index for r in view.received):
            expected = f"field {number} (bloom_filter) with the IDs received so far"
            yield observe_violation(sent.step, "empty-filter", expected, "zero bytes")
        else:
            yield observe_met(sent.step)


@layout_check("SDS-MSG-09", of="sent")
def content_in_its_field(view: ChannelView, fields_of: Reader) -> Iterator[Observation]:
    """The field of the content has exactly the bytes that the application sent."""
    number = _layout(view).content
    for sent in view.sent:
        expected = sent.step.request.send.content
        values = _values(fields_of(sent.wire), number)
        differs = values and isinstance(values[-1], bytes)
        seen = f"{len(values[-1])} bytes that differ" if differs else "no such field"  # type: ignore[arg-type]
        what = f"field {number} (content) = the {len(expected)} bytes given"
        # An absent field and a field of zero length are equal (AMB-34).
        met = values[-1:] == [expected] or not (values or expected)
        yield observe_outcome(sent.step, "sent-changed" if differs else "missing-content", met, what, seen)
