"""Compares the bytes that an implementation writes with the expected ones, field by field."""

from __future__ import annotations

from dataclasses import replace

from sds_proto.wire.forum_2024.message_pb2 import Message as ForumMessage
from sds_proto.wire.v2026_01.message_pb2 import Message
from sds_reference import MalformedMessageError
from sds_reference import Message as DecodedMessage
from sds_reference.wire_fields import WireField, split
from sds_reference.wire_formats import FORUM_2024, V2026_01, WireFormat

from .....vectors.running.subject import Status, VectorResult

LAYOUTS = {V2026_01.name: Message.DESCRIPTOR, FORUM_2024.name: ForumMessage.DESCRIPTOR}
"""The message type of each wire format."""

Row = tuple[int, int, object]


def compare_wire(form: WireFormat, wire: bytes, expected: bytes) -> VectorResult:
    """Pass equal bytes, accept equal fields in another encoding, warn about unknown fields, and fail other bytes."""
    if wire == expected:
        return VectorResult(Status.PASS)
    failed = VectorResult(Status.FAIL, expected.hex(), wire.hex()[:400])
    try:
        same = _decode(form, wire) == _decode(form, expected)
        written, wanted = _rows(form, wire), _rows(form, expected)
    except MalformedMessageError:
        return failed
    failed = replace(failed, difference=_describe_difference(form, written, wanted))
    if same and written == wanted:
        return replace(failed, status=Status.ACCEPTABLE, reason="the same fields in another encoding", difference="")
    if same and _rows(form, wire, known=True) == wanted:
        # Receivers skip unknown fields, so nothing is lost, but the specification has no such field.
        return VectorResult(
            Status.WARN, expected.hex(), wire.hex()[:400], "fields that the specification does not have"
        )
    return failed


def _describe_difference(form: WireFormat, written: list[Row], wanted: list[Row]) -> str:
    """Describe the wrong fields, by name."""
    fields = LAYOUTS[form.name].fields_by_number
    differences = []
    for number in sorted({row[0] for row in written + wanted}):
        seen, due = ([row for row in rows if row[0] == number] for rows in (written, wanted))
        name = f"{fields[number].name} (field {number})" if number in fields else f"field {number}"
        if seen == due:
            continue
        if due:
            differences.append(f"{'another' if seen else 'no'} {name}")
        else:
            empty = all(not value for _, _, value in seen)
            differences.append(f"{'an empty' if empty else 'a'} {name}, which must be unset")
    return "; ".join(differences)


def _decode(form: WireFormat, wire: bytes) -> DecodedMessage:
    """The decoded message. Content of length zero counts as absent (AMB-34)."""
    message = form.decode(wire)
    return replace(message, content=message.content or None)


def _rows(form: WireFormat, wire: bytes, *, known: bool = False) -> list[Row]:
    """The fields of a message sorted by number, including the fields of its entries. Entries keep their order."""
    fields = LAYOUTS[form.name].fields_by_number
    content = LAYOUTS[form.name].fields_by_name["content"].number
    rows = [
        (f.number, f.wire_type, _decode_nested(form, f, known))
        for f in split(wire)
        if not (f.number == content and f.value == b"") and (not known or f.number in fields)
    ]
    return sorted(rows, key=lambda row: row[0])


def _decode_nested(form: WireFormat, field: WireField, known: bool) -> object:
    """The fields of a history entry, sorted by number; the value of any other field."""
    declared = LAYOUTS[form.name].fields_by_number.get(field.number)
    if declared is not None and declared.message_type is not None and isinstance(field.value, bytes):
        inner = [f for f in split(field.value) if not known or f.number in declared.message_type.fields_by_number]
        return sorted((f.number, f.wire_type, f.value) for f in inner)
    return field.value
