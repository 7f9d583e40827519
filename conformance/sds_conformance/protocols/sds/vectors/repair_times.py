"""T_req, T_resp and response groups of SDS-R: values under each named hash, and what holds of every hash.

Sections "Determine T_req", "Determine T_resp", "Determine response group" and "SDS-R global state".
"""

from __future__ import annotations

from sds_reference import (
    HASH_PROFILES,
    default_response_groups,
    in_response_group,
    t_req_offset,
    t_resp_offset,
)
from sds_reference.revision import Revision

from ....vectors.model import REJECTED, Note, Outcome, Vector, legal, vector, warned
from .register import group
from .texts import of_sds

T_MIN, T_MAX = 30_000, 120_000
ANY = "any"
"""In place of a hash profile: the outcomes hold whatever the hash."""

_EXACT = Note("The value under a named hash.", ("AMB-01", "AMB-02"))
_ANY = Note(
    "What holds whatever the hash. Over all these vectors the answers differ: one for all of them is no hash.",
    ("AMB-01", "AMB-03", "AMB-07"),
)
_WINDOWS = (
    (0, 1000),
    (1000, 5000),
    (2000, 3000),
    (0, 100_000),
    (60_000, 600_000),
    (3_600_000, 7_200_000),
    (30_000, 120_000),
    (10_000, 900_000_000),
)
"""T_min and T_max, in whole seconds for those who count in them."""
_ASKED = 24
"""How many vectors of a kind ask for the same under any hash."""
REQUEST_NOTES = {
    "Exact": _EXACT,
    "AnyHash": _ANY,
    "Signed": Note("The hash of the platform is negative: the offset is not.", ("SDS-R-TREQ-03", "AMB-03")),
    "Degenerate": Note("T_max is not greater than T_min: refused, or asked for after T_min. No crash.", ("AMB-08",)),
}
RESPONSE_NOTES = {
    "Exact": _EXACT,
    "AnyHash": _ANY,
    "Author": Note("The author of a message has distance 0 to it and answers at once.", ("SDS-R-TRESP-02",)),
    "Product": Note(
        "The product is reduced, not the hash alone, and it is far beyond 64 bits.", ("SDS-R-TRESP-01", "AMB-04")
    ),
    "Degenerate": Note("T_max is 0: refused, or answered at once. No crash.", ("AMB-09",)),
}
GROUP_NOTES = {
    "Exact": _EXACT,
    "AnyHash": _ANY,
    "Author": Note("The author of a message is always in its group.", ("SDS-R-GROUP-02",)),
    "Undecided": Note(
        "It depends on the hash who is a member: over all these vectors, some are and some are not.",
        ("SDS-R-GROUP-01", "AMB-01"),
    ),
    "OneGroup": Note("With one group everybody is in it.", ("SDS-R-GROUP-04",)),
    "Degenerate": Note("No groups, or fewer: refused, or as one.", ("SDS-R-GROUP-04", "AMB-10")),
    "Default": Note(
        "How many groups there are where only the participants are counted.", ("SDS-R-GLOBAL-06", "AMB-11")
    ),
}

_PARTICIPANTS = ("alice", "bob", "carol", "zo\u00eb-\U0001f98a")
_MESSAGES = ("m1", "m2", "0123456789abcdef" * 4)


