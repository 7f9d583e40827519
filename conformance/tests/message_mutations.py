"""Mutations of the fields of protobuf messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from mutations import TEXTS, TOKENS, Mutation

FIELDS = ("set", "set", "set", "clear", "extreme", "extreme", "longer", "many", "unknown", "shuffle")
_NUMBERS = (0, 1, 2, 1000, (1 << 31) - 1, 1 << 53, (1 << 63) - 1, (1 << 64) - 1, -1, -(1 << 31), -(1 << 63))
_FLOATS = (0.0, -1.0, 1e308, float("inf"), float("nan"), -0.0)
_WORDS = tuple(text for text in TEXTS if len(text) <= 6_000)


def mutate_message(message: Message, change: Mutation) -> None:
    """Mutate one field of a message, or of a message inside it."""
    outermost, *inside = _messages(message)
    # A wrong ID or another answer ends the conversation: most changes are made inside of the answer.
    target = inside[(change.place >> 3) % len(inside)] if inside and change.place % 8 else outermost
    every: list[Any] = list(target.DESCRIPTOR.fields)
    known: list[Any] = [field for field, _ in target.ListFields()]
    fields = known if known and change.kind in ("clear", "extreme", "longer", "many", "shuffle") else every
    fields = [field for field in fields if not _is_map(field)]
    if not fields:
        return
    field = fields[(change.place >> 8) % len(fields)]
    match change.kind:
        case "clear":
            target.ClearField(field.name)
        case "unknown":
            target.MergeFromString(b"\xfa\xff\xff\x0f\x03abc")
        case "shuffle" if field.is_repeated:
            _shuffle(getattr(target, field.name), change.other)
        case "many" if field.is_repeated:
            for _ in range((20, 500, 10_000)[change.other % 3]):
                _add(target, field, change.other)
        case "longer" if field.is_repeated:
            items = getattr(target, field.name)
            items.MergeFrom(list(items))
        case _:
            _set(target, field, change.other)


def _is_map(field: FieldDescriptor) -> bool:
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


def _messages(message: Message) -> Iterator[Message]:
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None and not _is_map(field):
            for inner in list(value)[:20] if field.is_repeated else [value]:
                yield from _messages(inner)


def _shuffle(items: Any, other: int) -> None:
    kept = list(items)
    turn = other % (len(kept) + 1)
    del items[:]
    items.extend([*kept[turn:], *kept[:turn]][::-1])


def _value(field: FieldDescriptor, other: int) -> Any:
    match field.cpp_type:
        case FieldDescriptor.CPPTYPE_STRING if field.type == FieldDescriptor.TYPE_BYTES:
            some = (b"", b"\0", b"\xff" * 8, b"\x08\x96\x01", TOKENS[other % len(TOKENS)])
            return some[other % 8] if other % 8 < len(some) else TEXTS[other % len(TEXTS)].encode()[:10_000]
        case FieldDescriptor.CPPTYPE_STRING:
            return _WORDS[other % len(_WORDS)]
        case FieldDescriptor.CPPTYPE_BOOL:
            return bool(other % 2)
        case FieldDescriptor.CPPTYPE_DOUBLE | FieldDescriptor.CPPTYPE_FLOAT:
            return _FLOATS[other % len(_FLOATS)]
        case FieldDescriptor.CPPTYPE_ENUM:
            return (0, 1, 2, 3, 99, -1, (1 << 31) - 1)[other % 7]
        case _:
            return _NUMBERS[other % len(_NUMBERS)]


def _set(target: Any, field: FieldDescriptor, other: int) -> None:
    if field.is_repeated:
        _add(target, field, other)
    elif field.message_type is not None:
        getattr(target, field.name).SetInParent()
    else:
        try:
            setattr(target, field.name, _value(field, other))
        except ValueError:  # out of the range of the type
            setattr(target, field.name, 0)


def _add(target: Any, field: FieldDescriptor, other: int) -> None:
    items = getattr(target, field.name)
    if field.message_type is not None:
        new = items.add()
        for inner in field.message_type.fields:
            if not inner.is_repeated and (other >> inner.index) & 1:
                _set(new, inner, other)
        return
    try:
        items.append(_value(field, other))
    except ValueError:
        items.append(0)
