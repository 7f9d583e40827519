"""Signed messages with fixed keys, under each profile (section "Access Levels"; core protocol, "Signatures").

A signature shows the access level of its maker. The keys stand in the head of each file; they are test keys, and guard
nothing.
"""

from __future__ import annotations

from functools import partial

from clearskies_reference import PROFILES, AccessLevel, SignatureProfile
from sds_harness.clearskies.clubs import READ_ONLY, READ_WRITE, sign
from sds_harness.clearskies.frames import Frame, frame_of
from sds_harness.clearskies.trace import Text

from ....vectors.model import Note, Outcome, Vector, vector
from .fields import A, B, update, update_members
from .pss_signatures import SIGNATURES
from .register import group

VALID: Outcome = {"valid": True}
NOT_VALID: Outcome = {"valid": False}
RANDOM = "rsa-pss-sha256"
"""The profile whose signatures have random bytes in them: no two of one body are the same."""

NOTES = {
    "Genuine": Note("The signature is that of the key over these bytes.", ("CSDB-16", "CSDB-05")),
    "Changed": Note("The body is not the one that was signed, if only by a blank.", ("CSDB-06", "CSDB-18")),
    "Forged": Note("The bytes of the signature are not those that the key makes.", ("CSDB-06",)),
    "Level": Note("The key is that of the other access level: read-only peers change nothing.", ("CSDB-03", "CSDB-06")),
    "Profile": Note(
        "Padding or hash are those of another profile. The text names none, so all of a club use the same.",
        ("CSDB-06",),
    ),
    "Made": Note("The message that a private key makes of a body.", ("CSDB-16",)),
}

BODIES = {
    "update": frame_of(update_members(update(A, 15, {A: 44, B: 35}, value='{"camera":"NIKON"}'))).body,
    "another-update": frame_of(update_members(update(A, 16, {A: 45, B: 35}, value='{"camera":"LEICA"}'))).body,
    "in-utf-8": frame_of(update_members(update(A, 17, {A: 46}, key="été", value='"\U0001f4f7"'))).body,
    "smallest": b"{}",
    "long": b'{"a":"' + b"x" * 9_992 + b'"}',
}
BODY = BODIES["update"]


def _signature(profile: SignatureProfile, name: str, level: AccessLevel = READ_WRITE) -> bytes:
    """That of a body: the same each time, also where every new one would be another."""
    if profile.name != RANDOM:
        return sign(BODIES[name], level, profile)
    return bytes.fromhex(SIGNATURES[name, level.value])


def _flipped(data: bytes, place: int, bit: int = 0) -> bytes:
    out = bytearray(data)
    out[place] ^= 1 << bit
    return bytes(out)


