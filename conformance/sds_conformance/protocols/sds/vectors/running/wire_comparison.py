"""Compares the bytes that an implementation writes with the expected ones, field by field."""

from __future__ import annotations

from dataclasses import replace

from sds_reference import MalformedMessageError, Message
from sds_reference.wire_fields import WireField, split
from sds_reference.wire_formats import FORUM_2024, V2026_01, WireFormat

from .....vectors.running.subject import Status, VectorResult

FIELDS = {
    V2026_01.name: {
        "sender_id": 1,
        "message_id": 2,
        "channel_id": 3,
        "lamport_timestamp": 10,
        "causal_history": 11,
        "bloom_filter": 12,
        "repair_request": 13,
        "content": 20,
    },
    FORUM_2024.name: {
        "sender_id": 1,
        "message_id": 2,
        "lamport_timestamp": 3,
        "causal_history": 4,
        "channel_id": 5,
        "bloom_filter": 6,
        "content": 7,
    },
}
"""The numbers of the fields of ``Message``, by wire format and name."""
OF_ENTRIES = {V2026_01.name: ("causal_history", "repair_request"), FORUM_2024.name: ()}
"""Names of the fields that contain history entries, by wire format. The proposal of 2024 has message IDs instead."""
KNOWN_OF_ENTRIES = (1, 2, 3)
"""The numbers of the fields of ``HistoryEntry``."""

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
        return VectorResult(Status.ACCEPTABLE, reason="the same fields in another encoding")
    if same and _rows(form, wire, known=True) == wanted:
        # Receivers skip unknown fields, so nothing is lost, but the specification has no such field.
        return VectorResult(
            Status.WARN, expected.hex(), wire.hex()[:400], "fields that the specification does not have"
        )
    return failed


def _describe_difference(form: WireFormat, written: list[Row], wanted: list[Row]) -> str:
    """Describe the wrong fields, by name."""
    names = {number: f"{name} (field {number})" for name, number in FIELDS[form.name].items()}
    differences = []
    for number in sorted({row[0] for row in written + wanted}):
        seen, due = ([row for row in rows if row[0] == number] for rows in (written, wanted))
        name = names.get(number, f"field {number}")
        if seen == due:
            continue
        if due:
            differences.append(f"{'another' if seen else 'no'} {name}")
        else:
            empty = all(not value for _, _, value in seen)
            differences.append(f"{'an empty' if empty else 'a'} {name}, which must be unset")
    return "; ".join(differences)


def _decode(form: WireFormat, wire: bytes) -> Message:
    """The decoded message. Content of length zero counts as absent (AMB-34)."""
    message = form.decode(wire)
    return replace(message, content=message.content or None)


def _rows(form: WireFormat, wire: bytes, *, known: bool = False) -> list[Row]:
    """The fields of a message sorted by number, including the fields of its entries. Entries keep their order."""
    numbers = FIELDS[form.name]
    fields = [f for f in split(wire) if not (f.number == numbers["content"] and f.value == b"")]
    rows = [
        (f.number, f.wire_type, _decode_nested(form, f, known))
        for f in fields
        if not known or f.number in numbers.values()
    ]
    return sorted(rows, key=lambda row: row[0])


def _decode_nested(form: WireFormat, field: WireField, known: bool) -> object:
    holds = field.number in [FIELDS[form.name][name] for name in OF_ENTRIES[form.name]]
    if holds and isinstance(field.value, bytes):
        inner = [f for f in split(field.value) if not known or f.number in KNOWN_OF_ENTRIES]
        return sorted((f.number, f.wire_type, f.value) for f in inner)
    return field.value
