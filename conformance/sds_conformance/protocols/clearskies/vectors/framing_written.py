"""Messages as they are written to a link (core protocol, "Framing"). The bytes are written by hand."""

from __future__ import annotations

from sds_harness.clearskies.trace import Text

from ....vectors.model import REJECTED, Note, Outcome, Vector, vector
from .framing import EMPTY, EXAMPLE
from .register import group

WRITTEN = ("CSDB-15", "CSDB-30")
"""Whoever frames messages otherwise sends none."""
NOTES = {
    "Plain": Note("`m`, the length of the body in bytes, and the body as it is.", ("CSDB-15",)),
    "Broken": Note("No body: it has to be refused before it is framed, or by who receives it.", ("CSDB-15",)),
}


def _written(slug: str, comment: str, flags: str, body: bytes, *outcomes: Outcome) -> Vector:
    return vector(slug, comment, flags, WRITTEN, {"body": body.hex()}, *outcomes)


@group("framing-written", "frame", "A body, and the bytes of its message on a link.", NOTES)
def written(revision: Text) -> list[Vector]:
    """Bodies, none of which is signed: what is signed stands in the groups of signatures."""
    accented = '{"key":"clé"}'.encode()
    inside = b'{\n "a" : "m2{}" }\n'
    long = b'{"a":"' + b"x" * 69_992 + b'"}'
    return [
        _written("plain", "A body.", "Plain", EXAMPLE, {"wire": (b"m26" + EXAMPLE).hex()}),
        _written("empty-object", "The smallest body.", "Plain", EMPTY, {"wire": b"m2{}".hex()}),
        _written(
            "bytes-not-characters",
            "The length counts bytes: 14, in 13 characters.",
            "Plain",
            accented,
            {"wire": (b"m14" + accented).hex()},
        ),
        _written(
            "as-it-is",
            "Blanks and newlines stay: a signature would cover them.",
            "Plain",
            inside,
            {"wire": (b"m18" + inside).hex()},
        ),
        _written("longer-than-16-bits", "70,000 bytes.", "Plain", long, {"wire": (b"m70000" + long).hex()}),
        _written(
            "a-list",
            "What is no object is no body. Who does not look frames it.",
            "Broken",
            b"[1]",
            REJECTED,
            {"wire": b"m3[1]".hex()},
        ),
    ]