@group("t-req", "repair-times", "When a missing message is asked for.", REQUEST_NOTES)
def t_req(revision: Revision) -> list[Vector]:
    """Exact offsets, the range, and windows of no width."""
    requirements = ["SDS-R-TREQ-01", "SDS-R-TREQ-02", "SDS-R-TREQ-04", "SDS-R-RECV-06"]
    out = []
    for profile in HASH_PROFILES.values():
        for who, participant in enumerate(_PARTICIPANTS):
            for number, message in enumerate(_MESSAGES):
                for t_min, t_max in ((T_MIN, T_MAX), (0, 1000)) if (who, number) == (0, 0) else ((T_MIN, T_MAX),):
                    offset = t_req_offset(profile, participant, message, t_min, t_max)
                    flags = "Exact Signed" if profile.integer(participant + message) < 0 else "Exact"
                    slug = f"{profile.name}-{who}-{number}-within-{t_max - t_min}"
                    comment = f"{profile.name}, participant {who + 1} and message {number + 1}."
                    fields = _request(profile.name, participant, message, t_min, t_max)
                    out.append(vector(slug, comment, flags, requirements, fields, {"offset_ms": offset}))
    ranges = [(f"range-{who}", participant, "m1", T_MIN, T_MAX) for who, participant in enumerate(_PARTICIPANTS)]
    ranges += [(f"window-{n}", f"participant-{n}", _named(n), *_WINDOWS[n % len(_WINDOWS)]) for n in range(_ASKED)]
    for slug, participant, message, t_min, t_max in ranges:
        told = "T_min to T_max" if slug.startswith("range") else f"{t_min} to {t_max}"
        fields, between = _request(ANY, participant, message, t_min, t_max), {"from_ms": t_min, "to_ms": t_max}
        ids = ["SDS-R-TREQ-03", "SDS-R-GLOBAL-09"]
        out.append(vector(slug, f"Whatever the hash, from {told}.", "AnyHash", ids, fields, between))
    for slug, t_min, t_max in (("equal", 30_000, 30_000), ("zero", 0, 0), ("reversed", 30_000, 20_000)):
        fields = _request(ANY, "alice", "m1", t_min, t_max)
        comment = f"T_min is {t_min} and T_max {t_max}."
        tolerated: list[Outcome] = [REJECTED, {"offset_ms": t_min}]
        if t_max < t_min:  # a modulus below zero: what a language makes of it stays within its width
            tolerated.append({"from_ms": t_max, "to_ms": 2 * t_min - t_max})
        outcomes = [legal(outcome, "AMB-08") for outcome in tolerated]
        out.append(vector(f"degenerate-{slug}", comment, "Degenerate", ["SDS-R-TREQ-01"], fields, *outcomes))
    return out


@group("t-resp", "repair-times", "When a request for a message is answered.", RESPONSE_NOTES)
def t_resp(revision: Revision) -> list[Vector]:
    """Exact offsets, the author, the range, and no window at all."""
    requirements = ["SDS-R-TRESP-01", "SDS-R-TRESP-03", "SDS-R-TRESP-04", "SDS-R-TRESP-06", "SDS-R-RECV-10"]
    out = []
    for profile in HASH_PROFILES.values():
        for who, participant in enumerate(_PARTICIPANTS):
            for number, message in enumerate(_MESSAGES):
                sender = _PARTICIPANTS[(who + 1 + number) % len(_PARTICIPANTS)]
                offset = t_resp_offset(profile, participant, sender, message, T_MAX)
                # Written out once more, for the reduction is what implementations get wrong.
                assert offset == profile.distance(participant, sender) * profile.hash(message) % T_MAX
                flags = ["Author"] if participant == sender else ["Exact", "Product"]
                fields = _response(profile.name, participant, sender, message, T_MAX)
                comment = f"{profile.name}, participant {who + 1} and message {number + 1}."
                slug = f"{profile.name}-{who}-{number}"
                out.append(vector(slug, comment, flags, requirements, fields, {"offset_ms": offset}))
    at_once = {"offset_ms": 0}
    for who, participant in enumerate(_PARTICIPANTS):
        fields = _response(ANY, participant, participant, "m1", T_MAX)
        comment = "The author answers at once, whatever the hash."
        out.append(vector(f"author-{who}", comment, "Author AnyHash", ["SDS-R-TRESP-02"], fields, at_once))
    ranges = [("range", "T_max", ("alice", "bob", "m1", T_MAX))]
    for number in range(_ASKED):
        _, t_max = _WINDOWS[number % len(_WINDOWS)]
        asked = (f"participant-{number}", f"author-{number % 5}", _named(number), t_max)
        ranges.append((f"window-{number}", str(t_max), asked))
    for slug, told, asked in ranges:
        ids, between = ["SDS-R-TRESP-01", "SDS-R-TRESP-05"], {"from_ms": 0, "to_ms": asked[-1]}
        out.append(vector(slug, f"From 0 to {told}.", "AnyHash", ids, _response(ANY, *asked), between))
    fields, either = _response(ANY, "alice", "bob", "m1", 0), [legal(REJECTED, "AMB-09"), legal(at_once, "AMB-09")]
    out.append(vector("degenerate-zero", "T_max is 0.", "Degenerate", ["SDS-R-TRESP-01"], fields, *either))
    return out


