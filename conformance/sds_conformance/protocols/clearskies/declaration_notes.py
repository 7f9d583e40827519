"""Describes the declaration of a ClearSkies implementation."""

from __future__ import annotations

from clearskies_reference import PROFILES as SIGNATURES
from clearskies_reference.signing import RSA_PKCS1_SHA256
from sds_harness.clearskies.trace import CLEARSKIES_DATABASE
from sds_harness.declaration import Declaration

from ..words import limit_notes

PROFILES: dict[str, str] = {"full": CLEARSKIES_DATABASE.title}
"""Titles of the profiles of a certificate."""


def notes(declared: Declaration, revision: str, profile: str) -> list[tuple[str, str]]:
    """Explain the declared signature profile and limits, as pairs of a label and a sentence."""
    named = declared.profile("signature") or RSA_PKCS1_SHA256.name
    if named in SIGNATURES:
        effect = f"{named}. The specification leaves padding and hash open; signatures of other profiles are refused."
    else:
        effect = f"{named!r} is an unknown profile, so requirements about signatures cannot be judged."
    return [("Signing", effect), *limit_notes(declared)]