def _verified(profile: SignatureProfile) -> list[Vector]:
    """Bodies with signatures, and whether they are genuine."""
    made = partial(_signature, profile)
    own = made("update")

    def of(
        slug: str,
        comment: str,
        flags: str,
        shorts: str,
        body: bytes,
        signature: bytes,
        outcome: Outcome = NOT_VALID,
        level: AccessLevel = READ_WRITE,
    ) -> Vector:
        fields = {"profile": profile.name, "body": body.hex(), "signature": signature.hex(), "signed_by": level.value}
        return vector(slug, comment, flags, [f"CSDB-{short}" for short in shorts.split()], fields, outcome)

    others = [PROFILES[name] for name in PROFILES if name not in (profile.name, RANDOM)]
    return [
        of("genuine", "An update, signed by the read-write level.", "Genuine", "16", BODY, own, VALID),
        of("genuine-small", "The smallest body.", "Genuine", "16", BODIES["smallest"], made("smallest"), VALID),
        of("genuine-long", "10,000 bytes.", "Genuine", "16", BODIES["long"], made("long"), VALID),
        of("genuine-in-utf-8", "Bytes beyond ASCII.", "Genuine", "16", BODIES["in-utf-8"], made("in-utf-8"), VALID),
        of(
            "genuine-read-only",
            "Signed by the read-only level, and looked at with its key.",
            "Genuine Level",
            "16",
            BODY,
            made("update", READ_ONLY),
            VALID,
            READ_ONLY,
        ),
        of("first-bit-of-the-body", "A bit of the first byte is another.", "Changed", "06", _flipped(BODY, 0), own),
        of("last-bit-of-the-body", "A bit of the last byte is another.", "Changed", "06", _flipped(BODY, -1), own),
        of(
            "a-bit-in-the-middle",
            "A letter of the value is another.",
            "Changed",
            "06",
            _flipped(BODY, BODY.index(b"NIKON")),
            own,
        ),
        of(
            "a-blank-more",
            "The same JSON with a blank: messages are repeated byte by byte.",
            "Changed",
            "06 18",
            BODY.replace(b",", b", ", 1),
            own,
        ),
        of("a-newline-more", "The newline behind the body is not signed.", "Changed", "06", BODY + b"\n", own),
        of("a-member-more", "A member at the end.", "Changed", "06", BODY[:-1] + b',"deleted":true}', own),
        of("a-byte-less", "Without its last byte.", "Changed", "06", BODY[:-1], own),
        of("no-body", "A signature over nothing that is there.", "Changed", "06", b"", own),
        of(
            "of-another-body",
            "The signature of another update of the same peer.",
            "Changed",
            "06",
            BODY,
            made("another-update"),
        ),
        of(
            "first-bit-of-the-signature",
            "A bit of the first byte of the signature is another.",
            "Forged",
            "06",
            BODY,
            _flipped(own, 0),
        ),
        of("last-bit-of-the-signature", "A bit of its last byte is another.", "Forged", "06", BODY, _flipped(own, -1)),
        of("signature-without-its-end", "Without its last byte.", "Forged", "06", BODY, own[:-1]),
        of("signature-with-more", "With a byte more.", "Forged", "06", BODY, own + b"\0"),
        of("no-signature", "A signature of no bytes.", "Forged", "06", BODY, b""),
        of("signature-of-zeros", "256 zeros.", "Forged", "06", BODY, bytes(256)),
        of("signature-of-one", "The number one: its power is one.", "Forged", "06", BODY, bytes(255) + b"\1"),
        of(
            "signature-of-the-largest",
            "A number that is larger than that of the key.",
            "Forged",
            "06",
            BODY,
            b"\xff" * 256,
        ),
        of(
            "read-only-for-read-write",
            "A read-only peer has signed what only read-write peers may.",
            "Level",
            "03 06",
            BODY,
            made("update", READ_ONLY),
        ),
        of(
            "read-write-for-read-only",
            "The key is not that of the level, be it the higher one.",
            "Level",
            "06",
            BODY,
            own,
            NOT_VALID,
            READ_ONLY,
        ),
        *(
            of(
                f"made-as-{other.name}",
                f"Signed by the key, as {other.name}.",
                "Profile",
                "06",
                BODY,
                sign(BODY, READ_WRITE, other),
            )
            for other in others
        ),
        *(
            [
                of(
                    f"made-as-{RANDOM}",
                    f"Signed by the key, as {RANDOM}.",
                    "Profile",
                    "06",
                    BODY,
                    _signature(PROFILES[RANDOM], "update"),
                )
            ]
            if profile.name != RANDOM
            else []
        ),
    ]


def _made(profile: SignatureProfile) -> list[Vector]:
    """Bodies, and the signed messages of them."""

    def of(slug: str, comment: str, level: AccessLevel = READ_WRITE, body: bytes | None = None) -> Vector:
        body = BODIES[slug] if body is None else body
        wire = Frame(body).signed(profile, level).wire if profile.name != RANDOM else b""
        outcome: Outcome = {"wire": wire.hex()} if wire else {"genuine": True}
        return vector(
            slug,
            comment,
            "Made",
            ["CSDB-16"],
            {"profile": profile.name, "body": body.hex(), "signed_by": level.value},
            outcome,
        )

    return [
        of("update", "An update."),
        of("smallest", "The smallest body."),
        of("long", "10,000 bytes."),
        of("in-utf-8", "Bytes beyond ASCII."),
        of("with-blanks", "Blanks are signed as they stand there.", body=b'{\n  "type" : "database.get_updates" }\n'),
        of("read-only", "With the key of the read-only level.", READ_ONLY, BODY),
    ]


def _of_profile(profile: SignatureProfile) -> None:
    """The two groups of a profile."""
    name = profile.name

    @group(f"signatures-{name}", "verify", f"Bodies with signatures as {name}, and whether they are genuine.", NOTES)
    def verified(revision: Text) -> list[Vector]:
        return _verified(profile)

    @group(f"signing-{name}", "sign", f"Bodies, and the messages that are signed as {name}.", NOTES)
    def made(revision: Text) -> list[Vector]:
        return _made(profile)


for _profile in PROFILES.values():
    _of_profile(_profile)
