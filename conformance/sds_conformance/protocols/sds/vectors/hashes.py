"""The hashes of SDS-R, one group for each name that an implementation can declare (AMB-01, AMB-02, AMB-03)."""

from __future__ import annotations

from sds_reference import HASH_PROFILES, HashProfile
from sds_reference.revision import Revision

from ....vectors.model import Note, Vector, vector
from .register import group

NOTES = {
    "OneArgument": Note("hash(a) of the distance.", ("AMB-01",)),
    "TwoArguments": Note("hash(a, b): the named profiles put one string after the other.", ("AMB-02",)),
    "Signed": Note("Where the hash of the platform is signed, its absolute value counts.", ("AMB-03",)),
    "Utf8": Note("Strings are hashed as UTF-8.", ("AMB-01",)),
}

TEXTS = (
    ("empty", ""),
    ("one-letter", "a"),
    ("alice", "alice"),
    ("beyond-ascii", "zo\u00eb \u4e2d\u6587"),
    ("supplementary", "\U0001f98a\U0001f600"),
    ("digest", "0123456789abcdef" * 4),
    *(
        (f"of-{size}-bytes", "x" * size)
        for size in (3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 300)
    ),
)
"""Texts of the lengths at which Murmur3, FarmHash and SHA-256 use different code paths."""
PAIRS = (
    ("ids", "alice", "m1"),
    ("other-participant", "bob", "m1"),
    ("other-message", "alice", "m2"),
    ("beyond-ascii", "zo\u00eb", "m-\U0001f600"),
    ("digest", "alice", "0123456789abcdef" * 4),
)


def _register_group(profile: HashProfile, title: str) -> None:
    @group(f"hash-{profile.name}", "hash", title, NOTES)
    def build(revision: Revision) -> list[Vector]:
        ones = [(f"one-{slug}", f"hash(a), {len(text.encode())} bytes.", [text]) for slug, text in TEXTS]
        twos = [(f"two-{slug}", "hash(a, b) of a participant and a message.", both) for slug, *both in PAIRS]
        return [_hash_vector(profile, *row) for row in (*ones, *twos)]


def _hash_vector(profile: HashProfile, slug: str, comment: str, parts: list[str]) -> Vector:
    flags = ["OneArgument" if len(parts) == 1 else "TwoArguments"]
    if not "".join(parts).isascii():
        flags.append("Utf8")
    if profile.integer("".join(parts)) < 0:
        flags.append("Signed")
    requirements = ["SDS-R-TRESP-01", "SDS-R-TRESP-04"] if len(parts) == 1 else ["SDS-R-TREQ-01", "SDS-R-GROUP-01"]
    fields = {"profile": profile.name, "parts": parts}
    return vector(slug, comment, flags, requirements, fields, {"hash": str(profile.hash(*parts))})


for _profile in HASH_PROFILES.values():
    _register_group(_profile, f"Hashes of one or two strings with {_profile.name}. {_profile.description}.")
