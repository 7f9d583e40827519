"""Bloom filters, byte for byte, under each name that an implementation can declare.

Section "Participant state" requires bloom filters. The specification and the proposal of 2024 leave their hash, size
and encoding open (AMB-54).
"""

from __future__ import annotations

from itertools import count

from sds_reference import PROFILES, BloomParameters, BloomProfile, build_filter
from sds_reference.revision import Revision

from ....vectors.model import Note, Outcome, Vector, legal, vector
from .register import EVERY, group

SMALL = BloomParameters.sized(20, 0.001)
COARSE = BloomParameters.sized(100, 0.05)
USUAL = BloomParameters.sized(10_000, 0.001)
"""The default filter size of both published implementations."""
MILLION = 1_000_000

_BUILDING = ("SDS-STATE-05", "SDS-SEND-09", "FORUM-10", "FORUM-17")
_QUERYING = ("SDS-ACK-02", "SDS-STATE-05", "FORUM-27", "FORUM-10")
"""The requirements that vectors test: those of SDS, and their equivalents in the proposal of 2024."""

BUILD_NOTES = {
    "ByteExact": Note("Who declares the profile makes these bytes.", ("SDS-STATE-05", "FORUM-10", "AMB-54")),
    "Empty": Note(
        "A filter of nothing. It may be of no length as long as nothing was received.",
        ("SDS-MSG-07", "FORUM-07", "AMB-125"),
    ),
    "Duplicates": Note("An ID that comes twice changes nothing.", ("AMB-112",)),
    "BeyondAscii": Note("IDs beyond ASCII, which hashes of different languages read differently.", ("AMB-54",)),
    "Full": Note("About as many IDs as the filter is made for.", ("SDS-STATE-07", "FORUM-10")),
    "RollOver": Note(
        "Its capacity is reached: the newest tenth must still be there.", ("SDS-STATE-06", "FORUM-20", "AMB-55")
    ),
}
QUERY_NOTES = {
    "Membership": Note(
        "What is in a filter is found in it, and what is not is not, save for false hits.", ("SDS-STATE-05", "FORUM-10")
    ),
    "FalsePositive": Note(
        "IDs that were never put in, and are found: the bits say so.", ("SDS-ACK-02", "FORUM-27", "AMB-56")
    ),
    "Saturated": Note("All bits set, or none.", ("SDS-ACK-02", "FORUM-27")),
    "BeyondAscii": BUILD_NOTES["BeyondAscii"],
}

_SCRIPTS = ["zoë", "é", "é", "中文", "🦊", "\ufeffx", "ÿ", "Ā", "m-𐐀-1"]


def _ids(number: int, prefix: str = "m") -> list[str]:
    return [f"{prefix}{index}" for index in range(number)]


def _fields(profile: BloomProfile, size: BloomParameters, **more: object) -> dict[str, object]:
    return {
        "profile": profile.name,
        "capacity": size.capacity,
        "error_rate_millionths": round(size.error_rate * MILLION),
        "bits": size.bits,
        "hashes": size.hashes,
        **more,
    }


