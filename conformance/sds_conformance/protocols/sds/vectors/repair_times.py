"""T_req, T_resp and response groups of SDS-R: the values under each named hash.

The values follow the sections "Determine T_req", "Determine T_resp" and "Determine response group".
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from sds_reference import HASH_PROFILES, HashProfile, in_response_group, t_req_offset, t_resp_offset
from sds_reference.revision import Revision

from ....vectors.model import Note, Vector, vector
from .register import group

T_MIN, T_MAX = 30_000, 120_000

_EXACT = Note("The value under a named hash.", ("AMB-01", "AMB-02"))
REQUEST_NOTES = {
    "Exact": _EXACT,
    "Signed": Note("The hash of the platform is negative: the offset is not.", ("SDS-R-TREQ-03", "AMB-03")),
}
RESPONSE_NOTES = {
    "Exact": _EXACT,
    "Author": Note("The author of a message has distance 0 to it and answers at once.", ("SDS-R-TRESP-02",)),
    "Product": Note(
        "The product is reduced, not the hash alone, and it is far beyond 64 bits.", ("SDS-R-TRESP-01", "AMB-04")
    ),
}
GROUP_NOTES = {"Exact": _EXACT}

_PARTICIPANTS = ("alice", "bob", "carol", "zo\u00eb-\U0001f98a")
_MESSAGES = ("m1", "m2", "0123456789abcdef" * 4)


@group(
    "t-req", "repair-times", "T_req of SDS-R: the time when a participant requests a missing message.", REQUEST_NOTES
)
def t_req(revision: Revision) -> list[Vector]:
    """Build tests of T_req: its offset from the detection, under each named hash."""
    requirements = ["SDS-R-TREQ-01", "SDS-R-TREQ-02", "SDS-R-TREQ-04", "SDS-R-RECV-06"]
    out = []
    for profile, (who, participant), (number, message) in _list_questions():
        for t_min, t_max in ((T_MIN, T_MAX), (0, 1000)) if (who, number) == (0, 0) else ((T_MIN, T_MAX),):
            offset = t_req_offset(profile, participant, message, t_min, t_max)
            flags = "Exact Signed" if profile.integer(participant + message) < 0 else "Exact"
            slug = f"{profile.name}-{who}-{number}-within-{t_max - t_min}"
            comment = f"{profile.name}, participant {who + 1} and message {number + 1}."
            ids = {"participant_id": participant, "message_id": message}
            fields = _fields("t-req", profile, **ids, t_min_ms=t_min, t_max_ms=t_max)
            out.append(vector(slug, comment, flags, requirements, fields, {"offset_ms": offset}))
    return out


@group(
    "t-resp", "repair-times", "T_resp of SDS-R: the time when a participant answers a repair request.", RESPONSE_NOTES
)
def t_resp(revision: Revision) -> list[Vector]:
    """Build tests of T_resp: its offset from the request, under each named hash. Authors of messages have offset 0."""
    requirements = ["SDS-R-TRESP-01", "SDS-R-TRESP-03", "SDS-R-TRESP-04", "SDS-R-TRESP-06", "SDS-R-RECV-10"]
    out = []
    for profile, (who, participant), (number, message) in _list_questions():
        sender = _PARTICIPANTS[(who + 1 + number) % len(_PARTICIPANTS)]
        offset = t_resp_offset(profile, participant, sender, message, T_MAX)
        # Compute the offset again by the formula: the reduction modulo T_max is a common mistake in code.
        assert offset == profile.distance(participant, sender) * profile.hash(message) % T_MAX
        flags = ["Author"] if participant == sender else ["Exact", "Product"]
        ids = {"participant_id": participant, "sender_id": sender, "message_id": message}
        fields = _fields("t-resp", profile, **ids, t_max_ms=T_MAX)
        comment = f"{profile.name}, participant {who + 1} and message {number + 1}."
        slug = f"{profile.name}-{who}-{number}"
        out.append(vector(slug, comment, flags, requirements, fields, {"offset_ms": offset}))
    return out


@group(
    "response-groups",
    "repair-times",
    "The response group of a message in SDS-R: may this participant answer a request for it?",
    GROUP_NOTES,
)
def response_groups(revision: Revision) -> list[Vector]:
    """Build tests of membership in a response group, under each named hash."""
    out = []
    for profile, groups, (number, message) in product(HASH_PROFILES.values(), (2, 3, 8), enumerate(_MESSAGES)):
        ids = {"participant_id": "alice", "sender_id": "bob", "message_id": message}
        member = {"member": in_response_group(profile, "alice", "bob", message, groups)}
        fields = _fields("response-group", profile, **ids, num_response_groups=groups)
        slug, comment = f"{profile.name}-{groups}-{number}", f"{profile.name}, {groups} groups, message {number + 1}."
        out.append(vector(slug, comment, "Exact", ["SDS-R-GROUP-01", "SDS-R-RECV-11"], fields, member))
    return out


def _list_questions() -> Iterator[tuple[HashProfile, tuple[int, str], tuple[int, str]]]:
    """Yield each hash with each participant and each message, both with their numbers."""
    return product(HASH_PROFILES.values(), enumerate(_PARTICIPANTS), enumerate(_MESSAGES))


def _fields(function: str, profile: HashProfile, **inputs: str | int) -> dict[str, object]:
    return {"function": function, "hash_profile": profile.name, **inputs}
