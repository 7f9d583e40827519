"""Explains the effects of the declaration of an SDS implementation on other implementations and on verdicts."""

from __future__ import annotations

from sds_harness.declaration import Declaration
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HASH_PROFILES, REVISIONS
from sds_reference import PROFILES as BLOOM_PROFILES

from ..words import limit_notes

PROFILES: dict[str, str] = {
    "full": "SDS with the SDS-R extension",
    "core": "SDS without the SDS-R extension",
    "sds-r": "the SDS-R extension alone",
}
"""By profile: its title."""


def describe_profile(revision: str, profile: str) -> str:
    """Describe a profile of a revision. A revision without SDS-R has no profiles, so its title is returned."""
    known = REVISIONS[revision]
    return PROFILES[profile] if known.repairs else known.title


def unsupported_profile(declared: Declaration, revision: str) -> str:
    """The profile that an implementation does not support: "sds-r" if it does not declare SDS-R, else ""."""
    return "sds-r" if REVISIONS[revision].repairs and not declared.can(pb.CAPABILITY_SDS_R) else ""


def notes(declared: Declaration, revision: str, profile: str) -> list[tuple[str, str]]:
    """Explain the declared profiles: (label, sentence on the effects on other implementations and on verdicts)."""
    out = [("Filters", filter_note(declared))]
    if profile != "core" and REVISIONS[revision].repairs:
        out.append(("Repairs", repair_note(declared)))
    return out + limit_notes(declared)


def filter_note(declared: Declaration) -> str:
    """Explain the effect of the declared bloom profile on other implementations."""
    profile = declared.profile("bloom")
    if profile in BLOOM_PROFILES:
        others = " and ".join(name for name in BLOOM_PROFILES if name != profile)
        return (
            f"{profile}. The specification leaves hash and encoding open: this implementation does not "
            f"understand filters of {others}, and implementations with {others} do not understand its filters."
        )
    named = f"{profile!r}, which is an unknown profile" if profile else "no bloom profile declared"
    if declared.can(pb.CAPABILITY_FILTER_CODEC):
        return f"{named}; the codec of the implementation shows the content of filters."
    return f"{named}, and no codec; participants that receive a filter show its content."


def repair_note(declared: Declaration) -> str:
    """Explain the effect of the declared hash profile on the verdicts of SDS-R."""
    if not declared.can(pb.CAPABILITY_SDS_R):
        return "no SDS-R: its requirements are skipped, but its fields must stay unset."
    known = declared.profile("hash")
    if known in HASH_PROFILES:
        return f"SDS-R, hash {known}: times and response groups are judged exactly."
    named = f"{declared.profile('hash')!r}, which this suite does not support" if known else "without a name"
    return f"SDS-R, hash {named}: times and response groups are judged by the rules that hold for every hash."
