"""Builds the vectors of signed messages, for each signature profile that is deterministic.

The rules are in section "Access Levels", and in "Signatures" of the core protocol. The head of each vector file has the
test keys. Signatures of rsa-pss-sha256 are random, so the files of that profile are written by hand.
"""

from __future__ import annotations

from clearskies_reference import PROFILES, SignatureProfile
from sds_harness.clearskies.clubs import READ_ONLY, READ_WRITE
from sds_harness.clearskies.frames import Frame
from sds_harness.clearskies.trace import CLEARSKIES_DATABASE, Text

from ....vectors.model import Note, Vector, VectorRegister, vector

REGISTER = VectorRegister()
"""The groups of ClearSkies with computed vectors."""
RANDOM = "rsa-pss-sha256"
"""The profile whose signatures contain random bytes."""

NOTES = {"Made": Note("The message that a private key makes of a body.", ("CSDB-16",))}

_A, _B = "b934d9de020109fde790cd39acce73fc", "d38a0af145c48b75289e72985e3cc50a"
_UUID = "9223bf8014507dca629123485dc3a207"


def _update(key: str, value: str, revision: int, clock: str) -> bytes:
    """The body of an update that peer ``_A`` wrote. ``clock``: the members of the vector clock, as JSON."""
    return (
        f'{{"type":"database.update","key":"{key}","value":{value},"uuid":"{_UUID}","last_updated_by":"{_A}",'
        f'"last_updated_rev":{revision},"update_time":"2014-02-23T12:00:00Z","vector_clock":{{{clock}}}}}'
    ).encode()


_CAMERA = _update("photo-1234", '{"camera":"NIKON"}', 15, f'"{_A}":44,"{_B}":35')
BODIES = {
    "update": ("An update.", READ_WRITE, _CAMERA),
    "smallest": ("The smallest body.", READ_WRITE, b"{}"),
    "long": ("10,000 bytes.", READ_WRITE, b'{"a":"' + b"x" * 9_992 + b'"}'),
    "in-utf-8": ("Bytes beyond ASCII.", READ_WRITE, _update("été", '"\U0001f4f7"', 17, f'"{_A}":46')),
    "with-blanks": (
        "Blanks are signed as they stand there.",
        READ_WRITE,
        b'{\n  "type" : "database.get_updates" }\n',
    ),
    "read-only": ("With the key of the read-only level.", READ_ONLY, _CAMERA),
}
"""Bodies to sign, each with a comment and a level."""


def _register_group(profile: SignatureProfile) -> None:
    title = f"The signed message of a given body, with the profile {profile.name}."

    @REGISTER.group(f"signing-{profile.name}", "sign", title, NOTES, (CLEARSKIES_DATABASE.name,))
    def build_vectors(revision: Text) -> list[Vector]:
        out = []
        for slug, (comment, level, body) in BODIES.items():
            fields = {"profile": profile.name, "body": body.hex(), "signed_by": level.value}
            outcome = {"wire": Frame(body).signed(profile, level).wire.hex()}
            out.append(vector(slug, comment, "Made", ["CSDB-16"], fields, outcome))
        return out


for _profile in PROFILES.values():
    if _profile.name != RANDOM:
        _register_group(_profile)