def _register_build_group(profile: BloomProfile) -> None:
    title = f"The bytes of the bloom filter that holds the given message IDs. {profile.description}."

    @group(f"bloom-build-{profile.name}", "bloom-build", title, BUILD_NOTES, revisions=EVERY)
    def build(revision: Revision) -> list[Vector]:
        def case(slug: str, comment: str, flags: str, size: BloomParameters, ids: list[str], *more: Outcome) -> Vector:
            exact = {"bloom_filter": build_filter(profile, size, ids).hex()}
            fields = _fields(profile, size, message_ids=ids)
            return vector(slug, comment, flags, _BUILDING, fields, exact, *more)

        nothing = legal({"bloom_filter": ""}, "AMB-125")
        digests = [f"{index:x}" * 64 for index in range(10)]
        doubled, full = [*_ids(5), "m0", "m4"], _ids(SMALL.capacity)
        at_capacity = "As many as the capacity: all, or already rolled over."
        return [
            case("nothing", "Nothing was received.", "ByteExact Empty", SMALL, [], nothing),
            case("one", "One ID.", "ByteExact", SMALL, ["m1"]),
            case("another", "Another ID.", "ByteExact", SMALL, ["alice-1"]),
            case("few", "Five IDs.", "ByteExact", SMALL, _ids(5)),
            case("few-backwards", "The same five in another order: the same bytes.", "ByteExact", SMALL, _ids(5)[::-1]),
            case("doubled", "The same five, some of them twice.", "ByteExact Duplicates", SMALL, doubled),
            case("digests", "IDs of 64 hex digits.", "ByteExact", SMALL, digests),
            case("scripts", "IDs of many scripts.", "ByteExact BeyondAscii", SMALL, _SCRIPTS),
            case("nearly-full", "Two less than the capacity.", "ByteExact Full", SMALL, _ids(SMALL.capacity - 2)),
            case("full", at_capacity, "ByteExact Full RollOver", SMALL, full, legal({"holds": full[-2:]}, "AMB-55")),
            case("coarse", "A filter for 100 IDs at 5 %, half full.", "ByteExact", COARSE, _ids(50)),
            case("usual", "Fifty IDs in a filter of the usual size.", "ByteExact", USUAL, _ids(50)),
        ]


def _register_query_group(profile: BloomProfile) -> None:
    title = f"The message IDs that a received bloom filter contains. {profile.description}."

    @group(f"bloom-query-{profile.name}", "bloom-query", title, QUERY_NOTES, revisions=EVERY)
    def query(revision: Revision) -> list[Vector]:
        def case(slug: str, comment: str, flags: str, size: BloomParameters, wire: bytes, ids: list[str]) -> Vector:
            view = profile.read(wire, size)
            hits: Outcome = {"hits": [message_id in view for message_id in ids]}
            fields = _fields(profile, size, bloom_filter=wire.hex(), message_ids=ids)
            return vector(slug, comment, flags, _QUERYING, fields, hits)

        five = build_filter(profile, SMALL, _ids(5))
        full = build_filter(profile, SMALL, _ids(SMALL.capacity))
        scripts = build_filter(profile, SMALL, _SCRIPTS)
        coarse, usual = build_filter(profile, COARSE, _ids(100)), build_filter(profile, USUAL, _ids(50))
        alike, never = (
            "IDs of many scripts, and some that look like them.",
            "IDs that were never put in, but are found.",
        )
        ones = profile.wrap(b"\xff" * SMALL.byte_length, SMALL)
        others = ["", "m", "m00", "M1", "m5", "bob-1"]
        lookalikes = ["zoe", "\u00c9", "e", "\u4e2d", "\U0001f98b", "x", "\u0178", "m-\U00010400-2"]
        return [
            case("members", "Five IDs that are in it.", "Membership", SMALL, five, _ids(5)),
            case("strangers", "IDs that are not.", "Membership", SMALL, five, others),
            case("mixed", "Both, in turn.", "Membership", SMALL, five, ["m0", "x0", "m1", "x1", "m4"]),
            case("full", "A full filter.", "Membership", SMALL, full, [*_ids(20), *_ids(10, "x")]),
            case("scripts", alike, "Membership BeyondAscii", SMALL, scripts, [*_SCRIPTS, *lookalikes]),
            case("false-hits", never, "FalsePositive", COARSE, coarse, _find_false_hits(profile, coarse)),
            case("all-ones", "All bits are set.", "Saturated", SMALL, ones, ["a", "b", "\u4e2d"]),
            case("all-zeros", "No bit is set.", "Saturated", SMALL, build_filter(profile, SMALL, []), ["a", "b", "m1"]),
            case("usual", "A filter of the usual size.", "Membership", USUAL, usual, [*_ids(50), *_ids(10, "x")]),
        ]


def _find_false_hits(profile: BloomProfile, wire: bytes) -> list[str]:
    view = profile.read(wire, COARSE)
    found: list[str] = []
    for number in count():
        if len(found) == 3:
            return [*found, "m0", "m99"]
        if f"never-{number}" in view:
            found.append(f"never-{number}")
    raise AssertionError


for _profile in PROFILES.values():
    _register_build_group(_profile)
    _register_query_group(_profile)
