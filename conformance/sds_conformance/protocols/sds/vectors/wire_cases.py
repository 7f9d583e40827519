"""How a vector of wire bytes is put down."""

from __future__ import annotations

from sds_reference import Message

from ....vectors.model import REJECTED, Outcome, Vector, legal, vector
from .fields import message_json
from .wire_bytes import Layout


def read_as(message: Message) -> Outcome:
    """The outcome in which the bytes say this message."""
    return {"message": message_json(message)}


def read_but_for(message: Message, *fields: str) -> Outcome:
    """The outcome in which the bytes say this message, whatever these fields of it are read as."""
    return {**read_as(message), "except": list(fields)}


def refusable(message: Message, position: str) -> tuple[Outcome, Outcome]:
    """The outcomes of bytes that say this message, and may be refused as well."""
    return read_as(message), legal(REJECTED, position)


def case(
    layout: Layout, slug: str, comment: str, flags: str, shorts: str, wire: bytes, *outcomes: Outcome | Message
) -> Vector:
    """What is to be made of the bytes: a message to be read, or an outcome."""
    told = [read_as(outcome) if isinstance(outcome, Message) else outcome for outcome in outcomes]
    return vector(slug, comment, flags, layout.ids(shorts), {"wire": wire.hex()}, *told)


def plain(layout: Layout, slug: str, comment: str, flags: str, shorts: str, said: Message, *more: Outcome) -> Vector:
    """A message in its usual bytes, which is read as it was said."""
    return case(layout, slug, comment, flags, shorts, layout.wire(said), said, *more)
