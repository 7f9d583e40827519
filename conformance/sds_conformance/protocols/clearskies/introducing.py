"""What an implementation of ClearSkies declares, in words."""

from __future__ import annotations

from clearskies_reference import PROFILES as SIGNATURES
from clearskies_reference.signing import RSA_PKCS1_SHA256
from sds_harness.clearskies.trace import CLEARSKIES_DATABASE
from sds_harness.declaration import Declaration

from ..words import limit_notes

PROFILES: dict[str, str] = {"full": CLEARSKIES_DATABASE.title}
"""What a certification can be about."""


def against(revision: str, profile: str) -> str:
    """What is judged, in so many words."""
    return PROFILES[profile]


def notes(declared: Declaration, revision: str, profile: str) -> list[tuple[str, str]]:
    """What the declared profile means for others and for the judgement."""
    named = declared.profile("signature") or RSA_PKCS1_SHA256.name
    if named in SIGNATURES:
        told = f"{named}. The text leaves padding and hash open: who signs otherwise is not believed."
    else:
        told = f"{named!r}, which is no profile known here; what is about signatures cannot be judged."
    return [("Signing", told), *limit_notes(declared)]