@group("response-groups", "repair-times", "Who may answer for which message.", GROUP_NOTES)
def response_groups(revision: Revision) -> list[Vector]:
    """Membership, the author, one group, no groups; and the default number of them."""
    out = []

    def add(
        slug: str, comment: str, flags: str, ids: str, asked: tuple[str, str, str, str, int], *told: Outcome
    ) -> None:
        out.append(vector(slug, comment, flags, of_sds(ids), _group(*asked), *told))

    for profile in HASH_PROFILES.values():
        for groups in (2, 3, 8):
            for number, message in enumerate(_MESSAGES):
                member = {"member": in_response_group(profile, "alice", "bob", message, groups)}
                slug, asked = f"{profile.name}-{groups}-{number}", (profile.name, "alice", "bob", message, groups)
                comment = f"{profile.name}, {groups} groups, message {number + 1}."
                add(slug, comment, "Exact", "R-GROUP-01 R-RECV-11", asked, member)
    yes, no = {"member": True}, {"member": False}
    author, ids = "Author AnyHash", "R-GROUP-02"
    for n in (1, 2, 7, 1000):
        add(f"author-of-{n}", f"The author, with {n} groups.", author, ids, (ANY, "alice", "alice", "m1", n), yes)
    for n in range(_ASKED):
        groups = 2 + n % 3
        asked = (ANY, f"participant-{n}", f"author-{n % 5}", _named(n), groups)
        comment, flags = f"Somebody or other, with {groups} groups.", "AnyHash Undecided"
        add(f"undecided-{n}", comment, flags, "R-GROUP-01", asked, yes, legal(no, "AMB-01"))
    for n in range(4):
        asked = (ANY, f"participant-{n}", f"participant-{n}", _named(n), 2 + n)
        add(f"author-{n}", f"Another author, with {2 + n} groups.", author, ids, asked, yes)
    for n, who in enumerate(_PARTICIPANTS[1:], 1):
        add(f"one-group-{n}", "One group.", "OneGroup AnyHash", "R-GROUP-04", (ANY, "alice", who, "m1", 1), yes)
    for slug, groups in (("none", 0), ("negative", -3)):
        both = (legal(REJECTED, "AMB-10"), legal(yes, "AMB-10"))
        asked = (ANY, "alice", "bob", "m1", groups)
        add(f"degenerate-{slug}", f"{groups} groups.", "Degenerate", "R-GROUP-04", asked, *both)
    for participants in (1, 2, 100, 127, 128, 129, 255, 256, 1000, 10_000):
        count = default_response_groups(participants)
        outcomes: list[Outcome] = [{"num_response_groups": count}]
        if participants > 127:
            # One group for every 128, without the one that the formula adds, is a warning.
            outcomes.append(warned({"num_response_groups": max(1, participants // 128)}, "AMB-11"))
        slug, comment = f"default-of-{participants}", f"{participants} participants."
        requirements = ["SDS-R-GLOBAL-06", *(["SDS-R-GLOBAL-07"] if participants < 128 else [])]
        default = {"function": "default-response-groups", "num_participants": participants}
        out.append(vector(slug, comment, ["Default"], requirements, default, *outcomes))
    return out


def _named(number: int) -> str:
    """Message IDs of all kinds of lengths."""
    return f"{number:x}" * (1 + 7 * (number % 9))


def _request(profile: str, participant: str, message: str, t_min: int, t_max: int) -> dict[str, object]:
    ids = {"participant_id": participant, "message_id": message}
    return {"function": "t-req", "hash_profile": profile, **ids, "t_min_ms": t_min, "t_max_ms": t_max}


def _response(profile: str, participant: str, sender: str, message: str, t_max: int) -> dict[str, object]:
    ids = {"participant_id": participant, "sender_id": sender, "message_id": message}
    return {"function": "t-resp", "hash_profile": profile, **ids, "t_max_ms": t_max}


def _group(profile: str, participant: str, sender: str, message: str, groups: int) -> dict[str, object]:
    ids = {"participant_id": participant, "sender_id": sender, "message_id": message}
    return {"function": "response-group", "hash_profile": profile, **ids, "num_response_groups": groups}
