"""How a vector of wire bytes is put down."""

from __future__ import annotations

from sds_reference import Message

from ....vectors.model import REJECTED, Outcome, Vector, legal, vector
from .fields import message_json
from .texts import of_sds


def read_as(message: Message) -> Outcome:
    """The outcome in which the bytes say this message."""
    return {"message": message_json(message)}


def read_but_for(message: Message, *fields: str) -> Outcome:
    """The outcome in which the bytes say this message, whatever these fields of it are read as."""
    return {**read_as(message), "except": list(fields)}


def case(
    slug: str, comment: str, flags: str, requirements: str, wire: bytes, *outcomes: Outcome, position: str = ""
) -> Vector:
    """A vector; with ``position`` the bytes may be refused as well."""
    both = (*outcomes, legal(REJECTED, position)) if position else outcomes
    ids = of_sds(requirements)
    return vector(slug, comment, flags.split(), ids, {"wire": wire.hex()}, *both)
