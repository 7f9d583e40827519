"""Updates that come signed, unsigned or spoilt, and whether a peer takes them (section "Record Changes").

How bodies are signed is a profile; here it matters alone whose key it was, and whether the bytes are what it signed.
"""

from __future__ import annotations

from clearskies_reference import AccessLevel
from sds_harness.clearskies.clubs import READ_ONLY, READ_WRITE
from sds_harness.clearskies.trace import Text

from ....vectors.model import Note, Outcome, Vector, vector
from .conflicts import found
from .fields import A, Fields, update
from .register import group

NOTES = {
    "Taken": Note("A read-write peer has signed it.", ("CSDB-02", "CSDB-05", "CSDB-16")),
    "Unsigned": Note(
        "Between two read-write peers nothing need be signed; where one of them is read-only, it must be.",
        ("CSDB-16", "CSDB-17", "CSDB-03"),
    ),
    "Level": Note("A read-only peer has signed it, and changes nothing by that.", ("CSDB-03",)),
    "Spoilt": Note("The signature is not that of these bytes.", ("CSDB-06",)),
}

UPDATE = update(A, 2, {A: 1}, value='"of A"')
TAKEN, REFUSED = found(it='"of A"'), found(it="")


def _came(
    slug: str, comment: str, flags: str, shorts: str, yours: AccessLevel, others: AccessLevel, taken: bool, **how: str
) -> Vector:
    levels = f"{others.value}-to-{yours.value}".replace("_", "-")
    fields: Fields = {"access_level": yours.value, "from": others.value, "update": UPDATE, **how}
    outcome: Outcome = TAKEN if taken else REFUSED
    return vector(f"{levels}-{slug}", comment, flags, [f"CSDB-{short}" for short in shorts.split()], fields, outcome)


@group("signed-updates", "admission", "An update, how it is signed, and what is found afterwards.", NOTES)
def signed_updates(revision: Text) -> list[Vector]:
    """Each pair of levels, and what can come from the one to the other."""
    return [
        _came("unsigned", "Without a signature.", "Unsigned", "17 02", READ_WRITE, READ_WRITE, True),
        _came(
            "signed",
            "It may be signed all the same.",
            "Taken",
            "17 02",
            READ_WRITE,
            READ_WRITE,
            True,
            signed_by="read_write",
        ),
        *_between(READ_WRITE, READ_ONLY),
        *_between(READ_ONLY, READ_WRITE),
        *_between(READ_ONLY, READ_ONLY),
    ]


def _between(yours: AccessLevel, others: AccessLevel) -> list[Vector]:
    """Where one is read-only, what is not signed by the read-write level is not taken."""
    direct = others is READ_WRITE
    own, level = "read_write", "read_only"
    return [
        _came(
            "signed",
            "Signed by the read-write level.",
            "Taken",
            "16" if direct else "05",
            yours,
            others,
            True,
            signed_by=own,
        ),
        _came("unsigned", "Without a signature.", "Unsigned", "16" if direct else "03 06", yours, others, False),
        _came(
            "signed-by-a-reader",
            "Signed by the read-only level.",
            "Level",
            "03 06",
            yours,
            others,
            False,
            signed_by=level,
        ),
        _came(
            "changed",
            "Signed, and a bit of its last byte but one is another.",
            "Spoilt",
            "06",
            yours,
            others,
            False,
            signed_by=own,
            spoilt="body",
        ),
        _came(
            "forged",
            "The first character of the signature is another.",
            "Spoilt",
            "06",
            yours,
            others,
            False,
            signed_by=own,
            spoilt="signature",
        ),
    ]
